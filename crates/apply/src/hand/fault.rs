//! Boundaries between what is written ahead, done, and noted: where a process may be killed, and where tests kill it.

/// A place between two steps of the work. With the feature `faults` (and in tests) `LINERATE_FAULT=N` ends the process here by SIGKILL when
/// it is the N-th one passed, `LINERATE_FAULT=stop:N` stops it by SIGSTOP (who stopped it breaks something and lets it go on by SIGCONT),
/// and `LINERATE_FAULT=count` writes each one's number and name to standard error.
#[cfg(not(any(test, feature = "faults")))]
pub(crate) fn boundary(_name: &str) {}

#[cfg(any(test, feature = "faults"))]
pub(crate) use armed::boundary;

#[cfg(any(test, feature = "faults"))]
mod armed {
    use std::io::Write;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static PASSED: AtomicU64 = AtomicU64::new(0);
    static ARMED: OnceLock<Option<Fault>> = OnceLock::new();

    enum Fault {
        At(u64),
        Stop(u64),
        Count,
    }

    fn armed() -> Option<&'static Fault> {
        let read = || match std::env::var("LINERATE_FAULT").ok()?.as_str() {
            "count" => Some(Fault::Count),
            text => match text.strip_prefix("stop:") {
                Some(number) => number.parse().ok().map(Fault::Stop),
                None => text.parse().ok().map(Fault::At),
            },
        };
        ARMED.get_or_init(read).as_ref()
    }

    /// Passes a place; see the other form of this function.
    pub(crate) fn boundary(name: &str) {
        let Some(fault) = armed() else { return };
        let number = PASSED.fetch_add(1, Ordering::SeqCst) + 1;
        match fault {
            Fault::Count => {
                let _ = writeln!(std::io::stderr(), "boundary {number} {name}");
            }
            Fault::At(at) if *at == number => {
                let _ = writeln!(std::io::stderr(), "killed at boundary {number} {name}");
                let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
                loop {
                    std::thread::park();
                }
            }
            Fault::Stop(at) if *at == number => {
                let _ = writeln!(std::io::stderr(), "stopped at boundary {number} {name}");
                let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
            }
            Fault::At(_) | Fault::Stop(_) => {}
        }
    }
}

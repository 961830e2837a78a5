//! One run below limits, and what it cost.
//!
//! The kernel's peak of a process counts the memory of the one that it was forked from. So a small process of its own starts the
//! runs: `cargo xtask bombs --serve`, asked by lines.

use super::interrupt;
use crate::bench::wait4;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Seconds of CPU after which a run is ended, seconds of any time (a busy machine may give a run little of it), and bytes of address space. They
/// are above what is asked for, so that a figure is had of what costs too much.
const CPU: u64 = 40;
const TIME: u32 = 900;
const SPACE: u64 = 6 << 30;

/// What a run cost.
pub(super) struct Used {
    /// Seconds, user and system.
    pub(super) cpu: f64,
    /// KiB.
    pub(super) peak: u64,
    /// How it ended, where it did not end as a command ends.
    pub(super) end: Option<String>,
}

/// Between the words of a line.
const BETWEEN: char = '\u{1f}';

/// The process that starts runs.
pub(super) struct Server {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Server {
    pub(super) fn start() -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut command = Command::new(own);
        command.args(["bombs", "--serve"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = interrupt::start(&mut command).map_err(|e| e.to_string())?;
        let (to, from) = (child.stdin.take().ok_or("no pipe")?, child.stdout.take().ok_or("no pipe")?);
        Ok(Server { child, to, from: BufReader::new(from) })
    }

    pub(super) fn run(&mut self, binary: &Path, args: &[String], home: &Path) -> Result<Used, String> {
        let mut words = vec![binary.to_string_lossy().into_owned(), home.to_string_lossy().into_owned()];
        words.extend_from_slice(args);
        let mut line = String::new();
        let asked = writeln!(self.to, "{}", words.join(&BETWEEN.to_string()));
        if asked.and_then(|()| self.from.read_line(&mut line)).unwrap_or_default() == 0 {
            interrupt::wait();
            return Err("the process that starts runs is gone".to_owned());
        }
        let mut words = line.trim_end_matches('\n').splitn(3, ' ');
        let (cpu, peak) = (words.next().and_then(|w| w.parse().ok()), words.next().and_then(|w| w.parse().ok()));
        let end = words.next().filter(|w| !w.is_empty()).map(str::to_owned);
        match (cpu, peak) {
            (Some(cpu), Some(peak)) => Ok(Used { cpu, peak, end }),
            _ => Err(line),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        interrupt::end(&mut self.child);
    }
}

/// Answers lines until there are no more.
pub(super) fn serve() {
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let mut words = line.split(BETWEEN).map(str::to_owned);
        let (binary, home) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let args: Vec<String> = words.collect();
        let answer = match run(Path::new(&binary), &args, Path::new(&home)) {
            Ok(u) => format!("{} {} {}", u.cpu, u.peak, u.end.unwrap_or_default()),
            Err(e) => format!("error: {}", e.replace('\n', " ")),
        };
        // Who asked may be gone.
        if writeln!(std::io::stdout(), "{answer}").is_err() {
            return;
        }
    }
}

/// Runs a command with no input, its output thrown away, and no environment but a home of its own.
fn run(binary: &Path, args: &[String], home: &Path) -> Result<Used, String> {
    let mut command = Command::new(binary);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home).current_dir(home);
    limit(&mut command);
    let child = command.spawn().map_err(|e| format!("cannot run {}: {e}", binary.display()))?;
    let pid = i32::try_from(child.id()).map_err(|e| e.to_string())?;
    let (status, usage) = wait4(pid).map_err(|e| e.to_string())?;
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    let end = match () {
        () if libc::WIFSIGNALED(status) => Some(format!("ended by signal {}", libc::WTERMSIG(status))),
        () if libc::WEXITSTATUS(status) > 3 => Some(format!("ended with {}", libc::WEXITSTATUS(status))),
        () => None,
    };
    Ok(Used {
        cpu: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        peak: u64::try_from(usage.ru_maxrss).unwrap_or(0),
        end,
    })
}

#[allow(unsafe_code)] // limits of a child have no other way in
fn limit(command: &mut Command) {
    // SAFETY: between fork and exec only system calls are made, with values that were made before.
    unsafe {
        command.pre_exec(|| {
            for (what, most) in [(libc::RLIMIT_CPU, CPU), (libc::RLIMIT_AS, SPACE), (libc::RLIMIT_CORE, 0)] {
                let most = libc::rlimit { rlim_cur: most, rlim_max: most };
                if libc::setrlimit(what, &most) != 0 {
                    return Err(std::io::Error::last_os_error());
                }
            }
            libc::alarm(TIME);
            Ok(())
        });
    }
}

//! Which nodes can be reached, and why others cannot.

use crate::Target;
use linerate_transport::{Cancel, Command, TransportError};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Why a node was not reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Its key is not the one that is known, or is not known. This is never passed over.
    HostKey,
    /// It lets this user not in.
    Denied,
    /// Nobody listens there.
    Refused,
    /// It does not answer.
    TimedOut,
    /// There is no way to its address.
    NoRoute,
    /// Its name is no address.
    Name,
    /// It was reached, and did not run the command.
    Shell,
    /// The program that carries commands is not here.
    NoProgram,
    /// Anything else.
    Other,
}

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 9] = [
        Cause::HostKey,
        Cause::Denied,
        Cause::Refused,
        Cause::TimedOut,
        Cause::NoRoute,
        Cause::Name,
        Cause::Shell,
        Cause::NoProgram,
        Cause::Other,
    ];

    /// For programs.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Cause::HostKey => "host_key",
            Cause::Denied => "denied",
            Cause::Refused => "refused",
            Cause::TimedOut => "timed_out",
            Cause::NoRoute => "no_route",
            Cause::Name => "name",
            Cause::Shell => "shell",
            Cause::NoProgram => "no_program",
            Cause::Other => "other",
        }
    }

    /// For people.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Cause::HostKey => "the host's key is unknown or has changed",
            Cause::Denied => "access denied without a password",
            Cause::Refused => "connection refused",
            Cause::TimedOut => "no answer in time",
            Cause::NoRoute => "no route to its address",
            Cause::Name => "the name cannot be resolved",
            Cause::Shell => "it was reached, but did not run a command",
            Cause::NoProgram => "the program that reaches it (ssh, srun, kubectl) is not installed here",
            Cause::Other => "not reached",
        }
    }

    /// By what `ssh` said last.
    #[must_use]
    pub fn of(error: &TransportError) -> Cause {
        let why = match error {
            TransportError::NotConnected { why, .. } | TransportError::Lost { why, .. } => why.as_deref().unwrap_or(""),
            TransportError::TimedOut { .. } => return Cause::TimedOut,
            TransportError::Start { .. } => return Cause::NoProgram,
            _ => return Cause::Other,
        };
        let says = |words: &[&str]| words.iter().any(|w| why.contains(w));
        if says(&["Host key verification failed", "HOST IDENTIFICATION HAS CHANGED", "host key is known for"]) {
            Cause::HostKey
        } else if says(&["Permission denied", "Too many authentication failures", "no more authentication methods"]) {
            Cause::Denied
        } else if says(&["Connection refused"]) {
            Cause::Refused
        } else if says(&["timed out", "Timeout"]) {
            Cause::TimedOut
        } else if says(&["No route to host", "Network is unreachable"]) {
            Cause::NoRoute
        } else if says(&["Could not resolve", "Name or service not known"]) {
            Cause::Name
        } else {
            Cause::Other
        }
    }
}

/// Whether a node was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// Its name.
    pub name: String,
    /// How long it took.
    pub took: Duration,
    /// Why not, and the last words of who knows.
    pub failed: Option<(Cause, String)>,
}

/// Runs `true` on each node, `width` at once, each within `limit`. `done` is called after each one with how many are done. Nodes that were not
/// begun when it was cancelled are left out.
pub fn reach(
    targets: &[Target],
    width: usize,
    limit: Duration,
    cancel: &Cancel,
    done: &(dyn Fn(usize) + Sync),
) -> Vec<Reached> {
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let all = Mutex::new(Vec::with_capacity(targets.len()));
    std::thread::scope(|scope| {
        for _ in 0..width.clamp(1, targets.len().max(1)) {
            let work = || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(target) = targets.get(at) else { return };
                    if cancel.is_cancelled() {
                        return;
                    }
                    let reached = one(target, limit, cancel);
                    all.lock().unwrap_or_else(PoisonError::into_inner).push((at, reached));
                    done(finished.fetch_add(1, Ordering::Relaxed) + 1);
                }
            };
            // Where no thread can be made, the others do its work.
            let _ = std::thread::Builder::new().name("linerate-reach".into()).spawn_scoped(scope, work);
        }
    });
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, reached)| reached).collect()
}

fn one(target: &Target, limit: Duration, cancel: &Cancel) -> Reached {
    let began = Instant::now();
    let ran = target
        .spec
        .transport(&target.ssh_options)
        .and_then(|t| t.run(&Command::new(["true"]).limit(limit).most(1 << 10), cancel));
    let failed = match ran {
        Ok(ran) if ran.status == 0 => None,
        Ok(ran) => Some((Cause::Shell, format!("status {}: {}", ran.status, ran.last_words()))),
        Err(e) => Some((Cause::of(&e), e.to_string())),
    };
    Reached { name: target.name.clone(), took: began.elapsed(), failed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_what_ssh_says() {
        for (said, want) in [
            ("Host key verification failed.", Cause::HostKey),
            ("root@n1: Permission denied (publickey).", Cause::Denied),
            ("ssh: connect to host n1 port 22: Connection refused", Cause::Refused),
            ("ssh: connect to host n1 port 22: Connection timed out", Cause::TimedOut),
            ("ssh: connect to host n1 port 22: No route to host", Cause::NoRoute),
            ("ssh: Could not resolve hostname n1: Name or service not known", Cause::Name),
            ("kex_exchange_identification: Connection closed by remote host", Cause::Other),
        ] {
            let e = TransportError::NotConnected { host: "n1".to_owned(), why: Some(said.to_owned()) };
            assert_eq!(Cause::of(&e), want, "{said}");
        }
    }
}

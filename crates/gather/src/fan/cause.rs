//! Why a node was not read, by cause: what people count, and what they do about it.

use linerate_transport::TransportError;

macro_rules! causes {
    ($($name:ident: $id:literal, $words:literal, $what:literal;)+) => {
        /// Why a node was not read.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Cause {
            $(#[doc = $words] $name,)+
        }

        impl Cause {
            /// All of them.
            pub const ALL: &'static [Cause] = &[$(Cause::$name),+];

            /// Its name in JSON.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $(Cause::$name => $id),+ }
            }

            /// In words.
            #[must_use]
            pub fn words(self) -> &'static str {
                match self { $(Cause::$name => $words),+ }
            }

            /// What to do about it.
            #[must_use]
            pub fn hint(self) -> &'static str {
                match self { $(Cause::$name => $what),+ }
            }
        }
    };
}

causes! {
    Unresolved: "unresolved", "its name has no address", "correct the name, or give the address in ~/.ssh/config";
    Refused: "refused", "connection refused", "start sshd on the host, or give its port";
    NoConnection: "no-connection", "no connection", "look at its power, its network and its firewall";
    ConnectTimedOut: "connect-timed-out", "the connection timed out", "check whether the host is up";
    WrongKey: "wrong-host-key", "the host's key has changed", "find out why it changed before you trust it: ssh-keygen -R removes the old key";
    UnknownKey: "unknown-host-key", "the host's key is not known", "connect once with ssh and compare the fingerprint, or add it to known_hosts";
    NotLetIn: "not-let-in", "access denied without a password", "install a key on the host, or start ssh-agent (of kubectl: check its credentials and rights): no password is asked for";
    NoResources: "no-resources", "Slurm gave no resources on it in time", "name a job that has the node (srun_options = [\"--jobid=ID\"]), or a partition that shares its nodes";
    NoPod: "no-pod", "no pod that matches the selector runs on it", "compare the group's selector with kubectl get pods -o wide";
    ClosedEarly: "closed-early", "the host closed the connection before anything ran", "see sshd's log on the host (MaxStartups), and collect with a smaller --fanout";
    NoShell: "no-shell", "the user's shell on the host runs no commands", "give the user a shell, or collect as another user";
    Lost: "lost", "the connection was lost", "collect again with --resume";
    TimedOut: "timed-out", "the time limit was reached", "raise --node-limit, or check what hangs on the host";
    Endless: "endless", "its answer is larger than any snapshot", "check which program runs on the host";
    Garbage: "garbage", "its answer is not a snapshot", "check what its shell prints, and which program runs on the host";
    Liar: "version-differs", "the installed program is not of the version that it reports", "remove that program, or push one (--collector push)";
    ProgramFailed: "program-failed", "the program failed on the host", "run linerate collect on the host by hand";
    NoProgram: "no-program", "no program could be run on the host", "use --collector auto, which falls back to a shell script";
    NotWritten: "not-written", "its snapshot could not be written on this machine", "make room in the directory";
    NotStarted: "not-started", "the program that reaches it could not be started on this machine", "install ssh (srun, kubectl), correct its options in linerate.toml, and look at the limits of processes and open files";
    Interrupted: "interrupted", "the run was interrupted before its turn", "collect again with --resume";
}

/// Why a host was not reached or lost: by what the local `ssh` says about it.
pub(super) fn of(error: &TransportError) -> (Cause, String) {
    let said =
        |why: &Option<String>| linerate_snapshot::without_secrets(why.as_deref().unwrap_or("nothing")).into_owned();
    match error {
        TransportError::NotConnected { why, .. } => {
            let why = said(why);
            (of_words(&why), why)
        }
        TransportError::Lost { why, .. } => {
            let why = said(why);
            (of_shell(&why).unwrap_or(Cause::Lost), why)
        }
        TransportError::TimedOut { seconds, .. } => (Cause::TimedOut, format!("it did not end within {seconds} s")),
        TransportError::Cancelled => (Cause::Interrupted, "interrupted".to_owned()),
        TransportError::Start { .. }
        | TransportError::Option { .. }
        | TransportError::Way { .. }
        | TransportError::Argument { .. } => {
            (Cause::NotStarted, linerate_snapshot::without_secrets(&error.to_string()).into_owned())
        }
    }
}

/// The user's shell ended, and nothing that was asked for began: well, so that it ran something else, or not.
fn of_shell(said: &str) -> Option<Cause> {
    let status = said.strip_prefix("ssh ended with status ").and_then(|s| s.split(':').next());
    match status.and_then(|s| s.trim().parse::<u32>().ok())? {
        0 => Some(Cause::Garbage),
        1..128 => Some(Cause::NoShell),
        _ => None,
    }
}

/// What `srun` and `kubectl` say where nothing ran.
fn of_scheduler(said: &str) -> Option<Cause> {
    let has = |words: &[&str]| words.iter().any(|w| said.contains(w));
    if has(&["no running pod of "]) {
        Some(Cause::NoPod)
    } else if has(&["srun: "]) {
        Some(if has(&["Invalid node name"]) {
            Cause::Unresolved
        } else if has(&["Unable to allocate resources", "Unable to create step", "Unable to confirm allocation"]) {
            Cause::NoResources
        } else {
            Cause::NoConnection
        })
    } else if !said.starts_with("kubectl ") {
        None
    } else if has(&["(Forbidden)", "(Unauthorized)", "must be logged in"]) {
        Some(Cause::NotLetIn)
    } else if has(&["executable file not found", "no such file or directory", "OCI runtime exec failed"]) {
        Some(Cause::NoShell)
    } else {
        Some(Cause::NoConnection)
    }
}

fn of_words(said: &str) -> Cause {
    let has = |words: &[&str]| words.iter().any(|w| said.contains(w));
    if let Some(cause) = of_shell(said).or_else(|| of_scheduler(said)) {
        cause
    } else if has(&["host key is known for"]) {
        Cause::UnknownKey
    } else if has(&["Host key verification failed", "has changed and you have requested"]) {
        Cause::WrongKey
    } else if has(&["Could not resolve", "Name or service not known", "name resolution"]) {
        Cause::Unresolved
    } else if has(&["Permission denied", "Too many authentication failures", "No supported authentication"]) {
        Cause::NotLetIn
    } else if has(&["Connection refused"]) {
        Cause::Refused
    } else if has(&["timed out", "Operation timed out"]) {
        Cause::ConnectTimedOut
    } else if has(&["No route to host", "Network is unreachable", "Host is down", "Host is unreachable"]) {
        Cause::NoConnection
    } else if has(&["closed by", "Connection reset", "kex_exchange_identification", "Broken pipe", "banner"]) {
        Cause::ClosedEarly
    } else {
        Cause::NoConnection
    }
}

/// Whether asking again may help. Who did not answer at all was asked several times by the kernel already; who took the connection and has
/// not come to a greeting may have too much to do.
pub(super) fn again(error: &TransportError, cause: Cause) -> bool {
    // These have asked several times by themselves.
    let scheduler = matches!(error, TransportError::NotConnected { why: Some(w), .. } if of_scheduler(w).is_some());
    let busy = || cause == Cause::ConnectTimedOut && error.to_string().contains("during banner exchange");
    let temporary = || error.to_string().contains("Temporary failure in name resolution");
    matches!(error, TransportError::NotConnected { .. })
        && !scheduler
        && (matches!(cause, Cause::Refused | Cause::ClosedEarly | Cause::NoConnection)
            || busy()
            || (cause == Cause::Unresolved && temporary()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ssh_says_has_a_cause() {
        for (said, cause, retried) in [
            ("ssh: connect to host a port 22: Connection refused", Cause::Refused, true),
            ("ssh: connect to host a port 22: Connection timed out", Cause::ConnectTimedOut, false),
            ("Connection timed out during banner exchange", Cause::ConnectTimedOut, true),
            ("ssh: connect to host a port 22: No route to host", Cause::NoConnection, true),
            ("kex_exchange_identification: Connection closed by remote host", Cause::ClosedEarly, true),
            ("Connection reset by 127.0.0.1 port 22", Cause::ClosedEarly, true),
            ("Host key verification failed.", Cause::WrongKey, false),
            (
                "No ED25519 host key is known for a and you have requested strict checking. Host key verification failed.",
                Cause::UnknownKey,
                false,
            ),
            ("me@a: Permission denied (publickey,password).", Cause::NotLetIn, false),
            ("ssh ended with status 1: Permission denied", Cause::NoShell, false),
            ("ssh: Could not resolve hostname a: Name or service not known", Cause::Unresolved, false),
            (
                "srun ended with status 1: srun: error: Unable to allocate resources: Requested nodes are busy",
                Cause::NoResources,
                false,
            ),
            (
                "srun ended with status 1: srun: error: Unable to allocate resources: Invalid node name specified",
                Cause::Unresolved,
                false,
            ),
            (
                "srun ended with status 233: srun: error: Application launch failed: Communication connection failure",
                Cause::NoConnection,
                false,
            ),
            ("no running pod of tools with app=shell is on it", Cause::NoPod, false),
            ("kubectl ended with status 1: Error from server (Forbidden): pods is forbidden", Cause::NotLetIn, false),
            ("kubectl ended with status 1: Unable to connect to the server: dial tcp", Cause::NoConnection, false),
            ("ssh: Could not resolve hostname a: Temporary failure in name resolution", Cause::Unresolved, true),
        ] {
            let error = TransportError::NotConnected { host: "a".into(), why: Some(said.into()) };
            let (is, _) = of(&error);
            assert_eq!((is, again(&error, is)), (cause, retried), "{said}");
        }
        let lost = TransportError::Lost { host: "a".into(), why: Some("Connection refused".into()) };
        assert_eq!((of(&lost).0, again(&lost, Cause::Lost)), (Cause::Lost, false));
    }

    #[test]
    fn ids_are_different() {
        let ids: std::collections::BTreeSet<_> = Cause::ALL.iter().map(|c| c.id()).collect();
        assert_eq!(ids.len(), Cause::ALL.len());
        assert!(Cause::ALL.iter().all(|c| !c.words().is_empty() && !c.hint().is_empty()));
    }
}

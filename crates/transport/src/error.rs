//! Why a host could not be used. A program that ended with another status than 0 is no error here: see [`NotDone`] for who wants one.

/// Why nothing could be started, or why nothing more is heard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// The local program did not start.
    #[error("{host}: cannot start {program}: {why}")]
    Start {
        /// Host.
        host: String,
        /// Local program.
        program: String,
        /// Why.
        why: String,
    },
    /// A further argument of `ssh` that it would take for the destination.
    #[error(
        "{host}: ssh would take {argument:?} for the host: give -F FILE, KEY=VALUE or -oKEY=VALUE, each word by itself"
    )]
    Option {
        /// The host.
        host: String,
        /// The argument.
        argument: String,
    },
    /// A word of a way that it cannot have.
    #[error("{host}: {argument:?}: {why}")]
    Way {
        /// The host.
        host: String,
        /// The word.
        argument: String,
        /// What it should be.
        why: &'static str,
    },
    /// An argument that no process can be given.
    #[error("{host}: an argument contains a NUL character, or a variable's name is not valid: {argument:?}")]
    Argument {
        /// Host.
        host: String,
        /// Which.
        argument: String,
    },
    /// There was no connection: nothing was heard of the program, so that it can be asked for again.
    #[error("{}", lost(.host, .why.as_deref()))]
    NotConnected {
        /// Host.
        host: String,
        /// What the transport's program said.
        why: Option<String>,
    },
    /// The connection ended before the program did; or, where no guard is above it, there may have been none.
    #[error("{}", lost(.host, .why.as_deref()))]
    Lost {
        /// Host.
        host: String,
        /// What the transport's program said.
        why: Option<String>,
    },
    /// It took longer than it may.
    #[error("{host}: {program} did not end within {seconds} s")]
    TimedOut {
        /// Host.
        host: String,
        /// Program.
        program: String,
        /// Limit.
        seconds: u64,
    },
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
}

fn lost(host: &str, why: Option<&str>) -> String {
    format!("{host}: the connection was lost{}", why.map(|w| format!(": {w}")).unwrap_or_default())
}

/// A program that ran on a host to its end and failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} on the host ended with status {status} and said: {said}{}", hint(*.status, .said))]
pub struct NotDone {
    /// What was run, for people.
    pub what: &'static str,
    /// Its status; 127: there is no such program.
    pub status: i32,
    /// The last line that it said, without secrets.
    pub said: String,
}

fn hint(status: i32, said: &str) -> &'static str {
    match status {
        127 => "; install the same version of linerate on the host",
        _ if said.contains("password") => {
            "; let this user run linerate on the host without a password, or reach it as root"
        }
        _ => "",
    }
}

//! How a program is run on a host. A transport only says which local program carries an argument list there (`ssh`, `ip netns exec`,
//! later `kubectl exec` or `srun`); everything else is one [`Process`].
//!
//! On every host the program runs below a *guard*, a constant shell script that reads its standard input: when that ends, or when no
//! sign of life came for a while, it kills the program with its whole process group. So nothing outlives a lost connection, a
//! killed `linerate` or a cancelled run, on either side, and there is one way to kill: closing a pipe.

mod converse;
mod local;
mod process;
mod ssh;

pub use local::Local;
pub use process::{End, Ended, Heard, Process, Ran, Stream};
pub use ssh::Ssh;

use linerate_out::child::Need;
use std::time::Duration;

/// The guard. A constant: what it runs comes as its arguments.
const GUARD: &str = include_str!("guard.sh");
/// Output of a helper that is kept.
pub(crate) const HELPER_OUTPUT: usize = 1 << 20;

/// A program with its arguments. Never a line for a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Variables set for it.
    pub env: Vec<(String, String)>,
    /// How long the guard lets it live at most; the side that waits has its own, stricter limits.
    pub limit: Duration,
    /// How long the guard waits for a sign of life of this side before it kills the program.
    pub patience: Duration,
    /// What of this process's environment it gets, where it runs on this host.
    pub need: Need,
}

impl Command {
    /// A program with its arguments, at most a minute.
    #[must_use]
    pub fn new<S: Into<String>>(argv: impl IntoIterator<Item = S>) -> Self {
        Command {
            argv: argv.into_iter().map(Into::into).collect(),
            env: Vec::new(),
            limit: Duration::from_secs(60),
            patience: Duration::from_secs(30),
            need: Need::Benchmark,
        }
    }

    /// A constant script with arguments (`$1` …). The script must not be made of data.
    #[must_use]
    pub fn script(script: &'static str, arguments: &[&str]) -> Self {
        let head = ["sh", "-c", script, "linerate"];
        Command::new(head.iter().chain(arguments).copied())
    }

    /// The same with another limit.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// The same with another part of this process's environment.
    #[must_use]
    pub fn need(mut self, need: Need) -> Self {
        self.need = need;
        self
    }

    /// The same with variables.
    #[must_use]
    pub fn env(mut self, env: &[(String, String)]) -> Self {
        self.env = env.to_vec();
        self
    }

    /// As the host runs it, below the guard.
    fn guarded(&self, mark: &str) -> Vec<String> {
        let seconds = |d: Duration| d.as_secs().max(1).to_string();
        let head = ["sh", "-c", GUARD, "linerate-guard"].map(str::to_owned);
        let told = [seconds(self.limit), seconds(self.patience), mark.to_owned()];
        let env = (!self.env.is_empty()).then(|| "env".to_owned()).into_iter();
        let env = env.chain(self.env.iter().map(|(name, value)| format!("{name}={value}")));
        head.into_iter().chain(told).chain(env).chain(self.argv.iter().cloned()).collect()
    }
}

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
    /// An argument that no process can be given.
    #[error("{host}: an argument contains a NUL character or a variable's name is none: {argument:?}")]
    Argument {
        /// Host.
        host: String,
        /// Which.
        argument: String,
    },
    /// The connection ended before the program did.
    #[error("{host}: the connection was lost{}", .why.as_deref().map(|w| format!(": {w}")).unwrap_or_default())]
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

/// A way to a host.
pub trait Transport: Send + Sync {
    /// The host's name, as the user gave it.
    fn host(&self) -> &str;

    /// Whether its files and kernel are those of this process.
    fn is_here(&self) -> bool {
        false
    }

    /// Fingerprint of the host's key, where the way to it has one and has checked it; `None`: there is no such key.
    ///
    /// # Errors
    /// The host is not reached, or its key is not shown.
    fn host_key(&self, cancelled: &dyn Fn() -> bool) -> Result<Option<String>, TransportError> {
        let _ = cancelled;
        Ok(None)
    }

    /// What of this process's environment the local program that carries others gets; `None`: the program itself runs here.
    fn carrier(&self) -> Option<Need> {
        None
    }

    /// The local argument list that runs another one on the host, with standard input and both outputs connected.
    ///
    /// # Errors
    /// An argument cannot be handed over.
    fn carry(&self, argv: &[String]) -> Result<Vec<String>, TransportError>;

    /// Starts a program on the host.
    ///
    /// # Errors
    /// The local program that carries it does not start.
    fn start(&self, command: &Command) -> Result<Process, TransportError> {
        let bad = |a: &str| TransportError::Argument { host: self.host().to_owned(), argument: a.to_owned() };
        let word = |n: &str| {
            n.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && n.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        if let Some((name, _)) = command.env.iter().find(|(n, _)| !word(n)) {
            return Err(bad(name));
        }
        let mark = process::mark();
        let guarded = command.guarded(&mark);
        if let Some(a) = guarded.iter().find(|a| a.contains('\0')) {
            return Err(bad(a));
        }
        let child = process::Start { argv: &self.carry(&guarded)?, need: self.carrier().unwrap_or(command.need) };
        Process::spawn(self.host(), &child, mark, command.patience)
    }

    /// Runs a short helper to its end and keeps what it says, up to a MiB.
    ///
    /// # Errors
    /// It does not start, does not end in time, or the connection is lost. A status other than 0 is none.
    fn run(&self, command: &Command, cancelled: &dyn Fn() -> bool) -> Result<Ran, TransportError> {
        self.start(command)?.finish(command, HELPER_OUTPUT, cancelled)
    }

    /// Hands a text to a program and takes its answer. No guard is above it: it must end by itself, and what it began it finishes even
    /// where the connection is lost.
    ///
    /// # Errors
    /// It does not start, does not end in time (then it is only no longer waited for on another host), or the connection is lost. A status
    /// other than 0 is none.
    fn converse(
        &self,
        argv: &[String],
        input: Vec<u8>,
        limit: Duration,
        most: usize,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Ran, TransportError> {
        let argv = self.carry(argv)?;
        let need = self.carrier().unwrap_or(Need::Plain);
        let with = converse::With { host: self.host(), is_here: self.is_here(), argv: &argv, need, limit, most };
        converse::converse(&with, input, cancelled)
    }
}

//! What is run on a host.

use linerate_out::child::Need;
use std::time::Duration;

/// The guard. A constant: what it runs comes as its arguments.
const GUARD: &str = include_str!("guard.sh");

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
    /// Bytes of each output that are kept.
    pub most: usize,
    /// Where it ends by itself it leaves no process behind, so that nobody has to look for one.
    pub tidy: bool,
}

impl Command {
    /// A program with its arguments: at most a minute, and a MiB of each output.
    #[must_use]
    pub fn new<S: Into<String>>(argv: impl IntoIterator<Item = S>) -> Self {
        Command {
            argv: argv.into_iter().map(Into::into).collect(),
            env: Vec::new(),
            limit: Duration::from_secs(60),
            patience: Duration::from_secs(30),
            need: Need::Benchmark,
            most: 1 << 20,
            tidy: false,
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

    /// The same with another limit of what is kept of its outputs, bytes each.
    #[must_use]
    pub fn most(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// The same with another part of this process's environment.
    #[must_use]
    pub fn need(mut self, need: Need) -> Self {
        self.need = need;
        self
    }

    /// The same, for what leaves no process behind where it ends by itself.
    #[must_use]
    pub fn tidy(mut self) -> Self {
        self.tidy = true;
        self
    }

    /// The same with variables.
    #[must_use]
    pub fn env(mut self, env: &[(String, String)]) -> Self {
        self.env = env.to_vec();
        self
    }

    /// Its program, for messages.
    pub(crate) fn program(&self) -> String {
        self.argv.first().cloned().unwrap_or_default()
    }

    /// As the host runs it, below the guard. A guard's own lines carry the mark.
    pub(crate) fn guarded(&self, mark: &str) -> Vec<String> {
        let seconds = |d: Duration| d.as_secs().max(1).to_string();
        let head = ["sh", "-c", GUARD, "linerate-guard"].map(str::to_owned);
        let tidy = if self.tidy { "tidy" } else { "-" };
        let told = [seconds(self.limit), seconds(self.patience), mark.to_owned(), tidy.to_owned()];
        let env = (!self.env.is_empty()).then(|| "env".to_owned()).into_iter();
        let env = env.chain(self.env.iter().map(|(name, value)| format!("{name}={value}")));
        head.into_iter().chain(told).chain(env).chain(self.argv.iter().cloned()).collect()
    }
}

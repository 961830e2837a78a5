//! What came out: the tools' own words, to be imported as anybody would, and failures, which are results as well.

use crate::plan::bytes;
use linerate_bench::{Kind, Param};
use linerate_snapshot::Snapshot;
use linerate_transport::{CollectError, TransportError};
use std::fmt;
use std::sync::Arc;

/// What a tool printed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawOutput {
    /// Standard output of the client, or of the only one.
    pub bytes: Vec<u8>,
    /// Its standard error: remarks.
    pub stderr: Vec<u8>,
    /// Its program and arguments, as they were run.
    pub argv: Vec<String>,
    /// The server's.
    pub server_argv: Option<Vec<String>>,
    /// Name of the test.
    pub test: &'static str,
    /// Whose output it is.
    pub kind: Kind,
    /// Host that measured.
    pub host: String,
    /// Host that served.
    pub server: Option<String>,
    /// Seconds of the Unix epoch.
    pub began: f64,
    /// Seconds of the Unix epoch.
    pub ended: f64,
    /// Exit status.
    pub exit: i32,
    /// Repetition, from 1.
    pub repetition: u32,
    /// Place among all runs, from 1.
    pub order: u32,
    /// Name of the setting.
    pub variant: String,
    /// It does not count.
    pub warmup: bool,
    /// NUMA node that the client was bound to.
    pub numa: Option<u32>,
    /// Bytes moved over the busiest interface of the client's host meanwhile, whoever moved them.
    pub moved: Option<u64>,
    /// Remarks of the runner: what could not be done as usual.
    pub notes: Vec<String>,
}

impl RawOutput {
    /// What its output cannot say of itself, to be kept with the runs that are imported from it.
    #[must_use]
    pub fn params(&self) -> Vec<(&'static str, Param)> {
        let mut out = vec![
            ("test", Param::from(self.test)),
            ("repetition", Param::from(self.repetition)),
            ("order", Param::from(self.order)),
            ("variant", Param::from(self.variant.as_str())),
            ("warmup", Param::from(self.warmup)),
        ];
        out.extend(self.numa.map(|n| ("numa", Param::from(n))));
        out
    }

    /// The output for an importer and for a file: remarks first where the output is text, because they belong to it. Without secrets.
    #[must_use]
    pub fn text(&self) -> Vec<u8> {
        let json = self.bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{');
        let mut text = if json { self.bytes.clone() } else { [self.stderr.as_slice(), self.bytes.as_slice()].concat() };
        linerate_snapshot::remove_secrets(&mut text);
        text
    }
}

/// Why a run gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// A program could not be started.
    #[error("{0}")]
    NotStarted(String),
    /// The server ended before the client did, or before it listened.
    #[error("the server ended with status {0}")]
    ServerDied(i32),
    /// The server did not listen in time.
    #[error("the server did not listen within {0} s")]
    ServerNotReady(u64),
    /// Ports were taken one after another.
    #[error("the ports {0:?} were all taken when the server started")]
    PortTaken(Vec<u16>),
    /// The client's exit status.
    #[error("it ended with status {0}")]
    Exit(i32),
    /// It ended with status 0, and its output says that it failed.
    #[error("its output says that it failed: {0}")]
    Said(String),
    /// It ended well and printed nothing.
    #[error("it printed nothing")]
    NoOutput,
    /// It printed more than is kept, bytes.
    #[error("it printed more than {0} bytes")]
    TooMuchOutput(usize),
    /// It did not end in time, seconds.
    #[error("it did not end within {0} s")]
    TimedOut(u64),
    /// The time of the whole run was used up, seconds.
    #[error("the time of the whole run, {0} s, was used up")]
    OverTime(u64),
    /// More was moved than allowed: bytes moved, bytes allowed.
    #[error("{} were moved, and {} are allowed", bytes(*.0), bytes(*.1))]
    OverTraffic(u64, u64),
    /// The connection to a host was lost.
    #[error("{0}")]
    Lost(String),
    /// It was told to end.
    #[error("it was cancelled")]
    Cancelled,
    /// A directory that is refused, or that is none.
    #[error("{0}")]
    Directory(String),
}

impl From<TransportError> for Why {
    fn from(e: TransportError) -> Self {
        match e {
            TransportError::NotConnected { .. } | TransportError::Lost { .. } => Why::Lost(e.to_string()),
            TransportError::TimedOut { seconds, .. } => Why::TimedOut(seconds),
            TransportError::Cancelled => Why::Cancelled,
            TransportError::Start { .. }
            | TransportError::Option { .. }
            | TransportError::Way { .. }
            | TransportError::Argument { .. } => Why::NotStarted(e.to_string()),
        }
    }
}

/// A run that gave no result.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// Why.
    pub why: Why,
    /// The tool's last lines, each with the host that said it.
    pub last_lines: Vec<String>,
    /// What there is of the run: whatever was printed until then.
    pub output: RawOutput,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let o = &self.output;
        let to = o.server.as_ref().map(|s| format!(" → {s}")).unwrap_or_default();
        write!(f, "{} on {}{to}: {}", o.test, o.host, self.why)?;
        self.last_lines.iter().try_for_each(|l| write!(f, "\n  {l}"))
    }
}

/// A host of a measurement.
#[derive(Debug, Clone)]
pub struct MeasuredHost {
    /// As the user names it.
    pub name: String,
    /// Its name for itself.
    pub node: String,
    /// Its configuration, or why it is not known.
    pub snapshot: Configuration,
}

/// The configuration of a host, or why it is not known.
pub type Configuration = Result<Arc<Snapshot>, Arc<NoSnapshot>>;

/// Why the configuration of a host is not known.
#[derive(Debug, thiserror::Error)]
pub enum NoSnapshot {
    /// The user did not want one.
    #[error("not asked for")]
    NotAsked,
    /// It could not be taken. The run goes on, and its numbers do not know that host's configuration.
    #[error(transparent)]
    Collect(CollectError),
}

/// Why a measurement ended before its plan did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It was told to.
    Cancelled,
    /// Its budget was used up.
    OverBudget,
    /// A host was lost.
    Lost,
}

/// What came out.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// Outputs of runs that ended well, warm-ups included, in their order.
    pub outputs: Vec<RawOutput>,
    /// Runs that did not.
    pub failures: Vec<Failure>,
    /// Hosts.
    pub hosts: Vec<MeasuredHost>,
    /// It ended early.
    pub stopped: Option<Stopped>,
}

#[cfg(test)]
mod tests {
    use super::RawOutput;
    use linerate_bench::Kind;

    fn output(bytes: &str, stderr: &str) -> RawOutput {
        RawOutput {
            bytes: bytes.into(),
            stderr: stderr.into(),
            test: "ping",
            kind: Kind::Ping,
            repetition: 1,
            order: 1,
            ..RawOutput::default()
        }
    }

    #[test]
    fn what_is_kept_and_imported_holds_no_secret() {
        let secret = "correct0001horse";
        let text = output("64 bytes from h\n", &format!("tool: password={secret}\n")).text();
        assert_eq!(String::from_utf8(text).unwrap(), "tool: password=[redacted]\n64 bytes from h\n");
        let json = output(&format!("{{\"auth_token\":\"{secret}\",\"x\":1}}"), "not in JSON").text();
        assert_eq!(String::from_utf8(json).unwrap(), "{\"auth_token\":\"[redacted]\",\"x\":1}");
    }
}

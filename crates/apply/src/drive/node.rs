//! A node as the driver reaches it: its hand, and how it is read.

use super::Bmc;
use crate::kube::Kube;
use crate::protocol::{Answer, Call, SCHEMA};
use linerate_out::child::Need;
use linerate_snapshot::Snapshot;
use linerate_transport::{Cancel, Collect, CollectError, Command, Ran, Transport, TransportError, collect_there};
use std::time::Duration;

/// Why a node gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreached {
    /// No connection, or it was lost: the node may be rebooting, and what was begun there goes on.
    #[error("{0}")]
    Lost(String),
    /// It answers, and not as a hand does.
    #[error("{0}")]
    Foreign(String),
    /// It answers as a hand does, and not of the plan that is held here, or of another machine.
    #[error(
        "{node}: its answer does not fit the plan stored here ({code}): {what}. The answer was not used; find out who changed that machine"
    )]
    Differs {
        /// Node.
        node: String,
        /// A stable word: what differs.
        code: &'static str,
        /// What, in words.
        what: String,
    },
}

impl From<TransportError> for Unreached {
    fn from(e: TransportError) -> Self {
        Unreached::Lost(e.to_string())
    }
}

/// What was heard, or why not.
pub type Reached<T> = Result<T, Unreached>;

/// A node.
pub trait Node: Send + Sync {
    /// Its name, as the operator gave it.
    fn name(&self) -> &str;

    /// Whether the driver runs on it: then a reboot ends the driver, too.
    fn is_here(&self) -> bool;

    /// Asks its hand.
    ///
    /// # Errors
    /// There is no answer.
    fn ask(&self, call: &Call) -> Reached<Answer>;

    /// Reads it.
    ///
    /// # Errors
    /// There is no snapshot.
    fn read(&self) -> Reached<Snapshot>;

    /// Its management controller, where the operator named one: it is what BIOS attributes are set by.
    fn bmc(&self) -> Option<&Bmc> {
        None
    }

    /// The cluster of its object, where the operator named one: it is what labels are changed by.
    fn kube(&self) -> Option<&Kube> {
        None
    }

    /// Fingerprint of the SSH host key that answers; `None`: it is not reached over SSH.
    ///
    /// # Errors
    /// It cannot be asked.
    fn host_key(&self) -> Reached<Option<String>> {
        Ok(None)
    }

    /// The id of its present boot. Short: it is asked again and again while a node comes up.
    ///
    /// # Errors
    /// It is not up.
    fn boot(&self) -> Reached<String>;
}

/// How often a lost request is asked again, and after how long.
const TRIES: u32 = 4;
/// How often one that still works for a request whose connection was lost: longer than the longest program of a plan.
const BUSY: u32 = 60;
const AGAIN: Duration = Duration::from_secs(if cfg!(test) { 0 } else { 5 });

pub(super) fn is_busy(answer: &Answer) -> bool {
    answer.refused.iter().any(|t| t.code == "busy")
}

/// Asks, and again where the connection is lost. After a loss, one who is busy still works for the request that was lost.
pub(super) fn again<T>(cancel: &Cancel, ask: impl Fn() -> Reached<T>, is_busy: impl Fn(&T) -> bool) -> Reached<T> {
    let (mut lost, mut busy) = (TRIES, BUSY);
    let mut heard = ask();
    while !cancel.is_cancelled() {
        match &heard {
            Err(Unreached::Lost(_)) if lost > 0 => lost -= 1,
            Ok(answer) if lost < TRIES && busy > 0 && is_busy(answer) => busy -= 1,
            _ => break,
        }
        std::thread::sleep(AGAIN);
        heard = ask();
    }
    heard
}

/// Longest that a phase may take: each program has its own limit below.
const PHASE: Duration = Duration::from_secs(3600);
/// Longest that a capture may take.
const CAPTURE: Duration = Duration::from_secs(300);
/// Largest answer of a hand.
const ANSWER: usize = 16 << 20;

/// A node over a transport, where `linerate` is installed.
pub struct Remote {
    transport: Box<dyn Transport>,
    /// `linerate` runs below `sudo -n` there.
    sudo: bool,
    cancel: Cancel,
}

impl Remote {
    /// A node. With `sudo`, the hand runs below `sudo -n`.
    #[must_use]
    pub fn new(transport: Box<dyn Transport>, sudo: bool, cancel: Cancel) -> Self {
        Remote { transport, sudo, cancel }
    }

    fn foreign(&self, what: &'static str, ran: &Ran) -> Unreached {
        // What a hand of the first protocol says of a call.
        let old = ran.status == 3 && String::from_utf8_lossy(&ran.stderr).contains("it is not a request");
        let hint = if old {
            "; linerate on the node is older than this protocol: install the same version on the node"
        } else {
            ""
        };
        Unreached::Foreign(format!("{}: {}{hint}", self.name(), ran.not_done(what)))
    }
}

impl Node for Remote {
    fn name(&self) -> &str {
        self.transport.host()
    }

    fn is_here(&self) -> bool {
        self.transport.is_here()
    }

    fn ask(&self, call: &Call) -> Reached<Answer> {
        let text = serde_json::to_vec(call).map_err(|e| Unreached::Foreign(e.to_string()))?;
        let argv = ["sudo", "-n", "linerate", "hand"].into_iter().skip(if self.sudo { 0 } else { 2 });
        let command = Command::new(argv).limit(PHASE).most(ANSWER).need(Need::Plain);
        // What was begun there is brought to an end: to stop waiting would not stop it.
        let ran = self.transport.converse(&command, text, &Cancel::new())?;
        heard(self.name(), &ran.stdout).unwrap_or_else(|| Err(self.foreign("linerate hand", &ran)))
    }

    fn host_key(&self) -> Reached<Option<String>> {
        Ok(self.transport.host_key(&self.cancel)?)
    }

    fn read(&self) -> Reached<Snapshot> {
        // Redaction hashes anew each time: before and after would differ everywhere.
        let how = Collect { redact: false, sudo: self.sudo, limit: CAPTURE };
        collect_there(&*self.transport, &how, &self.cancel).map_err(|e| match e {
            CollectError::Transport(e) => e.into(),
            other => Unreached::Foreign(format!("{}: {other}", self.name())),
        })
    }

    fn boot(&self) -> Reached<String> {
        let command = Command::new(["cat", "/proc/sys/kernel/random/boot_id"]).limit(Duration::from_secs(20));
        let ran = self.transport.run(&command, &self.cancel)?;
        let id = ran.text().trim().to_owned();
        if ran.status == 0 && !id.is_empty() {
            Ok(linerate_snapshot::boot_digest(&id))
        } else {
            Err(self.foreign("cat", &ran))
        }
    }
}

/// An answer as bytes; `None`: it is none. Another version's says so, and what to do.
pub(super) fn heard(node: &str, bytes: &[u8]) -> Option<Reached<Answer>> {
    #[derive(serde::Deserialize)]
    struct Head {
        schema: String,
        version: String,
    }
    let head: Head = serde_json::from_slice(bytes).ok()?;
    let own = env!("CARGO_PKG_VERSION");
    if head.schema != SCHEMA || head.version != own {
        let Head { schema, version } = head;
        return Some(Err(Unreached::Foreign(format!(
            "{node}: linerate on the node is {version:.40} with protocol {schema:.40}; here it is {own} with {SCHEMA}: install the same version on both"
        ))));
    }
    Some(serde_json::from_slice(bytes).map_err(|why| Unreached::Differs {
        node: node.to_owned(),
        code: "form",
        what: format!("it is not an answer of this version ({why})"),
    }))
}

#[cfg(test)]
mod tests {
    use super::{Remote, Unreached};
    use crate::hand::tests::secrets::corpus;
    use linerate_transport::{Cancel, Local, Ran};

    #[test]
    fn what_a_node_says_instead_of_an_answer_is_told_without_secrets() {
        let remote = Remote::new(Box::new(Local::new()), false, Cancel::new());
        for p in corpus::lines(0) {
            let ran = Ran { status: 1, stdout: Vec::new(), stderr: p.text.into(), cut: false };
            let Unreached::Foreign(said) = remote.foreign("linerate hand", &ran) else { panic!("it is not an answer") };
            assert!(!said.contains(&p.secret), "{said}");
        }
    }
}

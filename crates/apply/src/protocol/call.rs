//! Who calls a hand, and for which session.

use super::{Request, SCHEMA};
use serde::{Deserialize, Serialize};

/// Longest name of an operator, in bytes.
const NAME: usize = 160;

/// A request, and the session that makes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// [`SCHEMA`].
    pub schema: String,
    /// Who calls.
    pub session: Session,
    /// The session that this one takes the node from, by its id: only with [`Request::Take`], and only where that one still holds the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes: Option<String>,
    /// What is asked.
    pub ask: Request,
}

/// An operator's process, from its first request to its last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// 32 hexadecimal digits, of chance.
    pub id: String,
    /// User and host, for people.
    pub who: String,
    /// Digest of the operator's machine, its boot and its process ids: where it is the same, `pid` can be looked for. Empty: not known.
    pub place: String,
    /// Process there.
    pub pid: u32,
    /// When that process began, in the kernel's own count: another process of the same number began at another time.
    pub began: u64,
}

/// The session that holds a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holder {
    /// Session.
    pub session: Session,
    /// Since when, in seconds since 1970.
    pub since: u64,
    /// For which plan: its hash.
    pub plan: String,
    /// The address that its connection came from, as the node saw it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

impl Call {
    /// A call of a session.
    #[must_use]
    pub fn new(session: &Session, ask: Request) -> Call {
        Call { schema: SCHEMA.to_owned(), session: session.clone(), takes: None, ask }
    }

    /// Its digest, as both sides compute it.
    #[must_use]
    pub fn digest(&self) -> String {
        linerate_remedy::sha256(&serde_json::to_vec(self).unwrap_or_default())
    }
}

impl Session {
    /// Whether its words are of the form that a hand takes.
    pub(crate) fn is_sound(&self) -> bool {
        let digits = |text: &str, len: usize| text.len() == len && text.bytes().all(|b| b.is_ascii_hexdigit());
        digits(&self.id, 32) && is_word(&self.who) && (self.place.is_empty() || digits(&self.place, 64))
    }

    /// Its id, short, for people.
    #[must_use]
    pub fn short(&self) -> &str {
        self.id.get(..8).unwrap_or(&self.id)
    }
}

/// Whether a name is one line of plain characters.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.len() <= NAME && text.bytes().all(|b| b.is_ascii_graphic())
}

impl Holder {
    /// Who, since when, from where, for which plan: in one sentence, at this time (seconds since 1970).
    #[must_use]
    pub fn words(&self, now: u64) -> String {
        let Session { who, pid, .. } = &self.session;
        let from = self.from.as_ref().map(|f| format!(", from {f}")).unwrap_or_default();
        let minutes = now.saturating_sub(self.since) / 60;
        let plan: String = self.plan.chars().take(16).collect();
        format!(
            "{who} (process {pid}, session {}{from}) has held this node for {minutes} minutes, for plan {plan}",
            self.session.short()
        )
    }
}

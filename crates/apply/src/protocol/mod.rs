//! What is asked of a node's hand, and what it answers: one JSON document each way, on standard input and output of `linerate hand`.
//!
//! The plan that is made, undone or gone on with is the operator's. A hand answers with observations, each bound to the digest of that plan
//! and to the digest of the call; nothing that it answers says what is to be done.

mod call;

pub use call::{Call, Holder, Session};

use linerate_remedy::{NodeId, Plan};
use serde::{Deserialize, Serialize};

/// The form of requests and answers. Both sides must be of one version.
pub const SCHEMA: &str = "linerate.hand/2";

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// How does a plan stand on the node? An observation: nothing is written.
    Inspect {
        /// The plan's hash; `None`: the plan that was used last.
        plan: Option<String>,
    },
    /// Takes the node for the session that calls, before anything else is done with a plan: no other session can change the node until this
    /// one leaves it. Answers as [`Request::Inspect`].
    Take {
        /// The plan's hash.
        plan: String,
    },
    /// Leaves the node to other sessions. Nothing happens where another one holds it.
    Leave,
    /// Everything that speaks against a plan on the node as it is: what [`Request::Begin`] would refuse. Writes nothing.
    Check {
        /// The plan.
        plan: Box<Plan>,
        /// Steps; empty: all.
        steps: Vec<String>,
    },
    /// Takes the node for a plan: checks the plan's hash, the node, programs, privileges, space and every step's precondition, changes
    /// nothing but its own journal. Asked again for the same plan, it goes on with that journal.
    Begin {
        /// The plan.
        plan: Box<Plan>,
        /// Operator, for the journal: user and host.
        who: String,
        /// Steps to take; empty: all.
        steps: Vec<String>,
    },
    /// Makes the acts of a phase that are not yet made, in order, each journalled before and after.
    Perform {
        /// The plan's hash.
        plan: String,
        /// Phase.
        phase: Phase,
    },
    /// Notes what was read on the node after a phase: the proof, or its absence.
    Note {
        /// The plan's hash.
        plan: String,
        /// What.
        note: Note,
    },
    /// Notes how an act stands that the driver makes from where it is (BIOS attributes by Redfish, labels by the Kubernetes API): announced before it, made after it.
    Elsewhere {
        /// The plan's hash.
        plan: String,
        /// Step.
        step: String,
        /// Number of the act, as in [`ActState`].
        number: usize,
        /// How it stands: not [`Stands::Open`].
        stands: Stands,
        /// What was read, in words; before the act, what was there.
        note: String,
    },
    /// Reboots, unless the plan has had its attempts. The answer comes before the node goes down.
    Reboot {
        /// The plan's hash.
        plan: String,
        /// Reboots that one plan may have.
        most: u32,
    },
    /// Undoes all acts, the last first; those that the driver made are left to it, and told by [`Request::Elsewhere`].
    Rollback {
        /// The plan's hash.
        plan: String,
    },
    /// Releases the node: the plan is proven, or undone.
    Finish {
        /// The plan's hash.
        plan: String,
    },
}

/// Which acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Changes of steps without a trial, and the trials of the others: all that comes before the reboot.
    First,
    /// Changes of steps whose trial was proven, which make it last.
    Lasting,
    /// Labels that say what the node does: the driver puts them when all else is proven.
    Claims,
}

/// Something that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// Step; `None`: the node.
    pub step: Option<String>,
    /// `effective`, `pending`, `ineffective`, `regressed`, or free.
    pub what: String,
    /// Evidence in words.
    pub why: String,
}

/// What a hand answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Answer {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of `linerate` there.
    pub version: String,
    /// Digest of the call that is answered, as it was heard.
    pub asked: String,
    /// The node.
    pub node: NodeId,
    /// What it stands at, after the request.
    pub state: Option<State>,
    /// The session that holds the node, after the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<Holder>,
    /// Why the request was not (wholly) carried out. Nothing is half made without being told here.
    pub refused: Vec<Trouble>,
    /// What else people should know: a journal's torn last line, an act found made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<String>,
}

/// A plan on a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// The plan's hash.
    pub plan: String,
    /// Who took the node.
    pub who: String,
    /// When, in seconds since 1970.
    pub since: u64,
    /// Where the plan stands.
    pub stage: Stage,
    /// The boot in which it was begun.
    pub begun_in: String,
    /// Boots in which reboots were asked for, in order.
    pub reboots: Vec<String>,
    /// The boot in which it was last undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_in: Option<String>,
    /// Steps that were taken; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// The boot in which the last act of the first phase was made, where all of it are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_in: Option<String>,
    /// The same of what follows the proof of a trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasting_in: Option<String>,
    /// Acts, in order of the plan.
    pub acts: Vec<ActState>,
}

/// Where a plan stands on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Taken; the first phase may be partly made.
    Begun,
    /// The first phase is made.
    First,
    /// All is made, but for labels that claim it.
    Lasting,
    /// Some of it is undone.
    Undoing,
    /// All is undone.
    Undone,
    /// Released, proven.
    Finished,
}

/// An act on a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ActState {
    /// Step.
    pub step: String,
    /// Number of the act among the step's trial acts, then changes.
    pub number: usize,
    /// Where it stands.
    pub stands: Stands,
    /// Of an act that the driver makes: what was there before it, as the driver noted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Files of which the node keeps what was there before the act, to put it back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
}

/// Where an act stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stands {
    /// Not begun.
    Open,
    /// Announced; whether it was made has to be looked at.
    Announced,
    /// Made, and seen.
    Made,
    /// Failed; what was there is there again.
    Failed,
    /// Undone.
    Undone,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trouble {
    /// Stable word for programs: `stale`, `other-node`, `taken`, `missing-program`, `not-root`, `no-space`, `read-only`, `failed`,
    /// `unexpected`, `too-many-reboots`, `hash`, `version`, `busy` (another hand works at this moment), `journal` (damaged), `order` (not now),
    /// `unproven` (the kernel on trial does not run), `not-here` (the driver makes it), `lockdown`, `unknown-plan`, `unknown-step`, `held` (another
    /// session holds the node), `state` (a directory of the node's state belongs to somebody else, or is open to others), `backup` (what the
    /// journal keeps is not what the plan names).
    pub code: String,
    /// Step, where it is one's.
    pub step: Option<String>,
    /// What, where, why, and what to do.
    pub what: String,
}

/// The code of [`Trouble::is_unexpected`].
pub(crate) const UNEXPECTED: &str = "unexpected";

impl Trouble {
    /// Something is neither as the plan left it nor as it was: somebody else changed it, and it was left so.
    #[must_use]
    pub fn is_unexpected(&self) -> bool {
        self.code == UNEXPECTED
    }
}

//! Whether a plan is effective: by what the node shows when it is read again, never by what was written.

mod firmware;
mod guest;
mod identity;
mod label;
mod look;
mod prove;
mod reason;
mod regress;
mod seam;
mod still;

pub use identity::{Identity, identity};
pub(crate) use look::is_value;
pub use regress::Regressed;

use crate::diff::{self, Change};
use crate::model::{NodeId, Plan, Proof, Step};
use linerate_node::Node;
use linerate_rules::{Audit, audit};
use linerate_snapshot::Snapshot;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The form of verifications.
pub const VERIFY_SCHEMA: &str = "linerate.verify/1";

/// What a node that was read again says about a plan.
#[derive(Debug, Clone, Serialize)]
pub struct Verification {
    /// [`VERIFY_SCHEMA`].
    pub schema: &'static str,
    /// Version of linerate.
    pub linerate: &'static str,
    /// Hash of the plan.
    pub plan: String,
    /// Its node.
    pub node: NodeId,
    /// Whether it is the node of the plan.
    pub machine: Identity,
    /// The snapshot from before, where there is one.
    pub before: Option<String>,
    /// The snapshot that was judged.
    pub after: String,
    /// Whether the node was started since the plan was made; `None`: one of the two boots is not known.
    pub rebooted: Option<bool>,
    /// Each step, in the plan's order.
    pub steps: Vec<StepResult>,
    /// Rules that fail now and did not.
    pub regressed: Vec<Regressed>,
    /// Differences that no step explains and that do not move by themselves.
    pub outside: Vec<Change>,
    /// What could not be compared, and why.
    pub limits: Vec<String>,
}

/// What the node says about a step.
#[derive(Debug, Clone, Serialize)]
pub struct StepResult {
    /// Step.
    pub id: String,
    /// What it does.
    pub summary: String,
    /// The worst of its proofs.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Each proof.
    pub proofs: Vec<Proved>,
}

/// What was read for a proof.
#[derive(Debug, Clone, Serialize)]
pub struct Proved {
    /// What must be so.
    pub proof: Proof,
    /// Whether it is.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// What was read; empty: nothing.
    pub read: String,
    /// Where, in words.
    pub at: String,
}

/// Whether something is effective.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", content = "reason", rename_all = "kebab-case")]
pub enum Outcome {
    /// The node shows it.
    Effective,
    /// Not yet: what is still due.
    Pending(String),
    /// Not, though nothing is due: the probable reason.
    Ineffective(String),
    /// It could not be read: what is missing.
    Unknown(String),
}

impl Outcome {
    /// As in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Effective => "effective",
            Outcome::Pending(_) => "pending",
            Outcome::Ineffective(_) => "ineffective",
            Outcome::Unknown(_) => "unknown",
        }
    }

    /// Why; empty where it is effective.
    #[must_use]
    pub fn reason(&self) -> &str {
        match self {
            Outcome::Effective => "",
            Outcome::Pending(r) | Outcome::Ineffective(r) | Outcome::Unknown(r) => r,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Outcome::Effective => 0,
            Outcome::Unknown(_) => 1,
            Outcome::Pending(_) => 2,
            Outcome::Ineffective(_) => 3,
        }
    }
}

/// What a snapshot cannot show, told by somebody who looked.
#[derive(Debug, Clone, Default)]
pub struct Told {
    /// BIOS attributes in force, by the service's names.
    pub bios: BTreeMap<String, serde_json::Value>,
    /// BIOS attributes that wait for the next start through POST.
    pub bios_pending: BTreeMap<String, serde_json::Value>,
    /// What the service answered when they were set: `a task that ended as Completed`.
    pub bios_answers: BTreeMap<String, String>,
    /// Why the service could not be asked.
    pub bios_trouble: Option<String>,
    /// All labels of the node's object in Kubernetes; `None`: nobody asked.
    pub labels: Option<BTreeMap<String, String>>,
    /// Why the API could not be asked.
    pub labels_trouble: Option<String>,
    /// Labels that are put only when all else is proven, and are not yet.
    pub labels_due: BTreeSet<String>,
    /// Guests that were read, by the names of their domains.
    pub guests: BTreeMap<String, Snapshot>,
}

impl Verification {
    /// Whether every step is effective, and nothing else fails that did not. What changed outside the plan without that is told beside it.
    #[must_use]
    pub fn is_proven(&self) -> bool {
        let other = matches!(self.machine, Identity::No(_));
        !other && self.steps.iter().all(|s| s.outcome == Outcome::Effective) && self.regressed.is_empty()
    }

    /// 0: proven; 1: a step is ineffective, or something else changed for the worse; 2: a step still waits, or could not be seen.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self.steps.iter().map(|s| s.outcome.rank()).max().unwrap_or(0) {
            _ if self.is_proven() => 0,
            3 => 1,
            _ if !self.regressed.is_empty() => 1,
            _ => 2,
        }
    }

    /// Steps with an outcome of this name.
    pub fn with<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a StepResult> {
        self.steps.iter().filter(move |s| s.outcome.name() == name)
    }
}

/// Everything that proofs are judged by.
struct Cx<'a> {
    before: Option<&'a Snapshot>,
    after: &'a Snapshot,
    node: &'a Node<'a>,
    audit: &'a Audit,
    told: &'a Told,
    rebooted: Option<bool>,
}

/// Judges a plan by a node that was read again.
#[must_use]
pub fn verify(plan: &Plan, before: Option<&Snapshot>, after: &Snapshot) -> Verification {
    verify_told(plan, before, after, &Told::default())
}

/// As [`verify`], with what somebody looked up who can ask more than the node.
#[must_use]
pub fn verify_told(plan: &Plan, before: Option<&Snapshot>, after: &Snapshot, told: &Told) -> Verification {
    let machine = identity(plan, before, after);
    if let Identity::No(why) = &machine {
        return another(plan, before, after, why);
    }
    let rules = linerate_rules::rules();
    let node = Node::decode_as(after, plan.role);
    let now = audit(&node, after, rules);
    let mut limits = Vec::new();
    if let Identity::Unknown(why) = &machine {
        limits.push(format!("it is not known whether this is the node of the plan: {why}"));
    }
    let rebooted = rebooted(plan, before, after);
    if rebooted.is_none() {
        limits.push("whether the node was started since is not known: one of the two boots has no id".to_owned());
    }
    let regressed = match before {
        Some(b) => {
            let then = Node::decode_as(b, plan.role);
            regress::regressed(&audit(&then, b, rules), &now, after)
        }
        None => {
            limits.push(
                "no --before snapshot was given: whether anything else became worse cannot be checked".to_owned(),
            );
            Vec::new()
        }
    };
    let changes = before.map(|b| diff::diff(b, after)).unwrap_or_default();
    let outside = diff::outside(&changes, plan).into_iter().cloned().collect();
    let cx = Cx { before, after, node: &node, audit: &now, told, rebooted };
    Verification {
        schema: VERIFY_SCHEMA,
        linerate: env!("CARGO_PKG_VERSION"),
        plan: plan.hash.clone(),
        node: plan.node.clone(),
        machine,
        before: before.map(|b| b.label.clone()),
        after: after.label.clone(),
        rebooted,
        steps: plan.steps.iter().map(|s| step(&cx, s)).collect(),
        regressed,
        outside,
        limits,
    }
}

/// Of another machine nothing follows for the plan.
fn another(plan: &Plan, before: Option<&Snapshot>, after: &Snapshot, why: &str) -> Verification {
    let step = |s: &Step| StepResult {
        id: s.id.clone(),
        summary: s.summary.clone(),
        outcome: Outcome::Unknown("another machine was read".to_owned()),
        proofs: Vec::new(),
    };
    Verification {
        schema: VERIFY_SCHEMA,
        linerate: env!("CARGO_PKG_VERSION"),
        plan: plan.hash.clone(),
        node: plan.node.clone(),
        machine: Identity::No(why.to_owned()),
        before: before.map(|b| b.label.clone()),
        after: after.label.clone(),
        rebooted: None,
        steps: plan.steps.iter().map(step).collect(),
        regressed: Vec::new(),
        outside: Vec::new(),
        limits: vec![why.to_owned()],
    }
}

fn step(cx: &Cx<'_>, step: &Step) -> StepResult {
    let proofs: Vec<Proved> = step.proof.iter().map(|p| prove::prove(cx, step, p)).collect();
    let worst = proofs.iter().map(|p| &p.outcome).max_by_key(|o| o.rank()).cloned();
    let outcome = worst.unwrap_or_else(|| Outcome::Unknown("the plan names nothing that would show it".to_owned()));
    StepResult { id: step.id.clone(), summary: step.summary.clone(), outcome, proofs }
}

/// Whether the node was started since the plan was made.
fn rebooted(plan: &Plan, before: Option<&Snapshot>, after: &Snapshot) -> Option<bool> {
    let then = plan.node.boot.clone().filter(|b| !b.is_empty()).or_else(|| before.and_then(look::boot_id))?;
    // Plans of earlier versions hold the id itself.
    Some(linerate_snapshot::boot_digest(&then) != look::boot_id(after)?)
}

#[cfg(test)]
pub(crate) mod example;
#[cfg(test)]
mod tests;

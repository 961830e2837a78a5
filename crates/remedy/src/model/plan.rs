//! A plan.

use super::{Act, Disruption, Risk, Simulation, Step};
use crate::hash::sha256;
use linerate_node::context::Role;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The form of plans.
pub const SCHEMA: &str = "linerate.plan/1";

/// What is to be changed on a node, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Plan {
    /// [`SCHEMA`].
    pub schema: String,
    /// SHA-256 of everything else: a plan that was edited by hand is no plan.
    pub hash: String,
    /// Version of `linerate` that made it.
    pub version: String,
    /// For which node.
    pub node: NodeId,
    /// What the operator said that the node is, where it does not tell; it is judged as that again. `None`: it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Its object in Kubernetes, where labels of it are changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<KubeNode>,
    /// What was read to make it.
    pub source: String,
    /// Platform, in words: `Debian 12, GRUB`.
    pub platform: String,
    /// In order. All that need a reboot share one.
    pub steps: Vec<Step>,
    /// What is left to people, in order.
    pub by_hand: Vec<ByHand>,
    /// What findings ask for and is not done, with the reason.
    pub refused: Vec<Refused>,
    /// Verdicts before, and of the node as all steps would make it. `None`: there are no steps, or an older version made the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulation: Option<Simulation>,
}

/// Which node.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeId {
    /// Name, for people.
    pub host: Option<String>,
    /// Digest of its machine id, salted; `None` where the source does not show it.
    pub machine: Option<String>,
    /// The boot in which the source was read.
    pub boot: Option<String>,
    /// The source is redacted: neither its name nor its machine id is one that another source shows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// What SMBIOS calls the machine, in lower case, as the operator's side saw it when the plan was made: by it a BMC is known to be this
    /// machine's. `None`: it was not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Fingerprint of the SSH host key that answered when the plan was made. `None`: it was not read over SSH.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_key: Option<String>,
}

/// A node's object in Kubernetes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KubeNode {
    /// Its name.
    pub name: String,
    /// Its `metadata.uid`: an object that was made anew has another.
    pub uid: String,
    /// Its `status.nodeInfo.systemUUID`, in lower case; `None`: it shows none.
    pub system: Option<String>,
    /// Digest of its `status.nodeInfo.machineID`, as in [`NodeId::machine`].
    pub machine: Option<String>,
}

/// A fix that no program can make from here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByHand {
    /// Rules that ask for it.
    pub rules: Vec<String>,
    /// What to do, in the imperative.
    pub summary: String,
    /// How: menu names, commands, one a line.
    pub how: Vec<String>,
    /// What to read afterwards.
    pub reread: Vec<String>,
}

/// A fix that is not planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    /// Rules that ask for it.
    pub rules: Vec<String>,
    /// What.
    pub summary: String,
    /// Why not.
    pub reason: String,
    /// What on the command line would plan it after all; `None`: nothing.
    pub unless: Option<String>,
}

/// Why a text is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Not JSON of this form.
    #[error("it is not a plan of this version: {0}")]
    Form(#[from] serde_json::Error),
    /// Another form.
    #[error("it is a {0:?}, but this version reads {SCHEMA}")]
    Schema(String),
    /// Changed after it was made.
    #[error(
        "it was changed after it was made (its hash is {found}, it says {told}): make a new plan with the options that you want"
    )]
    Edited {
        /// What it says.
        told: String,
        /// What it is.
        found: String,
    },
}

/// By way of a [`Value`], whatever it is read from, and by a function that is not generic: so the forms of all acts and proofs are compiled
/// once, and not for each kind of reader in each crate that reads plans.
impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Plan, D::Error> {
        of_value(Value::deserialize(from)?).map_err(D::Error::custom)
    }
}

fn of_value(value: Value) -> Result<Plan, serde_json::Error> {
    Plan::deserialize(value)
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        Plan::serialize(self, to)
    }
}

impl Plan {
    /// The digest of all but the hash.
    #[must_use]
    pub fn digest(&self) -> String {
        let bare = Plan { hash: String::new(), ..self.clone() };
        sha256(&serde_json::to_vec(&bare).unwrap_or_default())
    }

    /// The same with its hash.
    #[must_use]
    pub fn sealed(mut self) -> Plan {
        self.hash = self.digest();
        self
    }

    /// Reads a plan as `--format json` wrote it.
    ///
    /// # Errors
    /// It is none, is of another form, or was changed since.
    pub fn read(bytes: &[u8]) -> Result<Plan, PlanError> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let head: Head = serde_json::from_slice(bytes)?;
        if head.schema != SCHEMA {
            return Err(PlanError::Schema(head.schema));
        }
        let plan: Plan = serde_json::from_slice(bytes)?;
        let found = plan.digest();
        if found != plan.hash {
            return Err(PlanError::Edited { told: plan.hash, found });
        }
        Ok(plan)
    }

    /// The most that a step disturbs.
    #[must_use]
    pub fn disruption(&self) -> Disruption {
        self.steps.iter().map(|s| s.disruption).max().unwrap_or(Disruption::None)
    }

    /// Steps that have to be named on the command line.
    pub fn dangerous(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|s| s.risk == Risk::Dangerous)
    }

    /// A step by its name.
    #[must_use]
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|s| s.id == id)
    }

    /// An act of a step by its number.
    #[must_use]
    pub fn act(&self, step: &str, number: usize) -> Option<&Act> {
        self.step(step)?.acts().nth(number)
    }
}

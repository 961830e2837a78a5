//! A plan in the words of another system, which then makes the changes. Pure text.
//!
//! What a form cannot carry is never dropped: it is in [`Export::left_out`], and as a comment in the text. All data is quoted by the form's own
//! rules; what those cannot hold is left out, too.

mod ansible;
mod cloud_init;
mod machineconfig;
mod nicconfig;
mod nmstate;
mod one_node;
mod pieces;
mod quote;
mod shell;
mod talos;
mod yaml;

pub use ansible::ansible;
pub use cloud_init::cloud_init;
pub use machineconfig::machineconfig;
pub use nicconfig::{LinkType, NicType, nicconfig};
pub use nmstate::nmstate;
pub use shell::shell;
pub use talos::{TalosBoot, talos};

use crate::model::{Plan, Step};
use crate::platform::{Boot, Platform};
pub(crate) use pieces::Piece;
use quote::comment;

/// A plan in the words of another system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The whole text.
    pub text: String,
    /// What it does not carry.
    pub left_out: Vec<LeftOut>,
}

/// Something that a form does not carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Step; `None`: what the plan leaves to people, or refuses.
    pub step: Option<String>,
    /// What.
    pub what: String,
    /// Why not, and where it belongs.
    pub why: String,
}

/// Why there is no export.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// A MachineConfig for a pool that does not exist is applied by nobody, without a word.
    #[error(
        "there is no MachineConfigPool {pool:?} ({}): no node would take a MachineConfig for it. Give one that `oc get mcp` shows",
        shown(known)
    )]
    NoPool {
        /// Pool that was named.
        pool: String,
        /// Pools that are known.
        known: Vec<String>,
    },
    /// The node is not one that the Machine Config Operator owns.
    #[error(
        "this node is not an OpenShift node ({platform}): a MachineConfig changes RHCOS nodes only. Leave out --format machineconfig, and `linerate plan` \
         writes the changes for this platform"
    )]
    NotOpenShift {
        /// The node's platform, in words.
        platform: String,
    },
}

/// Whether a MachineConfig can be what changes a node of this platform. Where it is not known what owns the node, it may be.
///
/// # Errors
/// The node is managed in another way.
pub fn machineconfig_fits(platform: &Platform) -> Result<(), ExportError> {
    match platform.boot {
        Boot::OpenShift | Boot::Unknown(_) => Ok(()),
        _ => Err(ExportError::NotOpenShift { platform: platform.words() }),
    }
}

fn shown(known: &[String]) -> String {
    if known.is_empty() { "no pool is known".into() } else { format!("known: {}", known.join(", ")) }
}

/// Why the trial of a step is not in a form that is carried out on a node.
const TRIAL: &str =
    "a trial boot needs somebody who watches it: here the change is made at once, and nothing falls back";

/// Why words with a NUL are in no script.
pub(crate) const NUL: &str = "it holds a character that a shell word cannot hold";

/// Why an act is not in a form that is carried out on a node.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    /// A word or a text of it holds NUL.
    #[error("{NUL}")]
    Nul,
    /// Ansible's language of templates.
    #[error("Ansible would read {{{{, {{% or {{# in it as a template")]
    Template,
    /// Ansible's reading of words and paths.
    #[error("Ansible would put its own values in place of ~ or $NAME in it")]
    Expanded,
    /// The act's own reason.
    #[error("{0}")]
    Act(String),
}

/// What is left out while an export is made.
struct Rest {
    list: Vec<LeftOut>,
}

impl Rest {
    /// What no form carries.
    fn of(plan: &Plan) -> Rest {
        let hand = plan.by_hand.iter().map(|b| LeftOut { step: None, what: b.summary.clone(), why: "by hand".into() });
        let refused =
            plan.refused.iter().map(|r| LeftOut { step: None, what: r.summary.clone(), why: r.reason.clone() });
        Rest { list: hand.chain(refused).collect() }
    }

    fn leave(&mut self, step: &str, what: impl Into<String>, why: impl Into<String>) {
        let left = LeftOut { step: Some(step.to_owned()), what: what.into(), why: why.into() };
        if !self.list.contains(&left) {
            self.list.push(left);
        }
    }

    /// A start that is watched is in no form that others carry out.
    fn leave_trial(&mut self, step: &Step, why: &str) {
        step.trial.iter().for_each(|act| self.leave(&step.id, act.summary(), why));
    }

    /// The head of a text: what it is, and what is not in it.
    fn head(&self, plan: &Plan, what: &str) -> String {
        let host = plan.node.host.as_deref().unwrap_or("a node without a name");
        let mut text = format!("# {}\n", comment(what));
        text.push_str(&format!(
            "# Made by linerate {} of its plan {} for {} ({}).\n",
            comment(&plan.version),
            comment(&plan.hash),
            comment(host),
            comment(&plan.platform)
        ));
        if !self.list.is_empty() {
            text.push_str("#\n# Not in it:\n");
        }
        for left in &self.list {
            let step = left.step.as_deref().unwrap_or("-");
            text.push_str(&format!("#   {}: {}: {}\n", comment(step), comment(&left.what), comment(&left.why)));
        }
        text
    }

    fn done(self, text: String) -> Export {
        Export { text, left_out: self.list }
    }
}

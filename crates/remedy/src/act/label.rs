//! A label of the node's object in Kubernetes.

use super::{ActShown, Deed};
use crate::effect::Effect;
use crate::export::NUL;
use crate::model::Step;
use linerate_out::shell;
use serde::{Deserialize, Serialize};

/// A label of the node's object in Kubernetes. One that is taken off goes before anything else is made, one that is put comes when
/// all else is proven: it says what the node does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelAct {
    /// The object's name.
    pub node: String,
    /// Key, with its prefix.
    pub key: String,
    /// Value now; `None`: it has no such label.
    pub before: Option<String>,
    /// Value then; `None`: no such label.
    pub after: Option<String>,
}

/// Why no form that is carried out on a node, or at its first start, carries labels.
const PROVES_NOTHING: &str =
    "a label describes what a node does, but this form proves nothing: use `linerate apply` to change it";

impl ActShown for LabelAct {
    fn summary(&self) -> String {
        let LabelAct { node, key, before, after } = self;
        let now = before.as_ref().map_or("it has none".to_owned(), |b| format!("now {key}={b}"));
        match after {
            Some(value) => format!("put the label {key}={value} on the Kubernetes node {node} ({now})"),
            None => format!("take the label {key} off the Kubernetes node {node} ({now})"),
        }
    }

    fn notes(&self) -> Vec<String> {
        let when = if self.after.is_some() { "when all else is proven" } else { "before anything else is changed" };
        vec![format!("made through the Kubernetes API, {when}")]
    }

    fn rollback(&self) -> Option<String> {
        Some(match &self.before {
            Some(before) => format!("put the label {}={before} back", self.key),
            None => format!("take the label {} off", self.key),
        })
    }

    fn effects(&self) -> Vec<Effect> {
        let LabelAct { node, key, after, .. } = self.clone();
        vec![Effect::Label { node, key, value: after }]
    }

    // For people to read: where this script runs there is no kubectl, and it proves nothing.
    fn deed(&self, _: &Step) -> Deed<'_> {
        let LabelAct { node, key, after, .. } = self;
        let word = after.as_ref().map_or(format!("{key}-"), |value| format!("{key}={value}"));
        let when = if self.after.is_some() { "when the node is proven" } else { "before anything is changed" };
        let script = shell::command(&["kubectl", "label", "node", node, &word, "--overwrite"]).map_or_else(
            || NUL.to_owned(),
            |line| format!("it is made where the Kubernetes API is reached, {when}: {line}"),
        );
        let what = match after {
            Some(value) => format!("the label {key}={value}"),
            None => format!("removal of the label {key}"),
        };
        Deed::Left { what: Some(what), script, playbook: PROVES_NOTHING, others: PROVES_NOTHING }
    }
}

//! A label of the node's object in Kubernetes.

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

//! A value of the running kernel.

use super::{ActShown, Deed};
use crate::effect::Effect;
use crate::model::Step;
use serde::{Deserialize, Serialize};

/// A value under `/sys` or `/proc/sys`, which lasts until the next boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueAct {
    /// Path.
    pub path: String,
    /// What is read there now, without white space around it.
    pub before: String,
    /// What is written, and then read. Where the kernel shows a choice, `[…]` marks it.
    pub after: String,
}

impl ActShown for ValueAct {
    fn summary(&self) -> String {
        format!("write {} to {} (now {})", self.after, self.path, self.before)
    }

    fn rollback(&self) -> Option<String> {
        Some(format!("write {} to {}", self.before, self.path))
    }

    fn effects(&self) -> Vec<Effect> {
        vec![Effect::Value { path: self.path.clone(), value: self.after.clone() }]
    }

    fn deed(&self, _: &Step) -> Deed<'_> {
        Deed::Value(self)
    }
}

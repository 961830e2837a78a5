//! A value of the running kernel.

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

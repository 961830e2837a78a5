//! A program.

use serde::{Deserialize, Serialize};

/// A program that makes other files of what was written, or makes the system take it: `update-grub`, `systemctl daemon-reload`. It is
/// the same when run twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunAct {
    /// Program and arguments. The first is a name found in the system's directories, or an absolute path.
    pub argv: Vec<String>,
    /// Files that it writes. They are kept before, and put back when undone.
    pub writes: Vec<String>,
    /// What is run when undone, after the files are back; empty: nothing. Where somebody else wrote one of the files since, a program
    /// with an inverse is left as it is, and one without is run again.
    pub undo: Vec<String>,
    /// Seconds that it may take.
    pub limit: u32,
}

//! A program.

use super::{ActShown, Deed};
use crate::diff::{Found, whole};
use crate::effect::{self, Effect};
use crate::model::Step;
use linerate_out::shell;
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

impl ActShown for RunAct {
    fn summary(&self) -> String {
        format!("run {}", shell::shown(&self.argv))
    }

    fn notes(&self) -> Vec<String> {
        let writes = format!("it writes {}; a copy is kept first", self.writes.join(", "));
        let limit = format!("time limit: {} s", self.limit);
        if self.writes.is_empty() { vec![limit] } else { vec![writes, limit] }
    }

    fn rollback(&self) -> Option<String> {
        (!self.writes.is_empty()).then(|| format!("put {} back as it was", self.writes.join(", ")))
    }

    fn effects(&self) -> Vec<Effect> {
        effect::of_program(&self.argv.iter().map(String::as_str).collect::<Vec<_>>()).into_iter().collect()
    }

    fn explains(&self, found: &mut Found) {
        self.writes.iter().for_each(|p| whole(p, found));
    }

    fn deed(&self, _: &Step) -> Deed<'_> {
        Deed::Run { argv: &self.argv, writes: &self.writes }
    }
}

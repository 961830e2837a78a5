//! Names of nodes in few words, as ClusterShell folds them.

use crate::NodeSet;

/// The names as one text to paste.
#[must_use]
pub fn folded<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<NodeSet>().to_string()
}

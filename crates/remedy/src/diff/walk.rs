//! The leaves of a snapshot, and what it means that one is not there.

use linerate_snapshot::{Coverage, EntryId, EntryKind, Lookup, Snapshot, covers};
use std::collections::BTreeMap;

/// Directories at the root that hold no facts of the node: commands are compared by their words, the manifest is ours.
const NOT_FACTS: [&str; 2] = ["cmd", "linerate"];

/// Files, links, empty directories and what could not be read, by path; outputs of commands by the command in back-ticks.
pub(super) fn leaves(s: &Snapshot) -> BTreeMap<String, EntryId> {
    let mut out = BTreeMap::new();
    for (name, id) in s.children(s.root()) {
        if !NOT_FACTS.contains(&name) {
            below(s, name.to_owned(), id, &mut out);
        }
    }
    for o in s.outputs.iter().filter(|o| !o.argv.is_empty()) {
        out.insert(format!("`{}`", o.argv.join(" ")), o.entry);
    }
    out
}

/// A snapshot is at most 64 names deep.
fn below(s: &Snapshot, path: String, id: EntryId, out: &mut BTreeMap<String, EntryId>) {
    if *s.kind(id) == EntryKind::Dir {
        let inside = s.children(id);
        for (name, child) in &inside {
            below(s, format!("{path}/{name}"), *child, out);
        }
        if !inside.is_empty() {
            return;
        }
    }
    out.insert(path, id);
}

/// Whether the capture looked for this path, so that "not there" means that it is not.
pub(crate) fn looked(s: &Snapshot, path: &str) -> bool {
    let Coverage::Full { not_tried } = &s.coverage else { return false };
    if path.starts_with('`') {
        // Whether a command is there, and ends well, is no fact of the node.
        return false;
    }
    let tried = &s.manifest.tried;
    !not_tried.iter().any(|p| covers(p, path)) && (tried.is_empty() || tried.iter().any(|p| covers(p, path)))
}

/// Why the way to a path could not be gone.
pub(super) fn blocked(s: &Snapshot, path: &str) -> Option<String> {
    match s.resolve(path) {
        Lookup::Blocked(_, why) => Some(why.to_string()),
        _ => None,
    }
}

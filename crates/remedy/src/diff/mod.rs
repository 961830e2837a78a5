//! What differs between two snapshots of a node, what of it moves by itself, and what no step of a plan explains.
//!
//! Nothing is guessed: what one of the two did not look for is no difference.

mod config;
mod explain;
pub(crate) mod follows;
mod glob;
mod text;
mod volatile;
mod walk;

pub use explain::{Explanation, explanations, outside};
pub(crate) use explain::{Found, argument, of_file, whole};
pub use volatile::{VOLATILE, Volatile};
pub(crate) use walk::looked;

use linerate_snapshot::{EntryId, EntryKind, Lookup, Snapshot, Why};
use serde::Serialize;

/// Characters of a value that are kept.
const SHOWN: usize = 200;

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Path without the leading slash, or a command in back-ticks.
    pub path: String,
    /// What of it: a word of the kernel's arguments, the key of a line, a register. Empty: the whole.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// What happened to it.
    #[serde(flatten)]
    pub what: What,
    /// Why it says nothing: it moves by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volatile: Option<&'static str>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum What {
    /// Another value; both cut to 200 characters.
    Changed {
        /// Then.
        before: String,
        /// Now.
        after: String,
    },
    /// It was looked for and not there, and is there now.
    Appeared {
        /// Now.
        after: String,
    },
    /// It was there, was looked for, and is not.
    Vanished {
        /// Then.
        before: String,
    },
    /// It could be read, and cannot any more.
    Unreadable {
        /// Then.
        before: String,
        /// Why not.
        why: String,
    },
    /// It could not be read, and can now.
    Readable {
        /// Why not.
        why: String,
        /// Now.
        after: String,
    },
}

impl Change {
    pub(crate) fn new(path: &str, part: &str, what: What) -> Change {
        let volatile = volatile::why(path, part, &what);
        Change { path: path.to_owned(), part: part.to_owned(), what, volatile }
    }

    /// Where: the path and its part.
    #[must_use]
    pub fn at(&self) -> String {
        let path = if self.path.starts_with('`') { self.path.clone() } else { format!("/{}", self.path) };
        if self.part.is_empty() { path } else { format!("{path} ({})", self.part) }
    }

    /// In one line: `/proc/cmdline (quiet): appeared`.
    #[must_use]
    pub fn summary(&self) -> String {
        let told = |word: &str, text: &str| {
            if text.is_empty() || text == self.part { word.to_owned() } else { format!("{word}: {text}") }
        };
        let what = match &self.what {
            What::Changed { before, after } => format!("{before} → {after}"),
            What::Appeared { after } => told("appeared", after),
            What::Vanished { before } => told("vanished", before),
            What::Unreadable { why, .. } => format!("cannot be read any more: {why}"),
            What::Readable { after, .. } => told("can be read now", after),
        };
        format!("{}: {what}", self.at())
    }
}

/// What differs, by path. Volatile differences are among them, marked.
#[must_use]
pub fn diff(before: &Snapshot, after: &Snapshot) -> Vec<Change> {
    let (old, new) = (walk::leaves(before), walk::leaves(after));
    let mut out = Vec::new();
    for (path, id) in &old {
        match new.get(path) {
            Some(now) => both(path, (before, *id), (after, *now), &mut out),
            None => gone(path, (before, *id), after, &mut out),
        }
    }
    for (path, now) in new.iter().filter(|(p, _)| !old.contains_key(*p)) {
        let emptied = *after.kind(*now) == EntryKind::Dir && matches!(before.resolve(path), Lookup::Found(_));
        if walk::looked(before, path) && !matches!(after.kind(*now), EntryKind::Failed(_)) && !emptied {
            let what = What::Appeared { after: shown(after, *now) };
            out.push(Change::new(path, "", what));
        }
    }
    out.sort_by(|a, b| (&a.path, &a.part).cmp(&(&b.path, &b.part)));
    out
}

fn gone(path: &str, (before, id): (&Snapshot, EntryId), after: &Snapshot, out: &mut Vec<Change>) {
    if matches!(before.kind(id), EntryKind::Failed(_)) {
        return;
    }
    // An empty directory is no leaf any more when something is in it.
    if *before.kind(id) == EntryKind::Dir && matches!(after.resolve(path), Lookup::Found(_)) {
        return;
    }
    let was = shown(before, id);
    if let Some(why) = walk::blocked(after, path) {
        out.push(Change::new(path, "", What::Unreadable { before: was, why }));
    } else if walk::looked(after, path) {
        out.push(Change::new(path, "", What::Vanished { before: was }));
    }
}

fn both(path: &str, (before, old): (&Snapshot, EntryId), (after, new): (&Snapshot, EntryId), out: &mut Vec<Change>) {
    let nothing = |why: &Why| *why == Why::NotCollected;
    match (before.kind(old), after.kind(new)) {
        (EntryKind::Failed(_), EntryKind::Failed(_)) => {}
        (EntryKind::Failed(why), _) | (_, EntryKind::Failed(why)) if nothing(why) => {}
        (EntryKind::Failed(why), _) => {
            let what = What::Readable { why: why.to_string(), after: shown(after, new) };
            out.push(Change::new(path, "", what));
        }
        (_, EntryKind::Failed(why)) => {
            let what = What::Unreadable { before: shown(before, old), why: why.to_string() };
            out.push(Change::new(path, "", what));
        }
        (a, b) if is_file(a) && is_file(b) => {
            let (x, y) = (before.data(old), after.data(new));
            // What was cut is compared as far as both reach.
            let cut = matches!(a, EntryKind::CutFile) || matches!(b, EntryKind::CutFile);
            let len = if cut { x.len().min(y.len()) } else { usize::MAX };
            let (x, y) = (x.get(..len).unwrap_or(x), y.get(..len).unwrap_or(y));
            if x == y {
            } else if path.ends_with("/config") && path.starts_with("sys/") {
                config::compare(path, x, y, out);
            } else {
                text::compare(path, x, y, out);
            }
        }
        (a, b) if a != b || before.data(old) != after.data(new) => {
            let what = What::Changed { before: shown(before, old), after: shown(after, new) };
            out.push(Change::new(path, "", what));
        }
        _ => {}
    }
}

fn is_file(kind: &EntryKind) -> bool {
    matches!(kind, EntryKind::File | EntryKind::CutFile)
}

/// An entry as text for people.
fn shown(s: &Snapshot, id: EntryId) -> String {
    match s.kind(id) {
        EntryKind::Dir | EntryKind::Failed(_) => String::new(),
        EntryKind::Link => format!("→ {}", text::clip(s.data(id))),
        EntryKind::File | EntryKind::CutFile => text::clip(s.data(id)),
    }
}

#[cfg(test)]
mod tests;

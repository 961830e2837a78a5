//! Small questions to a snapshot: what is at a path that a plan would change.

use crate::model::FileState;
use linerate_snapshot::{Coverage, EntryKind, Lookup, Snapshot};

/// What a snapshot shows at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum There {
    /// It is not there.
    Absent,
    /// A file with this text, whole.
    Text(String),
    /// Something is there whose content was not taken, or not whole.
    Something,
    /// The source did not look.
    Unseen,
}

/// What is at a path (absolute or from the root).
pub(crate) fn there(s: &Snapshot, path: &str) -> There {
    match s.resolve(path.trim_start_matches('/')) {
        Lookup::Found(id) => match s.kind(id) {
            EntryKind::File => std::str::from_utf8(s.data(id)).map_or(There::Something, |t| There::Text(t.to_owned())),
            _ => There::Something,
        },
        Lookup::Blocked(..) => There::Something,
        Lookup::Missing if looked(s, path) => There::Absent,
        Lookup::Missing => There::Unseen,
    }
}

/// Whether anything is at the path.
pub(crate) fn exists(s: &Snapshot, path: &str) -> bool {
    matches!(there(s, path), There::Text(_) | There::Something)
}

/// Whether a program is there. Many are links to what a collection does not take: `netplan`, `modprobe`.
pub(crate) fn program(s: &Snapshot, dir: &str, name: &str) -> bool {
    matches!(s.resolve(dir), Lookup::Found(dir) if s.child(dir, name).is_some())
}

/// Whether the source looked there: then what is not in it is not on the node.
pub(crate) fn looked(s: &Snapshot, path: &str) -> bool {
    let path = path.trim_start_matches('/');
    match &s.coverage {
        Coverage::Partial => false,
        Coverage::Full { not_tried } => {
            let covers = |p: &String| linerate_snapshot::covers(p, path);
            !not_tried.iter().any(covers) || s.manifest.tried.iter().any(covers)
        }
    }
}

/// The text of a file, cut ones included.
pub(crate) fn text<'s>(s: &'s Snapshot, path: &str) -> Option<&'s str> {
    match s.resolve(path.trim_start_matches('/')) {
        Lookup::Found(id) => std::str::from_utf8(s.data(id)).ok(),
        _ => None,
    }
}

/// The running kernel's release, where it is a plain word: it goes into paths and argument lists.
pub(crate) fn release(s: &Snapshot) -> Option<String> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'+' | b'~');
    let release = text(s, "proc/sys/kernel/osrelease")?.trim();
    let word =
        !release.is_empty() && release.len() <= 128 && !release.starts_with(['-', '.']) && release.bytes().all(fits);
    word.then(|| release.to_owned())
}

/// Names in a directory.
pub(crate) fn names<'s>(s: &'s Snapshot, dir: &str) -> Vec<&'s str> {
    match s.resolve(dir.trim_start_matches('/')) {
        Lookup::Found(id) => s.children(id).into_iter().map(|(n, _)| n).collect(),
        _ => Vec::new(),
    }
}

/// What must be at the path of a file of ours before it is written. Where the source did not look, nothing may be there: the node itself is
/// asked before anything is done.
pub(crate) fn before(there: &There) -> Option<FileState> {
    match there {
        There::Absent | There::Unseen => Some(FileState::Absent),
        There::Text(t) => Some(FileState::Content(t.clone())),
        There::Something => None,
    }
}

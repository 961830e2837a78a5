//! What stands at a path that a plan names.

use crate::diff::looked;
use linerate_snapshot::{EntryKind, Lookup, Place, Snapshot, boot_digest};

/// What is there; each with the place in words.
pub(super) enum Look {
    /// A file with this text, without white space around it.
    Text(String, String),
    /// Somebody looked, and it is not there.
    Absent(String),
    /// It could not be seen: why.
    Unseen(String, String),
}

/// Reads a path, links followed.
pub(super) fn at(s: &Snapshot, path: &str) -> Look {
    let path = path.trim_start_matches('/');
    let words = format!("/{path}");
    match s.resolve(path) {
        Lookup::Found(id) => match s.kind(id) {
            EntryKind::File => match std::str::from_utf8(s.data(id)) {
                Ok(text) => Look::Text(text.trim_ascii().to_owned(), s.describe(Place::of(id))),
                Err(_) => Look::Unseen(words, "it is not text".to_owned()),
            },
            EntryKind::CutFile => Look::Unseen(words, "only a part of it was kept".to_owned()),
            _ => Look::Unseen(words, "it is not a file".to_owned()),
        },
        Lookup::Missing if looked(s, path) => Look::Absent(words),
        Lookup::Missing => {
            module(s, path).unwrap_or_else(|| Look::Unseen(words, "this source does not hold it".to_owned()))
        }
        Lookup::Blocked(_, why) => Look::Unseen(words, why.to_string()),
    }
}

/// `sys/module/NAME/initstate`, which no capture holds, from the list of modules, which has the same in other words.
fn module(s: &Snapshot, path: &str) -> Option<Look> {
    let name = path.strip_prefix("sys/module/")?.strip_suffix("/initstate")?;
    let Look::Text(list, place) = at(s, "proc/modules") else { return None };
    let mut found = list.lines().map(|l| l.split_ascii_whitespace().collect::<Vec<_>>());
    let state = found.find(|words| words.first() == Some(&name)).and_then(|words| words.get(4).copied());
    Some(match state {
        Some("Live") => Look::Text("live".to_owned(), place),
        Some("Loading") => Look::Text("coming".to_owned(), place),
        Some(other) => Look::Text(other.to_ascii_lowercase(), place),
        None => Look::Absent(place),
    })
}

/// The boot in which a snapshot was read.
pub(super) fn boot_id(s: &Snapshot) -> Option<String> {
    if !s.manifest.boot_id.is_empty() {
        return Some(boot_digest(&s.manifest.boot_id));
    }
    match at(s, "proc/sys/kernel/random/boot_id") {
        Look::Text(id, _) if !id.is_empty() => Some(boot_digest(&id)),
        _ => None,
    }
}

/// Whether a file shows this value: all of it, or the choice that `[…]` marks.
pub(crate) fn is_value(read: &str, wanted: &str) -> bool {
    read == wanted
        || read.split_whitespace().any(|w| w.strip_prefix('[').and_then(|w| w.strip_suffix(']')) == Some(wanted))
}

/// Texts of the files in a directory that end so, by name, with their paths.
pub(super) fn texts<'s>(s: &'s Snapshot, dir: &str, end: &str) -> Vec<(String, &'s str)> {
    let Lookup::Found(id) = s.resolve(dir) else { return Vec::new() };
    let mut out = Vec::new();
    for (name, e) in s.children(id).into_iter().filter(|(n, _)| n.ends_with(end)) {
        let Some(e) = s.follow(e) else { continue };
        if let (EntryKind::File | EntryKind::CutFile, Ok(text)) = (s.kind(e), std::str::from_utf8(s.data(e))) {
            out.push((format!("/{dir}/{name}"), text));
        }
    }
    out
}

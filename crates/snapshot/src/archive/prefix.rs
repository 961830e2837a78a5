//! Where in somebody else's archive the tree is.

use super::assemble::MAX_PREFIX;
use crate::{EntryId, EntryKind, Snapshot};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Without `./` and `/` in front and `/` at the end.
pub(super) fn clean(path: &str) -> &str {
    let mut p = path;
    while let Some(rest) = p.strip_prefix("./").or_else(|| p.strip_prefix('/')) {
        p = rest;
    }
    if p == "." { "" } else { p.trim_end_matches('/') }
}

pub(super) fn find(s: &Snapshot, path: &str) -> Option<EntryId> {
    path.split('/').try_fold(s.root(), |at, name| s.child(at, name))
}

/// The part of a foreign path from the tree's root on, if it may be of use.
pub(super) fn useful(path: &str) -> Option<&str> {
    let mut rest = path;
    for _ in 0..=MAX_PREFIX {
        let (name, tail) = rest.split_once('/').unwrap_or((rest, ""));
        match name {
            "sys" | "sos_commands" | "linerate" | "cmd" => return Some(rest),
            // Processes are nobody's business.
            "proc" => {
                let process = tail.split('/').next().is_some_and(|n| n != "1" && n.bytes().all(|b| b.is_ascii_digit()));
                return (tail.is_empty() || !process || tail.is_empty()).then_some(rest);
            }
            "etc" | "boot" | "var" | "run" | "lib" | "usr" if crate::tries(rest) => return Some(rest),
            _ => {}
        }
        if tail.is_empty() {
            return None;
        }
        rest = tail;
    }
    None
}

/// The directories that are nodes' trees: their `sys`, `proc`, manifest or commands of sos say so. Of two of which one lies in the other, the one
/// that holds more is it. In the order of their paths.
pub(super) fn trees(s: &Snapshot) -> Vec<EntryId> {
    const SYS: &[&str] = &["bus", "class", "devices", "kernel", "module", "firmware", "hypervisor"];
    const PROC: &[&str] = &[
        "cpuinfo",
        "cmdline",
        "meminfo",
        "version",
        "modules",
        "sys",
        "driver",
        "self",
        "bus",
        "mounts",
        "interrupts",
    ];
    let mut found: HashMap<EntryId, usize> = HashMap::new();
    for id in s.ids().filter(|id| *s.kind(*id) == EntryKind::Dir) {
        let Some(parent) = s.parent(id) else { continue };
        let known: &[&str] = match s.name(id) {
            "sys" => SYS,
            "proc" => PROC,
            "linerate" => &["manifest.json"],
            "sos_commands" => &["pci", "kernel", "infiniband", "networking", "hardware", "nvidia"],
            _ => continue,
        };
        if known.iter().any(|n| s.child(id, n).is_some()) {
            found.entry(parent).or_insert_with(|| score(s, parent));
        }
    }
    let mut found: Vec<(EntryId, usize)> = found.into_iter().collect();
    found.sort_by_key(|(id, weight)| (Reverse(*weight), *id));
    let above = |id: EntryId| std::iter::successors(s.parent(id), |p| s.parent(*p));
    let (mut out, mut chosen, mut held) = (Vec::new(), HashSet::new(), HashSet::new());
    for (id, _) in found {
        if held.contains(&id) || above(id).any(|p| chosen.contains(&p)) {
            continue;
        }
        chosen.insert(id);
        held.extend(above(id));
        out.push(id);
    }
    out.sort_by_cached_key(|id| s.path(*id));
    out
}

fn score(s: &Snapshot, root: EntryId) -> usize {
    ["sys", "proc", "linerate", "cmd", "sos_commands"]
        .iter()
        .filter_map(|n| s.child(root, n))
        .map(|d| count(s, d))
        .sum()
}

/// Entries below. Depth is bounded by the index.
fn count(s: &Snapshot, dir: EntryId) -> usize {
    match s.kind(dir) {
        EntryKind::Dir => 1 + s.children(dir).iter().map(|(_, id)| count(s, *id)).sum::<usize>(),
        _ => 1,
    }
}

/// A snapshot of what is below a directory, at another place.
pub(super) fn below(s: &Snapshot, dir: EntryId, at: &str) -> Snapshot {
    let mut out = Snapshot::new(s.label.clone());
    out.problems.clone_from(&s.problems);
    out.incomplete = s.incomplete;
    if let Some(at) = if at.is_empty() { Some(out.root()) } else { out.add_dir(at) } {
        copy(s, dir, &mut out, at);
    }
    out
}

fn copy(from: &Snapshot, dir: EntryId, to: &mut Snapshot, at: EntryId) {
    for (name, id) in from.children(dir) {
        if let Some(new) = to.add_at(at, name, from.kind(id).clone(), from.data(id))
            && *from.kind(id) == EntryKind::Dir
        {
            copy(from, id, to, new);
        }
    }
}

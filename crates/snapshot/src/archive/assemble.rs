//! Makes a snapshot of entries that come in any order, from an archive or a directory: chooses what to keep, finds the tree
//! inside, and puts back what only the manifest knows.

use super::read::Stop;
use super::{Limits, MANIFEST};
use crate::catalogue::catalogue;
use crate::{Coverage, EntryId, EntryKind, Lookup, Manifest, Output, OutputKind, Snapshot, Why};

/// One entry.
pub(crate) enum Item<'a> {
    Dir,
    File(&'a [u8]),
    CutFile(&'a [u8]),
    Link(&'a [u8]),
    HardLink(&'a [u8]),
    /// Seen, not read.
    NotRead(&'static str),
}

/// Other people's files below `sys` and `proc` are kept up to this size without being in the catalogue.
const SMALL: u64 = 64 << 10;
/// Where a tree's root may lie.
const MAX_PREFIX: usize = 8;

pub(crate) struct Assembly {
    snapshot: Snapshot,
    limits: Limits,
    /// It began with our manifest: everything in it is ours.
    own: bool,
    seen: usize,
    odd: usize,
    outside: usize,
    full: bool,
    damaged: bool,
    last_dir: String,
    last_id: EntryId,
}

impl Assembly {
    pub(crate) fn new(label: &str, limits: Limits) -> Self {
        let snapshot = Snapshot::new(label);
        let last_id = snapshot.root();
        Assembly {
            snapshot,
            limits,
            own: false,
            seen: 0,
            odd: 0,
            outside: 0,
            full: false,
            damaged: false,
            last_dir: String::new(),
            last_id,
        }
    }

    /// Makes room: of so many bytes unpacked, at most one entry per KiB is to be expected.
    pub(super) fn expect(&mut self, unpacked: usize) {
        self.snapshot.reserve(unpacked / 1024 + 64, unpacked / 4);
    }

    /// Whether so many entries are within the limit.
    pub(super) fn room_for(&self, entries: usize) -> bool {
        entries <= self.limits.entries
    }

    /// A pack begins: it is one of ours.
    pub(super) fn begin_pack(&mut self, entries: usize, bytes: usize) {
        self.own = true;
        self.seen = entries;
        self.snapshot.reserve(entries + 64, bytes);
    }

    pub(super) fn root(&self) -> EntryId {
        self.snapshot.root()
    }

    /// An entry of a pack; `None` where it cannot be.
    pub(super) fn packed(&mut self, dir: EntryId, name: &str, kind: EntryKind, data: &[u8]) -> Option<EntryId> {
        if data.len() > self.limits.file || self.snapshot.size() > self.limits.kept {
            return None;
        }
        self.snapshot.add_at(dir, name, kind, data)
    }

    /// Entries until now.
    pub(super) fn seen(&self) -> usize {
        self.seen
    }

    pub(super) fn count(&mut self) -> Result<(), Stop> {
        self.seen += 1;
        if self.seen > self.limits.entries {
            return Err(Stop::TooLarge(format!("it has more than {} entries", self.limits.entries)));
        }
        Ok(())
    }

    pub(super) fn odd_name(&mut self) {
        self.odd += 1;
    }

    pub(crate) fn damaged(&mut self, problem: String) {
        self.damaged = true;
        self.snapshot.problems.push(problem);
    }

    /// Whether a file's content is to be kept.
    pub(crate) fn wanted(&self, path: &str, size: u64) -> bool {
        if self.full || size > self.limits.file as u64 {
            return false;
        }
        let path = clean(path);
        if self.own || path == MANIFEST {
            return true;
        }
        let Some(tail) = useful(path) else { return false };
        size <= SMALL || tail.starts_with("sos_commands/") || crate::tries(tail)
    }

    /// A file that is not kept.
    pub(crate) fn left_out(&mut self, path: &str, size: u64) -> Result<(), Stop> {
        if !self.full && useful(clean(path)).is_some() && size > self.limits.file as u64 {
            self.add(clean(path), EntryKind::Failed(Why::TooLarge), &[]);
        }
        Ok(())
    }

    pub(crate) fn entry(&mut self, path: &str, item: Item<'_>) -> Result<(), Stop> {
        let path = clean(path);
        if path.contains("..") && path.split('/').any(|n| n == "..") {
            self.outside += 1;
            return Ok(());
        }
        if path.is_empty() || self.full {
            return Ok(());
        }
        if path == MANIFEST && self.snapshot.is_empty() {
            self.own = true;
        }
        if !self.own && !matches!(item, Item::File(_) | Item::CutFile(_)) && useful(path).is_none() {
            return Ok(());
        }
        match item {
            Item::Dir => self.add(path, EntryKind::Dir, &[]),
            Item::File(data) => self.add(path, EntryKind::File, data),
            Item::CutFile(data) => self.add(path, EntryKind::CutFile, data),
            Item::Link(target) => self.add(path, EntryKind::Link, target),
            Item::NotRead(why) => self.add(path, EntryKind::Failed(Why::Failed(why.into())), &[]),
            Item::HardLink(target) => {
                let target = std::str::from_utf8(target).map(clean).unwrap_or_default();
                match find(&self.snapshot, target) {
                    Some(id) if *self.snapshot.kind(id) == EntryKind::File => {
                        let data = self.snapshot.data(id).to_vec();
                        self.add(path, EntryKind::File, &data);
                    }
                    _ => {
                        let why = Why::Failed("a hard link to something that was not kept".into());
                        self.add(path, EntryKind::Failed(why), &[]);
                    }
                }
            }
        }
        if self.snapshot.size() > self.limits.kept {
            self.full = true;
            self.damaged(format!("more than {} MiB would be kept; the rest was left out", self.limits.kept >> 20));
        }
        Ok(())
    }

    fn add(&mut self, path: &str, kind: EntryKind, data: &[u8]) {
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        if dir != self.last_dir {
            let Some(id) = self.snapshot.add_dir(dir) else { return };
            self.last_id = id;
            self.last_dir.clear();
            self.last_dir.push_str(dir);
        }
        self.snapshot.add_at(self.last_id, name, kind, data);
    }

    /// The snapshot; the error says what was found instead of one.
    pub(crate) fn finish(mut self) -> Result<Snapshot, String> {
        let mut s = self.snapshot;
        if self.odd > 0 {
            s.problems.push(format!("{} names are not UTF-8 and were left out", self.odd));
        }
        if self.outside > 0 {
            s.problems.push(format!("{} names with `..` lead out of the tree and were left out", self.outside));
        }
        if !self.own {
            let Some(prefix) = best_prefix(&s) else {
                return Err(format!("none of its {} entries is below sys/ or proc/", self.seen));
            };
            if prefix != s.root() {
                s = below(&s, prefix);
            }
            self.own = matches!(s.resolve(MANIFEST), Lookup::Found(_));
        }
        if self.own {
            apply_manifest(&mut s);
        } else {
            sos_commands(&mut s);
        }
        if self.damaged {
            s.coverage = Coverage::Partial;
        }
        Ok(s)
    }
}

/// Without `./` and `/` in front and `/` at the end.
fn clean(path: &str) -> &str {
    let mut p = path;
    while let Some(rest) = p.strip_prefix("./").or_else(|| p.strip_prefix('/')) {
        p = rest;
    }
    if p == "." { "" } else { p.trim_end_matches('/') }
}

fn find(s: &Snapshot, path: &str) -> Option<EntryId> {
    path.split('/').try_fold(s.root(), |at, name| s.child(at, name))
}

/// The part of a foreign path from the tree's root on, if it may be of use.
fn useful(path: &str) -> Option<&str> {
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

/// The directory whose `sys` and `proc` (or whose manifest) hold most.
fn best_prefix(s: &Snapshot) -> Option<EntryId> {
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
    let mut best = None;
    let mut most = 0;
    for id in s.ids().filter(|id| *s.kind(*id) == EntryKind::Dir) {
        let Some(parent) = s.parent(id) else { continue };
        let known: &[&str] = match s.name(id) {
            "sys" => SYS,
            "proc" => PROC,
            "linerate" => &["manifest.json"],
            "sos_commands" => &["pci", "kernel", "infiniband", "networking", "hardware", "nvidia"],
            _ => continue,
        };
        if !known.iter().any(|n| s.child(id, n).is_some()) {
            continue;
        }
        let weight = score(s, parent);
        if weight > most {
            (best, most) = (Some(parent), weight);
        }
    }
    best
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

/// A snapshot of what is below a directory.
fn below(s: &Snapshot, dir: EntryId) -> Snapshot {
    let mut out = Snapshot::new(s.label.clone());
    out.problems.clone_from(&s.problems);
    let root = out.root();
    copy(s, dir, &mut out, root);
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

/// What only the manifest knows: failures, coverage, which outputs are whose.
fn apply_manifest(s: &mut Snapshot) {
    let Some(json) = find(s, MANIFEST).map(|id| s.data(id).to_vec()) else { return };
    let mut m: Manifest = match serde_json::from_slice(&json) {
        Ok(m) => m,
        Err(e) => {
            s.problems.push(format!("{MANIFEST} is not understood: {e}; what is missing counts as not collected"));
            return;
        }
    };
    if m.schema > crate::manifest::SCHEMA {
        s.problems.push(format!("the snapshot was made by a newer linerate ({}, schema {})", m.linerate, m.schema));
    }
    let mut not_tried = crate::manifest::not_tried(&m.tried);
    let mut whole = !m.tried.is_empty();
    for u in &m.unread {
        if u.path == "**" {
            whole = false;
        } else if u.path.ends_with("/**") {
            not_tried.push(u.path.clone());
        } else if u.why == "cut" {
            if let Some(id) = find(s, &u.path) {
                s.mark_cut(id);
            }
        } else {
            s.add_failed(&u.path, Why::of_word(&u.why));
        }
    }
    s.coverage = if whole { Coverage::Full { not_tried } } else { Coverage::Partial };
    s.problems.append(&mut m.problems);
    if !m.host.is_empty() {
        s.label.clone_from(&m.host);
    }
    m.unread.retain(|u| u.path.ends_with("**"));
    s.manifest = m;
    outputs(s);
}

/// `cmd/<n>/` in the order of n.
fn outputs(s: &mut Snapshot) {
    let mut found: Vec<(u32, Output)> = Vec::new();
    if let Some(cmd) = s.child(s.root(), "cmd") {
        for (n, dir) in s.children(cmd) {
            let (Ok(n), Some(entry)) = (n.parse::<u32>(), s.child(dir, "stdout")) else { continue };
            let text = |leaf| s.child(dir, leaf).and_then(|i| std::str::from_utf8(s.data(i)).ok()).unwrap_or_default();
            let argv = argv(text("argv"));
            let name = argv.first().cloned().unwrap_or_default();
            let kind = catalogue()
                .kind_of_command(&argv)
                .unwrap_or_else(|| crate::recognise::recognise(&name, s.data(entry)).output());
            let status = text("status").trim().parse().ok();
            found.push((n, Output { kind, entry, argv, status }));
        }
    }
    found.sort_by_key(|(n, _)| *n);
    s.outputs = found.into_iter().map(|(_, o)| o).collect();
    if let Some(entry) = find(s, crate::NVML_PATH) {
        s.outputs.push(Output { kind: OutputKind::Nvml, entry, argv: Vec::new(), status: None });
    }
}

/// The command: a JSON array, or one argument a line.
fn argv(text: &str) -> Vec<String> {
    match serde_json::from_str(text) {
        Ok(argv) => argv,
        Err(_) => text.lines().map(str::to_owned).collect(),
    }
}

/// Texts that a sosreport holds, by their content.
fn sos_commands(s: &mut Snapshot) {
    let Some(dir) = s.child(s.root(), "sos_commands") else { return };
    let mut found = Vec::new();
    for (_, plugin) in s.children(dir) {
        for (name, id) in s.children(plugin) {
            if matches!(s.kind(id), EntryKind::File | EntryKind::CutFile) {
                let kind = crate::recognise::recognise(name, s.data(id)).output();
                if kind != OutputKind::Other {
                    found.push(Output { kind, entry: id, argv: Vec::new(), status: None });
                }
            }
        }
    }
    s.outputs.append(&mut found);
}

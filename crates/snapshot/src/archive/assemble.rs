//! Makes a snapshot of entries that come in any order, from an archive or a directory: chooses what to keep, finds the tree
//! inside, and puts back what only the manifest knows.

use super::error::{OpenError, Stop};
use super::nested;
use super::own::{apply_manifest, sos_commands};
use super::part;
use super::prefix::{below, clean, find, trees, useful};
use super::{Limits, MANIFEST};
use crate::redact::secrets::{self, Cleaner};
use crate::{Coverage, EntryId, EntryKind, Lookup, Snapshot, Why};
use linerate_formats::bounds::KEPT_ENTRIES;

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

/// Where an archive is among others.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct InArchive {
    /// It lies in another one.
    pub(super) inner: bool,
    /// Nodes were found in archives inside it.
    pub(super) others: bool,
}

impl InArchive {
    /// Whether it need not be a node itself.
    fn may_hold_nothing(self) -> bool {
        self.inner || self.others
    }
}

/// Other people's files below `sys` and `proc` are kept up to this size without being in the catalogue.
const SMALL: u64 = 64 << 10;
/// Where a tree's root may lie.
pub(super) const MAX_PREFIX: usize = 8;

pub(crate) struct Assembly {
    snapshot: Snapshot,
    limits: Limits,
    /// It began with our manifest: everything in it is ours.
    own: bool,
    seen: usize,
    odd: usize,
    outside: usize,
    full: bool,
    /// Bytes that entries stand for and the archive does not hold: holes of sparse files, copies by hard links.
    made: usize,
    damaged: bool,
    last_dir: String,
    last_id: EntryId,
}

impl Assembly {
    /// Over an empty snapshot.
    pub(crate) fn new(snapshot: Snapshot, limits: Limits) -> Self {
        let last_id = snapshot.root();
        Assembly {
            snapshot,
            limits,
            own: false,
            seen: 0,
            odd: 0,
            outside: 0,
            full: false,
            made: 0,
            damaged: false,
            last_dir: String::new(),
            last_id,
        }
    }

    /// Makes room: of so many bytes unpacked, at most one entry per KiB is to be expected.
    pub(super) fn expect(&mut self, unpacked: usize) {
        self.snapshot.reserve(unpacked / 1024 + 64, unpacked / 4);
    }

    /// Over a snapshot that a pack has filled, which linerate wrote.
    pub(super) fn packed(snapshot: Snapshot, limits: Limits) -> Self {
        Assembly { own: true, seen: snapshot.len(), ..Self::new(snapshot, limits) }
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
        self.snapshot.left_out(problem);
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
        let Some(tail) = useful(path) else { return size <= SMALL && part::is(path) };
        size <= SMALL || tail.starts_with("sos_commands/") || crate::tries(tail)
    }

    /// Whether so many bytes that the archive does not hold may be made of it. They cost the same where the entry is then not added,
    /// because its name is there already: of all of them together no more than may be kept.
    pub(super) fn may_make(&mut self, bytes: usize) -> bool {
        self.made = self.made.saturating_add(bytes);
        if self.made > self.limits.kept && !self.full {
            self.too_much_to_keep();
        }
        !self.full
    }

    fn too_much_to_keep(&mut self) {
        self.full = true;
        self.damaged(format!("more than {} MiB would be kept; the rest was left out", self.limits.kept >> 20));
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
        if !self.own && !matches!(item, Item::File(_) | Item::CutFile(_)) && useful(path).is_none() && !part::is(path) {
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
                        if !self.may_make(self.snapshot.data(id).len()) {
                            return Ok(());
                        }
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
            self.too_much_to_keep();
        } else if self.snapshot.len() > KEPT_ENTRIES {
            self.full = true;
            self.damaged(format!("more than {KEPT_ENTRIES} entries would be kept; the rest was left out"));
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

    /// Whether a file is read as an archive of its own: nothing of linerate's own archives, and nothing inside a tree.
    pub(super) fn takes_archive(&self, path: &str) -> bool {
        !self.own && nested::is_archive_name(path) && !nested::is_inside_a_tree(clean(path))
    }

    /// Whether texts beside trees are read: not in an archive of linerate's own.
    pub(super) fn takes_texts(&self) -> bool {
        !self.own
    }

    /// The snapshots of the nodes in it, each with where it is. `label` names the source in the error.
    pub(crate) fn finish(
        mut self,
        label: &str,
        place: InArchive,
        cleaner: &mut Cleaner,
    ) -> Result<Vec<(String, Snapshot)>, OpenError> {
        let mut s = self.snapshot;
        if self.odd > 0 {
            s.problems.push(format!("{} names are not UTF-8 and were left out", self.odd));
        }
        if self.outside > 0 {
            s.problems.push(format!("{} names with `..` lead out of the tree and were left out", self.outside));
        }
        if self.own {
            return Ok(vec![(String::new(), complete(s, true, self.damaged, cleaner))]);
        }
        let all = trees(&s);
        let mut out = match (all.as_slice(), part::find(&s)) {
            ([one], _) if *one == s.root() => vec![(String::new(), s)],
            ([one], _) => vec![(s.path(*one), below(&s, *one, ""))],
            ([], Some((dir, at))) if !place.others => vec![(String::new(), below(&s, dir, at))],
            ([], _) if place.may_hold_nothing() && s.problems.is_empty() => Vec::new(),
            ([], _) if place.may_hold_nothing() => {
                let source = std::io::Error::other(s.problems.join("; "));
                return Err(OpenError::Io { path: label.into(), source });
            }
            ([], _) => {
                let why = format!("none of its {} entries is below sys/ or proc/", self.seen);
                return Err(OpenError::NotASnapshot { what: label.to_owned(), why });
            }
            (several, _) => several.iter().map(|id| (s.path(*id), below(&s, *id, ""))).collect(),
        };
        for (_, s) in &mut out {
            self.own = matches!(s.resolve(MANIFEST), Lookup::Found(_));
            let part = std::mem::replace(s, Snapshot::new(""));
            *s = complete(part, self.own, self.damaged, cleaner);
        }
        Ok(out)
    }
}

/// What only the manifest, or the place of a text, says is put back, and secrets are taken out.
fn complete(mut s: Snapshot, own: bool, damaged: bool, cleaner: &mut Cleaner) -> Snapshot {
    if own {
        apply_manifest(&mut s);
    } else {
        sos_commands(&mut s);
    }
    if damaged {
        s.coverage = Coverage::Partial;
    }
    secrets::snapshot(&mut s, cleaner);
    s
}

//! The walk of a capture, over the tree that the script saw.

use super::tree::{Content, Kind, Tree};
use crate::capture::file::{is_number, is_zero_gid};
use crate::capture::filter;
use crate::capture::root::join;
use crate::catalogue::{Catalogue, Hide, Keep, Leaf, Take, catalogue};
use crate::redact::{Redactor, secrets};
use crate::{EntryId, EntryKind, Lookup, Snapshot, Why};
use linerate_formats::bounds;
use std::collections::HashSet;

struct Job {
    steps: Vec<usize>,
    path: String,
    dir: EntryId,
}

pub(super) struct Replay<'r, 'b> {
    pub(super) tree: &'r Tree<'b>,
    pub(super) redactor: &'r Redactor,
    pub(super) snapshot: &'r mut Snapshot,
    pub(super) release: String,
}

impl Replay<'_, '_> {
    pub(super) fn run(&mut self) {
        let c = catalogue();
        let mut jobs = vec![Job { steps: vec![0], path: String::new(), dir: self.snapshot.root() }];
        // A directory is walked once for the same steps, however many links lead there.
        let mut walked: HashSet<(String, Vec<usize>)> = HashSet::new();
        while let Some(job) = jobs.pop() {
            if !walked.insert((job.path.clone(), job.steps.clone())) {
                continue;
            }
            if self.snapshot.size() > bounds::KEPT || self.snapshot.len() > bounds::KEPT_ENTRIES {
                self.snapshot.left_out("the capture is full; the rest was left out".to_owned());
                return;
            }
            let mut more = self.directory(c, &job);
            // As in a capture: `proc` first, `gids` before `gid_attrs`, `sys/kernel` last.
            more.sort_by_key(|j| match j.path.as_str() {
                "sys/kernel" => 0,
                p => 1 + u8::from(p == "proc" || p.ends_with("/gids")),
            });
            jobs.append(&mut more);
        }
    }

    fn directory(&mut self, c: &Catalogue, job: &Job) -> Vec<Job> {
        let mut jobs = Vec::new();
        if self.tree.closed.contains_key(&job.path) {
            self.snapshot.fail_dir(job.dir, Why::Denied);
            return jobs;
        }
        let mut below = Vec::new();
        for name in self.tree.names(&job.path) {
            c.below(&job.steps, &name, &mut below);
            let (leaf, goes_on) = (c.leaf(&below, false), c.goes_on(&below, false));
            if below.is_empty() || (leaf.is_none() && !goes_on) || !self.gid_is_used(job, &name) {
                continue;
            }
            let path = join(&job.path, &name);
            match self.tree.kind(&path) {
                Some(Kind::Link(target)) => jobs.extend(self.link(job, &name, target, &below, leaf, goes_on)),
                Some(Kind::Dir) => {
                    let id = self.snapshot.add_at(job.dir, &name, EntryKind::Dir, &[]);
                    jobs.extend(id.filter(|_| goes_on).map(|dir| Job { steps: below.clone(), path, dir }));
                }
                Some(kind) => {
                    if let Some(leaf) = leaf {
                        self.file(job.dir, &path, &name, *kind == Kind::File, leaf);
                    }
                }
                None => {}
            }
        }
        jobs
    }

    /// Attributes of GIDs that are not used are not kept.
    fn gid_is_used(&self, job: &Job, name: &str) -> bool {
        let Some((head, _)) = job.path.rsplit_once("/gid_attrs/") else { return true };
        match self.snapshot.resolve(&format!("{head}/gids")) {
            Lookup::Found(gids) => self.snapshot.child(gids, name).is_some(),
            _ => true,
        }
    }

    fn link(
        &mut self,
        job: &Job,
        name: &str,
        target: &str,
        steps: &[usize],
        leaf: Option<Leaf>,
        goes_on: bool,
    ) -> Option<Job> {
        let clean = secrets::target(target.as_bytes());
        self.snapshot.add_at(job.dir, name, EntryKind::Link, clean.as_deref().unwrap_or(target.as_bytes()));
        let file = leaf.filter(|l| l.take == Take::File);
        if leaf.is_some_and(|l| l.take == Take::Link) || (file.is_none() && !goes_on) {
            return None;
        }
        let place = self.tree.follow(&job.path, target)?;
        let there = self.tree.contents.contains_key(&place.path);
        let kind = self.tree.kind(&place.path).cloned().or_else(|| there.then_some(Kind::File))?;
        for (at, to) in place.links {
            let clean = secrets::target(to.as_bytes());
            self.snapshot.add_link(&at, clean.as_deref().unwrap_or(to.as_bytes()));
        }
        match kind {
            Kind::Dir if goes_on => {
                let dir = self.snapshot.add_dir(&place.path)?;
                Some(Job { steps: steps.to_vec(), path: place.path, dir })
            }
            Kind::File | Kind::Dir if there => {
                let (parent, last) = place.path.rsplit_once('/').unwrap_or(("", &place.path));
                let dir = self.snapshot.add_dir(parent)?;
                self.file(dir, &place.path, last, true, file?);
                None
            }
            _ => None,
        }
    }

    fn file(&mut self, dir: EntryId, path: &str, name: &str, regular: bool, leaf: Leaf) {
        if leaf.take == Take::Link {
            return;
        }
        if leaf.take == Take::Name {
            self.snapshot.add_at(dir, name, EntryKind::CutFile, &[]);
            return;
        }
        if !regular {
            let why = Why::Failed("not a regular file; it was not opened".into());
            self.snapshot.add_at(dir, name, EntryKind::Failed(why), &[]);
            return;
        }
        let other_kernel = name.strip_prefix("config-").is_some_and(|r| r != self.release);
        if (leaf.no_sockets && self.sockets_known())
            || (leaf.keep == Keep::Kconfig && other_kernel)
            || self.snapshot.child(dir, name).is_some()
        {
            return;
        }
        match self.content(path, leaf) {
            Ok((data, _)) if leaf.hide == Hide::Gid && is_zero_gid(&data) => {}
            Ok((mut data, cut)) => {
                if !leaf.binary && !is_number(&data) {
                    secrets::file(path, &mut data);
                }
                self.redactor.file(leaf.hide, &mut data);
                let kind = if cut { EntryKind::CutFile } else { EntryKind::File };
                self.snapshot.add_at(dir, name, kind, &data);
            }
            Err(None) => {}
            Err(Some(why)) => drop(self.snapshot.add_at(dir, name, EntryKind::Failed(why), &[])),
        }
    }

    /// What is kept of a file, and whether that is a part. `None`: it went away before it was read.
    fn content(&self, path: &str, leaf: Leaf) -> Result<(Vec<u8>, bool), Option<Why>> {
        let cut_there = !super::script::filter(leaf.keep).is_empty();
        let all = self.tree.contents.get(path).map(Vec::as_slice).unwrap_or_default();
        if let Some(why) = all.iter().find_map(|c| if let Content::Not(why) = c { Some(*why) } else { None }) {
            return Err(why_of(why));
        }
        let found = all.iter().find_map(|c| match c {
            Content::Whole(data) if !cut_there => Some((*data, data.len())),
            Content::Part(data, size) if cut_there => Some((*data, *size)),
            _ => None,
        });
        let (data, size) = found.ok_or(Some(Why::NotCollected))?;
        let max = leaf.max as usize;
        let mut data = data.get(..max.min(data.len())).unwrap_or_default().to_vec();
        let mut cut = size > max;
        if leaf.keep == Keep::Digest {
            let good = data.trim_ascii_end().len() == 64 && data.trim_ascii_end().iter().all(u8::is_ascii_hexdigit);
            return if good {
                Ok((data, true))
            } else {
                Err(Some(Why::Failed("no program on the host makes SHA-256 sums".into())))
            };
        }
        cut |= filter::keep(&mut data, leaf.keep);
        cut |= cut_there && data.len() != size;
        Ok((data, cut))
    }

    fn sockets_known(&self) -> bool {
        match self.snapshot.resolve("proc/cpuinfo") {
            Lookup::Found(e) => filter::names_sockets(self.snapshot.data(e)),
            _ => false,
        }
    }
}

/// The reason that a program said, as the kernel's number has it. `None`: it is not there any more.
fn why_of(said: &str) -> Option<Why> {
    let said = said.trim().rsplit(": ").next().unwrap_or_default();
    const NUMBERS: &[(&str, i32)] = &[
        ("Input/output error", 5),
        ("I/O error", 5),
        ("No such device or address", 6),
        ("Resource temporarily unavailable", 11),
        ("Device or resource busy", 16),
        ("Resource busy", 16),
        ("No such device", 19),
        ("Invalid argument", 22),
        ("Invalid or incomplete", 84),
        ("No data available", 61),
        ("Operation not supported", 95),
        ("Not supported", 95),
        ("Connection timed out", 110),
    ];
    match said {
        "No such file or directory" => None,
        "Permission denied" | "Operation not permitted" => Some(Why::Denied),
        _ => Some(match NUMBERS.iter().find(|(words, _)| *words == said) {
            Some((_, n)) => Why::Failed(std::io::Error::from_raw_os_error(*n).to_string().into()),
            None => Why::Failed("it could not be read".into()),
        }),
    }
}

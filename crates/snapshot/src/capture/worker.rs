//! Reads one directory after the other, as the catalogue says.

use super::Purpose;
use super::bystander;
use super::file::Few;
use super::groups;
use super::root::{Place, Root, join, lexical, link_target};
use super::walk::{Job, Shared, State};
use crate::catalogue::{Catalogue, Leaf, Take, catalogue_of};
use crate::index::{IDS, Skipped};
use crate::redact::secrets;
use crate::{Coverage, EntryKind, Why};
use rustix::fs::{FileType, RawDir};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::sync::MutexGuard;

/// GIDs of an audit: after so many unused ones in a row, the rest of the table is not read.
const UNUSED_GIDS: usize = 32;

pub(super) struct Worker<'a> {
    pub(super) s: &'a Shared,
    pub(super) c: &'static Catalogue,
    pub(super) number: u32,
    pub(super) buf: Vec<u8>,
    pub(super) data: Vec<u8>,
    pub(super) list: Vec<MaybeUninit<u8>>,
    /// What was asked for last.
    pub(super) few: Option<(Vec<usize>, Option<Rc<Few>>)>,
    /// Whether `/proc/cpuinfo` names sockets; not looked yet.
    pub(super) sockets: Option<bool>,
}

/// The worker was replaced, or there is no more room.
pub(super) struct Stop;

impl<'a> Worker<'a> {
    pub(super) fn new(s: &'a Shared, number: u32) -> Self {
        Worker {
            s,
            c: catalogue_of(s.purpose),
            number,
            buf: vec![0; 64 << 10],
            data: Vec::new(),
            list: Vec::new(),
            few: None,
            sockets: None,
        }
    }

    pub(super) fn audit(&self) -> bool {
        self.s.purpose == Purpose::Audit
    }

    pub(super) fn run(&mut self) {
        loop {
            let job = {
                let mut state = self.s.lock();
                if state.worker != self.number || state.full {
                    return;
                }
                let Some(job) = state.jobs.pop() else { return };
                state.active.clear();
                state.active.push(job.clone());
                state.leaf.clear();
                state.ticks += 1;
                job
            };
            if self.directory(&job).is_err() {
                return;
            }
        }
    }

    /// The state, if this worker still may write there.
    pub(super) fn state(&self) -> Result<MutexGuard<'_, State>, Stop> {
        let mut state = self.s.lock();
        if state.worker != self.number {
            return Err(Stop);
        }
        state.ticks += 1;
        if state.snapshot.size() > self.s.max_bytes || state.snapshot.len() > self.s.max_entries {
            if !state.full {
                state.full = true;
                let n = state.snapshot.len();
                state.snapshot.left_out(format!("the capture is full after {n} entries; the rest was left out"));
                state.snapshot.coverage = Coverage::Partial;
            }
            return Err(Stop);
        }
        Ok(state)
    }

    fn directory(&mut self, job: &Job) -> Result<(), Stop> {
        let dir = match self.s.root.dir(&job.path) {
            Ok(dir) => dir,
            Err(Errno::NOENT | Errno::NODEV) => return Ok(()),
            Err(e) => {
                self.state()?.snapshot.fail_dir(job.dir, why(e));
                return Ok(());
            }
        };
        let mut names = self.names(job, dir.as_fd())?;
        if job.path.ends_with("/gids") {
            names.sort_by_key(|(n, _)| n.parse::<u32>().unwrap_or(u32::MAX));
        }
        let wanted =
            if self.audit() && job.path == groups::HOME { groups::wanted(&self.state()?.snapshot) } else { None };
        let trusted = self.s.root.sysfs && job.path.starts_with("sys/");
        let (mut jobs, mut below, mut unused, mut rest_unread) = (Vec::new(), Vec::new(), 0, false);
        let ids_known = self.audit() && self.state()?.snapshot.skipped(job.dir) == Skipped::Ids;
        for (name, kind) in names {
            if ids_known && IDS.contains(&name.as_str()) {
                continue;
            }
            self.c.below(&job.steps, &name, &mut below);
            let goes_on = self.c.goes_on(&below, self.audit());
            let leaf = self.c.leaf(&below, self.audit());
            if below.is_empty() || (leaf.is_none() && !goes_on) {
                continue;
            }
            if rest_unread {
                // One entry says it for the rest of the table.
                self.state()?.snapshot.add_at(job.dir, &name, EntryKind::Failed(Why::NotCollected), &[]);
                break;
            }
            let kind = match kind.filter(|k| *k != FileType::Unknown).map_or_else(|| Root::kind(dir.as_fd(), &name), Ok)
            {
                Ok(kind) => kind,
                Err(Errno::NOENT | Errno::NODEV | Errno::NOTDIR) => continue,
                Err(e) => {
                    self.state()?.snapshot.add_at(job.dir, &name, EntryKind::Failed(why(e)), &[]);
                    continue;
                }
            };
            match kind {
                FileType::Symlink => {
                    if let Some(j) = self.link(job, dir.as_fd(), &name, &below, leaf, goes_on)? {
                        jobs.push(j);
                    }
                }
                FileType::Directory => {
                    let id = self.state()?.snapshot.add_at(job.dir, &name, EntryKind::Dir, &[]);
                    let Some(id) = id.filter(|_| goes_on) else { continue };
                    if wanted.as_ref().is_some_and(|w| !w.contains(name.as_str())) {
                        self.state()?.snapshot.mark_bystander(id);
                        continue;
                    }
                    let there = Job { steps: below.clone(), path: join(&job.path, &name), dir: id };
                    if !self.few_files(&there, dir.as_fd(), &name, &below)? {
                        jobs.push(there);
                    }
                }
                _ => {
                    let Some(leaf) = leaf else { continue };
                    let zero = self.file(job, dir.as_fd(), &name, kind, leaf, trusted)?;
                    unused = if zero { unused + 1 } else { 0 };
                    if unused == UNUSED_GIDS && self.audit() {
                        rest_unread = true;
                    }
                }
            }
        }
        // Jobs are taken from the end. `gids` before `gid_attrs`: which of these exist depends on those; PCI functions before
        // `sys/kernel/iommu_groups`, and cpuinfo before the topology of CPUs, for the same reason.
        jobs.sort_by_key(|j| match j.path.as_str() {
            "sys/kernel" => 0,
            p => 1 + u8::from(p == "proc" || p.ends_with("/gids")),
        });
        let mut state = self.state()?;
        state.active.clear();
        state.jobs.append(&mut jobs);
        Ok(())
    }

    /// Names to look at: all of the directory where patterns have `*`, else those of the patterns.
    fn names(&mut self, job: &Job, dir: BorrowedFd<'_>) -> Result<Vec<(String, Option<FileType>)>, Stop> {
        let steps = || job.steps.iter().filter_map(|i| self.c.steps.get(*i));
        if steps().all(|s| s.globs.is_empty()) {
            let mut names: Vec<_> =
                steps().flat_map(|s| s.exact.iter().map(|(n, _)| ((*n).to_owned(), None))).collect();
            names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            names.dedup_by(|a, b| a.0 == b.0);
            return Ok(names);
        }
        let mut names = Vec::new();
        let mut odd = 0;
        self.list.resize(32 << 10, MaybeUninit::uninit());
        let mut iter = RawDir::new(dir, &mut self.list);
        let mut failed = None;
        while let Some(entry) = iter.next() {
            let entry = match entry {
                Ok(e) => e,
                Err(e) => {
                    failed = Some(e);
                    break;
                }
            };
            match entry.file_name().to_str() {
                Ok("." | "..") => {}
                Ok(name) => names.push((name.to_owned(), Some(entry.file_type()))),
                Err(_) => odd += 1,
            }
            if names.len() > self.s.max_entries {
                failed = Some(Errno::NFILE);
                break;
            }
        }
        if odd > 0 || failed.is_some() {
            let mut state = self.state()?;
            if odd > 0 {
                state.snapshot.problems.push(format!("/{}: {odd} names are not UTF-8 and were left out", job.path));
            }
            if let Some(e) = failed {
                state.snapshot.fail_dir(job.dir, why(e));
            }
        }
        if let Some((head, _)) = job.path.rsplit_once("/gid_attrs/") {
            let state = self.state()?;
            if let crate::Lookup::Found(gids) = state.snapshot.resolve(&format!("{head}/gids")) {
                names.retain(|(n, _)| state.snapshot.child(gids, n).is_some());
            }
        }
        Ok(names)
    }

    fn link(
        &mut self,
        job: &Job,
        dir: BorrowedFd<'_>,
        name: &str,
        steps: &[usize],
        leaf: Option<Leaf>,
        goes_on: bool,
    ) -> Result<Option<Job>, Stop> {
        let target = match link_target(dir, name) {
            Ok(t) => t,
            Err(Errno::NOENT) => return Ok(None),
            Err(e) => {
                self.state()?.snapshot.add_at(job.dir, name, EntryKind::Failed(why(e)), &[]);
                return Ok(None);
            }
        };
        let clean = secrets::target(target.as_bytes());
        let kept = clean.as_deref().unwrap_or(target.as_bytes());
        self.state()?.snapshot.add_at(job.dir, name, EntryKind::Link, kept);
        let file = leaf.filter(|l| l.take == Take::File);
        if leaf.is_some_and(|l| l.take == Take::Link) || (file.is_none() && !goes_on) {
            return Ok(None);
        }
        if self.audit() && goes_on && job.path == "sys/bus/pci/devices" && self.bystander(&job.path, &target)? {
            return Ok(None);
        }
        // A dangling link, or one whose way is closed: that it is there is all there is to know.
        let Ok(Place { path, kind, links }) = self.s.root.locate(&job.path, &target) else { return Ok(None) };
        let (parent, last) = path.rsplit_once('/').unwrap_or(("", &path));
        let mut state = self.state()?;
        for (at, to) in links {
            let clean = secrets::target(to.as_bytes());
            state.snapshot.add_link(&at, clean.as_deref().unwrap_or(to.as_bytes()));
        }
        match kind {
            FileType::Directory if goes_on => {
                let id = state.snapshot.add_dir(&path);
                Ok(id.map(|dir| Job { steps: steps.to_vec(), path: path.clone(), dir }))
            }
            FileType::RegularFile => {
                let Some(leaf) = file else { return Ok(None) };
                let Some(id) = state.snapshot.add_dir(parent) else { return Ok(None) };
                drop(state);
                let there = Job { steps: Vec::new(), path: parent.to_owned(), dir: id };
                if let Ok(fd) = self.s.root.dir(parent) {
                    self.file(&there, fd.as_fd(), last, kind, leaf, false)?;
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Whether a function is a bystander of the paths that an audit judges; if so, the little that matters of it was read.
    fn bystander(&mut self, from: &str, target: &str) -> Result<bool, Stop> {
        let path = lexical(from, target);
        let Ok(dir) = self.s.root.dir(&path) else { return Ok(false) };
        let id = self.state()?.snapshot.add_dir(&path);
        let Some(id) = id else { return Ok(false) };
        let job = Job { steps: Vec::new(), path, dir: id };
        self.state()?.active.push(job.clone());
        let is = bystander::read(self, &job, dir.as_fd());
        self.state()?.active.pop();
        is
    }
}

pub(super) fn why(e: Errno) -> Why {
    match e {
        Errno::ACCESS | Errno::PERM => Why::Denied,
        e => Why::Failed(std::io::Error::from(e).to_string().into()),
    }
}

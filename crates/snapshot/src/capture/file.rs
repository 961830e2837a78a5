//! Reads one file as the catalogue says: how much, which part, and what of it is hidden.

use super::filter;
use super::root::join;
use super::walk::Job;
use super::worker::{Stop, Worker, why};
use crate::catalogue::{Hide, Keep, Leaf, Take};
use crate::redact::secrets;
use crate::{EntryKind, Lookup, Why};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;
use std::rc::Rc;

/// Paths of files, and how to take them.
pub(super) type Few = Vec<(String, Leaf)>;

/// What is known of a file before it is read.
#[derive(Clone, Copy)]
pub(super) struct How {
    /// It is in a real sysfs.
    pub(super) trusted: bool,
    /// A read that returns less than was asked for came to the end.
    pub(super) whole: bool,
    /// Nobody looked yet whether it is a regular file.
    pub(super) unseen: bool,
}

impl Worker<'_> {
    /// Takes one file. True where it is an unused GID, which is not kept.
    pub(super) fn file(
        &mut self,
        job: &Job,
        dir: BorrowedFd<'_>,
        name: &str,
        kind: FileType,
        leaf: Leaf,
        trusted: bool,
    ) -> Result<bool, Stop> {
        if leaf.take == Take::Link {
            return Ok(false);
        }
        if leaf.take == Take::Name {
            self.state()?.snapshot.add_at(job.dir, name, EntryKind::CutFile, &[]);
            return Ok(false);
        }
        if kind != FileType::RegularFile {
            let why = EntryKind::Failed(Why::Failed("not a regular file; it was not opened".into()));
            self.state()?.snapshot.add_at(job.dir, name, why, &[]);
            return Ok(false);
        }
        if leaf.no_sockets && self.sockets_known()? {
            return Ok(false);
        }
        if leaf.keep == Keep::Kconfig && name.strip_prefix("config-").is_some_and(|r| r != self.s.release) {
            return Ok(false);
        }
        {
            let mut state = self.state()?;
            if state.snapshot.child(job.dir, name).is_some() {
                return Ok(false);
            }
            state.leaf.clear();
            state.leaf.push_str(name);
        }
        let how = How { trusted, whole: !job.path.starts_with("proc"), unseen: false };
        let cut = match self.read(dir, name, leaf, how) {
            Ok(cut) => cut,
            Err(Errno::NOENT) => return Ok(false),
            Err(e) => {
                self.state()?.snapshot.add_at(job.dir, name, EntryKind::Failed(why(e)), &[]);
                return Ok(false);
            }
        };
        if leaf.hide == Hide::Gid && is_zero_gid(&self.data) {
            self.state()?.ticks += 1;
            return Ok(true);
        }
        let part = filter::keep(&mut self.data, leaf.keep);
        if !leaf.binary && !is_number(&self.data) {
            secrets::file(&join(&job.path, name), &mut self.data);
        }
        self.s.redactor.file(leaf.hide, &mut self.data);
        let kind = if cut || part { EntryKind::CutFile } else { EntryKind::File };
        let mut state = self.state()?;
        state.snapshot.add_at(job.dir, name, kind, &self.data);
        state.leaf.clear();
        Ok(false)
    }

    /// Where a few files are all that is looked for below a directory: takes them without opening it. False where that is not
    /// so, or not as simple.
    pub(super) fn few_files(
        &mut self,
        job: &Job,
        dir: BorrowedFd<'_>,
        name: &str,
        steps: &[usize],
    ) -> Result<bool, Stop> {
        let Some(few) = self.few(steps) else { return Ok(false) };
        let trusted = self.s.root.sysfs && job.path.starts_with("sys/");
        let how = How { trusted, whole: !job.path.starts_with("proc"), unseen: !trusted };
        for (path, leaf) in few.iter() {
            if leaf.no_sockets && self.sockets_known()? {
                continue;
            }
            {
                let mut state = self.state()?;
                state.active.push(job.clone());
                state.leaf.clear();
                state.leaf.push_str(path);
            }
            let read = self.read(dir, &join(name, path), *leaf, how);
            if read.is_ok() && !leaf.binary && !is_number(&self.data) {
                secrets::file(&join(&join(&job.path, name), path), &mut self.data);
            }
            let mut state = self.state()?;
            state.active.pop();
            state.leaf.clear();
            match read {
                Ok(cut) => {
                    let kind = if cut { EntryKind::CutFile } else { EntryKind::File };
                    let (parent, leaf) = path.rsplit_once('/').unwrap_or(("", path));
                    let parent = parent.split('/').filter(|n| !n.is_empty()).try_fold(job.dir, |at, n| {
                        let there = state.snapshot.child(at, n);
                        there.or_else(|| state.snapshot.add_at(at, n, EntryKind::Dir, &[]))
                    });
                    if let Some(parent) = parent {
                        state.snapshot.add_at(parent, leaf, kind, &self.data);
                    }
                }
                Err(Errno::NOENT) => {}
                // What was read so far is not read again.
                Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Whether `/proc/cpuinfo` was read and names sockets: then those of sysfs, hundreds of files, say nothing new.
    fn sockets_known(&mut self) -> Result<bool, Stop> {
        if let Some(known) = self.sockets {
            return Ok(known);
        }
        let state = self.state()?;
        let known = match state.snapshot.resolve("proc/cpuinfo") {
            Lookup::Found(e) => filter::names_sockets(state.snapshot.data(e)),
            _ => false,
        };
        drop(state);
        self.sockets = Some(known);
        Ok(known)
    }

    /// The few files below some steps of the catalogue, which many directories share.
    fn few(&mut self, steps: &[usize]) -> Option<Rc<Few>> {
        if let Some((at, few)) = &self.few
            && at == steps
        {
            return few.clone();
        }
        let plain = |l: &Leaf| l.take == Take::File && l.keep == Keep::All && l.hide == Hide::Nothing;
        let few = self.c.few(steps, self.audit()).filter(|f| f.iter().all(|(_, l)| plain(l))).map(Rc::new);
        self.few = Some((steps.to_vec(), few.clone()));
        few
    }

    /// Reads into `self.data`; true if there is more than the limit.
    pub(super) fn read(&mut self, dir: BorrowedFd<'_>, name: &str, leaf: Leaf, how: How) -> Result<bool, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = if name.contains('/') {
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            rustix::fs::openat2(dir, name, flags, Mode::empty(), resolve)?
        } else {
            rustix::fs::openat(dir, name, flags, Mode::empty())?
        };
        self.data.clear();
        let max = leaf.max as usize;
        loop {
            let room = (max + 1 - self.data.len()).min(self.buf.len());
            let room = if leaf.binary { room.min(max - self.data.len()) } else { room };
            let Some(buf) = self.buf.get_mut(..room).filter(|b| !b.is_empty()) else { break };
            let n = match rustix::io::read(&fd, &mut *buf) {
                Ok(n) => n,
                Err(Errno::INTR) => continue,
                Err(e) => return Err(e),
            };
            // Opened without having been listed, it may be a pipe, of which an open end without a writer reads as nothing. What
            // waits does not block here, and no more than the limit is taken from whatever gives.
            let irregular = || Ok(FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode) != FileType::RegularFile);
            if n == 0 && how.unseen && self.data.is_empty() && irregular()? {
                return Err(Errno::NXIO);
            }
            self.data.extend_from_slice(buf.get(..n).unwrap_or_default());
            // An attribute of sysfs comes with one read; only what fills the page may go on. Files of a file system come
            // whole. Those of procfs come in pieces.
            if n == 0 || (how.trusted && n < 4096) || (how.whole && n < room) {
                break;
            }
        }
        #[cfg(test)]
        if self.data.starts_with(super::walk::tests::HANG) {
            std::thread::sleep(std::time::Duration::from_secs(3));
        }
        let cut = self.data.len() > max;
        self.data.truncate(max);
        Ok(cut)
    }
}

/// `0000:0000:…` and a line end.
pub(super) fn is_zero_gid(data: &[u8]) -> bool {
    data.iter().all(|b| matches!(b, b'0' | b':' | b'\n'))
}

/// Digits and what separates them: neither a secret nor a name.
pub(super) fn is_number(data: &[u8]) -> bool {
    data.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f' | b'x' | b' ' | b',' | b'-' | b'\n'))
}

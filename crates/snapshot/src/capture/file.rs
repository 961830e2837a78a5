//! Reads one file as the catalogue says: how much, which part, and what of it is hidden.

use super::filter;
use super::root::join;
use super::walk::Job;
use super::worker::{Stop, Worker, why};
use crate::catalogue::{Hide, Keep, Leaf, Take};
use crate::redact::secrets;
use crate::{EntryKind, Why};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;

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
            secrets::remove(&mut self.data);
        }
        self.s.redactor.file(leaf.hide, &mut self.data);
        let kind = if cut || part { EntryKind::CutFile } else { EntryKind::File };
        let mut state = self.state()?;
        state.snapshot.add_at(job.dir, name, kind, &self.data);
        state.leaf.clear();
        Ok(false)
    }

    /// Where the only thing looked for in a directory is one file: takes it without opening the directory. False where that is
    /// not so, or not as simple.
    pub(super) fn only_file(
        &mut self,
        job: &Job,
        dir: BorrowedFd<'_>,
        name: &str,
        steps: &[usize],
    ) -> Result<bool, Stop> {
        let Some((child, leaf)) = self.c.only(steps, self.audit()) else { return Ok(false) };
        if leaf.take != Take::File || leaf.keep != Keep::All || leaf.hide != Hide::Nothing {
            return Ok(false);
        }
        {
            let mut state = self.state()?;
            state.active.push(job.clone());
            state.leaf.clear();
            state.leaf.push_str(child);
        }
        let trusted = self.s.root.sysfs && job.path.starts_with("sys/");
        let how = How { trusted, whole: !job.path.starts_with("proc"), unseen: !trusted };
        let read = self.read(dir, &join(name, child), leaf, how);
        if read.is_ok() && !leaf.binary && !is_number(&self.data) {
            secrets::remove(&mut self.data);
        }
        let mut state = self.state()?;
        state.active.pop();
        state.leaf.clear();
        match read {
            Ok(cut) => {
                let kind = if cut { EntryKind::CutFile } else { EntryKind::File };
                state.snapshot.add_at(job.dir, child, kind, &self.data);
                Ok(true)
            }
            Err(Errno::NOENT) => Ok(true),
            Err(_) => Ok(false),
        }
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
        if how.unseen && FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode) != FileType::RegularFile {
            return Err(Errno::NXIO);
        }
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
fn is_zero_gid(data: &[u8]) -> bool {
    data.iter().all(|b| matches!(b, b'0' | b':' | b'\n'))
}

/// Digits and what separates them: neither a secret nor a name.
fn is_number(data: &[u8]) -> bool {
    data.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f' | b'x' | b' ' | b',' | b'-' | b'\n'))
}

//! Changing.

use super::{Parts, Root, Xattrs, xattr};
use crate::act::wrong::{Done, Wrong};
use crate::hand::fault::boundary;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Timespec, Timestamps, Uid};
use rustix::io::Errno;

/// What a written file is to be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meta {
    /// Permissions.
    pub(crate) mode: u32,
    /// Owner and group; `None`: the writer's.
    pub(crate) owner: Option<(u32, u32)>,
    /// Time of change; `None`: now.
    pub(crate) mtime: Option<(i64, i64)>,
}

impl Meta {
    /// For this program's own files.
    pub(crate) const OWN: Meta = Meta { mode: 0o600, owner: None, mtime: None };
}

impl Root {
    /// Puts a file in its place as a whole: written beside, synced, renamed. After an error, or a power cut, what was there is there.
    /// It has the extended attributes of the one whose place it takes.
    pub(crate) fn replace(&self, path: &str, bytes: &[u8], meta: Meta) -> Done<()> {
        let attributes = self.xattrs(path)?;
        self.restore(path, bytes, meta, &attributes)
    }

    /// As [`Root::replace`], with these extended attributes.
    pub(crate) fn restore(&self, path: &str, bytes: &[u8], meta: Meta, attributes: &Xattrs) -> Done<()> {
        let parts = Parts::of(path)?;
        let dir = self.writable(&parts)?;
        regular(&dir, &parts)?;
        let temporary = parts.temporary();
        remove_temporary(&dir, &temporary, path)?;
        let written = write_beside(&dir, &temporary, bytes, meta, attributes)
            .and_then(|()| {
                boundary("file: written beside");
                rustix::fs::renameat(&dir, temporary.as_str(), &dir, parts.name)
            })
            .map_err(|why| Wrong::call("write", path, why));
        if written.is_err() {
            let _ = rustix::fs::unlinkat(&dir, temporary.as_str(), AtFlags::empty());
        } else {
            boundary("file: renamed");
        }
        written?;
        rustix::fs::fsync(&dir).map_err(|why| Wrong::call("sync", parts.dir, why))
    }

    /// Removes a regular file, and waits until that is on disk.
    pub(crate) fn remove(&self, path: &str) -> Done<()> {
        let parts = Parts::of(path)?;
        let Some(dir) = self.parent(&parts)? else { return Ok(()) };
        if regular(&dir, &parts)?.is_none() {
            return Ok(());
        }
        rustix::fs::unlinkat(&dir, parts.name, AtFlags::empty()).map_err(|why| Wrong::call("remove", path, why))?;
        boundary("file: removed");
        rustix::fs::fsync(&dir).map_err(|why| Wrong::call("sync", parts.dir, why))
    }

    /// Removes what a killed writer of this file left beside it.
    pub(crate) fn sweep(&self, path: &str) -> Done<()> {
        let parts = Parts::of(path)?;
        let Some(dir) = self.parent(&parts)? else { return Ok(()) };
        remove_temporary(&dir, &parts.temporary(), path)
    }

    /// Makes a directory, if it is not there, and waits until that is on disk.
    pub(crate) fn make_dir(&self, path: &str, mode: u32) -> Done<()> {
        let parts = Parts::of(path)?;
        let dir = self.writable(&parts)?;
        match rustix::fs::mkdirat(&dir, parts.name, Mode::from_raw_mode(0o700)) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Ok(()),
            Err(why) => return Err(Wrong::call("make", path, why)),
        }
        let made = self.at(path, OFlags::RDONLY | OFlags::DIRECTORY).map_err(|why| Wrong::call("open", path, why))?;
        rustix::fs::fchmod(&made, Mode::from_raw_mode(mode)).map_err(|why| Wrong::call("make", path, why))?;
        boundary("directory: made");
        rustix::fs::fsync(&dir).map_err(|why| Wrong::call("sync", parts.dir, why))
    }

    /// Removes a directory if it is empty; whether it is gone.
    pub(crate) fn remove_dir(&self, path: &str) -> Done<bool> {
        let parts = Parts::of(path)?;
        let Some(dir) = self.parent(&parts)? else { return Ok(true) };
        match rustix::fs::unlinkat(&dir, parts.name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(Errno::NOTEMPTY | Errno::EXIST) => return Ok(false),
            Err(why) => return Err(Wrong::call("remove", path, why)),
        }
        rustix::fs::fsync(&dir).map_err(|why| Wrong::call("sync", parts.dir, why))?;
        Ok(true)
    }

    /// Gives a directory another name in the same directory.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Done<()> {
        let (from, to) = (Parts::of(from)?, Parts::of(to)?);
        let dir = self.writable(&from)?;
        rustix::fs::renameat(&dir, from.name, &dir, to.name).map_err(|why| Wrong::call("rename", from.path, why))?;
        rustix::fs::fsync(&dir).map_err(|why| Wrong::call("sync", from.dir, why))
    }

    /// Writes a value into a file of the kernel, in one piece.
    pub(crate) fn set_value(&self, path: &str, value: &str) -> Done<()> {
        let parts = Parts::of(path)?;
        let dir = self.parent(&parts)?.ok_or_else(|| Wrong::call("write", path, Errno::NOENT))?;
        if regular(&dir, &parts)?.is_none() {
            return Err(Wrong::call("write", path, Errno::NOENT));
        }
        let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&dir, parts.name, flags, Mode::empty())
            .map_err(|why| Wrong::call("write", path, why))?;
        let line = format!("{value}\n");
        let n = rustix::io::retry_on_intr(|| rustix::io::write(&fd, line.as_bytes()));
        match n.map_err(|why| Wrong::failed(format!("the kernel refused {value:?} in {path}: {why}")))? {
            n if n == line.len() => Ok(()),
            n => Err(Wrong::failed(format!("the kernel accepted {n} of {} bytes of {value:?} in {path}", line.len()))),
        }
    }

    /// A file of this program's own that grows: opened for appending, made if it is not there, locked by nobody.
    pub(crate) fn appendable(&self, path: &str) -> Done<OwnedFd> {
        let parts = Parts::of(path)?;
        let dir = self.writable(&parts)?;
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&dir, parts.name, flags, Mode::from_raw_mode(0o600))
            .map_err(|why| Wrong::call("open", path, why))?;
        rustix::fs::fsync(&dir).map_err(|why| Wrong::call("sync", parts.dir, why))?;
        Ok(fd)
    }

    /// The directory that holds a path, refused where anyone may put things under our feet.
    fn writable(&self, parts: &Parts<'_>) -> Done<OwnedFd> {
        let dir = self.parent(parts)?.ok_or_else(|| Wrong::call("write below", parts.dir, Errno::NOENT))?;
        let stat = rustix::fs::fstat(&dir).map_err(|why| Wrong::call("look at", parts.dir, why))?;
        if stat.st_mode & 0o002 != 0 {
            return Err(Wrong::failed(format!("anyone can write to {}: nothing is changed there", parts.dir)));
        }
        Ok(dir)
    }
}

/// The permissions' owner of the regular file of that name, opened; `None`: nothing is there.
pub(super) fn regular(dir: &OwnedFd, parts: &Parts<'_>) -> Done<Option<OwnedFd>> {
    let stat = match rustix::fs::statat(dir, parts.name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(why) => return Err(Wrong::call("look at", parts.path, why)),
    };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            // A file of the kernel that can only be written is there all the same.
            match rustix::fs::openat(dir, parts.name, flags, Mode::empty()) {
                Err(Errno::ACCESS) => {
                    rustix::fs::openat(dir, parts.name, OFlags::PATH | OFlags::NOFOLLOW, Mode::empty())
                }
                opened => opened,
            }
            .map(Some)
            .map_err(|why| Wrong::call("open", parts.path, why))
        }
        FileType::Symlink => Err(super::read::link(dir, parts)),
        _ => Err(Wrong::failed(format!("{} is not a regular file", parts.path))),
    }
}

fn remove_temporary(dir: &OwnedFd, temporary: &str, path: &str) -> Done<()> {
    match rustix::fs::unlinkat(dir, temporary, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(why) => Err(Wrong::call("remove what was left beside", path, why)),
    }
}

fn write_beside(dir: &OwnedFd, name: &str, bytes: &[u8], meta: Meta, attributes: &Xattrs) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o600))?;
    boundary("file: begun beside");
    let mut rest = bytes;
    while !rest.is_empty() {
        let n = rustix::io::retry_on_intr(|| rustix::io::write(&fd, rest))?;
        rest = rest.get(n..).unwrap_or_default();
    }
    if let Some((uid, gid)) = meta.owner {
        let stat = rustix::fs::fstat(&fd)?;
        if (stat.st_uid, stat.st_gid) != (uid, gid) {
            rustix::fs::fchown(&fd, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
        }
    }
    // The order matters: a new owner takes capabilities away, and an access list has the group's permissions in it.
    xattr::set(&fd, attributes)?;
    rustix::fs::fchmod(&fd, Mode::from_raw_mode(meta.mode & 0o7777))?;
    if let Some((tv_sec, tv_nsec)) = meta.mtime {
        let time = Timespec { tv_sec, tv_nsec };
        rustix::fs::futimens(&fd, &Timestamps { last_access: time, last_modification: time })?;
    }
    rustix::fs::fsync(&fd)
}

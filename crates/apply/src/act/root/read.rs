//! Looking.

use super::{Parts, Root, Xattrs, xattr};
use crate::act::wrong::{Done, Wrong};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, StatVfsMountFlags};
use rustix::io::Errno;

/// A regular file that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct There {
    /// Content.
    pub(crate) bytes: Vec<u8>,
    /// Permissions.
    pub(crate) mode: u32,
    /// Owner.
    pub(crate) uid: u32,
    /// Group.
    pub(crate) gid: u32,
    /// Time of the last change of its content: seconds, nanoseconds.
    pub(crate) mtime: (i64, i64),
}

impl Root {
    /// Reads a regular file of at most `limit` bytes; `None`: nothing is there.
    pub(crate) fn read(&self, path: &str, limit: usize) -> Done<Option<There>> {
        let parts = Parts::of(path)?;
        let Some(dir) = self.parent(&parts)? else { return Ok(None) };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = match rustix::fs::openat(&dir, parts.name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(link(&dir, &parts)),
            Err(why) => return Err(Wrong::call("read", path, why)),
        };
        let stat = rustix::fs::fstat(&fd).map_err(|why| Wrong::call("read", path, why))?;
        if !FileType::from_raw_mode(stat.st_mode).is_file() {
            return Err(Wrong::failed(format!("{path} is not a regular file")));
        }
        let mut bytes = Vec::new();
        let mut piece = [0_u8; 16384];
        loop {
            let n = match rustix::io::read(&fd, &mut piece) {
                Ok(0) => break,
                Ok(n) => n,
                Err(Errno::INTR) => continue,
                Err(why) => return Err(Wrong::call("read", path, why)),
            };
            bytes.extend_from_slice(piece.get(..n).unwrap_or_default());
            if bytes.len() > limit {
                return Err(Wrong::failed(format!("{path} is larger than {limit} bytes")));
            }
        }
        let mtime = (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0));
        Ok(Some(There { bytes, mode: stat.st_mode & 0o7777, uid: stat.st_uid, gid: stat.st_gid, mtime }))
    }

    /// Extended attributes of a regular file; none where there is no file.
    pub(crate) fn xattrs(&self, path: &str) -> Done<Xattrs> {
        let parts = Parts::of(path)?;
        let Some(dir) = self.parent(&parts)? else { return Ok(Xattrs::new()) };
        super::write::regular(&dir, &parts)?.map_or(Ok(Xattrs::new()), |fd| xattr::all(&fd, path))
    }

    /// A short text without white space around it; `None`: not there, or not to be read.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let there = self.read(path, 1 << 16).ok()??;
        Some(String::from_utf8_lossy(&there.bytes).trim().to_owned())
    }

    /// Directories above a path that are not there, the outermost first.
    pub(crate) fn missing_dirs(&self, path: &str) -> Done<Vec<String>> {
        let mut missing = Vec::new();
        let mut rest = Parts::of(path)?.dir;
        while rest != "/" && !rest.is_empty() {
            match self.at(rest, OFlags::RDONLY | OFlags::DIRECTORY) {
                Ok(_) => break,
                Err(Errno::NOENT) => {
                    let parts = Parts::of(rest)?;
                    let above = self.at(parts.dir, OFlags::RDONLY | OFlags::DIRECTORY);
                    if above
                        .is_ok_and(|above| rustix::fs::statat(&above, parts.name, AtFlags::SYMLINK_NOFOLLOW).is_ok())
                    {
                        return Err(Wrong::failed(format!("{rest} is a link that leads nowhere")));
                    }
                    missing.push(rest.to_owned());
                }
                Err(why) => return Err(super::unreachable(rest, why)),
            }
            rest = rest.rsplit_once('/').map_or("/", |(dir, _)| dir);
        }
        missing.reverse();
        Ok(missing)
    }

    /// Names in a directory; none where it is not there.
    pub(crate) fn names(&self, dir: &str, most: usize) -> Done<Vec<String>> {
        let fd = match self.at(dir, OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(Vec::new()),
            Err(why) => return Err(Wrong::call("read", dir, why)),
        };
        let entries = rustix::fs::Dir::read_from(&fd).map_err(|why| Wrong::call("read", dir, why))?;
        let names = entries.filter_map(Result::ok).filter_map(|e| e.file_name().to_str().ok().map(str::to_owned));
        let mut names: Vec<String> = names.filter(|n| n != "." && n != "..").take(most).collect();
        names.sort();
        Ok(names)
    }

    /// Refuses a directory of this program's own that belongs to somebody else, has one of these permissions, or is no directory. One that is
    /// not there is none of these.
    pub(crate) fn is_own_dir(&self, path: &str, open: u32) -> Done<()> {
        let parts = Parts::of(path)?;
        let Some(dir) = self.parent(&parts)? else { return Ok(()) };
        let stat = match rustix::fs::statat(&dir, parts.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(()),
            Err(why) => return Err(Wrong::call("look at", path, why)),
        };
        let own = rustix::process::geteuid().as_raw();
        let mode = stat.st_mode & 0o7777;
        let why = match () {
            () if !FileType::from_raw_mode(stat.st_mode).is_dir() => "it is not a directory".to_owned(),
            () if stat.st_uid != own => format!("it belongs to user {}, not to {own}", stat.st_uid),
            () if mode & open != 0 => format!("its permissions are {mode:04o}: others than its owner may use it"),
            () => return Ok(()),
        };
        let what = format!(
            "{path} is not trusted as the place of linerate's own state: {why}. Check who made it; then `chown {own} {path}` and `chmod go= {path}`, \
             or move it away"
        );
        Err(Wrong::new("state", what))
    }

    /// Free bytes where a path is or would be, `None` where that file system does not count them. An error where it cannot be written.
    pub(crate) fn room(&self, path: &str) -> Done<Option<u64>> {
        let mut dir = Parts::of(path)?.dir;
        let fd = loop {
            match self.at(dir, OFlags::RDONLY | OFlags::DIRECTORY) {
                Ok(fd) => break fd,
                Err(Errno::NOENT) if dir != "/" => {
                    dir = dir.rsplit_once('/').map_or("/", |(d, _)| if d.is_empty() { "/" } else { d })
                }
                Err(why) => return Err(Wrong::call("open", dir, why)),
            }
        };
        let vfs = rustix::fs::fstatvfs(&fd).map_err(|why| Wrong::call("look at", dir, why))?;
        if vfs.f_flag.contains(StatVfsMountFlags::RDONLY) {
            return Err(Wrong::call("write below", dir, Errno::ROFS));
        }
        if vfs.f_files > 0 && vfs.f_favail == 0 {
            return Err(Wrong::new(
                "no-space",
                format!("the file system of {dir} can hold no more files: remove some"),
            ));
        }
        Ok((vfs.f_blocks > 0).then(|| vfs.f_bavail.saturating_mul(vfs.f_frsize)))
    }
}

/// Says where a link leads.
pub(super) fn link(dir: &OwnedFd, parts: &Parts<'_>) -> Wrong {
    let target = rustix::fs::readlinkat(dir, parts.name, Vec::new());
    let target = target.map_or_else(|_| "somewhere".to_owned(), |t| t.to_string_lossy().into_owned());
    Wrong::failed(format!("{} is a link to {target:?}: links are not followed, and not replaced", parts.path))
}

//! A directory that is one user's alone.

use super::{StoreError, Stored};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long another process may hold the store: what is done there takes moments.
const WAIT: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });

/// The store, for one writer. Released when it is dropped, and when the process ends.
#[derive(Debug)]
pub(super) struct Lock(#[allow(dead_code)] Option<OwnedFd>);

/// The file that writers lock.
const LOCK: &str = "lock";

#[derive(Debug)]
pub(super) struct Dir {
    fd: OwnedFd,
    path: PathBuf,
}

impl Dir {
    /// Opens it, and makes it where it is not there. Its own name may be no link; it has to belong to this user, and nobody else may use it.
    pub(super) fn open(path: &Path) -> Stored<Dir> {
        let io = |e: std::io::Error| StoreError::Io { path: path.to_owned(), why: e.to_string() };
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(io)?;
            owned(parent, parent.metadata().map_err(io)?, 0o002)?;
        }
        use std::os::unix::fs::DirBuilderExt;
        match std::fs::DirBuilder::new().mode(0o700).create(path) {
            Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => return Err(io(e)),
            _ => {}
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = match rustix::fs::openat(CWD, path, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::LOOP | Errno::NOTDIR) => {
                return Err(foreign(path, "it is a link, or not a directory".to_owned()));
            }
            Err(e) => return Err(io(e.into())),
        };
        let file = File::from(fd);
        owned(path, file.metadata().map_err(io)?, 0o077)?;
        Ok(Dir { fd: file.into(), path: path.to_owned() })
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn io(&self, name: &str, why: impl ToString) -> StoreError {
        StoreError::Io { path: self.path(name), why: why.to_string() }
    }

    /// Reads a file of this user's own; `None`: there is none.
    pub(super) fn read(&self, name: &str, most: u64) -> Stored<Option<Vec<u8>>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = match rustix::fs::openat(self.fd.as_fd(), name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(foreign(&self.path(name), "it is a link".to_owned())),
            Err(e) => return Err(self.io(name, e)),
        };
        let file = File::from(fd);
        let about = file.metadata().map_err(|e| self.io(name, e))?;
        if !about.is_file() {
            return Err(foreign(&self.path(name), "it is not a regular file".to_owned()));
        }
        owned(&self.path(name), about, 0o077)?;
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes).map_err(|e| self.io(name, e))?;
        if bytes.len() as u64 > most {
            return Err(self.io(name, format!("it is longer than {most} bytes")));
        }
        Ok(Some(bytes))
    }

    /// Waits until no other process or thread writes here. Where the file system has no locks, nobody is waited for.
    pub(super) fn lock(&self) -> Stored<Lock> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = match rustix::fs::openat(self.fd.as_fd(), LOCK, flags, Mode::from_raw_mode(0o600)) {
            Ok(fd) => fd,
            Err(Errno::LOOP) => return Err(foreign(&self.path(LOCK), "it is a link".to_owned())),
            Err(e) => return Err(self.io(LOCK, e)),
        };
        let end = Instant::now() + WAIT;
        loop {
            match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Lock(Some(fd))),
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < end => {
                    std::thread::sleep(Duration::from_millis(3));
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) => return Err(StoreError::Busy { path: self.path(LOCK) }),
                Err(_) => return Ok(Lock(None)),
            }
        }
    }

    /// Puts a file in its place as a whole: written beside, synced, renamed.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Stored<()> {
        let _lock = self.lock()?;
        let beside = format!(".{name}.{}", std::process::id());
        let _ = rustix::fs::unlinkat(self.fd.as_fd(), beside.as_str(), AtFlags::empty());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(self.fd.as_fd(), beside.as_str(), flags, Mode::from_raw_mode(0o600))
            .map_err(|e| self.io(name, e))?;
        let mut file = File::from(fd);
        let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| {
            rustix::fs::renameat(self.fd.as_fd(), beside.as_str(), self.fd.as_fd(), name)?;
            Ok(rustix::fs::fsync(self.fd.as_fd())?)
        });
        if written.is_err() {
            let _ = rustix::fs::unlinkat(self.fd.as_fd(), beside.as_str(), AtFlags::empty());
        }
        written.map_err(|e| self.io(name, e))
    }

    pub(super) fn remove(&self, name: &str) -> Stored<()> {
        let lock = self.lock()?;
        self.remove_locked(name, &lock)
    }

    /// Removes a file, for one who has the lock.
    pub(super) fn remove_locked(&self, name: &str, _: &Lock) -> Stored<()> {
        match rustix::fs::unlinkat(self.fd.as_fd(), name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(e) => Err(self.io(name, e)),
        }
    }

    /// Another handle of the same directory.
    pub(super) fn again(&self) -> Stored<Dir> {
        let fd = self.fd.try_clone().map_err(|e| self.io("", e))?;
        Ok(Dir { fd, path: self.path.clone() })
    }

    /// When a file was written last, in nanoseconds since 1970; `None`: it is not a regular file of this user.
    pub(super) fn written(&self, name: &str) -> Option<u64> {
        let stat = rustix::fs::statat(self.fd.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let own = FileType::from_raw_mode(stat.st_mode).is_file() && stat.st_uid == rustix::process::geteuid().as_raw();
        let seconds = u64::try_from(stat.st_mtime).ok().filter(|_| own)?;
        seconds.checked_mul(1_000_000_000)?.checked_add(stat.st_mtime_nsec)
    }

    /// Names of its files. More than can be looked at are refused: what is not seen would count as not there.
    pub(super) fn names(&self, most: usize) -> Stored<Vec<String>> {
        let entries = rustix::fs::Dir::read_from(self.fd.as_fd()).map_err(|e| self.io("", e))?;
        let regular = |e: &rustix::fs::DirEntry| matches!(e.file_type(), FileType::RegularFile | FileType::Unknown);
        let names = entries
            .filter_map(Result::ok)
            .filter(regular)
            .filter_map(|e| e.file_name().to_str().ok().map(str::to_owned));
        let names: Vec<String> = names.take(most + 1).collect();
        if names.len() > most {
            return Err(self.io("", format!("there are more than {most} files: move those of the oldest plans away")));
        }
        Ok(names)
    }
}

fn foreign(path: &Path, why: String) -> StoreError {
    StoreError::Foreign { path: path.to_owned(), why }
}

/// Refuses what belongs to another user, or has one of these permissions.
fn owned(path: &Path, about: std::fs::Metadata, open: u32) -> Stored<()> {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::geteuid().as_raw();
    let mode = about.mode() & 0o7777;
    match () {
        () if about.uid() != own => Err(foreign(path, format!("it belongs to user {}, not to {own}", about.uid()))),
        () if mode & open != 0 => Err(foreign(path, format!("its permissions are {mode:04o}"))),
        () => Ok(()),
    }
}

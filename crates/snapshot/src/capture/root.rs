//! The tree that a capture reads: every way into it goes through here, and none leads out of it.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// As the kernel's limit on symbolic links in one walk.
const MAX_HOPS: u32 = 40;
const SYSFS_MAGIC: i64 = 0x6265_6572;
const PROC_MAGIC: i64 = 0x9fa0;

/// A root directory, held open.
pub(crate) struct Root {
    fd: OwnedFd,
    /// Whether openat2(2) works here (Linux 5.6, and no seccomp filter that refuses it).
    openat2: AtomicBool,
    /// `sys` is a real sysfs: its files are known to be small, regular and unchanging in kind.
    pub(crate) sysfs: bool,
    /// `proc` is a real procfs.
    pub(crate) procfs: bool,
}

/// Where a path leads.
pub(crate) struct Place {
    /// Path from the root without links.
    pub(crate) path: String,
    pub(crate) kind: FileType,
    /// Links met on the way: path and target.
    pub(crate) links: Vec<(String, String)>,
}

impl Root {
    pub(crate) fn open(root: &Path) -> Result<Self, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(root, flags, Mode::empty())?;
        let mut root = Root { fd, openat2: AtomicBool::new(true), sysfs: false, procfs: false };
        root.sysfs = root.is_fs("sys", SYSFS_MAGIC);
        root.procfs = root.is_fs("proc", PROC_MAGIC);
        Ok(root)
    }

    #[allow(clippy::unnecessary_cast)] // the type of f_type differs between architectures
    fn is_fs(&self, name: &str, magic: i64) -> bool {
        self.dir(name).is_ok_and(|d| rustix::fs::fstatfs(d).is_ok_and(|s| s.f_type as i64 == magic))
    }

    /// Opens a directory at a path without links.
    pub(crate) fn dir(&self, path: &str) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let path = if path.is_empty() { "." } else { path };
        if self.openat2.load(Ordering::Relaxed) {
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            match rustix::fs::openat2(&self.fd, path, flags, Mode::empty(), resolve) {
                // Old Docker answers EPERM for system calls that it does not know.
                Err(Errno::NOSYS | Errno::PERM) => self.openat2.store(false, Ordering::Relaxed),
                answer => return answer,
            }
        }
        let mut at = rustix::fs::openat(&self.fd, ".", flags, Mode::empty())?;
        for name in path.split('/').filter(|n| !n.is_empty() && *n != ".") {
            if name == ".." {
                return Err(Errno::XDEV);
            }
            at = rustix::fs::openat(&at, name, flags, Mode::empty())?;
        }
        Ok(at)
    }

    /// Kind of the entry itself (links not followed).
    pub(crate) fn kind(dir: BorrowedFd<'_>, name: &str) -> Result<FileType, Errno> {
        let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(stat.st_mode))
    }

    /// Where the target of a link in the directory `from` (a path without links) leads, inside the tree: an absolute target
    /// starts at this root, `..` stops at it.
    pub(crate) fn locate(&self, from: &str, target: &str) -> Result<Place, Errno> {
        let fast = lexical(from, target);
        // Most links of sysfs lead through directories only: one look proves it.
        if let Some((dir, name)) = fast.rsplit_once('/')
            && let Ok(fd) = self.dir(dir)
        {
            let kind = Self::kind(fd.as_fd(), name)?;
            if kind != FileType::Symlink {
                return Ok(Place { path: fast, kind, links: Vec::new() });
            }
        }
        self.locate_slowly(from, target)
    }

    fn locate_slowly(&self, from: &str, target: &str) -> Result<Place, Errno> {
        let mut at: Vec<String> = if target.starts_with('/') { Vec::new() } else { names(from) };
        let mut todo: Vec<String> = names(target);
        todo.reverse();
        let (mut hops, mut links, mut kind) = (0, Vec::new(), FileType::Directory);
        while let Some(name) = todo.pop() {
            if name == ".." {
                at.pop();
                kind = FileType::Directory;
                continue;
            }
            let dir = self.dir(&at.join("/"))?;
            kind = Self::kind(dir.as_fd(), &name)?;
            if kind != FileType::Symlink {
                at.push(name);
                continue;
            }
            hops += 1;
            if hops > MAX_HOPS {
                return Err(Errno::LOOP);
            }
            let next = link_target(dir.as_fd(), &name)?;
            links.push((join(&at.join("/"), &name), next.clone()));
            if next.starts_with('/') {
                at.clear();
            }
            todo.extend(names(&next).into_iter().rev());
            kind = FileType::Directory;
        }
        Ok(Place { path: at.join("/"), kind, links })
    }
}

/// Target of a link; one that is not UTF-8 is not captured.
pub(crate) fn link_target(dir: BorrowedFd<'_>, name: &str) -> Result<String, Errno> {
    let target = rustix::fs::readlinkat(dir, name, Vec::new())?;
    target.into_string().map_err(|_| Errno::ILSEQ)
}

pub(crate) fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") }
}

fn names(path: &str) -> Vec<String> {
    path.split('/').filter(|n| !n.is_empty() && *n != ".").map(str::to_owned).collect()
}

/// The path that `target` names, seen from `from`, if there are no links on the way.
pub(crate) fn lexical(from: &str, target: &str) -> String {
    let mut out: Vec<&str> = if target.starts_with('/') { Vec::new() } else { from.split('/').collect() };
    for name in target.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                out.pop();
            }
            n => out.push(n),
        }
    }
    out.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_inside() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        std::fs::create_dir_all(dir.path().join("etc")).unwrap();
        std::fs::write(dir.path().join("etc/passwd"), "inside").unwrap();
        std::os::unix::fs::symlink("../../../../../../etc/passwd", dir.path().join("a/b/up")).unwrap();
        std::os::unix::fs::symlink("/etc", dir.path().join("a/abs")).unwrap();
        std::os::unix::fs::symlink("loop", dir.path().join("a/loop")).unwrap();
        let root = Root::open(dir.path()).unwrap();
        assert_eq!(root.locate("a/b", "../../../../../../etc/passwd").unwrap().path, "etc/passwd");
        let at = root.locate("a", "/a/abs/passwd").unwrap();
        assert_eq!((at.path.as_str(), at.links.len()), ("etc/passwd", 1));
        assert!(matches!(root.locate("a", "loop").err(), Some(Errno::LOOP)));
        assert!(root.dir("a/abs").is_err(), "a directory is never opened through a link");
    }
}

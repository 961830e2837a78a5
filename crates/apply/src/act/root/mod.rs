//! The node's file system, reached from one directory: `/`, or a tree in a test.
//!
//! Paths are resolved by openat2(2) with `RESOLVE_IN_ROOT`: no link and no `..` leaves the root. What is changed is a regular file under its
//! own name; a link in that place is refused, because what would be changed is not what the plan names.

mod path;
mod read;
mod write;
mod xattr;

pub(crate) use read::There;
pub(crate) use write::Meta;
pub(crate) use xattr::Xattrs;

use super::wrong::{Done, Wrong};
use path::Parts;
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// Where programs are looked for. Never the caller's `PATH`.
const PROGRAMS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// A file system below a directory.
#[derive(Debug)]
pub struct Root {
    fd: OwnedFd,
    path: PathBuf,
}

impl Root {
    /// Opens it.
    ///
    /// # Errors
    /// It is no directory, or may not be read.
    pub fn open(path: &Path) -> std::io::Result<Root> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // Programs are started in another directory than this process is in.
        Ok(Root { fd: rustix::fs::openat(CWD, path, flags, Mode::empty())?, path: std::path::absolute(path)? })
    }

    /// Whether it is the running system's own.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.path == Path::new("/")
    }

    /// Where it is, for starting programs.
    pub(crate) fn host_path(&self, path: &str) -> PathBuf {
        self.path.join(path.trim_start_matches('/'))
    }

    /// Resolves a path below the root. Links inside the root are followed (`/lib` → `/usr/lib`), but not the last part's with `NOFOLLOW`.
    fn at(&self, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let below = match path.trim_start_matches('/') {
            "" => ".",
            below => below,
        };
        let flags = flags | OFlags::CLOEXEC;
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(&self.fd, below, flags, Mode::empty(), resolve) {
            // Linux before 5.6, or a filter of system calls: for `/` itself usual resolution gives the same.
            Err(Errno::NOSYS | Errno::PERM) if self.is_real() => {
                rustix::fs::openat(&self.fd, below, flags, Mode::empty())
            }
            opened => opened,
        }
    }

    /// The directory that holds a path; `None`: it is not there.
    fn parent(&self, parts: &Parts<'_>) -> Done<Option<OwnedFd>> {
        match self.at(parts.dir, OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(fd) => Ok(Some(fd)),
            Err(Errno::NOENT) => Ok(None),
            Err(why) => Err(unreachable(parts.dir, why)),
        }
    }

    /// Whether something is at a path, links followed.
    pub(crate) fn exists(&self, path: &str) -> bool {
        Parts::of(path).is_ok() && self.at(path, OFlags::PATH).is_ok()
    }

    /// Finds a program in the system's directories: its path below the root. An absolute name must be in one of them.
    pub(crate) fn program(&self, name: &str) -> Done<String> {
        let missing = || {
            Wrong::new(
                "missing-program",
                format!("{name} is not installed: it was looked for in {}", PROGRAMS.join(", ")),
            )
        };
        let candidates: Vec<String> = match name.rsplit_once('/') {
            None => PROGRAMS.iter().map(|dir| format!("{dir}/{name}")).collect(),
            Some((dir, _)) if PROGRAMS.contains(&dir) => vec![name.to_owned()],
            Some(_) => {
                return Err(Wrong::new(
                    "missing-program",
                    format!("{name} is not in {}: programs elsewhere are not run", PROGRAMS.join(", ")),
                ));
            }
        };
        let found = candidates.into_iter().find_map(|path| {
            Parts::of(&path).ok()?;
            let stat = rustix::fs::fstat(self.at(&path, OFlags::PATH).ok()?).ok()?;
            let regular = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
            (regular && stat.st_mode & 0o111 != 0).then_some((path, stat))
        });
        let (path, stat) = found.ok_or_else(missing)?;
        let foreign = self.is_real() && stat.st_uid != 0;
        if foreign || stat.st_mode & 0o002 != 0 {
            return Err(Wrong::failed(format!("users other than root can change {path}: it is not run")));
        }
        Ok(path)
    }
}

/// Why a directory cannot be opened.
fn unreachable(dir: &str, why: Errno) -> Wrong {
    match why {
        Errno::NOTDIR => Wrong::failed(format!("{dir} is not a directory")),
        Errno::LOOP => Wrong::failed(format!("the links in {dir} lead nowhere")),
        why => Wrong::call("open", dir, why),
    }
}

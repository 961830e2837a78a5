//! A temporary directory in memory. Tests make and remove trees of some thousand files; ext4 looks for inodes that were not removed lately, which takes
//! ten times as long as all else.

use crate::shell::{Result, emptied};
use rustix::fs::{StatVfsMountFlags, statvfs};
use std::path::{Path, PathBuf};

/// Bytes that must be free: below that a disk is better.
const LEAST: u64 = 4 << 30;

/// Removed when it is dropped.
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// In memory where that is large and lets programs run, else where temporary files are.
    pub(crate) fn new(name: &str) -> Result<Scratch> {
        let shm = Path::new("/dev/shm");
        let base = if is_roomy(shm) { shm.to_owned() } else { std::env::temp_dir() };
        let path = base.join(format!("linerate-{name}-{}", std::process::id()));
        emptied(&path)?;
        Ok(Scratch { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

fn is_roomy(dir: &Path) -> bool {
    let closed = StatVfsMountFlags::NOEXEC | StatVfsMountFlags::RDONLY;
    statvfs(dir).is_ok_and(|s| !s.f_flag.intersects(closed) && s.f_bavail.saturating_mul(s.f_frsize) >= LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_there_until_it_is_dropped() {
        let scratch = Scratch::new("memory-test").unwrap();
        let path = scratch.path().to_owned();
        std::fs::write(path.join("file"), "x").unwrap();
        drop(scratch);
        assert!(!path.exists());
        assert!(!is_roomy(Path::new("/proc")), "nothing is free there");
    }
}

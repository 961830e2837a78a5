//! A private directory for one command, gone when it ends: dropped, interrupted, or, after a kill, by the next command of the same user.

use crate::output::Failure;
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What its name begins with.
const NAME: &str = "linerate-on-";
/// Older ones that nobody holds are removed.
const OLD: Duration = Duration::from_secs(600);
/// How often a removal is tried: who writes into it may not have heard yet that it ends.
const TRIES: u32 = 5;

/// Those of this process.
static MADE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A directory that only this user can enter. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    /// Locked as long as it is used: the kernel gives the lock back, however the process ends.
    _lock: File,
}

impl Scratch {
    /// Makes one below `TMPDIR`.
    pub(crate) fn make() -> Result<Scratch, Failure> {
        let base = std::env::temp_dir();
        let path = base.join(format!("{NAME}{}", linerate_transport::chance()));
        let failed = |e: std::io::Error| {
            Failure::new(format!("cannot make a directory below {}: {e}", base.display()))
                .hint("set TMPDIR to a directory with room for the snapshots")
        };
        DirBuilder::new().mode(0o700).create(&path).map_err(failed)?;
        made().push(path.clone());
        let lock = File::open(&path).map_err(failed)?;
        // Where a file system has no locks, the age alone tells.
        let _ = lock.try_lock();
        if let Ok(mine) = lock.metadata() {
            sweep(&base, mine.uid());
        }
        Ok(Scratch { path, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.path);
        made().retain(|p| *p != self.path);
    }
}

/// Removes those of this process, which ends now.
pub(crate) fn abandon() {
    made().iter().for_each(|p| remove(p));
}

fn made() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remove(path: &Path) {
    for _ in 0..TRIES {
        match std::fs::remove_dir_all(path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => std::thread::sleep(Duration::from_millis(50)),
            _ => return,
        }
    }
}

/// Removes what a command that was killed has left.
fn sweep(base: &Path, user: u32) {
    for entry in std::fs::read_dir(base).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let Ok(meta) = path.symlink_metadata() else { continue };
        let ours = name.as_encoded_bytes().starts_with(NAME.as_bytes()) && meta.is_dir() && meta.uid() == user;
        let old = || meta.modified().is_ok_and(|t| t.elapsed().is_ok_and(|age| age > OLD));
        if ours && old() && File::open(&path).is_ok_and(|lock| lock.try_lock().is_ok()) {
            remove(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn it_is_private_and_goes() {
        let scratch = Scratch::make().unwrap();
        let path = scratch.path().to_owned();
        std::fs::create_dir(path.join("gpu001")).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn what_a_kill_has_left_is_removed_and_nothing_else() {
        let base = tempfile::tempdir().unwrap();
        let of = |name: &str| base.path().join(name);
        for name in ["linerate-on-left", "linerate-on-held", "linerate-on-young", "linerate-off"] {
            std::fs::create_dir(of(name)).unwrap();
        }
        std::os::unix::fs::symlink(of("linerate-off"), of("linerate-on-link")).unwrap();
        let old = std::fs::FileTimes::new().set_modified(std::time::SystemTime::now() - OLD * 2);
        for name in ["linerate-on-left", "linerate-on-held", "linerate-off"] {
            File::open(of(name)).unwrap().set_times(old).unwrap();
        }
        let held = File::open(of("linerate-on-held")).unwrap();
        held.try_lock().unwrap();
        sweep(base.path(), base.path().metadata().unwrap().uid());
        let mut left: Vec<_> = std::fs::read_dir(base.path()).unwrap().flatten().map(|e| e.file_name()).collect();
        left.sort();
        assert_eq!(left, ["linerate-off", "linerate-on-held", "linerate-on-link", "linerate-on-young"]);
    }
}

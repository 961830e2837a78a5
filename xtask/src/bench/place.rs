//! Where what is measured lies.

use crate::shell::{self, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A directory for what is read, on tmpfs where there is room; it goes when this does.
pub(super) struct Place {
    pub(super) dir: PathBuf,
    pub(super) kind: &'static str,
}

impl Place {
    /// With room for so many bytes.
    pub(super) fn new(bytes: u64) -> Result<Self> {
        let shm = Path::new("/dev/shm");
        let room = room(shm).is_ok_and(|free| free > bytes);
        let (base, kind) =
            if room { (shm.to_owned(), "on tmpfs") } else { (shell::target().join("bench"), "on a disk") };
        Place::at(&base.join(format!("linerate-bench-texts-{}", std::process::id())), kind)
    }

    pub(super) fn at(dir: &Path, kind: &'static str) -> Result<Self> {
        fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        Ok(Place { dir: dir.to_owned(), kind })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Bytes that are free, and memory that can hold them.
fn room(dir: &Path) -> Result<u64> {
    let told = shell::output(Command::new("df").args(["-B1", "--output=avail"]).arg(dir))?;
    let free: u64 = told.lines().nth(1).and_then(|l| l.trim().parse().ok()).ok_or("df: not understood")?;
    let memory = fs::read_to_string("/proc/meminfo").map_err(|e| format!("/proc/meminfo: {e}"))?;
    let available =
        memory.lines().find_map(|l| l.strip_prefix("MemAvailable:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    Ok(free.min(available.unwrap_or(0) << 10))
}

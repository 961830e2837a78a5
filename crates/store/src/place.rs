//! Whether a history can be written at a place: SQLite writes into the file itself, and into files beside it.

use crate::error::StoreError;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Anyone may write.
const ANYONE: u32 = 0o002;
/// In a directory: only the owner of a file may remove it.
const STICKY: u32 = 0o1000;

/// Refuses a link in the file's place, or in that of a file which SQLite writes beside it, and a directory in which others could put one there.
pub(crate) fn fit(path: &Path) -> Result<(), StoreError> {
    let refuse = |what: String| Err(StoreError::Exposed { path: path.to_path_buf(), what });
    let denied = |e: std::io::Error| StoreError::Denied { path: path.to_path_buf(), what: e.to_string() };
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // One that is not there is made for the user alone.
    let mode = match fs::metadata(parent) {
        Ok(about) => about.mode(),
        Err(e) if e.kind() == ErrorKind::NotFound => 0,
        Err(e) => return Err(denied(e)),
    };
    if mode & ANYONE != 0 && mode & STICKY == 0 {
        return refuse(format!("anyone may replace files in {} (mode {:04o})", parent.display(), mode & 0o7777));
    }
    let own = rustix::process::geteuid().as_raw();
    for beside in ["", "-wal", "-shm", "-journal"].map(|suffix| with(path, suffix)) {
        let about = match fs::symlink_metadata(&beside) {
            Ok(about) => about,
            Err(e) if e.kind() == ErrorKind::NotFound => continue,
            Err(e) => return Err(denied(e)),
        };
        if about.file_type().is_symlink() {
            return refuse(format!(
                "{} is a link, and no link is followed to write: name the file itself",
                beside.display()
            ));
        }
        if mode & ANYONE != 0 && about.uid() != own {
            return refuse(format!(
                "{} belongs to user {}, in a directory in which anyone may make files",
                beside.display(),
                about.uid()
            ));
        }
    }
    Ok(())
}

pub(crate) fn with(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

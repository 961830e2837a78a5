//! A snapshot that somebody unpacked.

use super::assemble::{Assembly, Item};
use super::read::{OpenError, Stop};
use super::{Limits, MANIFEST};
use crate::Snapshot;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Reads an unpacked snapshot.
///
/// # Errors
/// It cannot be listed, or is too large.
pub(crate) fn unpacked(root: &Path) -> Result<Snapshot, OpenError> {
    let mut a = Assembly::new(&root.display().to_string(), Limits::default());
    let what = || root.display().to_string();
    let too_large = |why| OpenError::TooLarge { what: what(), why };
    let mut walk = || -> Result<(), Stop> {
        // The manifest first, as in the archive: it says that all is ours.
        file(&mut a, root, MANIFEST)?;
        directory(&mut a, root, "", 0)
    };
    match walk() {
        Ok(()) => {}
        Err(Stop::Damaged(why)) => a.damaged(why),
        Err(Stop::TooLarge(why)) => return Err(too_large(why)),
    }
    a.finish().map_err(|why| OpenError::NotASnapshot { what: what(), why })
}

fn directory(a: &mut Assembly, root: &Path, dir: &str, depth: usize) -> Result<(), Stop> {
    if depth > 40 {
        return Ok(());
    }
    let list = match std::fs::read_dir(root.join(dir)) {
        Ok(list) => list,
        Err(e) => return Err(Stop::Damaged(format!("/{dir}: {e}"))),
    };
    for e in list.flatten() {
        a.count()?;
        let name = e.file_name();
        let (Some(name), Ok(kind)) = (name.to_str(), e.file_type()) else {
            a.odd_name();
            continue;
        };
        let path = if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") };
        if path == MANIFEST {
            continue;
        }
        if kind.is_dir() {
            a.entry(&path, Item::Dir)?;
            directory(a, root, &path, depth + 1)?;
        } else if kind.is_symlink() {
            if let Ok(target) = std::fs::read_link(e.path()) {
                a.entry(&path, Item::Link(target.as_os_str().as_bytes()))?;
            }
        } else if kind.is_file() {
            file(a, root, &path)?;
        } else {
            a.entry(&path, Item::NotRead("not a regular file"))?;
        }
    }
    Ok(())
}

fn file(a: &mut Assembly, root: &Path, path: &str) -> Result<(), Stop> {
    let at = root.join(path);
    let size = at.symlink_metadata().map_or(0, |m| m.len());
    if !a.wanted(path, size) {
        return a.left_out(path, size);
    }
    let mut data = Vec::new();
    let read = std::fs::File::open(at).and_then(|f| f.take(size).read_to_end(&mut data));
    match read {
        Ok(_) => a.entry(path, Item::File(&data)),
        Err(_) => a.entry(path, Item::NotRead("it could not be read from the directory")),
    }
}

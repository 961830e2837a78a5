//! What lies at a path, before SQLite is let near it.

use crate::error::StoreError;
use crate::place;
use crate::schema::APPLICATION_ID;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Whether there is something at a path, without letting SQLite touch what is not ours: it would roll back another program's journal.
pub(crate) fn look(path: &Path) -> Result<bool, StoreError> {
    let denied = |e: std::io::Error| StoreError::Denied { path: path.to_path_buf(), what: e.to_string() };
    let foreign = |what: String| StoreError::Foreign { path: path.to_path_buf(), what };
    let meta = match fs::metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
        other => other.map_err(denied)?,
    };
    if !meta.is_file() {
        return Err(foreign(if meta.is_dir() { "a directory" } else { "not a regular file" }.to_owned()));
    }
    let damaged = |what: &str| StoreError::Damaged { path: path.to_path_buf(), what: what.to_owned() };
    let mut head = header(path).map_err(denied)?;
    if head.is_empty() && waiting(path, "-wal") {
        // Another program may have made it just now: there is no log before there is a file.
        head = header(path).map_err(denied)?;
        if head.is_empty() {
            // SQLite would take the log of an emptied file for a leftover and delete it.
            return Err(damaged("the file is empty, but its log is not"));
        }
    }
    if head.is_empty() {
        return Ok(false);
    }
    if head.iter().all(|b| *b == 0) {
        return Err(damaged("it begins with zeros"));
    }
    if !head.starts_with(b"SQLite format 3\0") {
        return Err(foreign("not an SQLite database".to_owned()));
    }
    let id = head.get(68..72).and_then(|b| b.try_into().ok()).map(i32::from_be_bytes);
    match id {
        Some(APPLICATION_ID) => Ok(true),
        None => Err(damaged("the file is cut within its header")),
        Some(id) => Err(foreign(format!("an SQLite database of another program, application id {id:#x}"))),
    }
}

/// The first bytes, as far as there are so many.
///
/// POSIX takes all locks that a process has on a file away when it closes any descriptor of it, also those that SQLite took through
/// another one. So a file that was looked at stays open for as long as the process lives: one descriptor for each history.
fn header(path: &Path) -> std::io::Result<Vec<u8>> {
    static LOOKED_AT: Mutex<BTreeMap<(u64, u64), File>> = Mutex::new(BTreeMap::new());
    let mut kept = LOOKED_AT.lock().unwrap_or_else(PoisonError::into_inner);
    let named = fs::metadata(path)?;
    let file = match kept.entry((named.dev(), named.ino())) {
        Entry::Occupied(file) => file.into_mut(),
        Entry::Vacant(room) => {
            let file = File::open(path)?;
            let opened = file.metadata()?;
            if (opened.dev(), opened.ino()) != *room.key() {
                // Replaced in between, perhaps by one that is open already: closing it would be the mistake.
                std::mem::forget(file);
                return Err(std::io::Error::other("it was replaced while it was opened"));
            }
            room.insert(file)
        }
    };
    let mut head = vec![0; 100];
    let mut len = 0;
    while len < head.len() {
        match file.read_at(&mut head[len..], len as u64) {
            Ok(0) => break,
            Ok(n) => len += n,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    head.truncate(len);
    Ok(head)
}

/// Whether a log or journal with something in it is beside the file.
pub(crate) fn waiting(path: &Path, suffix: &str) -> bool {
    fs::metadata(place::with(path, suffix)).is_ok_and(|m| m.len() > 0)
}

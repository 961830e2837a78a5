//! Which snapshots a fleet's directory holds.

use super::FileId;
use linerate_snapshot::is_snapshot_dir;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A snapshot of a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// Its path below the directory, by which the index knows it.
    pub name: String,
    /// How its node is called: the directory that it is in, else its own name.
    pub label: String,
    /// The file or directory.
    pub path: PathBuf,
    /// By what a change is known. Of a tree it is its manifest's, else its own.
    pub file: (u64, u64),
}

impl Source {
    /// By what a change is known.
    #[must_use]
    pub fn file(&self) -> FileId {
        FileId { bytes: self.file.0, modified: self.file.1 }
    }
}

/// What the name of a node's file may end in.
const ENDS: [&str; 11] =
    [".tar", ".tar.zst", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".ttar", ".txt", ".log"];
/// Of these, those of texts.
const TEXTS: [&str; 2] = [".txt", ".log"];
/// Ends of names of files that are no sources.
const OTHERS: [&str; 5] = [".parquet", ".json", ".toml", ".lock", ".md"];

/// The snapshots of a directory, in the order of their names: archives, texts and trees in it, and archives and trees in directories that are
/// named after nodes.
///
/// # Errors
/// The directory cannot be read. What is below it and cannot be read is left out.
pub fn sources(dir: &Path) -> io::Result<Vec<Source>> {
    let mut out = Vec::new();
    for (name, path, is_dir) in entries(dir)? {
        if !is_dir {
            out.extend(single(&name, None, &path));
        } else if is_snapshot_dir(&path) {
            out.extend(tree(&name, &name, &path));
        } else {
            let inside = entries(&path).unwrap_or_default();
            let before = out.len();
            for (file, path, is_dir) in &inside {
                let full = format!("{name}/{file}");
                if !is_dir {
                    // Texts that lie together are one source.
                    let is_archive = end(file).is_some_and(|e| !TEXTS.contains(&e));
                    out.extend(is_archive.then(|| single(&full, Some(&name), path)).flatten());
                } else if is_snapshot_dir(path) {
                    out.extend(tree(&full, &name, path));
                }
            }
            // Texts of tools, or a tree that is deeper: one source.
            if out.len() == before && !inside.is_empty() {
                out.extend(tree(&name, &name, &path));
            }
        }
    }
    out.sort();
    Ok(out)
}

/// What a directory holds: name, path, whether it is a directory. Hidden files are those that are being written.
fn entries(dir: &Path) -> io::Result<Vec<(String, PathBuf, bool)>> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(kind) = entry.file_type() else { continue };
        if !name.starts_with('.') && !kind.is_symlink() {
            out.push((name, entry.path(), kind.is_dir()));
        }
    }
    Ok(out)
}

/// What a name ends in, of [`ENDS`].
fn end(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    ENDS.into_iter().filter(|e| lower.ends_with(e)).max_by_key(|e| e.len())
}

fn single(name: &str, label: Option<&str>, path: &Path) -> Option<Source> {
    if OTHERS.iter().any(|e| name.to_ascii_lowercase().ends_with(e)) {
        return None;
    }
    let own = end(name).and_then(|e| name.get(..name.len() - e.len())).unwrap_or(name);
    let label = label.unwrap_or(own).to_owned();
    Some(Source { name: name.to_owned(), label, path: path.to_owned(), file: file(path)? })
}

fn tree(name: &str, label: &str, path: &Path) -> Option<Source> {
    let file = file(&path.join("linerate/manifest.json")).or_else(|| file(path))?;
    Some(Source { name: name.to_owned(), label: label.to_owned(), path: path.to_owned(), file })
}

fn file(path: &Path) -> Option<(u64, u64)> {
    let about = path.symlink_metadata().ok()?;
    let since = about.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Some((about.len(), u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)))
}

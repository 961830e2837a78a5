//! Files as they were: kept before an act, and put back.

use super::{Done, FILE, Meta, Root, There, Wrong};
use crate::hand::fault::boundary;
use crate::journal::{FileSeen, Journal, Seen, Shape};
use linerate_remedy::sha256;

fn shape(root: &Root, path: &str, there: Option<&There>) -> Done<Option<Shape>> {
    let Some(there) = there else { return Ok(None) };
    let There { mode, uid, gid, mtime, .. } = *there;
    Ok(Some(Shape { digest: sha256(&there.bytes), mode, uid, gid, mtime, xattrs: root.xattrs(path)? }))
}

/// Keeps files as they are; with the directories above them that are not there. A kept file is on disk before the act is announced.
pub(super) fn keep(root: &Root, paths: &[String], journal: &Journal, kept: &str) -> Done<(Vec<FileSeen>, Vec<String>)> {
    let (mut files, mut dirs) = (Vec::new(), Vec::new());
    for (n, path) in paths.iter().enumerate() {
        let there = root.read(path, FILE)?;
        let name = there.is_some().then(|| format!("{kept}-{n}"));
        if let (Some(there), Some(name)) = (&there, &name) {
            root.replace(&journal.kept(name), &there.bytes, Meta::OWN)?;
            boundary("keep: kept");
        }
        dirs.extend(root.missing_dirs(path)?);
        files.push(FileSeen { path: path.clone(), there: shape(root, path, there.as_ref())?, kept: name });
    }
    dirs.dedup();
    Ok((files, dirs))
}

/// What is at a path now.
pub(super) fn look(root: &Root, path: &str) -> Done<FileSeen> {
    let there = root.read(path, FILE)?;
    Ok(FileSeen { path: path.to_owned(), there: shape(root, path, there.as_ref())?, kept: None })
}

/// What is at paths now.
pub(super) fn look_all(root: &Root, paths: &[String]) -> Done<Vec<FileSeen>> {
    paths.iter().map(|path| look(root, path)).collect()
}

/// What an act left at paths.
pub(super) fn left(files: Vec<FileSeen>) -> Seen {
    Seen::Files { files, dirs: Vec::new() }
}

/// The one file of a record.
pub(super) fn one(seen: &Seen) -> Done<(&FileSeen, &[String])> {
    match seen {
        Seen::Files { files, dirs } => files.first().map(|f| (f, dirs.as_slice())),
        _ => None,
    }
    .ok_or_else(|| Wrong::new("journal", "the journal has no file where the plan has one"))
}

/// Puts all files back, whatever is there.
pub(super) fn put_back(root: &Root, before: &Seen, journal: &Journal) -> Done<()> {
    let Seen::Files { files, dirs } = before else { return Ok(()) };
    for old in files {
        put_back_one(root, old, journal)?;
    }
    remove_dirs(root, dirs)
}

/// Puts a file back, whatever is there.
pub(super) fn put_back_one(root: &Root, old: &FileSeen, journal: &Journal) -> Done<()> {
    root.sweep(&old.path)?;
    restore(root, old, &look(root, &old.path)?, journal)
}

pub(super) fn restore(root: &Root, old: &FileSeen, there: &FileSeen, journal: &Journal) -> Done<()> {
    if there.there == old.there {
        return Ok(());
    }
    let Some(shape) = &old.there else { return root.remove(&old.path) };
    let bytes = bytes(root, journal, old)?;
    let Shape { mode, uid, gid, mtime, ref xattrs, .. } = *shape;
    root.restore(&old.path, &bytes, Meta { mode, owner: Some((uid, gid)), mtime: Some(mtime) }, xattrs)
}

/// The bytes of a file as it was.
pub(super) fn bytes(root: &Root, journal: &Journal, old: &FileSeen) -> Done<Vec<u8>> {
    let path = journal.kept(old.kept.as_deref().unwrap_or("nothing"));
    let bytes = root.read(&path, FILE)?.map(|t| t.bytes).unwrap_or_default();
    if old.there.as_ref().is_some_and(|shape| sha256(&bytes) == shape.digest) {
        return Ok(bytes);
    }
    Err(Wrong::new("journal", format!("{path}, which holds {} as it was, is missing or damaged", old.path)))
}

/// Removes directories that were made for the act, if nothing else is in them.
pub(super) fn remove_dirs(root: &Root, dirs: &[String]) -> Done<()> {
    for dir in dirs.iter().rev() {
        if !root.remove_dir(dir)? {
            break;
        }
    }
    Ok(())
}

//! Files, those that an act changes and those that a program writes.

use super::{Done, FILE, Look, Made, Meta, Root, There, Undo, Wrong, unexpected};
use crate::hand::fault::boundary;
use crate::journal::{FileSeen, Journal, Seen, Shape};
use linerate_remedy::{FileState, sha256};

fn shape(root: &Root, path: &str, there: Option<&There>) -> Done<Option<Shape>> {
    let Some(there) = there else { return Ok(None) };
    let There { mode, uid, gid, mtime, .. } = *there;
    Ok(Some(Shape { digest: sha256(&there.bytes), mode, uid, gid, mtime, xattrs: root.xattrs(path)? }))
}

/// Keeps files as they are. A kept file is on disk before the act is announced.
pub(super) fn keep(root: &Root, paths: &[String], journal: &Journal, kept: &str) -> Done<Seen> {
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
    Ok(Seen::Files { files, dirs })
}

/// What is at paths now.
pub(super) fn look(root: &Root, paths: &[String]) -> Done<Seen> {
    let seen = |path: &String| {
        let there = root.read(path, FILE)?;
        Ok(FileSeen { path: path.clone(), there: shape(root, path, there.as_ref())?, kept: None })
    };
    let files = paths.iter().map(seen).collect::<Done<Vec<_>>>()?;
    Ok(Seen::Files { files, dirs: Vec::new() })
}

/// Looks at a file, and keeps it.
pub(super) fn before(root: &Root, path: &str, expected: &FileState, journal: &Journal, kept: &str) -> Done<Seen> {
    let there = root.read(path, FILE)?;
    if !expected.is(there.as_ref().map(|t| t.bytes.as_slice())) {
        return Err(stale(path, expected, there.as_ref()));
    }
    keep(root, &[path.to_owned()], journal, kept)
}

/// What differs from the plan.
pub(crate) fn stale(path: &str, expected: &FileState, there: Option<&There>) -> Wrong {
    let found = there.map_or_else(
        || "nothing".to_owned(),
        |t| format!("a file of {} bytes with SHA-256 {}", t.bytes.len(), sha256(&t.bytes)),
    );
    let expected = match expected {
        FileState::Absent => "nothing".to_owned(),
        FileState::Content(text) => format!("a file of {} bytes with SHA-256 {}", text.len(), sha256(text.as_bytes())),
        FileState::Digest(digest) => format!("a file with SHA-256 {digest}"),
    };
    Wrong::new("stale", format!("{path}: the plan expects {expected}, there is {found}: make a new plan"))
}

/// The one file of a record.
fn one(seen: &Seen) -> Done<(&FileSeen, &[String])> {
    match seen {
        Seen::Files { files, dirs } => files.first().map(|f| (f, dirs.as_slice())),
        _ => None,
    }
    .ok_or_else(|| Wrong::new("journal", "the journal has no file where the plan has one"))
}

/// Writes or removes it. A file that was there keeps its permissions and owner.
pub(super) fn make(root: &Root, path: &str, after: Option<&[u8]>, mode: u32, before: &Seen) -> Done<Made> {
    let (old, dirs) = one(before)?;
    match after {
        None => root.remove(path)?,
        Some(bytes) => {
            for dir in dirs {
                root.make_dir(dir, 0o755)?;
            }
            let meta = match &old.there {
                Some(there) => Meta { mode: there.mode, owner: Some((there.uid, there.gid)), mtime: None },
                None => Meta { mode, owner: None, mtime: None },
            };
            root.replace(path, bytes, meta)?;
        }
    }
    let now = look(root, &[path.to_owned()])?;
    let digest = one(&now)?.0.there.as_ref().map(|t| t.digest.clone());
    if digest != after.map(sha256) {
        return Err(unexpected(format!("{path} does not hold what was written")));
    }
    Ok(Made { after: now, output: None })
}

/// Where an announced change stands.
pub(super) fn stands(root: &Root, path: &str, after: Option<&[u8]>, before: &Seen) -> Done<Look> {
    root.sweep(path)?;
    let now = look(root, &[path.to_owned()])?;
    let (there, (old, _)) = (one(&now)?.0, one(before)?);
    if there.there.as_ref().map(|t| &t.digest) == after.map(sha256).as_ref() {
        return Ok(Look::After(now));
    }
    Ok(if there.like(old) { Look::Before } else { Look::Other(format!("{path} is neither as before nor as planned")) })
}

/// Puts a file back.
pub(super) fn undo(
    root: &Root,
    path: &str,
    content: Option<&[u8]>,
    before: &Seen,
    after: Option<&Seen>,
    journal: &Journal,
) -> Done<Undo> {
    root.sweep(path)?;
    let now = look(root, &[path.to_owned()])?;
    let (there, (old, dirs)) = (one(&now)?.0, one(before)?);
    let ours = match after {
        Some(after) => there.like(one(after)?.0),
        None => there.there.as_ref().map(|t| &t.digest) == content.map(sha256).as_ref(),
    };
    if !ours && !there.like(old) {
        return Err(unexpected(format!("{path} is neither as linerate left it nor as it was")));
    }
    restore(root, old, there, journal)?;
    remove_dirs(root, dirs)?;
    Ok(Undo::Back(format!("{path} is as it was")))
}

/// Puts the files of a program back, where they are as it left them.
pub(super) fn undo_writes(root: &Root, before: &Seen, after: Option<&Seen>, journal: &Journal) -> Done<Undo> {
    let Seen::Files { files, .. } = before else {
        return Err(Wrong::new("journal", "the journal has no files where the plan has some"));
    };
    let paths: Vec<String> = files.iter().map(|f| f.path.clone()).collect();
    let Seen::Files { files: now, .. } = look(root, &paths)? else {
        return put_back(root, before, journal).map(|()| back());
    };
    let made = match after {
        Some(Seen::Files { files, .. }) => Some(files),
        _ => None,
    };
    let others = files.iter().zip(&now).enumerate().filter(|(n, (old, there))| {
        let ours = made.is_none_or(|made| made.get(*n).is_some_and(|made| made.like(there)));
        !ours && !old.like(there)
    });
    let others: Vec<&str> = others.map(|(_, (old, _))| old.path.as_str()).collect();
    if others.is_empty() {
        return put_back(root, before, journal).map(|()| back());
    }
    Ok(Undo::Rerun(format!("{} was written anew since", others.join(", "))))
}

fn back() -> Undo {
    Undo::Back("what it wrote is as it was".to_owned())
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
    let now = look(root, std::slice::from_ref(&old.path))?;
    restore(root, old, one(&now)?.0, journal)
}

pub(super) fn restore(root: &Root, old: &FileSeen, there: &FileSeen, journal: &Journal) -> Done<()> {
    if there.there == old.there {
        return Ok(());
    }
    let (Some(shape), Some(kept)) = (&old.there, &old.kept) else { return root.remove(&old.path) };
    let path = journal.kept(kept);
    let bytes = root.read(&path, FILE)?.map(|t| t.bytes).unwrap_or_default();
    if sha256(&bytes) != shape.digest {
        return Err(Wrong::new(
            "journal",
            format!("{path}, which holds {} as it was, is missing or damaged", old.path),
        ));
    }
    let Shape { mode, uid, gid, mtime, ref xattrs, .. } = *shape;
    root.restore(&old.path, &bytes, Meta { mode, owner: Some((uid, gid)), mtime: Some(mtime) }, xattrs)
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

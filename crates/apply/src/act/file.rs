//! A file, as the plan writes it.

use super::kept::{self, left, look, one};
use super::{ActDone, Done, FILE, Hands, Look, Made, Meta, Root, Texts, There, Undo, Wrong, unexpected};
use crate::journal::{FileSeen, Journal, Seen};
use linerate_remedy::{FileAct, FileState, sha256};

impl ActDone for FileAct {
    fn check(&self, hands: &Hands<'_>, later: &mut Texts) -> Vec<Wrong> {
        let wrong = match later.get(&self.path) {
            Some(text) if self.before.is(text.as_ref().map(|t| t.as_bytes())) => None,
            Some(_) => Some(Wrong::failed(format!(
                "the plan changes {} twice, and the second change does not fit the first",
                self.path
            ))),
            None => hands.root.missing_dirs(&self.path).and_then(|_| fits(self, hands.root)).err(),
        };
        later.insert(self.path.clone(), self.after.as_ref().map(|c| c.0.clone()));
        wrong.into_iter().collect()
    }

    fn before(&self, hands: &Hands<'_>, journal: &Journal, kept: &str) -> Done<Seen> {
        fits(self, hands.root)?;
        let (files, dirs) = kept::keep(hands.root, std::slice::from_ref(&self.path), journal, kept)?;
        Ok(Seen::Files { files, dirs })
    }

    /// Writes or removes it. A file that was there keeps its permissions and owner.
    fn make(&self, hands: &Hands<'_>, _: &Journal, before: &Seen) -> Done<Made> {
        let (root, (old, dirs)) = (hands.root, one(before)?);
        match &self.after {
            None => root.remove(&self.path)?,
            Some(content) => {
                for dir in dirs {
                    root.make_dir(dir, 0o755)?;
                }
                let meta = match &old.there {
                    Some(there) => Meta { mode: there.mode, owner: Some((there.uid, there.gid)), mtime: None },
                    None => Meta { mode: self.mode, owner: None, mtime: None },
                };
                root.replace(&self.path, content.0.as_bytes(), meta)?;
            }
        }
        let now = look(root, &self.path)?;
        if !is_written(self, &now) {
            return Err(unexpected(format!("{} does not hold what was written", self.path)));
        }
        Ok(Made { after: left(vec![now]), output: None })
    }

    fn look(&self, hands: &Hands<'_>, _: &Journal, before: &Seen) -> Done<Look> {
        hands.root.sweep(&self.path)?;
        let now = look(hands.root, &self.path)?;
        let (old, _) = one(before)?;
        Ok(match () {
            () if is_written(self, &now) => Look::After(left(vec![now])),
            () if now.like(old) => Look::Before,
            () => Look::Other(format!("{} is neither as before nor as planned", self.path)),
        })
    }

    fn undo(&self, hands: &Hands<'_>, journal: &Journal, before: &Seen, after: Option<&Seen>, _: bool) -> Done<Undo> {
        hands.root.sweep(&self.path)?;
        let now = look(hands.root, &self.path)?;
        let (old, dirs) = one(before)?;
        let ours = match after {
            Some(after) => now.like(one(after)?.0),
            None => is_written(self, &now),
        };
        if !ours && !now.like(old) {
            return Err(unexpected(format!("{} is neither as linerate left it nor as it was", self.path)));
        }
        kept::restore(hands.root, old, &now, journal)?;
        kept::remove_dirs(hands.root, dirs)?;
        Ok(Undo::Back(format!("{} is as it was", self.path)))
    }

    fn put_back(&self, hands: &Hands<'_>, journal: &Journal, before: &Seen) -> Done<()> {
        kept::put_back(hands.root, before, journal)
    }

    fn names(&self, path: &str) -> bool {
        self.path == path
    }

    fn room(&self, _: &Root) -> Vec<(&str, u64)> {
        vec![(&self.path, self.after.as_ref().map_or(0, |c| c.0.len() as u64))]
    }
}

/// Whether a file holds what an act writes, or is gone where it removes it.
fn is_written(act: &FileAct, there: &FileSeen) -> bool {
    there.there.as_ref().map(|t| &t.digest) == act.after.as_ref().map(|c| sha256(c.0.as_bytes())).as_ref()
}

/// Refuses another file than the plan expects.
fn fits(act: &FileAct, root: &Root) -> Done<()> {
    let there = root.read(&act.path, FILE)?;
    if act.before.is(there.as_ref().map(|t| t.bytes.as_slice())) {
        return Ok(());
    }
    Err(stale(&act.path, &act.before, there.as_ref()))
}

/// What differs from the plan.
fn stale(path: &str, expected: &FileState, there: Option<&There>) -> Wrong {
    let found = there.map_or_else(
        || "nothing".to_owned(),
        |t| format!("a file of {} bytes with SHA-256 {}", t.bytes.len(), sha256(&t.bytes)),
    );
    let expected = match expected {
        FileState::Absent => "nothing".to_owned(),
        FileState::Content(text) => format!("a file of {} bytes with SHA-256 {}", text.len(), sha256(text.as_bytes())),
        FileState::Digest(digest) => format!("a file with SHA-256 {digest}"),
    };
    Wrong::new("stale", format!("{path}: the plan expects {expected}, but found {found}: make a new plan"))
}

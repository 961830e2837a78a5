//! A program of the plan, and the files that it writes.

use super::{ActDone, Done, FILE, Hands, Look, Made, Root, Texts, Undo, Wrong, kept, program};
use crate::journal::{Journal, Seen};
use linerate_remedy::RunAct;

impl ActDone for RunAct {
    fn check(&self, hands: &Hands<'_>, _: &mut Texts) -> Vec<Wrong> {
        let names = [&self.argv, &self.undo].into_iter().filter_map(|argv| argv.first());
        let mut wrongs: Vec<Wrong> = names.filter_map(|name| hands.root.program(name).err()).collect();
        if self.argv.is_empty() {
            wrongs.push(Wrong::failed("an act runs a program without a name"));
        }
        wrongs.extend(self.writes.iter().filter_map(|path| hands.root.read(path, FILE).err()));
        wrongs
    }

    fn before(&self, hands: &Hands<'_>, journal: &Journal, kept: &str) -> Done<Seen> {
        let (files, dirs) = kept::keep(hands.root, &self.writes, journal, kept)?;
        Ok(Seen::Files { files, dirs })
    }

    fn make(&self, hands: &Hands<'_>, _: &Journal, _: &Seen) -> Done<Made> {
        let output = program::run(hands, &self.argv, self.limit)?;
        Ok(Made { after: kept::left(kept::look_all(hands.root, &self.writes)?), output: Some(output) })
    }

    /// It is made again: twice is the same as once.
    fn look(&self, _: &Hands<'_>, _: &Journal, _: &Seen) -> Done<Look> {
        Ok(Look::Before)
    }

    /// Puts its files back, where they are as it left them.
    fn undo(&self, hands: &Hands<'_>, journal: &Journal, before: &Seen, after: Option<&Seen>, _: bool) -> Done<Undo> {
        let Seen::Files { files, .. } = before else {
            return Err(Wrong::new("journal", "the journal has no files where the plan has some"));
        };
        let paths: Vec<String> = files.iter().map(|f| f.path.clone()).collect();
        let now = kept::look_all(hands.root, &paths)?;
        let made = match after {
            Some(Seen::Files { files, .. }) => Some(files),
            _ => None,
        };
        let others = files.iter().zip(&now).enumerate().filter(|(n, (old, there))| {
            let ours = made.is_none_or(|made| made.get(*n).is_some_and(|made| made.like(there)));
            !ours && !old.like(there)
        });
        let others: Vec<&str> = others.map(|(_, (old, _))| old.path.as_str()).collect();
        if !others.is_empty() {
            return Ok(Undo::Rerun(format!("{} was written again since then", others.join(", "))));
        }
        kept::put_back(hands.root, before, journal)?;
        Ok(Undo::Back("the files that it wrote are restored".to_owned()))
    }

    /// Its files first, as when it is undone later: a program that makes the system read them again has to find them as they were. It may
    /// have done part of its work before it failed: the one that undoes it is run.
    fn put_back(&self, hands: &Hands<'_>, journal: &Journal, before: &Seen) -> Done<()> {
        kept::put_back(hands.root, before, journal)?;
        if self.undo.is_empty() { Ok(()) } else { program::run(hands, &self.undo, self.limit).map(drop) }
    }

    fn names(&self, path: &str) -> bool {
        self.writes.iter().any(|w| w == path)
    }

    fn room(&self, root: &Root) -> Vec<(&str, u64)> {
        let size = |path: &String| root.read(path, FILE).ok().flatten().map_or(0, |t| t.bytes.len() as u64);
        self.writes.iter().map(|path| (path.as_str(), size(path) * 2)).collect()
    }
}

//! An entry of the boot loader that is started once.

use super::{ActDone, Done, FILE, Hands, Look, Made, Meta, Root, Texts, Undo, Wrong, kept, program, unexpected};
use crate::hand::fault::boundary;
use crate::journal::{FileSeen, Journal, Seen};
use linerate_remedy::boot::BootError;
use linerate_remedy::{BootTrial, TrialAct, sha256};

/// An entry as it is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialEntry {
    /// File that holds the entry.
    pub path: String,
    /// What it holds then, all of it.
    pub content: String,
    /// File in which the boot loader keeps which entry is next (`grubenv`); `None`: it is kept elsewhere.
    pub environment: Option<String>,
    /// Program and arguments that choose the entry for the next start.
    pub choose: Vec<String>,
    /// Program and arguments that take the choice back.
    pub forget: Vec<String>,
}

/// Why an entry that is started once cannot be made here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoEntry {
    /// The boot loader does not start an entry once, or its usual entry cannot be tried.
    #[error(transparent)]
    Boot(#[from] BootError),
    /// GRUB's menu, at this path.
    #[error("{0} cannot be read")]
    Unreadable(&'static str),
    /// GRUB's menu does not read the file that an entry is added to.
    #[error("{menu} does not read {file}: /etc/grub.d/41_custom is missing or not executable")]
    NotRead {
        /// Path of the menu.
        menu: &'static str,
        /// Path of the file.
        file: &'static str,
    },
    /// No menu of RHEL's GRUB looks for an entry that is started once.
    #[error("no grub.cfg in /boot/grub2 or /boot/efi/EFI reads next_entry")]
    NextEntry,
    /// None of these directories has an entry of the Boot Loader Specification.
    #[error("no boot entry was found in {}", .0.join(", "))]
    Empty(&'static [&'static str]),
    /// None of the entries in this directory is known to be the usual one.
    #[error("the default entry of {0} was not found")]
    NoDefault(&'static str),
    /// This build knows no boot loader.
    #[error("this build cannot make one-time boot entries")]
    NotBuilt,
}

/// Makes an entry of the usual one. Pure: it reads by what it is given.
pub trait TrialMaker {
    /// The entry with words added and removed.
    ///
    /// # Errors
    /// Why none can be made here.
    fn entry(
        &self,
        boot: BootTrial,
        add: &[String],
        remove: &[String],
        node: &dyn NodeFiles,
    ) -> Result<TrialEntry, NoEntry>;
}

/// A node's files, for reading.
pub trait NodeFiles {
    /// Content of a regular file; `None`: it is not there, or cannot be read.
    fn bytes(&self, path: &str) -> Option<Vec<u8>>;
    /// Names in a directory, sorted.
    fn names(&self, dir: &str) -> Vec<String>;
    /// Whether a program is installed.
    fn has_program(&self, name: &str) -> bool;
}

impl NodeFiles for Root {
    fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        self.read(path, FILE).ok()?.map(|there| there.bytes)
    }

    fn names(&self, dir: &str) -> Vec<String> {
        Root::names(self, dir, 4096).unwrap_or_default()
    }

    fn has_program(&self, name: &str) -> bool {
        self.program(name).is_ok()
    }
}

/// Makes none.
#[derive(Debug, Clone, Copy)]
pub struct NoTrial;

impl TrialMaker for NoTrial {
    fn entry(&self, _: BootTrial, _: &[String], _: &[String], _: &dyn NodeFiles) -> Result<TrialEntry, NoEntry> {
        Err(NoEntry::NotBuilt)
    }
}

fn entry(hands: &Hands<'_>, TrialAct { boot, add, remove }: &TrialAct) -> Done<TrialEntry> {
    let entry = hands
        .maker
        .entry(*boot, add, remove, hands.root)
        .map_err(|why| Wrong::new("stale", format!("no one-time boot entry can be made: {why}")))?;
    for argv in [&entry.choose, &entry.forget] {
        argv.first().map(|program| hands.root.program(program)).transpose()?;
    }
    Ok(entry)
}

fn wrong_kind() -> Wrong {
    Wrong::new("journal", "the journal has no entry of the boot loader where the plan has one")
}

impl ActDone for TrialAct {
    fn check(&self, hands: &Hands<'_>, _: &mut Texts) -> Vec<Wrong> {
        entry(hands, self).err().into_iter().collect()
    }

    fn before(&self, hands: &Hands<'_>, journal: &Journal, kept: &str) -> Done<Seen> {
        let entry = entry(hands, self)?;
        let paths: Vec<String> = std::iter::once(entry.path).chain(entry.environment).collect();
        let (files, dirs) = kept::keep(hands.root, &paths, journal, kept)?;
        let new = format!("{kept}-new");
        hands.root.replace(&journal.kept(&new), entry.content.as_bytes(), Meta::OWN)?;
        let digest = sha256(entry.content.as_bytes());
        Ok(Seen::Trial { files, dirs, new, digest, choose: entry.choose, forget: entry.forget })
    }

    fn make(&self, hands: &Hands<'_>, journal: &Journal, before: &Seen) -> Done<Made> {
        let Seen::Trial { files, dirs, new, digest, choose, .. } = before else { return Err(wrong_kind()) };
        let Some(old) = files.first() else { return Err(wrong_kind()) };
        let path = journal.kept(new);
        let bytes = hands.root.read(&path, FILE)?.map(|t| t.bytes).unwrap_or_default();
        if sha256(&bytes) != *digest {
            return Err(Wrong::new("journal", format!("{path}, which holds the entry, is missing or damaged")));
        }
        for dir in dirs {
            hands.root.make_dir(dir, 0o755)?;
        }
        let (mode, owner) = old.there.as_ref().map_or((0o644, None), |t| (t.mode, Some((t.uid, t.gid))));
        hands.root.replace(&old.path, &bytes, Meta { mode, owner, mtime: None })?;
        boundary("trial: entry written");
        let output = program::run(hands, choose, 60)?;
        boundary("trial: chosen");
        if let Some(environment) = files.get(1) {
            is_chosen(hands.root, &environment.path, choose, &output)?;
        }
        let paths: Vec<String> = files.iter().map(|f| f.path.clone()).collect();
        Ok(Made { after: kept::left(kept::look_all(hands.root, &paths)?), output: Some(output) })
    }

    /// An interrupted one is made again: choosing an entry twice is choosing it.
    fn look(&self, hands: &Hands<'_>, _: &Journal, before: &Seen) -> Done<Look> {
        let (old, now, ours) = entry_now(hands.root, before)?;
        Ok(if ours || now.like(old) {
            Look::Before
        } else {
            Look::Other(format!("{} is neither as before nor as planned", old.path))
        })
    }

    fn undo(&self, hands: &Hands<'_>, journal: &Journal, before: &Seen, _: Option<&Seen>, _: bool) -> Done<Undo> {
        let (old, now, ours) = entry_now(hands.root, before)?;
        let Seen::Trial { files, dirs, forget, .. } = before else { return Err(wrong_kind()) };
        if !ours && !now.like(old) {
            return Err(unexpected(format!("{} is neither as linerate left it nor as it was", old.path)));
        }
        if !forget.is_empty() {
            program::run(hands, forget, 60)?;
            boundary("trial: choice taken back");
        }
        kept::restore(hands.root, old, &now, journal)?;
        kept::remove_dirs(hands.root, dirs)?;
        if let Some(environment) = files.get(1) {
            restore_environment(hands.root, environment, journal)?;
        }
        Ok(Undo::Back(format!("{} is restored, and no entry is chosen for the next boot", old.path)))
    }

    fn put_back(&self, hands: &Hands<'_>, journal: &Journal, before: &Seen) -> Done<()> {
        self.undo(hands, journal, before, None, true).map(drop)
    }

    fn keeps(&self, seen: &Seen) -> bool {
        matches!(seen, Seen::Trial { .. })
    }

    /// The file of an entry that is started once, and the environment block of GRUB.
    fn names(&self, path: &str) -> bool {
        let Some((dir, name)) = path.rsplit_once('/') else { return false };
        let entry = name.ends_with(".conf") && name.contains("linerate-trial");
        let entries = ["/boot/loader/entries", "/efi/loader/entries", "/boot/efi/loader/entries"].contains(&dir);
        match self.boot {
            BootTrial::GrubCustom => path == "/boot/grub/custom.cfg" || path == "/boot/grub/grubenv",
            BootTrial::GrubBls => path == "/boot/grub2/grubenv" || entry && entries,
            BootTrial::SystemdBoot => entry && entries,
        }
    }
}

/// Whether GRUB's environment block names the entry: `grub-reboot` ends well, too, where it could not write it.
fn is_chosen(root: &Root, environment: &str, choose: &[String], output: &str) -> Done<()> {
    let block = root.read(environment, FILE)?.map(|t| String::from_utf8_lossy(&t.bytes).into_owned());
    let (block, id) = (block.unwrap_or_default(), choose.last().map_or("", String::as_str));
    if block.lines().any(|line| line.strip_prefix("next_entry=") == Some(id)) {
        return Ok(());
    }
    let said = output.lines().last().unwrap_or("nothing");
    Err(Wrong::failed(format!(
        "{} ended, and {environment} does not name the entry; it said: {said}",
        linerate_out::shell::shown(choose)
    )))
}

/// The entry's file before and now, and whether it is ours now.
fn entry_now<'a>(root: &Root, before: &'a Seen) -> Done<(&'a FileSeen, FileSeen, bool)> {
    let Seen::Trial { files, digest, .. } = before else { return Err(wrong_kind()) };
    let Some(old) = files.first() else { return Err(wrong_kind()) };
    root.sweep(&old.path)?;
    let now = kept::look(root, &old.path)?;
    // `grubby --update-kernel=ALL` writes every entry anew, ours as well: a file that has our name, and was not there, is ours.
    let own = old.there.is_none() && old.path.rsplit('/').next().is_some_and(|name| name.contains("linerate-trial"));
    let ours = now.there.as_ref().is_some_and(|t| own || t.digest == *digest);
    Ok((old, now, ours))
}

/// Puts GRUB's environment block back if nothing but the choice of the next entry, or the order of its lines, differs.
fn restore_environment(root: &Root, old: &FileSeen, journal: &Journal) -> Done<()> {
    let Some(kept) = &old.kept else { return Ok(()) };
    let lines = |bytes: Vec<u8>| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let mut lines: Vec<String> =
            text.lines().filter(|l| !l.starts_with('#') && !l.starts_with("next_entry=")).map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let was = root.read(&journal.kept(kept), FILE)?;
    let is = root.read(&old.path, FILE)?;
    let (Some(was), Some(is)) = (was, is) else { return Ok(()) };
    if lines(was.bytes) == lines(is.bytes) { kept::put_back_one(root, old, journal) } else { Ok(()) }
}

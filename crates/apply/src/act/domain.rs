//! The definition of a virtual machine, by `virsh define`. The file is read, and never written: libvirt holds definitions in memory, and writes them.

use super::kept::{self, left, look, one};
use super::{ActDone, Done, FILE, Hands, Look, Made, Meta, Root, Texts, Undo, Wrong, program, unexpected};
use crate::journal::{FileSeen, Journal, Seen};
use linerate_formats::libvirt;
use linerate_remedy::DomainAct;

/// Seconds that libvirt may take: it asks QEMU for what it can, where it has not yet.
const LIMIT: u32 = 120;
/// The daemon whose files these are.
const DAEMON: &str = "qemu:///system";

impl ActDone for DomainAct {
    fn check(&self, hands: &Hands<'_>, _: &mut Texts) -> Vec<Wrong> {
        expected(self, hands.root).err().into_iter().collect()
    }

    fn before(&self, hands: &Hands<'_>, journal: &Journal, kept: &str) -> Done<Seen> {
        expected(self, hands.root)?;
        let (files, dirs) = kept::keep(hands.root, &[self.path()], journal, kept)?;
        Ok(Seen::Files { files, dirs })
    }

    fn make(&self, hands: &Hands<'_>, journal: &Journal, before: &Seen) -> Done<Made> {
        let (old, _) = one(before)?;
        if !look(hands.root, &self.path())?.like(old) {
            return Err(unexpected(format!("{} was changed since it was kept", self.path())));
        }
        let new = wanted(self, hands.root, journal, old)?;
        let output = define(self, hands, journal, new.as_bytes())?;
        Ok(Made { after: left(vec![look(hands.root, &self.path())?]), output: Some(output) })
    }

    fn look(&self, hands: &Hands<'_>, journal: &Journal, before: &Seen) -> Done<Look> {
        let (old, _) = one(before)?;
        let now = look(hands.root, &self.path())?;
        Ok(match () {
            () if now.like(old) => Look::Before,
            // That somebody else wrote the same lines is as good.
            () if is_made(self, hands.root, journal, old)? => Look::After(left(vec![now])),
            () => Look::Other(format!("{} is neither as before nor as planned", self.path())),
        })
    }

    fn undo(&self, hands: &Hands<'_>, journal: &Journal, before: &Seen, after: Option<&Seen>, _: bool) -> Done<Undo> {
        let (old, _) = one(before)?;
        let now = look(hands.root, &self.path())?;
        if now.like(old) {
            return Ok(Undo::Back(format!("the domain {} is defined as it was", self.domain)));
        }
        let ours = match after {
            Some(after) => now.like(one(after)?.0),
            None => is_made(self, hands.root, journal, old)?,
        };
        if !ours {
            return Err(unexpected(format!("{} is neither as linerate left it nor as it was", self.path())));
        }
        define(self, hands, journal, &backup(self, hands.root, journal, old)?)?;
        Ok(Undo::Back(format!(
            "the domain {} is defined as it was; a guest that runs has it after its next start",
            self.domain
        )))
    }

    fn put_back(&self, hands: &Hands<'_>, journal: &Journal, before: &Seen) -> Done<()> {
        let (old, _) = one(before)?;
        if look(hands.root, &self.path())?.like(old) {
            return Ok(());
        }
        define(self, hands, journal, &backup(self, hands.root, journal, old)?).map(drop)
    }

    fn names(&self, path: &str) -> bool {
        self.path() == path
    }
}

/// The definition as it is now.
fn text(act: &DomainAct, root: &Root) -> Done<String> {
    let path = act.path();
    let there = root.read(&path, FILE)?.ok_or_else(|| {
        Wrong::new("stale", format!("{path} does not exist: the domain was undefined, or belongs to another daemon"))
    })?;
    String::from_utf8(there.bytes).map_err(|_| Wrong::failed(format!("{path} is not UTF-8")))
}

/// Refuses another definition than the plan expects.
fn expected(act: &DomainAct, root: &Root) -> Done<()> {
    let now = text(act, root)?;
    if act.expects(now.as_bytes()) {
        return Ok(());
    }
    Err(Wrong::new("stale", format!("{} is not the file that the plan was made from: make a new plan", act.path())))
}

/// What was kept, if it is what the plan says: nobody else's text is given to libvirt.
fn backup(act: &DomainAct, root: &Root, journal: &Journal, old: &FileSeen) -> Done<Vec<u8>> {
    let bytes = kept::bytes(root, journal, old)?;
    if act.expects(&bytes) {
        return Ok(bytes);
    }
    Err(Wrong::new("backup", format!("the journal's copy of {} is not what the plan was made from", act.path())))
}

/// Whether the definition has what the plan brings.
fn is_made(act: &DomainAct, root: &Root, journal: &Journal, old: &FileSeen) -> Done<bool> {
    let before = String::from_utf8_lossy(&backup(act, root, journal, old)?).into_owned();
    Ok(act.is_in(&before, &text(act, root)?))
}

/// What is to be defined.
fn wanted(act: &DomainAct, root: &Root, journal: &Journal, old: &FileSeen) -> Done<String> {
    let bytes = backup(act, root, journal, old)?;
    let text = String::from_utf8(bytes).map_err(|_| Wrong::failed(format!("{} is not UTF-8", act.path())))?;
    act.edited(&text).map_err(|line| {
        Wrong::new("stale", format!("line {line} of {} is not as the plan says: make a new plan", act.path()))
    })
}

/// Defines a text, and reads what libvirt made of it.
fn define(act: &DomainAct, hands: &Hands<'_>, journal: &Journal, new: &[u8]) -> Done<String> {
    let root = hands.root;
    let path = journal.kept(&format!("define-{}.xml", act.domain));
    root.replace(&path, new, Meta::OWN)?;
    let host = root.host_path(&path);
    let Some(host) = host.to_str() else {
        return Err(Wrong::failed(format!("{path} has no domain name that can be passed to virsh")));
    };
    let argv = ["virsh", "--connect", DAEMON, "define", "--validate", host].map(str::to_owned);
    let defined = program::run(hands, &argv, LIMIT);
    root.remove(&path)?;
    let output = defined?;
    let now = text(act, root)?;
    let differs = libvirt::differ(new, now.as_bytes());
    match differs.map_err(|e| Wrong::failed(format!("{}: {e}", act.path())))? {
        None => Ok(output),
        Some(what) => Err(Wrong::failed(format!(
            "virsh reported success, but {} has other {what} than it was given: another daemon may have handled it",
            act.path()
        ))),
    }
}

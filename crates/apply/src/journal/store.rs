//! The journal's files.

use super::{Ledger, Record, line};
use crate::act::{Done, Meta, Root, Wrong};
use crate::hand::fault::boundary;
use linerate_remedy::Plan;
use rustix::fd::OwnedFd;
use rustix::fs::{FallocateFlags, FlockOperation};
use rustix::io::Errno;
use std::time::Duration;

/// Where journals are.
pub(crate) const STATE: &str = "/var/lib/linerate/apply";
/// Bytes of a plan or a journal that are read.
const MOST: usize = 64 << 20;
/// Disk that a journal keeps for itself, so that what is done on a full disk can still be written down.
const RESERVE: u64 = 256 << 10;
/// Plans of a node that are looked at.
const PLANS: usize = 4096;

/// One hand at a time. Released when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Lock(#[allow(dead_code)] OwnedFd);

impl Lock {
    /// Takes it; waits a few seconds for another hand.
    pub(crate) fn take(root: &Root) -> Done<Lock> {
        for dir in ["/var", "/var/lib", "/var/lib/linerate"] {
            root.make_dir(dir, 0o755)?;
        }
        root.make_dir(STATE, 0o700)?;
        own(root)?;
        let fd = root.appendable(&format!("{STATE}/lock"))?;
        for _ in 0..50 {
            match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Lock(fd)),
                Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(Duration::from_millis(100)),
                Err(why) => return Err(Wrong::call("lock", STATE, why)),
            }
        }
        Err(Wrong::new(
            "busy",
            "another linerate is changing this node at this moment (a connection that was lost lets it end its act first): try again",
        ))
    }
}

/// Refuses a state directory that others could have written into, or can read: what is undone is what lies there.
fn own(root: &Root) -> Done<()> {
    if root.is_real() && !rustix::process::geteuid().is_root() {
        // It is root's, and cannot be read: that is what is said then.
        return Ok(());
    }
    root.is_own_dir("/var/lib/linerate", 0o022)?;
    root.is_own_dir(STATE, 0o077)
}

/// A plan's journal on this node.
#[derive(Debug)]
pub(crate) struct Journal {
    dir: String,
    fd: OwnedFd,
    len: u64,
    /// The plan.
    pub(crate) plan: Plan,
    /// How it stands.
    pub(crate) ledger: Ledger,
    /// What was cut off when it was opened, for people.
    pub(crate) torn: Option<String>,
}

/// The directory of a plan.
fn dir_of(hash: &str) -> Done<String> {
    let prefix: String = hash.chars().take(16).collect();
    if prefix.len() != 16 || !prefix.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(Wrong::new("hash", format!("{hash:?} is not the hash of a plan")));
    }
    Ok(format!("{STATE}/{prefix}"))
}

impl Journal {
    /// Starts one: the plan first, then the record that takes the node. An older, released journal of the same plan is put aside.
    pub(crate) fn begin(root: &Root, plan: &Plan, begun: &Record) -> Done<Journal> {
        let dir = dir_of(&plan.hash)?;
        let aside = |n: &u32| format!("{dir}.{n}");
        if root.exists(&format!("{dir}/journal.jsonl")) {
            let free = (1..10_000).find(|n| !root.exists(&aside(n)));
            root.rename(&dir, &aside(&free.unwrap_or_default()))?;
        }
        root.make_dir(&dir, 0o700)?;
        root.make_dir(&format!("{dir}/kept"), 0o700)?;
        let json = serde_json::to_vec(plan).map_err(|e| Wrong::failed(format!("cannot write the plan: {e}")))?;
        root.replace(&format!("{dir}/plan.json"), &json, Meta::OWN)?;
        boundary("begin: plan kept");
        let fd = root.appendable(&format!("{dir}/journal.jsonl"))?;
        let _ = rustix::fs::fallocate(&fd, FallocateFlags::KEEP_SIZE, 0, RESERVE);
        let mut journal = Journal { dir, fd, len: 0, plan: plan.clone(), ledger: Ledger::default(), torn: None };
        journal.write(begun.clone())?;
        Ok(journal)
    }

    /// Opens a plan's journal, and cuts off what a power cut left of its last line. `None`: the plan never began here.
    pub(crate) fn open(root: &Root, hash: &str) -> Done<Option<Journal>> {
        let dir = dir_of(hash)?;
        let (Some((plan, read)), path) = (load(root, &dir)?, format!("{dir}/journal.jsonl")) else { return Ok(None) };
        let Some(ledger) = ledger_of(&dir, hash, &plan, &read)? else { return Ok(None) };
        let fd = root.appendable(&path)?;
        let len = read.whole as u64;
        let torn = (read.torn > 0).then(|| {
            format!(
                "the last line of {path} was incomplete ({} bytes) and was cut off: what it announced is checked again",
                read.torn
            )
        });
        if torn.is_some() {
            rustix::fs::ftruncate(&fd, len)
                .and_then(|()| rustix::fs::fsync(&fd))
                .map_err(|e| Wrong::call("cut", &path, e))?;
        }
        Ok(Some(Journal { dir, fd, len, plan, ledger, torn }))
    }

    /// Writes a record without secrets, and waits until it is on disk.
    pub(crate) fn write(&mut self, mut record: Record) -> Done<()> {
        record.clean();
        let text = line::write(&record).map_err(|e| Wrong::failed(format!("cannot write the journal: {e}")))?;
        let path = format!("{}/journal.jsonl", self.dir);
        let half = text.len() / 2;
        let pieces = if cfg!(any(test, feature = "faults")) {
            [text.get(..half), text.get(half..)]
        } else {
            [Some(text.as_str()), None]
        };
        let mut written = Ok(());
        for piece in pieces.into_iter().flatten() {
            let mut rest = piece.as_bytes();
            while !rest.is_empty() && written.is_ok() {
                match rustix::io::retry_on_intr(|| rustix::io::write(&self.fd, rest)) {
                    Ok(n) => rest = rest.get(n..).unwrap_or_default(),
                    Err(why) => written = Err(why),
                }
            }
            boundary("journal: written");
        }
        if let Err(why) = written.and_then(|()| rustix::fs::fdatasync(&self.fd)) {
            // A part of a line would hide those that come behind it.
            let _ = rustix::fs::ftruncate(&self.fd, self.len);
            return Err(Wrong::call("write", &path, why));
        }
        self.len += text.len() as u64;
        self.ledger.take(&record);
        boundary("journal: synced");
        Ok(())
    }

    /// Path of a kept file.
    pub(crate) fn kept(&self, name: &str) -> String {
        format!("{}/kept/{name}", self.dir)
    }
}

/// The plan and records of a directory.
fn load(root: &Root, dir: &str) -> Done<Option<(Plan, line::Read)>> {
    let Some(bytes) = root.read(&format!("{dir}/journal.jsonl"), MOST)? else { return Ok(None) };
    root.is_own_dir(dir, 0o077)?;
    root.is_own_dir(&format!("{dir}/kept"), 0o077)?;
    let read = line::read(&bytes.bytes);
    if read.damaged {
        return Err(Wrong::new(
            "journal",
            format!(
                "{dir}/journal.jsonl is damaged in the middle, which a power cut does not cause: it is not used. The old files are in {dir}/kept; put back by hand what is needed, then move the directory away"
            ),
        ));
    }
    let Some(plan) = root.read(&format!("{dir}/plan.json"), MOST)? else { return Ok(None) };
    match Plan::read(&plan.bytes) {
        Ok(plan) => Ok(Some((plan, read))),
        Err(why) => Err(Wrong::new("journal", format!("{dir}/plan.json: {why}"))),
    }
}

/// How a plan stands, where journal and plan are both the one of this hash; `None`: it never began.
fn ledger_of(dir: &str, hash: &str, plan: &Plan, read: &line::Read) -> Done<Option<Ledger>> {
    let ledger = Ledger::of(&read.records);
    if ledger.plan.is_empty() {
        return Ok(None);
    }
    if plan.hash != hash || ledger.plan != hash {
        let what = format!(
            "{dir} belongs to plan {} and its journal to {}, but {hash} was asked for: neither is used",
            plan.hash, ledger.plan
        );
        return Err(Wrong::new("journal", what));
    }
    Ok(Some(ledger))
}

/// One plan, for who only looks.
pub(crate) fn one_plan(root: &Root, hash: &str) -> Done<Option<(Plan, Ledger)>> {
    let dir = dir_of(hash)?;
    if !root.exists(STATE) {
        return Ok(None);
    }
    own(root)?;
    let Some((plan, read)) = load(root, &dir)? else { return Ok(None) };
    Ok(ledger_of(&dir, hash, &plan, &read)?.map(|ledger| (plan, ledger)))
}

/// All plans that ever began here: their ledgers, the last used first.
pub(crate) fn plans(root: &Root) -> Done<Vec<(Plan, Ledger)>> {
    if root.exists(STATE) {
        own(root)?;
    }
    let names = root.names(STATE, PLANS)?;
    let dirs = names.iter().filter(|n| n.len() == 16 && n.bytes().all(|b| b.is_ascii_hexdigit()));
    let mut all = Vec::new();
    for name in dirs {
        if let Some((plan, read)) = load(root, &format!("{STATE}/{name}"))? {
            let ledger = Ledger::of(&read.records);
            if !ledger.plan.is_empty() {
                all.push((plan, ledger));
            }
        }
    }
    all.sort_by(|(_, a), (_, b)| b.turn().cmp(&a.turn()));
    Ok(all)
}

/// The place of a plan that is begun, or undone, now: behind all others.
pub(crate) fn next_order(root: &Root) -> Done<u64> {
    Ok(plans(root)?.iter().map(|(_, ledger)| ledger.order).max().unwrap_or_default().saturating_add(1))
}

/// The plan that holds the node.
pub(crate) fn open_plan(root: &Root) -> Done<Option<(Plan, Ledger)>> {
    Ok(plans(root)?.into_iter().find(|(_, ledger)| ledger.is_open()))
}

//! How a plan stands, from its records.

use super::{Key, Record, Seen};
use crate::protocol::Stands;
use linerate_snapshot::boot_digest;
use std::collections::BTreeMap;

/// How a plan stands on this node.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ledger {
    /// The plan's hash; empty: it never began.
    pub(crate) plan: String,
    /// Who took the node, and when (seconds since 1970).
    pub(crate) who: String,
    pub(crate) since: u64,
    /// Boot it was begun in.
    pub(crate) begun_in: String,
    /// Steps taken; empty: all.
    pub(crate) steps: Vec<String>,
    /// Acts that were begun.
    pub(crate) acts: BTreeMap<Key, ActRecord>,
    /// Boots in which a reboot was asked for.
    pub(crate) reboots: Vec<String>,
    /// It is, or was, being undone.
    pub(crate) undoing: bool,
    /// Boot in which it was last undone.
    pub(crate) undone_in: Option<String>,
    /// The node is released.
    pub(crate) finished: bool,
    /// Time of the last record.
    pub(crate) last: u64,
}

/// An act that was begun.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ActRecord {
    /// Where it stands.
    pub(crate) stands: Stands,
    /// What was there before the act.
    pub(crate) before: Seen,
    /// What was there after it.
    pub(crate) after: Option<Seen>,
    /// Boot in which it was begun or made.
    pub(crate) boot: String,
    /// How often it was begun.
    pub(crate) attempts: u32,
    /// The last attempt at undoing it left it.
    pub(crate) left: bool,
    /// The program that undoes it has passed while files of earlier acts were still there.
    pub(crate) undo_ran: bool,
}

impl Ledger {
    /// Reads records.
    pub(crate) fn of(records: &[Record]) -> Ledger {
        let mut ledger = Ledger::default();
        records.iter().for_each(|r| ledger.take(r));
        ledger
    }

    /// Whether it holds the node.
    pub(crate) fn is_open(&self) -> bool {
        !self.plan.is_empty() && !self.finished
    }

    /// Where an act stands.
    pub(crate) fn stands(&self, act: &Key) -> Stands {
        self.acts.get(act).map_or(Stands::Open, |a| a.stands)
    }

    /// Takes one more record. Journals of earlier versions hold the ids of boots themselves: they become the digests that are compared.
    pub(crate) fn take(&mut self, record: &Record) {
        self.last = match record {
            Record::Begun { plan, who, when, boot, steps } => {
                self.plan.clone_from(plan);
                self.who.clone_from(who);
                self.begun_in = boot_digest(boot);
                self.steps.clone_from(steps);
                self.since = *when;
                *when
            }
            Record::Announced { act, before, boot, when, .. } => {
                let attempts = self.acts.get(act).map_or(0, |a| a.attempts) + 1;
                let (stands, before, boot) = (Stands::Announced, before.clone(), boot_digest(boot));
                let record = ActRecord { stands, before, after: None, boot, attempts, left: false, undo_ran: false };
                self.acts.insert(act.clone(), record);
                *when
            }
            Record::Again { act, when } => self.act(act, *when, |a| a.attempts += 1),
            Record::Made { act, after, boot, when, .. } => self.act(act, *when, |a| {
                a.stands = Stands::Made;
                a.after = Some(after.clone());
                a.boot = boot_digest(boot);
            }),
            Record::Failed { act, when, .. } => self.act(act, *when, |a| a.stands = Stands::Failed),
            Record::Undone { act, when, .. } => self.act(act, *when, |a| a.stands = Stands::Undone),
            Record::UndoAnnounced { act, when } => self.act(act, *when, |a| a.left = false),
            Record::UndoRan { act, when } => self.act(act, *when, |a| a.undo_ran = true),
            Record::Left { act, when, .. } => self.act(act, *when, |a| a.left = true),
            Record::Undoing { when, boot } => {
                self.undone_in = Some(boot_digest(boot));
                (self.undoing, self.finished) = (true, false);
                *when
            }
            Record::Reboot { boot, when } => {
                self.reboots.push(boot_digest(boot));
                *when
            }
            Record::Noted { when, .. } => *when,
            Record::Finished { when } => {
                self.finished = true;
                *when
            }
        };
    }

    fn act(&mut self, act: &Key, when: u64, change: impl FnOnce(&mut ActRecord)) -> u64 {
        self.acts.get_mut(act).map(change);
        when
    }
}

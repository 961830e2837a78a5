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
    /// Records.
    records: u64,
    /// Time of the last record, in seconds since 1970.
    pub(crate) last: u64,
    /// Place among the node's plans, the last used highest; 0: only journals of earlier versions.
    pub(crate) order: u64,
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
    /// The record that says that it was made, counted from the first.
    pub(crate) made: u64,
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

    /// What plans of a node are ordered by: the one that holds the node is the last, then the order of their beginnings and undoings counts, whatever
    /// the clock said. Among journals of earlier versions the clock decides. Never equal for two plans.
    pub(super) fn turn(&self) -> (bool, u64, u64, &str) {
        (self.is_open(), self.order, self.last, &self.plan)
    }

    /// Where an act stands.
    pub(crate) fn stands(&self, act: &Key) -> Stands {
        self.acts.get(act).map_or(Stands::Open, |a| a.stands)
    }

    /// Takes one more record. Journals of earlier versions hold the ids of boots themselves: they become the digests that are compared.
    pub(crate) fn take(&mut self, record: &Record) {
        self.records += 1;
        let number = self.records;
        self.last = match record {
            Record::Begun { plan, who, when, boot, steps, order } => {
                self.order = *order;
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
                let record =
                    ActRecord { stands, before, after: None, boot, made: 0, attempts, left: false, undo_ran: false };
                self.acts.insert(act.clone(), record);
                *when
            }
            Record::Again { act, when } => self.act(act, *when, |a| a.attempts += 1),
            Record::Made { act, after, boot, when, .. } => self.act(act, *when, |a| {
                a.stands = Stands::Made;
                a.after = Some(after.clone());
                a.boot = boot_digest(boot);
                a.made = number;
            }),
            Record::Failed { act, when, .. } => self.act(act, *when, |a| a.stands = Stands::Failed),
            Record::Undone { act, when, .. } => self.act(act, *when, |a| a.stands = Stands::Undone),
            Record::UndoAnnounced { act, when } => self.act(act, *when, |a| a.left = false),
            Record::UndoRan { act, when } => self.act(act, *when, |a| a.undo_ran = true),
            Record::Left { act, when, .. } => self.act(act, *when, |a| a.left = true),
            Record::Undoing { when, boot, order } => {
                self.order = self.order.max(*order);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(plan: &str, when: u64, order: u64) -> Record {
        let (plan, who, boot) = (plan.to_owned(), "me@here".to_owned(), "boot".to_owned());
        Record::Begun { plan, who, when, boot, steps: Vec::new(), order }
    }

    #[test]
    fn turns_are_counted_and_the_clock_decides_among_old_journals_only() {
        let of = |records: &[Record]| {
            let mut all = records.to_vec();
            all.push(Record::Finished { when: 7 });
            Ledger::of(&all)
        };
        let old: Record =
            serde_json::from_str(r#"{"record":"begun","plan":"a","who":"me","when":9,"boot":"b","steps":[]}"#).unwrap();
        let undoing: Record = serde_json::from_str(r#"{"record":"undoing","boot":"b","when":9}"#).unwrap();
        let (old, older) = (of(&[old, undoing]), of(&[begun("b", 8, 0)]));
        assert_eq!((old.order, old.last), (0, 7));
        assert!(Ledger { last: 9, ..old.clone() }.turn() > older.turn(), "by the clock");
        assert_ne!(Ledger { last: 7, ..old.clone() }.turn(), older.turn(), "one second, two plans");
        let (first, second) = (of(&[begun("c", 900, 1)]), of(&[begun("d", 5, 2)]));
        assert!(second.turn() > first.turn() && first.turn() > old.turn(), "the clock went back");
        let again = of(&[begun("c", 900, 1), Record::Undoing { boot: "b".to_owned(), when: 6, order: 3 }]);
        assert!(again.turn() > second.turn(), "undone behind it");
        assert!(Ledger::of(&[begun("e", 1, 0)]).turn() > again.turn(), "it holds the node");
    }
}

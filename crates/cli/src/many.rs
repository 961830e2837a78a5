//! Many snapshots, each read and looked at by one of several threads, and taken in the order of their names. Memory does not grow with their
//! number, nor behind one that is slow: the others wait for it.

use crate::chosen::Chosen;
use crate::output::Failure;
use crate::progress::Line;
use crate::sources::Member;
use linerate_gather::fan::seconds_of;
use linerate_snapshot::capture::{Options, Purpose};
use linerate_snapshot::{OpenError, Reader, Snapshot, dated, load_each, node_name};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex, PoisonError};

/// Snapshots that a thread takes at a time: waking another thread for each one costs as much as a rule.
const BATCH: usize = 16;
/// Batches that wait for an earlier one before they are taken, for each thread.
const AHEAD: usize = 4;

/// What is done to the snapshot of a node, which is called so, before it is looked at.
pub(crate) type Before<'a> = dyn Fn(&str, &mut Snapshot) + Sync + 'a;

/// Nothing.
pub(crate) fn as_it_is(_: &str, _: &mut Snapshot) {}

/// How many batches were taken, and whoever waits for that.
#[derive(Default)]
struct Taken(Mutex<usize>, Condvar);

impl Taken {
    /// Returns when fewer than `ahead` batches before this one are not taken.
    fn wait(&self, batch: usize, ahead: usize) {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.1.wait_while(taken, |taken| batch >= taken.saturating_add(ahead)));
    }

    fn set(&self, taken: usize) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = taken;
        self.1.notify_all();
    }
}

/// Nobody waits for a taker that is gone.
struct Taker<'t>(&'t Taken);

impl Drop for Taker<'_> {
    fn drop(&mut self) {
        self.0.set(usize::MAX);
    }
}

/// A node of a source: how it is called, and what was seen of it.
type Node<T> = (String, Result<T, OpenError>);

/// Looks at each node in some thread, and takes what was seen in the order of the sources; an archive may hold several. `redact`: of trees, what
/// identifies is hashed. `before`: what is done to a snapshot first. `chosen`:
/// which nodes count.
pub(crate) fn each<T: Send>(
    members: &[Member],
    (redact, before, chosen, progress): (bool, &Before<'_>, &Chosen, &Line),
    look: impl Fn(&Member, &str, &Snapshot) -> T + Sync,
    mut take: impl FnMut(&str, Result<T, OpenError>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, taken) = (AtomicUsize::new(0), Taken::default());
    // A small fleet is shared out more finely.
    let batches: Vec<&[Member]> = members.chunks((members.len() / threads / 4).clamp(1, BATCH)).collect();
    std::thread::scope(|scope| -> Result<(), Failure> {
        let (to, from) = sync_channel::<(usize, Vec<Vec<Node<T>>>)>(threads * AHEAD);
        for _ in 0..threads {
            let (to, next, taken, batches, look) = (to.clone(), &next, &taken, &batches, &look);
            scope.spawn(move || {
                // One thread: reads one snapshot after the other, with buffers that it keeps.
                let mut reader = Reader::within(&crate::budget::budget());
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(batch) = batches.get(i) else { return };
                    // The one that all wait for was begun before: it never waits.
                    taken.wait(i, threads * AHEAD);
                    let seen = batch.iter().map(|m| one(&mut reader, m, (redact, before, chosen), look)).collect();
                    // The receiver is gone when the output failed: nothing is left to do.
                    if to.send((i, seen)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(to);
        let taker = Taker(&taken);
        let (mut waiting, mut at, mut done) = (BTreeMap::new(), 0, 0);
        for (i, seen) in from {
            waiting.insert(i, seen);
            while let Some(seen) = waiting.remove(&at) {
                at += 1;
                done += seen.len();
                seen.into_iter().flatten().try_for_each(|(label, seen)| take(&label, seen))?;
                progress.count(done, members.len(), "snapshots");
                taker.0.set(at);
            }
        }
        Ok(())
    })
}

/// The nodes of a source.
fn one<T>(
    reader: &mut Reader,
    member: &Member,
    (redact, before, chosen): (bool, &Before<'_>, &Chosen),
    look: &impl Fn(&Member, &str, &Snapshot) -> T,
) -> Vec<Node<T>> {
    let options = Options { redact, ..crate::budget::options(&member.path, Purpose::Audit) };
    let (mut found, mut spare) = (Found::default(), None);
    let read = load_each(reader, &member.path, &options, &mut |at, node| {
        let Some((slot, label)) = found.place(member, at) else { return };
        if !chosen.takes(&label) {
            return;
        }
        let seen = node.map(|mut snapshot| {
            // The clock of who collected, as the index has it.
            snapshot.manifest.time = seconds_of(at).unwrap_or(snapshot.manifest.time);
            before(&label, &mut snapshot);
            let seen = look(member, &label, &snapshot);
            spare = Some(snapshot);
            seen
        });
        found.put(slot, label, seen);
    });
    spare.into_iter().for_each(|s| reader.recycle(s));
    // What an archive might have held is not known: it is named, whoever is asked for.
    if let Err(e) = read {
        found.nodes.push((member.label.clone(), Err(e)));
    }
    found.nodes
}

/// The nodes of a source, of each the newest snapshot.
struct Found<T> {
    nodes: Vec<Node<T>>,
    /// By the directory of a node's snapshots the newest one's place, and its number in `nodes`.
    newest: BTreeMap<String, (String, usize)>,
}

impl<T> Default for Found<T> {
    fn default() -> Self {
        Found { nodes: Vec::new(), newest: BTreeMap::new() }
    }
}

impl<T> Found<T> {
    /// The number and the name of the node at a place in a source. `None`: there is a newer snapshot of it.
    fn place(&mut self, member: &Member, at: &str) -> Option<(usize, String)> {
        let next = self.nodes.len();
        if at.is_empty() {
            return Some((next, member.label.clone()));
        }
        let own = node_name(at, false);
        if let Some(dir) = dated(at) {
            let (newest, slot) = self.newest.entry(dir.to_owned()).or_insert_with(|| (at.to_owned(), next));
            if newest.as_str() > at {
                return None;
            }
            at.clone_into(newest);
            let label = self.nodes.get(*slot).map_or(own, |(label, _)| label.as_str());
            return Some((*slot, label.to_owned()));
        }
        // Two directories may hold nodes of the same name.
        let is_taken = self.nodes.iter().any(|(label, _)| label == own);
        Some((next, if is_taken { at.to_owned() } else { own.to_owned() }))
    }

    fn put(&mut self, slot: usize, label: String, seen: Result<T, OpenError>) {
        match self.nodes.get_mut(slot) {
            Some(node) => *node = (label, seen),
            None => self.nodes.push((label, seen)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    /// One slow snapshot: the others are looked at only so far ahead, all are taken, and in their order.
    #[test]
    fn nobody_runs_far_ahead_of_the_slowest() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tmp/many");
        std::fs::create_dir_all(&dir).unwrap();
        let file = dir.join("lspci.txt");
        std::fs::write(&file, "0000:00:00.0 Host bridge [0600]: Intel Corporation Device [8086:09a2]\n").unwrap();
        let ahead = std::thread::available_parallelism().map_or(1, usize::from) * AHEAD * BATCH;
        let members = vec![Member::of(&file); ahead * 3];
        let (first, begun, most) = (AtomicBool::new(true), AtomicUsize::new(0), AtomicUsize::new(0));
        let look = |_: &Member, _: &str, _: &Snapshot| {
            begun.fetch_add(1, Ordering::Relaxed);
            if first.swap(false, Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(700));
                most.store(begun.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        };
        let mut taken = 0;
        let take = |_: &str, seen: Result<(), OpenError>| {
            taken += usize::from(seen.is_ok());
            Ok(())
        };
        each(&members, (false, &as_it_is, &Chosen::default(), &Line::new(false)), look, take).unwrap();
        assert_eq!(taken, members.len());
        let most = most.into_inner();
        assert!(most <= ahead + BATCH, "{most} were looked at, {ahead} is as far as it may be");
        // Who takes gives up: everyone ends.
        let failed = each(
            &members,
            (false, &as_it_is, &Chosen::default(), &Line::new(false)),
            |_, _, _| (),
            |_, _| Err(Failure::new("full")),
        );
        assert!(failed.is_err());
    }
}

//! Snapshots are read on all cores and become row groups, which are written in the order of their names.
//!
//! Behind a snapshot that is slow to read, only so many groups are made: memory does not grow with what waits for it.

use super::update::file_of;
use super::{Encoded, Gathered, IndexError, Writer};
use crate::lists::{Beside, Joins};
use linerate_fleet::Record;
use linerate_formats::bounds::INDEX_GROUP_NODES;
use linerate_snapshot::{Budget, Each, OpenError, Reader, Snapshot, Source, node_name};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Groups that are made or wait to be written, for each thread.
const AHEAD: usize = 2;

/// How the nodes of a source are opened, with the buffers of a thread.
type Open<'a> = dyn Fn(&mut Reader, &Source, &mut Each<'_>) -> Result<(), OpenError> + Sync + 'a;

/// Snapshots that could not be read, and why.
pub(super) type Unreadable = Vec<(String, String)>;

/// What is read for one index.
pub(super) struct Readers<'a> {
    /// The index.
    pub(super) path: &'a Path,
    /// Each becomes a row group.
    pub(super) parts: &'a [&'a [&'a Source]],
    pub(super) budget: &'a Budget,
    /// Whose entries are joined to them.
    pub(super) lists: &'a Beside,
    pub(super) open: &'a Open<'a>,
    /// How many read at once.
    pub(super) threads: usize,
}

/// What a thread made of a part: its number, the groups, and those that could not be read.
type Made = (usize, Result<Part, IndexError>);

/// What became of a part: one group, or more where archives hold many nodes.
#[derive(Default)]
struct Part {
    groups: Vec<Encoded>,
    done: Done,
}

/// What became of snapshots.
#[derive(Default)]
pub(super) struct Done {
    pub(super) unreadable: Unreadable,
    /// How many there are, read or not.
    pub(super) count: usize,
    /// What was joined to them.
    pub(super) joins: Joins,
}

impl Readers<'_> {
    /// Writes a group for each part. `progress` hears how many sources were read. The answer is what became of the snapshots.
    ///
    /// # Errors
    /// A group cannot be made or written.
    pub(super) fn write(&self, writer: &mut Writer, progress: &mut dyn FnMut(usize)) -> Result<Done, IndexError> {
        let threads = self.threads;
        let done = AtomicUsize::new(0);
        // A part is handed out when one of those before it was written.
        let mut parts = 0..self.parts.len();
        let (hand_out, turns) = channel();
        let turns = Mutex::new(turns);
        let mut all = Done::default();
        std::thread::scope(|scope| -> Result<(), IndexError> {
            // Inside: dropped when a write fails, so that nobody waits for a turn.
            let mut hand_out = Some(hand_out);
            let (to, from) = sync_channel::<Made>(threads);
            for _ in 0..threads.min(self.parts.len()) {
                let (to, turns, done) = (to.clone(), &turns, &done);
                scope.spawn(move || self.work(turns, done, &to));
            }
            drop(to);
            let mut free = threads * AHEAD;
            let (mut waiting, mut at) = (BTreeMap::new(), 0);
            loop {
                if let Some(to) = &hand_out {
                    for part in parts.by_ref().take(free) {
                        let _ = to.send(part);
                    }
                    free = 0;
                }
                if parts.is_empty() {
                    hand_out = None;
                }
                match from.recv_timeout(Duration::from_millis(200)) {
                    Ok((part, made)) => _ = waiting.insert(part, made),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                }
                while let Some(made) = waiting.remove(&at) {
                    let mut made: Part = made?;
                    made.groups.into_iter().try_for_each(|group| writer.group(group))?;
                    all.unreadable.append(&mut made.done.unreadable);
                    all.count += made.done.count;
                    all.joins.append(made.done.joins);
                    (at, free) = (at + 1, free + 1);
                }
                progress(done.load(Ordering::Relaxed));
            }
        })?;
        Ok(all)
    }

    /// One thread: makes one group after the other, with buffers that it keeps.
    fn work(&self, turns: &Mutex<Receiver<usize>>, done: &AtomicUsize, to: &SyncSender<Made>) {
        let mut reader = Reader::within(self.budget);
        loop {
            let turn = turns.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Some((number, part)) = turn.ok().and_then(|n| Some((n, self.parts.get(n)?))) else { return };
            let made = self.part(&mut reader, part, done);
            // The receiver is gone when a write failed: nothing is left to do.
            if to.send((number, made)).is_err() {
                return;
            }
        }
    }

    /// The groups of some sources.
    fn part(&self, reader: &mut Reader, part: &[&Source], done: &AtomicUsize) -> Result<Part, IndexError> {
        let (mut out, mut batch, mut held) = (Part::default(), Gathered::default(), 0);
        for source in part {
            let (mut full, mut spare) = (Ok(()), None);
            let mut take = |at: &str, node: Result<Snapshot, OpenError>| {
                let inner = format!("{}/{at}", source.name);
                let (name, label) =
                    if at.is_empty() { (&source.name, source.label.as_str()) } else { (&inner, node_name(at, false)) };
                match node {
                    Ok(mut snapshot) => {
                        self.lists.join(&mut snapshot, label, &mut out.done.joins);
                        batch.add(name, file_of(source), &Record::read(label, &snapshot));
                        spare = Some(snapshot);
                    }
                    Err(e) => {
                        batch.add_unreadable(name, file_of(source), label, &e.reason());
                        out.done.unreadable.push((name.clone(), e.reason()));
                    }
                }
                (held, out.done.count) = (held + 1, out.done.count + 1);
                // An archive may hold more nodes than a group may.
                if held > INDEX_GROUP_NODES && full.is_ok() {
                    held = 0;
                    full = std::mem::take(&mut batch).encode(self.path).map(|g| out.groups.push(g));
                }
            };
            if let Err(e) = (self.open)(reader, source, &mut take) {
                take("", Err(e));
            }
            full?;
            spare.into_iter().for_each(|s| reader.recycle(s));
            done.fetch_add(1, Ordering::Relaxed);
        }
        if held > 0 {
            out.groups.push(batch.encode(self.path)?);
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Index, NAME};
    use linerate_snapshot::SourceKind;

    /// One slow snapshot: only so many groups are made behind it, all are written, and in their order.
    #[test]
    fn nobody_runs_far_ahead_of_the_slowest() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        let threads = 2;
        let ahead = threads * AHEAD;
        let sources: Vec<Source> = (0..ahead * 4)
            .map(|n| {
                let name = format!("gpu{n:05}.tar.zst");
                let (label, path) = (name.clone(), dir.path().join(&name));
                Source { label, path, name, kind: SourceKind::Archive, file: (0, 0) }
            })
            .collect();
        let (begun, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let open = |_: &mut Reader, source: &Source, _: &mut Each<'_>| {
            let number = begun.fetch_add(1, Ordering::SeqCst) + 1;
            if source == &sources[0] {
                std::thread::sleep(Duration::from_millis(700));
                most.store(begun.load(Ordering::SeqCst).max(number), Ordering::SeqCst);
            }
            Err(OpenError::NotASnapshot { what: source.name.clone(), why: "it is none".to_owned() })
        };
        let refs: Vec<&Source> = sources.iter().collect();
        let parts: Vec<&[&Source]> = refs.chunks(1).collect();
        let budget = Budget::default();
        let lists = Beside::default();
        let readers = Readers { path: &path, parts: &parts, budget: &budget, lists: &lists, open: &open, threads };
        let mut writer = Writer::begin(&path).unwrap();
        let Done { unreadable, count, .. } = readers.write(&mut writer, &mut |_| {}).unwrap();
        assert_eq!(count, sources.len());
        writer.finish().unwrap();
        let names: Vec<&String> = unreadable.iter().map(|(name, _)| name).collect();
        assert_eq!(names, sources.iter().map(|s| &s.name).collect::<Vec<_>>());
        assert_eq!(Index::open(dir.path()).unwrap().groups(), sources.len());
        let most = most.into_inner();
        assert!(most <= ahead, "{most} groups were begun, {ahead} is as many as may be");
    }
}

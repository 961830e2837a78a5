//! Many snapshots, each read and looked at by one of several threads, and taken in the order of their names. Memory does not grow with their
//! number, nor behind one that is slow: the others wait for it.

use crate::output::Failure;
use crate::progress::Line;
use linerate_snapshot::capture::{Options, Purpose};
use linerate_snapshot::{OpenError, Reader, Snapshot};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Condvar, Mutex, PoisonError};

/// Snapshots that a thread takes at a time: waking another thread for each one costs as much as a rule.
const BATCH: usize = 16;
/// Batches that wait for an earlier one before they are taken, for each thread.
const AHEAD: usize = 4;

/// What is done to the snapshot at a path before it is looked at.
pub(crate) type Before<'a> = dyn Fn(&Path, &mut Snapshot) + Sync + 'a;

/// Nothing.
pub(crate) fn as_it_is(_: &Path, _: &mut Snapshot) {}

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

/// Looks at each snapshot in some thread, and takes what was seen in the order of the paths. `redact`: of trees, what identifies is hashed. `before`:
/// what is done to a snapshot first.
pub(crate) fn each<T: Send>(
    paths: &[PathBuf],
    (redact, before, progress): (bool, &Before<'_>, &Line),
    look: impl Fn(&Path, &Snapshot) -> T + Sync,
    mut take: impl FnMut(&Path, Result<T, OpenError>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (next, taken) = (AtomicUsize::new(0), Taken::default());
    // A small fleet is shared out more finely.
    let batches: Vec<&[PathBuf]> = paths.chunks((paths.len() / threads / 4).clamp(1, BATCH)).collect();
    std::thread::scope(|scope| -> Result<(), Failure> {
        let (to, from) = sync_channel::<(usize, Vec<Result<T, OpenError>>)>(threads * AHEAD);
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
                    let seen = batch.iter().map(|path| one(&mut reader, path, (redact, before), look)).collect();
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
                let batch = batches.get(at).copied().unwrap_or_default();
                at += 1;
                done += seen.len();
                batch.iter().zip(seen).try_for_each(|(path, seen)| take(path, seen))?;
                progress.count(done, paths.len(), "snapshots");
                taker.0.set(at);
            }
        }
        Ok(())
    })
}

fn one<T>(
    reader: &mut Reader,
    path: &Path,
    (redact, before): (bool, &Before<'_>),
    look: &impl Fn(&Path, &Snapshot) -> T,
) -> Result<T, OpenError> {
    read(reader, path, redact).map(|mut snapshot| {
        before(path, &mut snapshot);
        let seen = look(path, &snapshot);
        reader.recycle(snapshot);
        seen
    })
}

fn read(reader: &mut Reader, path: &Path, redact: bool) -> Result<Snapshot, OpenError> {
    if path.is_file() {
        match reader.read(path) {
            Ok(s) => return Ok(s),
            Err(e @ OpenError::TooLarge { .. }) => return Err(e),
            Err(_) => {}
        }
    }
    let options = Options { redact, ..crate::budget::options(path, Purpose::Audit) };
    linerate_snapshot::load(path, &options, &|_| {})
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let paths = vec![file; ahead * 3];
        let (first, begun, most) = (AtomicBool::new(true), AtomicUsize::new(0), AtomicUsize::new(0));
        let look = |_: &Path, _: &Snapshot| {
            begun.fetch_add(1, Ordering::Relaxed);
            if first.swap(false, Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(700));
                most.store(begun.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        };
        let mut taken = 0;
        let take = |_: &Path, seen: Result<(), OpenError>| {
            taken += usize::from(seen.is_ok());
            Ok(())
        };
        each(&paths, (false, &as_it_is, &Line::new(false)), look, take).unwrap();
        assert_eq!(taken, paths.len());
        let most = most.into_inner();
        assert!(most <= ahead + BATCH, "{most} were looked at, {ahead} is as far as it may be");
        // Who takes gives up: everyone ends.
        let failed = each(&paths, (false, &as_it_is, &Line::new(false)), |_, _| (), |_, _| Err(Failure::new("full")));
        assert!(failed.is_err());
    }
}

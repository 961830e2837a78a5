//! Where snapshots are unpacked and packed again: a few threads, however many hosts are asked. What takes megabytes is there a few times, and
//! whoever brings more waits.

use linerate_snapshot::Reader;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;

/// Each thread has one reader for all of its work: what many nodes say alike is looked at once.
type Job<'a> = Box<dyn FnOnce(&mut Reader) + Send + 'a>;

/// Most threads: half of the cores, up to so many. The connections need the others, and each of these takes memory.
const MOST: usize = 2;

/// Takes work. It is closed when all of its copies are dropped.
#[derive(Clone)]
pub(super) struct Desk<'a>(SyncSender<Job<'a>>);

impl<'a> Desk<'a> {
    pub(super) fn open<'s>(threads: &'s Scope<'s, '_>) -> io::Result<Self>
    where
        'a: 's,
    {
        let (send, jobs) = sync_channel::<Job<'a>>(0);
        let jobs = Arc::new(Mutex::new(jobs));
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| (n.get() / 2).clamp(1, MOST)) {
            let jobs = Arc::clone(&jobs);
            std::thread::Builder::new().name("linerate-desk".into()).spawn_scoped(threads, move || sit(&jobs))?;
        }
        Ok(Desk(send))
    }

    /// Has it done there; `None`: there is nobody.
    pub(super) fn ask<T: Send + 'a>(&self, work: impl FnOnce(&mut Reader) -> T + Send + 'a) -> Option<T> {
        let (send, answer) = sync_channel(1);
        self.0.send(Box::new(move |reader| drop(send.send(work(reader))))).ok()?;
        answer.recv().ok()
    }
}

fn sit(jobs: &Mutex<Receiver<Job<'_>>>) {
    let mut reader = Reader::new();
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match job {
            Ok(job) => job(&mut reader),
            Err(_) => return,
        }
    }
}

//! Reads the files of the catalogue. One worker thread does it all, while the caller watches a counter: a read of a broken
//! device's file can hang in the kernel, where nothing can interrupt it. Then the worker is left behind and another goes on.

use super::root::{Root, join};
use super::worker::Worker;
use super::{Options, Purpose};
use crate::redact::Redactor;
use crate::{Coverage, EntryId, Snapshot, Why};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) steps: Vec<usize>,
    /// Path without links.
    pub(super) path: String,
    pub(super) dir: EntryId,
}

pub(super) struct State {
    pub(super) snapshot: Snapshot,
    pub(super) jobs: Vec<Job>,
    /// What is being read: a directory, and perhaps one within it.
    pub(super) active: Vec<Job>,
    /// File being read, in the last active job's directory.
    pub(super) leaf: String,
    /// Grows with every step: the watcher's sign of life.
    pub(super) ticks: u64,
    /// Which worker may write here.
    pub(super) worker: u32,
    pub(super) done: bool,
    pub(super) full: bool,
}

pub(super) struct Shared {
    pub(super) root: Root,
    pub(super) purpose: Purpose,
    pub(super) max_bytes: usize,
    pub(super) max_entries: usize,
    pub(super) release: String,
    pub(super) redactor: Redactor,
    pub(super) state: Mutex<State>,
    pub(super) woken: Condvar,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads all files; `watch` is called with the number of entries so far.
pub(super) fn files(
    root: Root,
    redactor: Redactor,
    options: &Options,
    watch: &dyn Fn(usize),
) -> (Snapshot, Root, Redactor) {
    let mut snapshot = Snapshot::new("");
    // Room for a large node: what is not used is never touched, and what grows by doubling is moved to fresh pages each time.
    snapshot.reserve(1 << 15, 4 << 20);
    snapshot.coverage = Coverage::Full { not_tried: Vec::new() };
    let first = Job { steps: vec![0], path: String::new(), dir: snapshot.root() };
    let state = State {
        snapshot,
        jobs: vec![first],
        active: Vec::new(),
        leaf: String::new(),
        ticks: 0,
        worker: 0,
        done: false,
        full: false,
    };
    let release = read_release(&root);
    let mut shared = Arc::new(Shared {
        root,
        purpose: options.purpose,
        max_bytes: options.max_bytes,
        max_entries: options.max_entries,
        release,
        redactor,
        state: Mutex::new(state),
        woken: Condvar::new(),
    });
    watch_workers(&shared, options, watch);
    loop {
        // The last worker lets go of its handle right after it said that it is done.
        match Arc::try_unwrap(shared) {
            Ok(s) => {
                let state = s.state.into_inner().unwrap_or_else(PoisonError::into_inner);
                return (state.snapshot, s.root, s.redactor);
            }
            Err(s) if s.lock().worker == 0 => {
                std::thread::yield_now();
                shared = s;
            }
            Err(s) => {
                // A worker that hangs keeps its handle: leave it everything but the snapshot.
                let snapshot = std::mem::replace(&mut s.lock().snapshot, Snapshot::new(""));
                let root = Root::open(&options.root);
                let redactor = s.redactor.clone();
                match root {
                    Ok(root) => return (snapshot, root, redactor),
                    Err(_) => shared = s,
                }
            }
        }
    }
}

fn watch_workers(shared: &Arc<Shared>, options: &Options, watch: &dyn Fn(usize)) {
    let started = Instant::now();
    let mut worker = 0;
    spawn(shared, worker);
    let (mut ticks, mut since, mut told) = (0, Instant::now(), Instant::now());
    let mut state = shared.lock();
    while !state.done {
        let wait = options.file_limit.min(Duration::from_millis(100));
        state = shared.woken.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        if told.elapsed() > Duration::from_millis(100) {
            told = Instant::now();
            watch(state.snapshot.len());
        }
        if state.done {
            break;
        }
        if state.ticks != ticks {
            (ticks, since) = (state.ticks, Instant::now());
        }
        let late = started.elapsed() > options.total_limit;
        if since.elapsed() < options.file_limit && !late {
            continue;
        }
        worker += 1;
        state.worker = worker;
        let mut active = std::mem::take(&mut state.active);
        if let Some(job) = active.pop() {
            if state.leaf.is_empty() {
                state.snapshot.problems.push(format!("listing /{} blocked; it is left out", job.path));
                state.snapshot.fail_dir(job.dir, Why::TimedOut);
            } else {
                let leaf = std::mem::take(&mut state.leaf);
                let path = join(&state.snapshot.path(job.dir), &leaf);
                state.snapshot.add_failed(&path, Why::TimedOut);
                active.push(job);
            }
        }
        // What was read before is not read again.
        state.jobs.append(&mut active);
        if late {
            let rest: Vec<Job> = state.jobs.drain(..).collect();
            let n = rest.len();
            state.snapshot.left_out(format!("the capture's time was over before {n} directories were read"));
            for job in rest {
                state.snapshot.fail_dir(job.dir, Why::TimedOut);
            }
            return;
        }
        since = Instant::now();
        spawn(shared, worker);
    }
}

fn spawn(shared: &Arc<Shared>, number: u32) {
    let handle = Arc::clone(shared);
    let started = std::thread::Builder::new().name("linerate-files".into()).spawn(move || {
        Worker::new(&handle, number).run();
        let mut state = handle.lock();
        if state.worker == number {
            state.done = true;
            drop(state);
            handle.woken.notify_all();
        }
    });
    if let Err(e) = started {
        let mut state = shared.lock();
        state.snapshot.problems.push(format!("no thread to read files with: {e}"));
        state.done = true;
    }
}

fn read_release(root: &Root) -> String {
    let read = || -> Result<String, Errno> {
        let dir = root.dir("proc/sys/kernel")?;
        if Root::kind(dir.as_fd(), "osrelease")? != FileType::RegularFile {
            return Err(Errno::INVAL);
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&dir, "osrelease", flags, Mode::empty())?;
        let mut buf = [0_u8; 256];
        let n = rustix::io::read(&fd, &mut buf)?;
        Ok(String::from_utf8_lossy(buf.get(..n).unwrap_or_default()).trim().to_owned())
    };
    read().unwrap_or_default()
}

#[cfg(test)]
pub(super) mod tests {
    use crate::capture::{Options, Purpose, capture};
    use crate::{Lookup, Why};
    use std::time::{Duration, Instant};

    /// A file that begins so hangs, as the attribute of a broken device does.
    pub(in crate::capture) const HANG: &[u8] = b"hang";

    #[test]
    fn a_read_that_hangs_is_left_behind_and_the_rest_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let net = dir.path().join("sys/class/net");
        for (name, mtu) in [("eth0", "1500"), ("eth1", "hang"), ("eth2", "9000")] {
            std::fs::create_dir_all(net.join(name)).unwrap();
            std::fs::write(net.join(name).join("mtu"), mtu).unwrap();
            std::fs::write(net.join(name).join("operstate"), "up").unwrap();
        }
        let mut options = Options::new(dir.path(), Purpose::Audit);
        options.file_limit = Duration::from_millis(200);
        let started = Instant::now();
        let s = capture(&options, &|_| {}).unwrap();
        assert!(started.elapsed() < Duration::from_millis(2500), "{:?}", started.elapsed());
        assert!(matches!(s.resolve("sys/class/net/eth1/mtu"), Lookup::Blocked(_, Why::TimedOut)));
        for (at, text) in [("sys/class/net/eth0/mtu", "1500"), ("sys/class/net/eth2/mtu", "9000")] {
            assert_eq!(s.text(s.root(), at).known(), Some(&text));
        }
        assert_eq!(s.text(s.root(), "sys/class/net/eth1/operstate").known(), Some(&"up"));
        assert!(s.problems.is_empty(), "{:?}", s.problems);
    }

    #[test]
    fn a_capture_whose_time_is_over_ends() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("proc")).unwrap();
        std::fs::write(dir.path().join("proc/cpuinfo"), "hang").unwrap();
        std::fs::create_dir_all(dir.path().join("sys/class/net/eth0")).unwrap();
        let mut options = Options::new(dir.path(), Purpose::Audit);
        options.total_limit = Duration::from_millis(200);
        let started = Instant::now();
        let s = capture(&options, &|_| {}).unwrap();
        assert!(started.elapsed() < Duration::from_millis(2500));
        assert!(matches!(s.resolve("proc/cpuinfo"), Lookup::Blocked(_, Why::TimedOut)));
        assert!(s.problems.iter().any(|p| p.contains("time was over")), "{:?}", s.problems);
    }
}

//! Reads the files of the catalogue. One worker thread does it all, while the caller watches a counter: a read of a broken
//! device's file can hang in the kernel, where nothing can interrupt it. Then the worker is left behind and another goes on.

use super::root::{Place, Root, join, link_target};
use super::{Options, Purpose, filter};
use crate::catalogue::{Catalogue, Keep, Leaf, Take, catalogue};
use crate::redact::Redactor;
use crate::{Coverage, EntryId, EntryKind, Snapshot, Why};
use rustix::fs::{FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// GIDs of an audit: after so many unused ones in a row, the rest of the table is not read.
const UNUSED_GIDS: usize = 32;

#[derive(Debug, Clone)]
struct Job {
    steps: Vec<usize>,
    /// Path without links.
    path: String,
    dir: EntryId,
}

struct State {
    snapshot: Snapshot,
    jobs: Vec<Job>,
    active: Option<Job>,
    /// File being read, in the active job's directory.
    leaf: String,
    /// Grows with every step: the watcher's sign of life.
    ticks: u64,
    /// Which worker may write here.
    worker: u32,
    done: bool,
    full: bool,
}

struct Shared {
    root: Root,
    purpose: Purpose,
    max_bytes: usize,
    max_entries: usize,
    release: String,
    redactor: Redactor,
    state: Mutex<State>,
    woken: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
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
    snapshot.coverage = Coverage::Full { not_tried: Vec::new() };
    let first = Job { steps: vec![0], path: String::new(), dir: snapshot.root() };
    let state = State {
        snapshot,
        jobs: vec![first],
        active: None,
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
        if let Some(job) = state.active.take() {
            if state.leaf.is_empty() {
                state.snapshot.problems.push(format!("listing /{} blocked; it is left out", job.path));
                state.snapshot.fail_dir(job.dir, Why::TimedOut);
            } else {
                let leaf = std::mem::take(&mut state.leaf);
                state.snapshot.add_at(job.dir, &leaf, EntryKind::Failed(Why::TimedOut), &[]);
                state.jobs.push(job);
            }
        }
        if late {
            let rest: Vec<Job> = state.jobs.drain(..).collect();
            let n = rest.len();
            state.snapshot.problems.push(format!("the capture's time was over before {n} directories were read"));
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
        let mut w =
            Worker { s: &handle, c: catalogue(), number, buf: vec![0; 64 << 10], data: Vec::new(), list: vec![] };
        w.run();
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

struct Worker<'a> {
    s: &'a Shared,
    c: &'static Catalogue,
    number: u32,
    buf: Vec<u8>,
    data: Vec<u8>,
    list: Vec<MaybeUninit<u8>>,
}

/// The worker was replaced, or there is no more room.
struct Stop;

impl Worker<'_> {
    fn run(&mut self) {
        loop {
            let job = {
                let mut state = self.s.lock();
                if state.worker != self.number || state.full {
                    return;
                }
                let Some(job) = state.jobs.pop() else { return };
                state.active = Some(job.clone());
                state.leaf.clear();
                state.ticks += 1;
                job
            };
            if self.directory(&job).is_err() {
                return;
            }
        }
    }

    /// The state, if this worker still may write there.
    fn state(&self) -> Result<MutexGuard<'_, State>, Stop> {
        let mut state = self.s.lock();
        if state.worker != self.number {
            return Err(Stop);
        }
        state.ticks += 1;
        if state.snapshot.size() > self.s.max_bytes || state.snapshot.len() > self.s.max_entries {
            if !state.full {
                state.full = true;
                let n = state.snapshot.len();
                state.snapshot.problems.push(format!("the capture is full after {n} entries; the rest was left out"));
                state.snapshot.coverage = Coverage::Partial;
            }
            return Err(Stop);
        }
        Ok(state)
    }

    fn directory(&mut self, job: &Job) -> Result<(), Stop> {
        let dir = match self.s.root.dir(&job.path) {
            Ok(dir) => dir,
            Err(Errno::NOENT | Errno::NODEV) => return Ok(()),
            Err(e) => {
                self.state()?.snapshot.fail_dir(job.dir, why(e));
                return Ok(());
            }
        };
        let mut names = self.names(job, dir.as_fd())?;
        if job.path.ends_with("/gids") {
            names.sort_by_key(|(n, _)| n.parse::<u32>().unwrap_or(u32::MAX));
        }
        let trusted = self.s.root.sysfs && job.path.starts_with("sys/");
        let (mut jobs, mut below, mut unused, mut rest_unread) = (Vec::new(), Vec::new(), 0, false);
        for (name, kind) in names {
            self.c.below(&job.steps, &name, &mut below);
            let goes_on = self.c.goes_on(&below);
            let leaf = self.c.leaf(&below, self.s.purpose == Purpose::Audit);
            if below.is_empty() || (leaf.is_none() && !goes_on) {
                continue;
            }
            if rest_unread {
                // One entry says it for the rest of the table.
                self.state()?.snapshot.add_at(job.dir, &name, EntryKind::Failed(Why::NotCollected), &[]);
                break;
            }
            let kind = match kind.filter(|k| *k != FileType::Unknown).map_or_else(|| Root::kind(dir.as_fd(), &name), Ok)
            {
                Ok(kind) => kind,
                Err(Errno::NOENT | Errno::NODEV | Errno::NOTDIR) => continue,
                Err(e) => {
                    self.state()?.snapshot.add_at(job.dir, &name, EntryKind::Failed(why(e)), &[]);
                    continue;
                }
            };
            match kind {
                FileType::Symlink => {
                    if let Some(j) = self.link(job, dir.as_fd(), &name, &below, leaf, goes_on)? {
                        jobs.push(j);
                    }
                }
                FileType::Directory => {
                    let mut state = self.state()?;
                    if let Some(id) = state.snapshot.add_at(job.dir, &name, EntryKind::Dir, &[])
                        && goes_on
                    {
                        jobs.push(Job { steps: below.clone(), path: join(&job.path, &name), dir: id });
                    }
                }
                _ => {
                    let Some(leaf) = leaf else { continue };
                    let zero = self.file(job, dir.as_fd(), &name, kind, leaf, trusted)?;
                    unused = if zero { unused + 1 } else { 0 };
                    if unused == UNUSED_GIDS && self.s.purpose == Purpose::Audit {
                        rest_unread = true;
                    }
                }
            }
        }
        // `gids` before `gid_attrs`: which of these exist depends on those. Jobs are taken from the end.
        jobs.sort_by_key(|j| j.path.ends_with("/gids"));
        let mut state = self.state()?;
        state.active = None;
        state.jobs.append(&mut jobs);
        Ok(())
    }

    /// Names to look at: all of the directory where patterns have `*`, else those of the patterns.
    fn names(&mut self, job: &Job, dir: BorrowedFd<'_>) -> Result<Vec<(String, Option<FileType>)>, Stop> {
        let steps = || job.steps.iter().filter_map(|i| self.c.steps.get(*i));
        if steps().all(|s| s.globs.is_empty()) {
            let mut names: Vec<_> =
                steps().flat_map(|s| s.exact.iter().map(|(n, _)| ((*n).to_owned(), None))).collect();
            names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            names.dedup_by(|a, b| a.0 == b.0);
            return Ok(names);
        }
        let mut names = Vec::new();
        let mut odd = 0;
        self.list.resize(32 << 10, MaybeUninit::uninit());
        let mut iter = RawDir::new(dir, &mut self.list);
        let mut failed = None;
        while let Some(entry) = iter.next() {
            let entry = match entry {
                Ok(e) => e,
                Err(e) => {
                    failed = Some(e);
                    break;
                }
            };
            match entry.file_name().to_str() {
                Ok("." | "..") => {}
                Ok(name) => names.push((name.to_owned(), Some(entry.file_type()))),
                Err(_) => odd += 1,
            }
            if names.len() > self.s.max_entries {
                failed = Some(Errno::NFILE);
                break;
            }
        }
        if odd > 0 || failed.is_some() {
            let mut state = self.state()?;
            if odd > 0 {
                state.snapshot.problems.push(format!("/{}: {odd} names are not UTF-8 and were left out", job.path));
            }
            if let Some(e) = failed {
                state.snapshot.fail_dir(job.dir, why(e));
            }
        }
        if let Some((head, _)) = job.path.rsplit_once("/gid_attrs/") {
            let state = self.state()?;
            if let crate::Lookup::Found(gids) = state.snapshot.resolve(&format!("{head}/gids")) {
                names.retain(|(n, _)| state.snapshot.child(gids, n).is_some());
            }
        }
        Ok(names)
    }

    fn link(
        &mut self,
        job: &Job,
        dir: BorrowedFd<'_>,
        name: &str,
        steps: &[usize],
        leaf: Option<Leaf>,
        goes_on: bool,
    ) -> Result<Option<Job>, Stop> {
        let target = match link_target(dir, name) {
            Ok(t) => t,
            Err(Errno::NOENT) => return Ok(None),
            Err(e) => {
                self.state()?.snapshot.add_at(job.dir, name, EntryKind::Failed(why(e)), &[]);
                return Ok(None);
            }
        };
        self.state()?.snapshot.add_at(job.dir, name, EntryKind::Link, target.as_bytes());
        let file = leaf.filter(|l| l.take == Take::File);
        if file.is_none() && !goes_on {
            return Ok(None);
        }
        // A dangling link, or one whose way is closed: that it is there is all there is to know.
        let Ok(Place { path, kind, links }) = self.s.root.locate(&job.path, &target) else { return Ok(None) };
        let (parent, last) = path.rsplit_once('/').unwrap_or(("", &path));
        let mut state = self.state()?;
        for (at, to) in links {
            state.snapshot.add_link(&at, to.as_bytes());
        }
        match kind {
            FileType::Directory if goes_on => {
                let id = state.snapshot.add_dir(&path);
                Ok(id.map(|dir| Job { steps: steps.to_vec(), path: path.clone(), dir }))
            }
            FileType::RegularFile => {
                let Some(leaf) = file else { return Ok(None) };
                let Some(id) = state.snapshot.add_dir(parent) else { return Ok(None) };
                drop(state);
                let there = Job { steps: Vec::new(), path: parent.to_owned(), dir: id };
                if let Ok(fd) = self.s.root.dir(parent) {
                    self.file(&there, fd.as_fd(), last, kind, leaf, false)?;
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Takes one file. True where it is an unused GID, which is not kept.
    fn file(
        &mut self,
        job: &Job,
        dir: BorrowedFd<'_>,
        name: &str,
        kind: FileType,
        leaf: Leaf,
        trusted: bool,
    ) -> Result<bool, Stop> {
        if leaf.take == Take::Link {
            return Ok(false);
        }
        if leaf.take == Take::Name {
            self.state()?.snapshot.add_at(job.dir, name, EntryKind::CutFile, &[]);
            return Ok(false);
        }
        if kind != FileType::RegularFile {
            let why = EntryKind::Failed(Why::Failed("not a regular file; it was not opened".into()));
            self.state()?.snapshot.add_at(job.dir, name, why, &[]);
            return Ok(false);
        }
        if leaf.keep == Keep::Kconfig && name.strip_prefix("config-").is_some_and(|r| r != self.s.release) {
            return Ok(false);
        }
        {
            let mut state = self.state()?;
            if state.snapshot.child(job.dir, name).is_some() {
                return Ok(false);
            }
            state.leaf.clear();
            state.leaf.push_str(name);
        }
        let cut = match self.read(dir, name, leaf, trusted) {
            Ok(cut) => cut,
            Err(Errno::NOENT) => return Ok(false),
            Err(e) => {
                self.state()?.snapshot.add_at(job.dir, name, EntryKind::Failed(why(e)), &[]);
                return Ok(false);
            }
        };
        if leaf.hide == crate::catalogue::Hide::Gid && is_zero_gid(&self.data) {
            self.state()?.ticks += 1;
            return Ok(true);
        }
        let part = filter::keep(&mut self.data, leaf.keep);
        if !leaf.binary {
            crate::redact::secrets::remove(&mut self.data);
        }
        self.s.redactor.file(leaf.hide, &mut self.data);
        let name = if leaf.keep == Keep::Kconfig { name.trim_end_matches(".gz") } else { name };
        let kind = if cut || part { EntryKind::CutFile } else { EntryKind::File };
        let mut state = self.state()?;
        state.snapshot.add_at(job.dir, name, kind, &self.data);
        state.leaf.clear();
        Ok(false)
    }

    /// Reads into `self.data`; true if there is more than the limit.
    fn read(&mut self, dir: BorrowedFd<'_>, name: &str, leaf: Leaf, trusted: bool) -> Result<bool, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(dir, name, flags, Mode::empty())?;
        let mut size = None;
        if !trusted {
            // It may have been swapped since the directory was read.
            let stat = rustix::fs::fstat(&fd)?;
            if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
                return Err(Errno::NXIO);
            }
            // Files of procfs have no size; one that has is read to it, without asking for the end.
            size = usize::try_from(stat.st_size).ok().filter(|s| *s > 0);
        }
        self.data.clear();
        let max = leaf.max as usize;
        loop {
            let room = (max + 1 - self.data.len()).min(self.buf.len());
            let room = if leaf.binary { room.min(max - self.data.len()) } else { room };
            let Some(buf) = self.buf.get_mut(..room).filter(|b| !b.is_empty()) else { break };
            let n = match rustix::io::read(&fd, &mut *buf) {
                Ok(n) => n,
                Err(Errno::INTR) => continue,
                Err(e) => return Err(e),
            };
            self.data.extend_from_slice(buf.get(..n).unwrap_or_default());
            // An attribute of sysfs comes with one read; only what fills the page may go on.
            if n == 0 || (trusted && n < 4096) || size == Some(self.data.len()) {
                break;
            }
        }
        #[cfg(test)]
        if self.data.starts_with(tests::HANG) {
            std::thread::sleep(Duration::from_secs(3));
        }
        let cut = self.data.len() > max;
        self.data.truncate(max);
        Ok(cut)
    }
}

/// `0000:0000:…` and a line end.
fn is_zero_gid(data: &[u8]) -> bool {
    data.iter().all(|b| matches!(b, b'0' | b':' | b'\n'))
}

fn why(e: Errno) -> Why {
    match e {
        Errno::ACCESS | Errno::PERM => Why::Denied,
        e => Why::Failed(std::io::Error::from(e).to_string().into()),
    }
}

#[cfg(test)]
mod tests {
    use crate::capture::{Options, Purpose, capture};
    use crate::{Lookup, Why};
    use std::time::{Duration, Instant};

    /// A file that begins so hangs, as the attribute of a broken device does.
    pub(super) const HANG: &[u8] = b"hang";

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

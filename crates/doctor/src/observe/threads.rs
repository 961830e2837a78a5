//! Who prints: threads of processes of hosts.

use super::keys::{GdrCount, Listed, Named};
use super::names::{Name, Names};
use super::release::Release;
use crate::place::Place;
use hashbrown::HashMap;
use linerate_formats::nccl_log::{self, Who};

/// Threads that are distinguished; the lines of further ones are counted, not assigned.
const MAX_THREADS: usize = 64 << 10;

/// A thread with a device.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) process: usize,
    /// Rank whose communicator it works on.
    pub(crate) rank: Option<usize>,
    /// Its last call of a collective.
    pub(crate) last_call: Option<LastCall>,
}

/// What is the same in a thread's calls.
#[derive(Debug)]
pub(crate) struct LastCall {
    /// `AllReduce: opCount `.
    pub(crate) start: Box<str>,
    pub(crate) name: Name,
    /// Communicator and stream.
    pub(crate) end: Box<str>,
    /// The rank that the communicator names; none where its making is not in the log.
    pub(crate) rank: Option<usize>,
}

/// A process.
#[derive(Debug)]
pub struct Process {
    /// Host, as NCCL prints it; empty where lines have no head.
    pub(crate) host: Name,
    /// Process id.
    pub pid: u32,
    /// First line.
    pub first: Place,
    /// Its release.
    pub release: Release,
    /// CUDA driver, as `12040`.
    pub cuda_driver: Option<u32>,
    /// The network that it uses.
    pub(crate) network: Option<Named>,
    /// Its RDMA NICs, or interfaces, as listed.
    pub(crate) nics: Option<Listed>,
    /// `NET/IB : No device found.`
    pub(crate) no_device: Option<Place>,
    /// A plugin that is loaded.
    pub(crate) plugin: Option<Named>,
    /// GPUs export DMA-BUF.
    pub(crate) dmabuf: Option<Place>,
    /// Interface of the bootstrap.
    pub(crate) bootstrap: Option<Named>,
    /// NICs that can and cannot use GPU memory.
    pub(crate) gdr_nics: GdrCount,
    /// NCCL's search has NICs in its channels.
    pub(crate) spans_nodes: bool,
    /// Lines that were asked for the release.
    pub(crate) wordings: u16,
}

/// Everything that prints.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    ids: HashMap<Box<str>, usize>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) processes: Vec<Process>,
    by_pid: HashMap<(Name, u32), usize>,
    /// By all that comes before the level, tags of launchers included, where that is the same in every line.
    dressed: HashMap<Box<[u8]>, (usize, usize)>,
    /// Lines of threads beyond the limit.
    pub(crate) untracked: u64,
}

impl Threads {
    /// The thread that a line's head names.
    pub(crate) fn of(&mut self, who: &str, place: Place, names: &mut Names) -> Option<usize> {
        match self.ids.get(who) {
            Some(id) => Some(*id),
            None => self.add(who, place, names),
        }
    }

    /// Thread and process of a line that begins like one before.
    pub(crate) fn dressed(&self, head: &[u8]) -> Option<(usize, usize)> {
        self.dressed.get(head).copied()
    }

    /// A call that reads as the thread's last one but for its number and buffers, as nearly all do: number, name, rank.
    pub(crate) fn called_again(&self, thread: usize, text: &str) -> Option<(u64, Name, Option<usize>)> {
        let last = self.threads.get(thread)?.last_call.as_ref()?;
        let (op_count, rest) = nccl_log::hex(text.strip_prefix(&*last.start)?)?;
        rest.ends_with(&*last.end).then_some((op_count, last.name, last.rank))
    }

    /// Remembers the beginning of a line. One with a clock in it is another every time.
    pub(crate) fn remember(&mut self, head: &[u8], before: &str, thread: usize) {
        let clock = before.len() > 32 || before.bytes().filter(|b| *b == b':').count() > 1;
        if let Some(t) = self.threads.get(thread).filter(|_| !clock && self.dressed.len() < MAX_THREADS) {
            let process = t.process;
            self.dressed.entry_ref(head).or_insert((thread, process));
        }
    }

    fn add(&mut self, who: &str, place: Place, names: &mut Names) -> Option<usize> {
        // The end of a table's row without its line's end: `sum      -1host:1:2 [0]`, `100.66      0host:1:2 [0]`.
        let bare = who.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
        if let Some(id) = self.ids.get(bare) {
            return Some(*id);
        }
        if self.threads.len() >= MAX_THREADS {
            self.untracked += 1;
            return None;
        }
        let (host, pid) = match Who::read(who) {
            Some(w) => (names.id(w.host), w.pid),
            // Lines without a head are one process for each file.
            None => (names.id(""), place.file.0),
        };
        let processes = &mut self.processes;
        let process = *self.by_pid.entry((host, pid)).or_insert_with(|| {
            processes.push(Process::new(host, pid, place));
            processes.len() - 1
        });
        let id = self.threads.len();
        self.threads.push(Thread { process, rank: None, last_call: None });
        self.ids.insert(who.into(), id);
        Some(id)
    }
}

/// Lines of a process that are asked for its release: the first ones tell all that wordings can.
const WORDINGS: u16 = 64;

impl Process {
    /// The network that it uses: the one that it chose, or the one whose devices it lists.
    pub(crate) fn uses(&self) -> Option<Name> {
        self.network.map(|n| n.name).or(self.nics.map(|n| n.devices.net))
    }

    pub(crate) fn wording(&mut self, message: &str) {
        if self.wordings < WORDINGS && self.release.told.is_none() {
            self.wordings += 1;
            self.release.narrow(message);
        }
    }

    fn new(host: Name, pid: u32, first: Place) -> Self {
        Process {
            host,
            pid,
            first,
            release: Release::default(),
            cuda_driver: None,
            network: None,
            nics: None,
            no_device: None,
            plugin: None,
            dmabuf: None,
            bootstrap: None,
            gdr_nics: GdrCount::default(),
            spans_nodes: false,
            wordings: 0,
        }
    }
}

//! What was read, with memory that does not grow with the logs.

mod frameworks;
pub mod groups;
mod kernel;
pub mod names;
pub mod ranks;
pub mod release;
pub mod threads;
pub mod trouble;

use crate::place::{FileId, Place};
use groups::{Groups, Seen};
use linerate_formats::nccl_log::{self, Failure, Level, Line, Message, Plugin, stamp, stamp::Stamp};
use linerate_formats::{nccl_tests, perftest, torch_log};
use names::{Name, Names};
use ranks::Ranks;
use std::collections::BTreeSet;
use threads::{LastCall, Threads};
use trouble::{FrameworkTrouble, KernelTrouble, Trouble};

/// A file that was read.
#[derive(Debug, Clone, Default)]
pub struct FileSeen {
    /// Its name.
    pub name: String,
    /// Bytes, unpacked.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
    /// Lines of NCCL.
    pub nccl: u64,
    /// Of those, lines that mean something to this tool, or are known to mean nothing.
    pub understood: u64,
    /// Other lines that mean something: of the kernel, of frameworks, of benchmarks.
    pub other: u64,
    /// Lines that are no UTF-8.
    pub undecodable: u64,
    /// Lines that were too long and were cut.
    pub cut_lines: u64,
    /// Lines in which two writers' texts are mixed.
    pub mixed: u64,
    /// The last line has no end: the file may be cut.
    pub unended: bool,
    /// Time stamps, first and last.
    pub times: Option<(Stamp, Stamp)>,
}

/// A line about a pair of GPU and NIC, as far as equal ones are one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pair {
    /// Done or not.
    pub enabled: bool,
    /// Distance, in the release's scale.
    pub distance: i64,
    /// Limit.
    pub limit: i64,
    /// The limit itself is allowed.
    pub inclusive: bool,
}

impl Pair {
    /// Whether it is not done, and the distance says why.
    pub(crate) fn is_too_far(&self) -> bool {
        !self.enabled && self.distance > self.allowed()
    }

    /// The greatest distance that is allowed, in the release's scale.
    pub(crate) fn allowed(&self) -> i64 {
        if self.inclusive { self.limit } else { self.limit - 1 }
    }
}

/// Algorithm and protocol of messages.
#[derive(Debug, Clone)]
pub struct Tuning {
    /// Algorithm, name or number as printed.
    pub algorithm: String,
    /// Protocol.
    pub protocol: String,
    /// Lines.
    pub count: u64,
    /// Where first.
    pub first: Place,
}

/// Different ones at most: there are 7 algorithms and 3 protocols.
const MAX_TUNING: usize = 64;

/// Readers of tables, of the file that is open.
#[derive(Debug, Default)]
struct Tables {
    nccl_tests: nccl_tests::Reader,
    perftest: perftest::Reader,
}

/// Watches lines.
#[derive(Debug, Default)]
pub struct Observer {
    pub(crate) files: Vec<FileSeen>,
    pub(crate) names: Names,
    pub(crate) threads: Threads,
    pub(crate) ranks: Ranks,
    /// Variables and values.
    pub(crate) settings: Groups<(Name, Name)>,
    /// What failed.
    pub(crate) failures: Groups<Trouble>,
    /// The kernel's.
    pub(crate) kernel: Groups<KernelTrouble>,
    /// Frameworks'.
    pub(crate) frameworks: Groups<FrameworkTrouble>,
    /// Pairs of GPU and NIC.
    pub(crate) pairs: Groups<Pair>,
    /// NICs that can and cannot use GPU memory, with the reason that is printed.
    pub(crate) gdr_nics: Groups<(bool, Option<Name>)>,
    /// Lists of devices by network.
    pub(crate) devices: Groups<(Name, Name)>,
    /// Networks chosen.
    pub(crate) networks: Groups<Name>,
    /// Networks without a device.
    pub(crate) no_device: Groups<Name>,
    /// Plugins loaded, missing, failed.
    pub(crate) plugins: Groups<(u8, Name)>,
    /// Active MTU of queue pairs (as `ibv_mtu`), whether on RoCE, and the GID's index.
    pub(crate) queue_pairs: Groups<(u32, Option<i64>)>,
    /// Advice that NCCL prints.
    pub(crate) hints: Groups<Name>,
    /// Algorithms and protocols chosen.
    pub(crate) tuning: Vec<Tuning>,
    /// Whether GPUs can multicast.
    pub(crate) multicast: Groups<bool>,
    /// Benchmark tables.
    pub(crate) nccl_tests: Vec<(FileId, nccl_tests::Run)>,
    /// Benchmark tables.
    pub(crate) perftest: Vec<(FileId, perftest::Run)>,
    /// Where ranks are in the sequence of collectives.
    pub(crate) sequences: frameworks::Sequences,
    tables: Tables,
    torch: torch_log::Reader,
    kernel_words: kernel::Words,
}

/// Kinds of [`Observer::plugins`].
pub(crate) const PLUGIN_LOADED: u8 = 0;
pub(crate) const PLUGIN_MISSING: u8 = 1;
pub(crate) const PLUGIN_FAILED: u8 = 2;

impl Observer {
    pub(crate) fn open(&mut self, name: &str) -> FileId {
        self.files.push(FileSeen { name: name.to_owned(), ..FileSeen::default() });
        FileId(self.files.len() as u32 - 1)
    }

    pub(crate) fn file(&mut self, id: FileId) -> &mut FileSeen {
        let at = (id.0 as usize).min(self.files.len().saturating_sub(1));
        &mut self.files[at]
    }

    pub(crate) fn close(&mut self, file: FileId) {
        let tables = std::mem::take(&mut self.tables);
        let runs = tables.nccl_tests.finish().into_iter().filter(|r| !r.rows.is_empty() || !r.ranks.is_empty());
        self.nccl_tests.extend(runs.map(|r| (file, r)));
        let runs = tables.perftest.finish().into_iter();
        self.perftest.extend(runs.map(|r| (file, r)));
        self.torch = torch_log::Reader::default();
    }

    pub(crate) fn process(&self, index: usize) -> Option<&threads::Process> {
        self.threads.processes.get(index)
    }

    /// Hosts of processes, in order, each once.
    pub(crate) fn hosts(&self, processes: impl IntoIterator<Item = usize>) -> Vec<String> {
        let of = processes.into_iter().filter_map(|p| self.process(p)).map(|p| self.name(p.host));
        let names: BTreeSet<&str> = of.filter(|h| !h.is_empty()).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    /// A word that was kept.
    pub(crate) fn name(&self, name: Name) -> &str {
        self.names.get(name)
    }

    /// A line.
    pub(crate) fn line(&mut self, place: Place, line: &str) {
        if self.frequent(place, line).is_some() {
            return;
        }
        match nccl_log::split(line) {
            Some(l) => {
                self.nccl(place, l);
                // The next line of this thread takes the short way.
                let end = line.len() - l.message.len();
                if let Some(head) = line.as_bytes().get(..end).and_then(|h| h.strip_suffix(b" NCCL INFO "))
                    && let Some(thread) = self.threads.of(l.who, place, &mut self.names)
                    && !l.who.is_empty()
                {
                    self.threads.remember(head, l.before, thread);
                }
            }
            None => self.other(place, line),
        }
    }

    /// The short way for what nearly all lines of a large log are: calls, connections, choices of an algorithm, and what means nothing, by
    /// a thread that was seen before. `None` where the line is anything else.
    fn frequent(&mut self, place: Place, line: &str) -> Option<()> {
        let bytes = line.as_bytes();
        let close = memchr::memchr(b']', bytes)?;
        bytes.get(close..)?.strip_prefix(b"] NCCL INFO ")?;
        let (thread, process) = self.threads.dressed(bytes.get(..=close)?)?;
        let text = line.get(close + 12..)?;
        if let Some((op_count, name, rank)) = self.threads.called_again(thread, text) {
            let file = self.files.get_mut(place.file.0 as usize)?;
            file.nccl += 1;
            file.understood += 1;
            if let Some(rank) = rank.and_then(|r| self.ranks.all.get_mut(r)) {
                rank.calls += 1;
                rank.last_call = Some((name, op_count));
            }
            return Some(());
        }
        let message = Message::info(text);
        match message {
            Message::Collective { .. } | Message::Connect(_) | Message::Tuning { .. } if message.is_whole(text) => {}
            Message::Other if nccl_log::split(text).is_none() => {}
            _ => return None,
        }
        let file = self.files.get_mut(place.file.0 as usize)?;
        file.nccl += 1;
        file.understood += u64::from(message != Message::Other);
        match message {
            Message::Collective { name, op_count, rest } => self.call(thread, process, name, op_count, rest),
            Message::Tuning { algorithm, protocol } => self.tune(algorithm, protocol, place),
            Message::Connect(c) => {
                self.threads.processes.get_mut(process)?.wording(text);
                let current = self.threads.threads.get(thread)?.rank;
                let rank = self.ranks.connect(process, current, &c, place, &mut self.names);
                self.work_on(thread, rank);
            }
            _ => {}
        }
        Some(())
    }

    fn nccl(&mut self, place: Place, l: Line<'_>) {
        let message = Message::read(&l);
        if !message.is_whole(l.message)
            // Two writers in one line: what stands before the second head is the first one's, cut.
            && let Some(inner) = nccl_log::split(l.message).filter(|i| !i.who.is_empty())
        {
            self.file(place.file).mixed += 1;
            let cut = l.message.len() - inner.who.len().min(l.message.len());
            let outer = l.message.find(inner.who).and_then(|at| l.message.get(..at.min(cut))).unwrap_or_default();
            let outer = Line { message: outer.trim_end(), ..l };
            self.message(place, &outer, Message::read(&outer));
            return self.message(place, &inner, Message::read(&inner));
        }
        self.message(place, &l, message);
    }

    fn message(&mut self, place: Place, l: &Line<'_>, message: Message<'_>) {
        let file = self.file(place.file);
        file.nccl += 1;
        file.understood += u64::from(message != Message::Other);
        let Some(thread) = self.threads.of(l.who, place, &mut self.names) else { return };
        let Some(process) = self.threads.threads.get(thread).map(|t| t.process) else { return };
        match message {
            Message::Collective { name, op_count, rest } => self.call(thread, process, name, op_count, rest),
            Message::Tuning { algorithm, protocol } => self.tune(algorithm, protocol, place),
            Message::Other => {}
            _ => self.record(place, l, message, thread, process),
        }
    }

    /// What was chosen for a message: there are few different answers.
    fn tune(&mut self, algorithm: &str, protocol: &str, place: Place) {
        if let Some(t) = self.tuning.iter_mut().find(|t| t.algorithm == algorithm && t.protocol == protocol) {
            t.count += 1;
        } else if self.tuning.len() < MAX_TUNING && algorithm.len() < 40 && protocol.len() < 40 {
            self.tuning.push(Tuning {
                algorithm: algorithm.to_owned(),
                protocol: protocol.to_owned(),
                count: 1,
                first: place,
            });
        }
    }

    /// A call of a collective: most lines of the largest logs.
    fn call(&mut self, thread: usize, process: usize, name: &str, op_count: u64, rest: &str) {
        let Some(t) = self.threads.threads.get_mut(thread) else { return };
        let comm = nccl_log::comm_of_call(rest);
        let rank = comm.map_or(t.rank, |comm| self.ranks.of_handle(process, comm));
        let id = self.names.id(name);
        if let Some(end) = rest.rfind(" comm ").and_then(|at| rest.get(at..)) {
            t.last_call = Some(LastCall { start: format!("{name}: opCount ").into(), name: id, end: end.into(), rank });
        }
        if let Some(rank) = rank.and_then(|r| self.ranks.all.get_mut(r)) {
            rank.calls += 1;
            rank.last_call = Some((id, op_count));
        }
    }

    fn record(&mut self, place: Place, l: &Line<'_>, message: Message<'_>, thread: usize, process: usize) {
        let current = self.threads.threads.get(thread).and_then(|t| t.rank);
        let Some(p) = self.threads.processes.get_mut(process) else { return };
        p.wording(l.message);
        // Time stamps cost more than the line: only what may be compared in time asks for them.
        let stamped = matches!(message, Message::Failure(_)) || l.level == Level::Warn;
        let stamp = stamped.then(|| stamp::find(l.before)).flatten();
        let seen = Seen { place, text: l.message, stamp, process: Some(process), rank: current };
        let names = &mut self.names;
        match message {
            Message::Connect(c) => {
                let rank = self.ranks.connect(process, current, &c, place, names);
                self.work_on(thread, rank);
            }
            Message::Comm(c) => {
                let rank = self.ranks.comm(process, current, &c, place);
                self.work_on(thread, rank);
            }
            Message::Nodes { handle, rank, ranks, nodes, .. } => {
                let index = self.ranks.of_handle(process, handle).or(current);
                if let Some(r) = index.and_then(|i| self.ranks.all.get_mut(i)) {
                    (r.nodes, r.rank, r.ranks) = (Some(nodes), r.rank.or(Some(rank)), r.ranks.or(Some(ranks)));
                }
            }
            Message::Channels { collectives, p2p } => {
                if let Some(r) = current.and_then(|i| self.ranks.all.get_mut(i)) {
                    r.channels = Some((collectives, p2p));
                }
            }
            Message::Version(v) => p.release.tell(v),
            Message::CudaDriver(v) => p.cuda_driver = Some(v),
            Message::Bootstrap(list) => {
                p.bootstrap.get_or_insert((names.id(list), place));
            }
            Message::Env { name, value } => {
                let key = (names.id(name), names.id(value));
                self.settings.add(key, &seen);
            }
            Message::Using { net, list } => {
                let devices: Vec<String> = nccl_log::nics(list).map(|n| words(&n)).collect();
                let key = (names.id(net), names.id(&devices.join(" ")));
                p.nics = Some((key.0, key.1, place));
                if let Some(oob) = nccl_log::oob(list) {
                    p.bootstrap.get_or_insert((names.id(oob), place));
                }
                self.devices.add(key, &seen);
            }
            Message::NoDevice(net) => {
                p.no_device.get_or_insert(place);
                let net = names.id(net);
                self.no_device.add(net, &seen);
            }
            Message::Network(net) => {
                let net = names.id(net);
                p.network = Some((net, place));
                self.networks.add(net, &seen);
            }
            Message::Plugin(plugin) => {
                let key = match plugin {
                    Plugin::Loaded(_, name) => {
                        let name = names.id(name);
                        p.plugin = Some((name, place));
                        (PLUGIN_LOADED, name)
                    }
                    Plugin::Missing(_) => (PLUGIN_MISSING, names.id("")),
                    Plugin::Failed(_) => (PLUGIN_FAILED, names.id("")),
                };
                self.plugins.add(key, &seen);
            }
            Message::DmaBuf => {
                p.dmabuf.get_or_insert(place);
            }
            Message::GdrNic { enabled, reason, .. } => {
                let count = if enabled { &mut p.gdr_nics.0 } else { &mut p.gdr_nics.1 };
                *count += 1;
                let key = (enabled, reason.map(|r| names.id(r)));
                self.gdr_nics.add(key, &seen);
            }
            Message::GdrPair(pair) => {
                let nccl_log::GdrPair { enabled, distance, limit, inclusive, .. } = pair;
                self.pairs.add(Pair { enabled, distance, limit, inclusive }, &seen);
            }
            Message::QueuePair { mtu, gid_index } => {
                self.queue_pairs.add((mtu, gid_index), &seen);
            }
            Message::P2pRefused(_) => {
                self.failures.add(Trouble::P2pRefused, &seen);
            }
            Message::P2pDisabled(_) => {
                self.failures.add(Trouble::P2pDisabled, &seen);
            }
            Message::NvlsSupport(yes) => {
                self.multicast.add(yes, &seen);
            }
            Message::Hint(text) => {
                let text = names.id(text);
                self.hints.add(text, &seen);
            }
            Message::Failure(failure) => {
                let key = trouble(&failure, names);
                self.failures.add(key, &seen);
            }
            Message::Ring { .. } | Message::Returned { .. } | Message::Connected => {}
            Message::Collective { .. } | Message::Tuning { .. } | Message::Other => {}
        }
        if let Some(s) = stamp {
            self.time(place.file, s);
        }
    }

    fn work_on(&mut self, thread: usize, rank: Option<usize>) {
        if let Some(t) = self.threads.threads.get_mut(thread) {
            t.rank = rank.or(t.rank);
        }
    }

    fn time(&mut self, file: FileId, stamp: Stamp) {
        let times = &mut self.file(file).times;
        let (first, last) = times.unwrap_or((stamp, stamp));
        let first = if stamp < first { stamp } else { first };
        let last = if stamp > last { stamp } else { last };
        *times = Some((first, last));
    }

    /// A line that NCCL did not print.
    fn other(&mut self, place: Place, line: &str) {
        if line.is_empty() {
            return;
        }
        let number = u32::try_from(place.line).unwrap_or(u32::MAX);
        self.tables.nccl_tests.line(number, line.as_bytes());
        self.tables.perftest.line(number, line.as_bytes());
        let names = &mut self.names;
        let seen = |stamp| Seen { place, text: line, stamp, process: None, rank: None };
        if let Some(torch) = self.torch.line(number, line.as_bytes()) {
            self.sequences.read(&torch);
            if let Some(key) = frameworks::trouble(&torch, names) {
                self.frameworks.add(key, &seen(stamp::find(line)));
            }
            // NCCL's own words in an exception.
            if let torch_log::Event::LastError { text } = &torch.event {
                self.quoted(place, text);
            }
            self.file(place.file).other += 1;
            return;
        }
        let Some(of_nccl) = self.kernel_words.any(line) else { return };
        if of_nccl {
            return self.quoted(place, line);
        }
        if let Some(key) = kernel::read(line) {
            self.kernel.add(key, &seen(stamp::find(line)));
            self.file(place.file).other += 1;
            return;
        }
        if let Some(key) = frameworks::ended(line) {
            self.frameworks.add(key, &seen(stamp::find(line)));
            self.file(place.file).other += 1;
            return;
        }
        // CUDA's words in a program's own error.
        if line.contains("system not yet initialized") && !line.contains("Cuda failure") {
            let key = Trouble::Cuda { code: Some(802), error: names.id("system not yet initialized") };
            self.failures.add(key, &seen(stamp::find(line)));
            self.file(place.file).other += 1;
        }
    }

    /// NCCL's words without its head: in exceptions, in tickets.
    fn quoted(&mut self, place: Place, text: &str) {
        let failure =
            match Message::read(&Line { before: "", who: "", level: Level::Warn, source: None, message: text }) {
                Message::Failure(f) if !matches!(f, Failure::Other(_)) => f,
                _ => return,
            };
        let key = trouble(&failure, &mut self.names);
        self.failures.add(key, &Seen { place, text, stamp: None, process: None, rank: None });
        self.file(place.file).other += 1;
    }
}

/// `mlx5_0:1/IB`, without rail and plane; `eth0` of interfaces, whose addresses differ on every host.
fn words(n: &nccl_log::Nic<'_>) -> String {
    match n.port {
        Some(port) => format!("{}:{port}/{}", n.name, n.rest.split([' ', ';']).next().unwrap_or_default()),
        None => n.name.to_owned(),
    }
}

fn trouble(failure: &Failure<'_>, names: &mut Names) -> Trouble {
    match failure {
        Failure::Verbs { call, error, .. } => Trouble::Verbs { call: names.id(call), error: names.id(error) },
        Failure::Completion(c) => Trouble::Completion(c.status),
        Failure::Async { event, fatal, .. } => Trouble::Async { event: names.id(event), fatal: *fatal },
        Failure::Socket { trouble, .. } => Trouble::Socket(*trouble),
        Failure::SharedMemory { no_space, .. } => Trouble::SharedMemory { no_space: *no_space },
        Failure::Cuda { code, error } => Trouble::Cuda { code: *code, error: names.id(error) },
        Failure::Library(text) => Trouble::Library(names.id(text)),
        Failure::DuplicateGpu(_) => Trouble::DuplicateGpu,
        Failure::VersionMismatch(_) => Trouble::VersionMismatch,
        Failure::CollectiveMismatch(_) => Trouble::CollectiveMismatch,
        Failure::NoInterface(_) => Trouble::NoInterface,
        Failure::Nvls(_) => Trouble::Nvls,
        Failure::Imex(_) => Trouble::Imex,
        Failure::TopologyFile(_) => Trouble::TopologyFile,
        Failure::NoTransport(_) => Trouble::NoTransport,
        Failure::NicsDiffer(_) => Trouble::NicsDiffer,
        Failure::Plugin(_) => Trouble::Plugin,
        Failure::Usage(_) => Trouble::Usage,
        // Numbers and addresses differ from line to line.
        Failure::Other(text) => {
            let shape: String = text.chars().take(100).map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
            Trouble::Other(names.id(&shape))
        }
    }
}

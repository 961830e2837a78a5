//! What was read, with memory that does not grow with the logs.

mod cqe;
mod frameworks;
pub mod groups;
mod kernel;
pub mod names;
mod p2p_matrix;
pub(crate) mod phrases;
mod pieces;
mod programs;
pub mod ranks;
pub mod release;
pub(crate) mod says;
pub mod threads;
mod titles;
mod tools;
pub mod trouble;
pub(crate) mod voice;

use crate::place::{FileId, Place};
use groups::{Groups, Seen};
use linerate_formats::dmesg::Requester;
use linerate_formats::nccl_log::{self, Failure, Level, Line, Message, Plugin, stamp, stamp::Stamp};
use linerate_formats::pci::Bdf;
use linerate_formats::xid::{Detail, Recovery};
use linerate_formats::{nccl_tests, perftest, printed, torch_log};
use names::{Name, Names};
use ranks::Ranks;
use std::collections::BTreeSet;
use threads::{LastCall, Threads};
use trouble::{FrameworkTrouble, KernelTrouble, ToolTrouble, Trouble};

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

/// Devices, and GPUs with a recovery action, at most.
const MAX_BOUND: usize = 4096;

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
    /// Devices that drivers started, by the kernel's log.
    pub(crate) bound: Vec<Requester>,
    /// The recovery action that the GPU driver named last, by file and GPU.
    pub(crate) recoveries: Vec<(FileId, Option<Bdf>, Recovery)>,
    /// Other tools'.
    pub(crate) tools: Groups<ToolTrouble>,
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
    /// The library is RCCL: it says so, looks for a plugin of that name, or was built there.
    pub(crate) rccl: bool,
    /// perftest said that its buffer is in a GPU.
    pub(crate) gpu_buffers: bool,
    /// Benchmark tables.
    pub(crate) nccl_tests: Vec<(FileId, nccl_tests::Run)>,
    /// Benchmark tables.
    pub(crate) perftest: Vec<(FileId, perftest::Run)>,
    /// Where ranks are in the sequence of collectives.
    pub(crate) sequences: frameworks::Sequences,
    tables: Tables,
    /// A list of interfaces that was broken over lines: who prints, which network, what of it was read.
    listing: Option<(Place, String, String)>,
    tool_lines: tools::Reader,
    says: says::Reader,
    entries: cqe::Reader,
    matrices: p2p_matrix::Reader,
    torch: torch_log::Reader,
    kernel_words: kernel::Words,
    /// Who speaks in each file, by its prose.
    pub(crate) voices: Vec<voice::Voice>,
    /// What the second look at lines in an unknown dress shows, and how many were looked at.
    pub(crate) second: Option<Box<Observer>>,
    seconds: u32,
    /// What the third look at such lines shows.
    pub(crate) phrases: phrases::Reader,
    /// This is a second look.
    is_second: bool,
}

/// Bytes of a list of interfaces.
const MAX_LISTING: usize = 4096;

/// Messages of NCCL that count without a head, from their beginning.
const BARE: &[&str] = &[
    "Call to ibv_",
    "NET/IB : ",
    "NET/IB: ",
    "Got completion with ",
    "Got completion from ",
    "Duplicate GPU detected : rank ",
    "Bootstrap : no socket interface found",
    "socketStartConnect: Connect to ",
    "socketPollConnect",
    "ncclOsSocketPollConnect",
    "ncclOsSocketStartConnect: ",
    "socketProgress: Connection closed by remote peer",
    "socketProgressOpt: Call to ",
    "Connect to ",
    "connect to ",
    "Net : Connect to ",
    "Net : Call to recv from ",
    "Net : Socket creation failed",
    "Socket creation failed",
    "Call to connect returned ",
    "Call to connect failed",
    "Call to bind failed",
    "Call to posix_fallocate failed",
    "no device found matching ",
    "no device found after excluding ",
    "NET/Socket : No usable listening interface found",
    "socketStartConnect: connect ",
    "ncclSocketInit: Socket creation failed",
    "ncclSocketConnect: ",
    "socketStartConnect: exceeded ",
    "socketTryAccept: ",
    "NET/Socket : no interface found",
    "ncclOsSocketProgress",
    "Net : Connection closed by remote peer",
    "Net : No interface found in the same subnet as remote address ",
    "Error while creating shared memory segment /dev/shm/nccl-",
    "Error while attaching to shared memory segment /dev/shm/nccl-",
    "Error: failed to extend /dev/shm/nccl-",
    "Error: failed to create shared memory file /dev/shm/nccl-",
    "Error: Could not map /dev/shm/nccl-",
    "Mismatched NCCL version detected : rank ",
    "Failed to bind NVLink SHARP (NVLS) Multicast memory of size ",
    "MNNVL (cliqueSize ",
    "failed to open CUDA IPC handle : ",
    "failed to peer with device ",
    "Multiple Ranks are using the same GPU/Partition.",
    "Message truncated : received ",
];

/// Those of [`BARE`] with which a sentence may begin, too: they count where the line ends with the error, as NCCL's does.
const OPEN: &[&str] = &[
    "Connect to ",
    "connect to ",
    "Net : Connect to ",
    "Socket creation failed",
    "Call to connect ",
    "Call to bind failed",
    "Call to posix_fallocate failed",
];

/// Messages that are judged by their words alone: those of a GPU's allocation, and of a choice that is not there.
const OWN_WORDS: &[&str] = &["Failed to CUDA ", "Error : no algorithm/protocol available"];

/// Errors of sockets in the words of strerror.
const SOCKET_ERRORS: &[&str] = &[
    "Connection refused",
    "Connection timed out",
    "No route to host",
    "Network is unreachable",
    "Software caused connection abort",
    "Connection reset by peer",
    "Host is down",
    "Address family not supported by protocol",
    "Cannot assign requested address",
    "No space left on device",
];

/// Whether a line ends with such an error, or with what NCCL says of its next try.
fn ends_with_error(text: &str) -> bool {
    let text = text.trim_end();
    SOCKET_ERRORS.iter().any(|e| {
        text.rsplit_once(e).is_some_and(|(_, rest)| {
            rest.is_empty() || rest.starts_with(", retrying") || rest.starts_with(", exceeded error retry count")
        })
    })
}

/// Kinds of [`Observer::plugins`].
pub(crate) const PLUGIN_LOADED: u8 = 0;
pub(crate) const PLUGIN_MISSING: u8 = 1;
pub(crate) const PLUGIN_FAILED: u8 = 2;
/// A line of the OFI plugin.
pub(crate) const PLUGIN_OFI: u8 = 3;

impl Observer {
    pub(crate) fn open(&mut self, name: &str) -> FileId {
        self.files.push(FileSeen { name: name.to_owned(), ..FileSeen::default() });
        self.voices.push(voice::Voice::default());
        if let Some(second) = &mut self.second {
            second.open(name);
        }
        FileId(self.files.len() as u32 - 1)
    }

    pub(crate) fn file(&mut self, id: FileId) -> &mut FileSeen {
        let at = (id.0 as usize).min(self.files.len().saturating_sub(1));
        &mut self.files[at]
    }

    pub(crate) fn close(&mut self, file: FileId) {
        self.end_listing();
        let tables = std::mem::take(&mut self.tables);
        let runs = tables.nccl_tests.finish().into_iter().filter(|r| !r.rows.is_empty() || !r.ranks.is_empty());
        self.nccl_tests.extend(runs.map(|r| (file, r)));
        let runs = tables.perftest.finish().into_iter();
        self.perftest.extend(runs.map(|r| (file, r)));
        self.torch = torch_log::Reader::default();
        self.tool_lines = tools::Reader::default();
        self.says = says::Reader::default();
        self.entries = cqe::Reader::default();
        let lines = self.file(file).lines;
        self.phrases.close(lines);
        self.matrices = p2p_matrix::Reader::default();
        if let Some(second) = &mut self.second {
            second.close(file);
        }
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
        let line = printed::span(line);
        if self.listing.is_some() && self.listed(line) {
            return;
        }
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
            None => match nccl_log::split_short(line) {
                Some(l) => self.nccl(place, l),
                None => self.other(place, line),
            },
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
            Message::Other if nccl_log::split_glued(text).is_none() && !text.starts_with("RCCL version") => {}
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

    /// Takes an entry of a list that was broken over lines; any other line ends the list.
    fn listed(&mut self, line: &str) -> bool {
        let entry = printed::own(line).text.trim_end();
        let is_entry = entry.strip_prefix('[').and_then(|e| e.split_once(']')).is_some_and(|(number, rest)| {
            !number.is_empty()
                && number.bytes().all(|b| b.is_ascii_digit())
                && rest.contains(':')
                && !rest.contains(' ')
                && rest.ends_with("<0>")
        });
        match &mut self.listing {
            Some((place, _, list)) if is_entry && list.len() < MAX_LISTING => {
                list.push(' ');
                list.push_str(entry);
                let file = place.file;
                self.file(file).other += 1;
                true
            }
            _ => {
                self.end_listing();
                false
            }
        }
    }

    fn end_listing(&mut self) {
        let Some((place, who, text)) = self.listing.take() else { return };
        if text.ends_with("Using") {
            return;
        }
        let l = Line { before: "", who: &who, level: Level::Info, source: None, message: &text };
        self.message(place, &l, Message::read(&l));
    }

    fn nccl(&mut self, place: Place, l: Line<'_>) {
        let message = Message::read(&l);
        if message == Message::Other && l.message.starts_with("NET/") && l.message.ends_with("Using") {
            self.listing = Some((place, l.who.to_owned(), l.message.to_owned()));
        }
        if !message.is_whole(l.message)
            // Two writers in one line: what stands before the second head is the first one's, cut.
            && let Some(inner) = nccl_log::split_glued(l.message).filter(|i| nccl_log::Who::read(i.who).is_some())
        {
            self.file(place.file).mixed += 1;
            let cut = l.message.len() - inner.who.len().min(l.message.len());
            let outer = l.message.find(inner.who).and_then(|at| l.message.get(..at.min(cut))).unwrap_or_default();
            let outer = Line { message: outer.trim_end(), ..l };
            self.message(place, &outer, Message::read(&outer));
            return self.nccl(place, inner);
        }
        if let Some((outer, inner)) = joined(&l) {
            self.file(place.file).mixed += 1;
            self.message(place, &outer, Message::read(&outer));
            return self.nccl(place, inner);
        }
        self.message(place, &l, message);
    }

    fn message(&mut self, place: Place, l: &Line<'_>, message: Message<'_>) {
        self.rccl |= l.message.starts_with("RCCL version") || l.source.is_some_and(|s| s.contains("/rccl/"));
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
            // From 2.27 NCCL names its own transports so, too: they are no plugin that somebody installed.
            Message::Plugin(Plugin::Loaded(_, "IB" | "Socket")) => {}
            Message::Plugin(plugin) => {
                self.rccl |= l.message.contains("librccl-net");
                let key = match plugin {
                    Plugin::Loaded(_, name) => {
                        let name = names.id(name);
                        p.plugin = Some((name, place));
                        (PLUGIN_LOADED, name)
                    }
                    Plugin::Missing(_) => (PLUGIN_MISSING, names.id("")),
                    Plugin::Failed(_) => (PLUGIN_FAILED, names.id("")),
                    Plugin::Ofi(_) => (PLUGIN_OFI, names.id("")),
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
            Message::SlowLink { .. } => {
                self.tools.add(ToolTrouble::SlowLink, &seen);
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
        let before = self.file(place.file).other;
        self.program(place, line);
        // What no program said is a person's, or of no interest.
        if self.file(place.file).other == before {
            if let Some(voice) = self.voices.get_mut(place.file.0 as usize) {
                voice.line(place.line, line);
            }
            self.look_again(place, line);
            self.look_for_phrases(place, line);
        }
    }

    /// A line of another program than NCCL.
    fn program(&mut self, place: Place, line: &str) {
        let number = u32::try_from(place.line).unwrap_or(u32::MAX);
        self.tables.nccl_tests.line(number, line.as_bytes());
        self.tables.perftest.line(number, line.as_bytes());
        let names = &mut self.names;
        let seen = |stamp| Seen { place, text: line, stamp, process: None, rank: None };
        self.tool_lines.header(line);
        self.gpu_buffers |= programs::is_gpu_buffer(line);
        if let Some(torch) = self.torch.line(number, line.as_bytes()) {
            self.sequences.read(&torch);
            if let Some(key) = frameworks::trouble(&torch, names) {
                self.frameworks.add(key, &seen(stamp::find(line)));
            }
            // NCCL's own words in an exception.
            if let torch_log::Event::LastError { text } = &torch.event {
                self.quoted(place, text);
            } else if let Some(words) = frameworks::last_error(line) {
                self.quoted(place, words);
            }
            self.file(place.file).other += 1;
            return;
        }
        if let Some(status) = self.entries.line(line) {
            self.tools.add(ToolTrouble::Entry(status), &seen(None));
            self.file(place.file).other += 1;
            return;
        }
        if self.matrices.line(line) {
            self.tools.add(ToolTrouble::P2pSlower, &seen(None));
            self.file(place.file).other += 1;
            return;
        }
        let Some(of_nccl) = self.kernel_words.any(line) else { return };
        if of_nccl && self.quoted(place, line) {
            return;
        }
        if printed::own(line).text.starts_with("RCCL version : ") {
            self.rccl = true;
            self.file(place.file).other += 1;
            return;
        }
        if let Some(of) = kernel::device(line) {
            if self.bound.len() < MAX_BOUND && !self.bound.contains(&of) {
                self.bound.push(of);
            }
            self.file(place.file).other += 1;
            return;
        }
        if let Some(key) = kernel::read(line) {
            self.recovery(place.file, key);
            self.kernel.add(key, &seen(stamp::find(line)));
            self.file(place.file).other += 1;
            return;
        }
        let names = &mut self.names;
        if place.line <= titles::LINES
            && let Some((text, failure)) = titles::quoted(line)
        {
            let key = trouble(&failure, names);
            self.failures.add(key, &Seen { place, text, stamp: None, process: None, rank: None });
            self.file(place.file).other += 1;
            return;
        }
        if let Some(failure) = programs::failure(line) {
            let key = trouble(&failure, names);
            self.failures.add(key, &seen(stamp::find(line)));
            self.file(place.file).other += 1;
            return;
        }
        if let Some(key) = frameworks::ended(line).or_else(|| frameworks::nccl_tests(line)) {
            if matches!(key, FrameworkTrouble::Ended | FrameworkTrouble::Killed) {
                self.says.ended();
            }
            self.frameworks.add(key, &seen(stamp::find(line)));
            self.file(place.file).other += 1;
            return;
        }
        if let Some(key) = programs::tool(line).or_else(|| self.tool_lines.read(line, names)) {
            self.tools.add(key, &seen(None));
            self.file(place.file).other += 1;
            return;
        }
        if let Some((which, headed)) = self.says.read(line) {
            self.tools.add(ToolTrouble::Says { which, headed }, &seen(None));
            self.file(place.file).other += 1;
            return;
        }
        // CUDA's words in a program's own error.
        if let Some((code, error)) = frameworks::cuda(line) {
            let key = trouble(&Failure::Cuda { code, error }, names);
            self.failures.add(key, &seen(stamp::find(line)));
            self.file(place.file).other += 1;
        }
    }

    /// Whether a line of evidence stands where somebody writes about such lines.
    pub(crate) fn is_quoted(&self, evidence: &crate::answer::Evidence) -> bool {
        let Some((name, line)) = evidence.at.rsplit_once(':') else { return false };
        let Ok(line) = line.parse() else { return false };
        let of = self.files.iter().zip(&self.voices).find(|(f, _)| f.name == name);
        of.is_some_and(|(_, voice)| voice.quotes(line))
    }

    fn recovery(&mut self, file: FileId, key: KernelTrouble) {
        let KernelTrouble::Xid { gpu, detail: Detail::Recovery(action), .. } = key else { return };
        let room = self.recoveries.len() < MAX_BOUND;
        match self.recoveries.iter_mut().find(|(f, g, _)| (*f, *g) == (file, gpu)) {
            Some((.., last)) => *last = action,
            None if room => self.recoveries.push((file, gpu, action)),
            None => {}
        }
    }

    /// NCCL's words without its head: in exceptions, in tickets.
    fn quoted(&mut self, place: Place, text: &str) -> bool {
        // From its beginning: a sentence about it is none of NCCL's.
        let own = printed::own(text);
        let text = frameworks::last_warning(own.text).unwrap_or(own.text);
        // A pair's line has numbers to its end, which no sentence has.
        if let (false, Message::GdrPair(pair)) = (own.quoted, Message::info(text))
            && !pair.enabled
            && text.trim_end().ends_with(')')
        {
            let nccl_log::GdrPair { enabled, distance, limit, inclusive, .. } = pair;
            let seen = Seen { place, text, stamp: None, process: None, rank: None };
            self.pairs.add(Pair { enabled, distance, limit, inclusive }, &seen);
            self.file(place.file).other += 1;
            return true;
        }
        let begins = BARE.iter().any(|b| text.starts_with(b));
        let names_one = kernel::OF_NCCL.iter().any(|w| text.contains(w));
        let open = OPEN.iter().any(|b| text.starts_with(b));
        if own.quoted || names_one && !begins || begins && open && !ends_with_error(text) {
            return false;
        }
        let failure = match Message::read(&Line {
            before: "",
            who: "",
            level: Level::Warn,
            source: None,
            message: text,
        }) {
            Message::Failure(f) if !matches!(f, Failure::Other(w) if !OWN_WORDS.iter().any(|o| w.starts_with(o))) => f,
            _ => return false,
        };
        let key = trouble(&failure, &mut self.names);
        self.failures.add(key, &Seen { place, text, stamp: None, process: None, rank: None });
        self.file(place.file).other += 1;
        true
    }
}

/// Messages whose line breaks were lost, and whose heads were shortened to the device: `[0] NCCL INFO … [0] NCCL INFO …`.
fn joined<'a>(l: &Line<'a>) -> Option<(Line<'a>, Line<'a>)> {
    let inner = nccl_log::split_glued(l.message)?;
    let end = l.message.len().checked_sub(inner.message.len())?;
    let (outer, _) = l.message.get(..end)?.rsplit_once("NCCL ")?;
    let (outer, device) = outer.trim_end().strip_suffix(']')?.rsplit_once('[')?;
    let is_device = !device.is_empty() && device.bytes().all(|b| b.is_ascii_digit());
    is_device.then_some((Line { message: outer.trim_end(), ..*l }, Line { before: "", who: l.who, ..inner }))
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
        Failure::Cuda { code: Some(217), .. } => Trouble::P2pRefused,
        Failure::Cuda { error, .. } if error.starts_with("peer access is not supported") => Trouble::P2pRefused,
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

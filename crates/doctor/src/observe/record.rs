//! What a message of NCCL adds to the state.

use super::Observer;
use super::keys::{DeviceList, GdrNic, Listed, Named, Near, Pair, PluginEvent, QueuePair, Search, Setting};
use crate::observe::groups::Seen;
use crate::observe::names::Names;
use crate::observe::trouble::{ToolTrouble, Trouble};
use crate::place::{FileId, Place};
use linerate_formats::nccl_log;
use linerate_formats::nccl_log::graph::{self, Graph};
use linerate_formats::nccl_log::stamp::Stamp;
use linerate_formats::nccl_log::status::Status;
use linerate_formats::nccl_log::{Failure, Level, Line, Message, Plugin, stamp};

/// `mlx5_0:1/IB`, without rail and plane; `eth0` of interfaces, whose addresses differ on every host.
pub(super) fn words(n: &nccl_log::Nic<'_>) -> String {
    match n.port {
        Some(port) => format!("{}:{port}/{}", n.name, n.rest.split([' ', ';']).next().unwrap_or_default()),
        None => n.name.to_owned(),
    }
}

pub(super) fn trouble(failure: &Failure<'_>, names: &mut Names) -> Trouble {
    match failure {
        Failure::Verbs { call, error, .. } => Trouble::Verbs { call: names.id(call), error: names.id(error) },
        Failure::Completion(c) => Trouble::Completion(Status::of(c.status)),
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

/// Calls of CUDA that fail as NCCL sets up NVLink SHARP: until 2.26 the source of the line alone says so (`transport/nvls.cc`: `cuMulticastCreate`, `…Bind…`).
/// Out of memory, and a fabric that is not ready, have causes of their own.
fn of_multicast(l: &Line<'_>, failure: &Failure<'_>) -> bool {
    const WORDS: &[&str] =
        &["invalid argument", "operation not permitted", "operation not supported", "unknown error", "system call"];
    let Failure::Cuda { code, error } = failure else { return false };
    let refused = code.map_or_else(
        || WORDS.iter().any(|w| error.contains(w)),
        |n| matches!(n, 1 | 101 | 304 | 401 | 800 | 801 | 999),
    );
    refused && l.source.is_some_and(|s| s.contains("nvls.cc"))
}

impl Observer {
    pub(super) fn record(&mut self, place: Place, l: &Line<'_>, message: Message<'_>, thread: usize, process: usize) {
        let current = self.threads.threads.get(thread).and_then(|t| t.rank);
        let Some(p) = self.threads.processes.get_mut(process) else { return };
        p.wording(l.message);
        // Time stamps cost more than the line: only what may be compared in time asks for them.
        let stamped = matches!(message, Message::Failure(_)) || l.level == Level::Warn;
        let stamp = stamped.then(|| stamp::find(l.before)).flatten();
        let seen = Seen { place, text: l.message, stamp, process: Some(process), rank: current, host: None };
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
                p.bootstrap.get_or_insert(Named { name: names.id(list), at: place });
            }
            Message::Env { name, value } => {
                let key = Setting { name: names.id(name), value: names.id(value) };
                self.settings.add(key, &seen);
            }
            Message::Using { net, list } => {
                let devices: Vec<String> = nccl_log::nics(list).map(|n| words(&n)).collect();
                let key = DeviceList { net: names.id(net), list: names.id(&devices.join(" ")) };
                let cut = nccl_log::is_cut(list);
                p.nics = Some(Listed { devices: key, at: place, cut });
                if let Some(oob) = nccl_log::oob(list) {
                    p.bootstrap.get_or_insert(Named { name: names.id(oob), at: place });
                }
                self.devices.add(key, &seen);
                self.file(place.file).cut_lists += u64::from(cut);
            }
            Message::NoDevice(net) => {
                p.no_device.get_or_insert(place);
                let net = names.id(net);
                self.no_device.add(net, &seen);
            }
            Message::Network(net) => {
                let net = names.id(net);
                p.network = Some(Named { name: net, at: place });
                self.networks.add(net, &seen);
            }
            // From 2.27 NCCL names its own transports so, too: they are no plugin that somebody installed.
            Message::Plugin(Plugin::Loaded(_, "IB" | "Socket")) => {}
            Message::Plugin(plugin) => {
                self.rccl |= l.message.contains("librccl-net");
                let key = match plugin {
                    Plugin::Loaded(_, name) => {
                        let name = names.id(name);
                        p.plugin = Some(Named { name, at: place });
                        PluginEvent::Loaded(name)
                    }
                    Plugin::Missing(_) => PluginEvent::Missing,
                    Plugin::Failed(_) => PluginEvent::Failed,
                    Plugin::Ofi(_) => PluginEvent::Ofi,
                };
                self.plugins.add(key, &seen);
            }
            Message::DmaBuf => {
                p.dmabuf.get_or_insert(place);
            }
            Message::GdrNic { enabled, reason, .. } => {
                let count = if enabled { &mut p.gdr_nics.able } else { &mut p.gdr_nics.unable };
                *count += 1;
                let key = GdrNic { able: enabled, reason: reason.map(|r| names.id(r)) };
                self.gdr_nics.add(key, &seen);
            }
            Message::GdrPair(pair) => {
                let nccl_log::GdrPair { enabled, distance, limit, inclusive, .. } = pair;
                self.pairs.add(Pair { enabled, distance, limit, inclusive }, &seen);
            }
            Message::QueuePair { mtu, gid_index } => {
                self.queue_pairs.add(QueuePair { mtu, gid_index }, &seen);
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
                let key = if of_multicast(l, &failure) { Trouble::Nvls } else { trouble(&failure, names) };
                self.failures.add(key, &seen);
            }
            Message::SlowLink { .. } => {
                self.tools.add(ToolTrouble::SlowLink, &seen);
            }
            Message::Graph(Graph::Paths { from, to }) if from.starts_with("GPU/") => {
                if let Some(graph::Path { to, centi, kind, .. }) = graph::nearest_net(to) {
                    let near = Near { gpu: names.id(from), net: names.id(to), kind: names.id(kind), centi };
                    self.near.add(near, &seen);
                }
            }
            Message::Graph(Graph::Search(found)) if found.channels > 0 => {
                let graph::Search { channels, intra, inter, gpus, nics, .. } = found;
                let (gpus, nics) = (names.id(gpus), names.id(nics));
                if let Some(pattern) = found.name() {
                    self.searches.add(Search { pattern, channels, intra, inter, gpus, nics }, &seen);
                }
            }
            Message::Graph(Graph::Channel { has_net: true }) => p.spans_nodes = true,
            Message::Graph(_) | Message::Setup => {}
            // 7 is `ncclInProgress`.
            Message::Returned { code, .. } if !matches!(code, 0 | 7) => {
                self.returned.add(code, &seen);
            }
            Message::Ring { .. } | Message::Returned { .. } | Message::Connected => {}
            Message::Collective { .. } | Message::Tuning { .. } | Message::Other => {}
        }
        if let Some(s) = stamp {
            self.time(place.file, s);
        }
    }

    fn time(&mut self, file: FileId, stamp: Stamp) {
        let times = &mut self.file(file).times;
        let (first, last) = times.unwrap_or((stamp, stamp));
        let first = if stamp < first { stamp } else { first };
        let last = if stamp > last { stamp } else { last };
        *times = Some((first, last));
    }
}

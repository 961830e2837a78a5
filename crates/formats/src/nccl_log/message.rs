//! What a message means.

use super::comm::{self, Comm};
use super::connect::{self, Connect};
use super::cursor::{after_int, hex, int, uint, word};
use super::env;
use super::failure::{self, Completion, Failure};
use super::gdr::{self, GdrPair};
use super::graph::{self, Graph};
use super::line::{ANCHOR, Level, Line};
use super::plugin::{self, Plugin};
use crate::text::after;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::sync::LazyLock;

/// Bytes of `NET/name/number(rank)/GDRDMA(PCI)/Shared`, as long as names are reasonable.
const WIDEST_TRANSPORT: usize = 64;

/// Bytes of a collective's name.
const LONGEST_CALL: usize = 24;

/// Bytes below which a text cannot be two connections or choices of an algorithm, with a head between them; two calls of collectives.
const SHORTEST_TWO: usize = 88;
const SHORTEST_CALLS: usize = 256;

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message<'a> {
    /// The release: `2.21.5+cuda12.4`.
    Version(&'a str),
    /// Version of the CUDA driver, as `12040`.
    CudaDriver(u32),
    /// Interfaces of the bootstrap: `eth0:10.0.0.1<0>`.
    Bootstrap(&'a str),
    /// A variable was set, by the environment or a file.
    Env {
        /// Name.
        name: &'a str,
        /// Value.
        value: &'a str,
    },
    /// A network has devices.
    Using {
        /// `IB`, `Socket`, a plugin's name.
        net: &'a str,
        /// Its devices: see [`super::Nic`].
        list: &'a str,
    },
    /// A network has none.
    NoDevice(&'a str),
    /// The network that was chosen.
    Network(&'a str),
    /// A plugin.
    Plugin(Plugin<'a>),
    /// GPUs can export memory as DMA-BUF.
    DmaBuf,
    /// Whether a NIC can use GPU memory at all.
    GdrNic {
        /// It can.
        enabled: bool,
        /// Number of the NIC.
        number: u32,
        /// Its name.
        name: &'a str,
        /// Why not, as printed.
        reason: Option<&'a str>,
    },
    /// Whether one GPU and one NIC do.
    GdrPair(GdrPair),
    /// A communicator.
    Comm(Comm),
    /// Shape of a communicator.
    Nodes {
        /// Its address in the process.
        handle: u64,
        /// Rank.
        rank: u32,
        /// Ranks.
        ranks: u32,
        /// Nodes.
        nodes: u32,
        /// Ranks of this node.
        local_ranks: u32,
    },
    /// A connection.
    Connect(Connect<'a>),
    /// Order of ranks in a channel's ring: channel, channels, ranks.
    Ring {
        /// Channel.
        channel: u32,
        /// Channels, where they are printed.
        of: Option<u32>,
    },
    /// Channels of collectives and of point-to-point messages.
    Channels {
        /// Of collectives.
        collectives: u32,
        /// Of point-to-point messages.
        p2p: u32,
    },
    /// A call of a collective.
    Collective {
        /// `AllReduce`, …
        name: &'a str,
        /// Number of the call.
        op_count: u64,
        /// What follows the number: buffers, counts, and at the end the communicator, which [`comm_of_call`] reads.
        rest: &'a str,
    },
    /// What was chosen for a message size.
    Tuning {
        /// Name or number of the algorithm.
        algorithm: &'a str,
        /// Name or number of the protocol.
        protocol: &'a str,
    },
    /// A queue pair of a NIC: active MTU as an enum (5 is 4096 bytes).
    QueuePair {
        /// `ibv_mtu`.
        mtu: u32,
        /// RoCE: index of the GID that is used.
        gid_index: Option<i64>,
    },
    /// CUDA refuses peer-to-peer between two GPUs.
    P2pRefused(&'a str),
    /// Peer-to-peer is switched off between connected GPUs.
    P2pDisabled(&'a str),
    /// Whether GPUs can multicast.
    NvlsSupport(bool),
    /// A PCI link of the topology that is as slow as a virtual port's: GB/s as printed, and what is below it.
    SlowLink {
        /// Hundredths of GB/s.
        centi: u32,
        /// `PCI/0-65000 (104c823200000000)`.
        to: &'a str,
    },
    /// The machine as NCCL sees it, and what its search found.
    Graph(Graph<'a>),
    /// What NCCL sets up as a matter of course: affinities, trees, thresholds.
    Setup,
    /// A function returned an error: `transport/net.cc:1134 -> 6`.
    Returned {
        /// Where, in NCCL's source.
        at: &'a str,
        /// `ncclResult_t`.
        code: u32,
    },
    /// All rings of a rank are connected.
    Connected,
    /// Advice that NCCL prints with an error.
    Hint(&'a str),
    /// Something failed.
    Failure(Failure<'a>),
    /// Nothing that this tool needs.
    Other,
}

impl<'a> Message<'a> {
    /// Whether the whole text was understood to its last character: no other writer's text can be in it.
    #[must_use]
    pub fn is_whole(&self, text: &str) -> bool {
        // Two of a kind in one line end as one does.
        let alone = |two: usize| text.len() < two || ANCHOR.find(text.as_bytes()).is_none();
        match self {
            Message::Collective { rest, .. } => alone(SHORTEST_CALLS) && comm_of_call(rest).is_some(),
            // A glued text has a blank behind the transport.
            Message::Connect(_) | Message::Tuning { .. } if !alone(SHORTEST_TWO) => false,
            Message::Connect(_) => {
                let transport = text.bytes().rev().take_while(|b| *b != b' ').count();
                transport <= WIDEST_TRANSPORT
                    && text.get(..text.len() - transport).is_some_and(|t| t.ends_with(" via "))
            }
            Message::Tuning { .. } => text.len() < 128,
            _ => false,
        }
    }

    /// Reads a line's message.
    #[must_use]
    pub fn read(line: &Line<'a>) -> Self {
        let text = line.message;
        match line.level {
            Level::Version => Message::Version(word(text)),
            Level::Trace => Message::Other,
            Level::Warn => warn(text),
            Level::Info => Self::info(text),
        }
    }

    /// Reads the message of a line of level INFO.
    #[must_use]
    pub fn info(text: &'a str) -> Self {
        info(text).unwrap_or(Message::Other)
    }
}

fn warn(text: &str) -> Message<'_> {
    if text.contains("P2P is disabled between") {
        return Message::P2pDisabled(text);
    }
    // Old releases warn of a wrong name with the same words that report a setting.
    Message::Failure(failure::warning(text))
}

/// The most frequent lines first: a long job's log is collectives and connections.
fn info(text: &str) -> Option<Message<'_>> {
    // The two that large logs consist of; a call begins with the name of any collective.
    if let Some(rest) = text.strip_prefix("Channel ") {
        return connect::read(rest).map(Message::Connect).or_else(|| ring(rest));
    }
    if let Some(call) = collective(text) {
        return Some(call);
    }
    match text.as_bytes().first()? {
        b'C' => starts_c(text),
        b'R' if text.starts_with("RCCL version ") => {
            text.get(13..).map(|version| Message::Version(word(version.strip_prefix(": ").unwrap_or(version))))
        }
        b'R' => text.strip_prefix("Ring ").and_then(connect::read).map(Message::Connect),
        b'N' => starts_n(text),
        b'G' => gdr_line(text),
        b'c' => starts_comm(text),
        b'B' if text.starts_with("Bootstrap") => bootstrap(text),
        b'D' if text.starts_with("DMA-BUF is available") => Some(Message::DmaBuf),
        b'U' => text.strip_prefix("Using network ").map(|n| Message::Network(n.trim())),
        b'p' if text.starts_with("peer query failed between dev") => Some(Message::P2pRefused(text)),
        b'H' => text.strip_prefix("HINT: ").map(Message::Hint),
        b'P' if text.starts_with("P2P is disabled") => Some(Message::P2pDisabled(text)),
        b'I' if text.starts_with("Initialized NET plugin ") => {
            text.get(23..).map(|name| Message::Plugin(Plugin::Loaded("NET", name.trim())))
        }
        b'F' if text.starts_with("Failed to open lib") => Some(Message::Failure(Failure::Library(text))),
        b'F' if text.starts_with("Failed to bind NVLink SHARP") => Some(Message::Failure(Failure::Nvls(text))),
        b'F' if text.starts_with("Failed to initialize NET plugin ") => match text.get(32..)?.trim() {
            // From 2.28 its own transports are plugins, too: those find no device.
            own @ ("IB" | "Socket") => Some(Message::NoDevice(own)),
            _ => Some(Message::Plugin(Plugin::Failed(text))),
        },
        b'S' if text.starts_with("Successfully loaded external network plugin ") => {
            text.get(44..).map(|name| Message::Plugin(Plugin::Loaded("NET", name.trim())))
        }
        b'0'..=b'9' => numbers(text),
        b'[' => text.split_once("] ").and_then(|(_, rest)| starts_comm(rest)),
        _ => None,
    }
    .or_else(|| slow_link(text.trim_start()))
    .or_else(|| graph::read(text).map(Message::Graph))
    .or_else(|| SETUP.iter().any(|s| text.starts_with(s)).then_some(Message::Setup))
    .or_else(|| rare(text))
}

/// How lines begin of which nothing follows.
const SETUP: &[&str] = &[
    "Trees ",
    "Tree ",
    "Setting affinity for GPU ",
    "P2P Chunksize set to ",
    "threadThresholds ",
    "Threads per block : ",
    "Check P2P Type ",
    "Connected all trees",
];

fn starts_c(text: &str) -> Option<Message<'_>> {
    if let Some(rest) = text.strip_prefix("Coll ").or_else(|| text.strip_prefix("CollNet ")) {
        return connect::read(rest).map(Message::Connect);
    }
    if text.starts_with("Connected all rings") {
        return Some(Message::Connected);
    }
    if text.starts_with("Could not enable P2P") {
        return Some(Message::P2pRefused(text));
    }
    if text.starts_with("Count not open libibverbs") || text.starts_with("Could not open libibverbs") {
        return Some(Message::Failure(Failure::Library(text)));
    }
    if text.starts_with("Call to ") {
        return Some(Message::Failure(failure::warning(text)));
    }
    if text.starts_with("Could not open XML") {
        return Some(Message::Failure(Failure::TopologyFile(text)));
    }
    None
}

/// `00/04 :    0   1   2   3`.
fn ring(text: &str) -> Option<Message<'_>> {
    let (channel, rest) = uint(text)?;
    let (of, rest) = match rest.strip_prefix('/') {
        Some(rest) => uint(rest).map(|(of, rest)| (Some(of), rest))?,
        None => (None, rest),
    };
    rest.trim_start().strip_prefix(':').map(|_| Message::Ring { channel, of })
}

fn starts_n(text: &str) -> Option<Message<'_>> {
    if let Some(rest) = text.strip_prefix("NET/") {
        // The OFI plugin says so at this level, too.
        if rest.starts_with("OFI ") {
            return Some(Message::Plugin(plugin::ofi(text).unwrap_or(Plugin::Ofi(text))));
        }
        return network(text, rest);
    }
    // To 2.3 each interface has a line of its own, for the bootstrap and for data.
    if let Some(interface) = text.strip_prefix("NET : Using interface ") {
        return interface.trim_end().ends_with('>').then_some(Message::Bootstrap(interface.trim()));
    }
    if let Some((name, value)) = env::setting(text) {
        return Some(Message::Env { name, value });
    }
    if let Some(rest) = text.strip_prefix("NVLS multicast support is ") {
        return Some(Message::NvlsSupport(rest.starts_with("available")));
    }
    text.strip_prefix("NCCL version ").map(|version| Message::Version(word(version)))
}

/// Lines that begin with `NET/`.
fn network<'a>(text: &'a str, rest: &'a str) -> Option<Message<'a>> {
    let (name, rest) = rest.split_once(':')?;
    let (name, rest) = (name.trim(), rest.trim_start());
    if name == "Plugin" {
        return Some(plugin::read(text, rest));
    }
    if let Some(rest) = rest.strip_prefix("GPU Direct RDMA ") {
        return gdr_rest(rest);
    }
    if let Some(list) = rest.strip_prefix("Using") {
        // `NET/Socket: Using 6 threads and 1 sockets per thread`.
        let list = list.trim_start();
        return list.starts_with('[').then_some(Message::Using { net: name, list });
    }
    if rest.starts_with("No device found") {
        return Some(Message::NoDevice(name));
    }
    if let Some(mtu) = after_int(rest, " mtu ") {
        // `GID 3 (…/…)`: the index; InfiniBand has a LID there.
        let gid_index = after_int(rest, " GID ");
        return u32::try_from(mtu).ok().map(|mtu| Message::QueuePair { mtu, gid_index });
    }
    if rest.contains("Got async") || rest.contains("async fatal") || rest.contains("Got completion") {
        return Some(Message::Failure(failure::warning(text)));
    }
    None
}

fn gdr_line(text: &str) -> Option<Message<'_>> {
    gdr_rest(text.strip_prefix("GPU Direct RDMA ")?)
}

fn gdr_rest(rest: &str) -> Option<Message<'_>> {
    if let Some(pair) = gdr::pair(rest) {
        return Some(Message::GdrPair(pair));
    }
    let (enabled, rest) = gdr::on_off(rest)?;
    // In 2.4 the reason names GPU and NIC: `for GPU 0[0] / HCA 0 'mlx5_0' (no module or not supported by GPU)`.
    let rest = match rest.find("HCA ") {
        Some(at) if rest.starts_with("for GPU") => rest.get(at..)?,
        _ => rest.strip_prefix("for ")?,
    };
    let (number, rest) = int(rest.strip_prefix("HCA ")?)?;
    let (name, rest) = rest.trim_start().strip_prefix('\'')?.split_once('\'')?;
    let reason = rest.trim().strip_prefix('(').map(|r| r.trim_end_matches(')'));
    Some(Message::GdrNic { enabled, number: u32::try_from(number).ok()?, name, reason })
}

fn starts_comm(text: &str) -> Option<Message<'_>> {
    if let Some(version) = text.strip_prefix("cudaDriverVersion ") {
        return uint(version).map(|(v, _)| Message::CudaDriver(v));
    }
    if let Some(c) = comm::read(text) {
        return Some(Message::Comm(c));
    }
    let (handle, rank, ranks, nodes, local_ranks) = comm::nodes(text)?;
    Some(Message::Nodes { handle, rank, ranks, nodes, local_ranks })
}

fn bootstrap(text: &str) -> Option<Message<'_>> {
    let list = after(text, "Using")?.trim_start();
    (!list.is_empty()).then_some(Message::Bootstrap(list))
}

/// `24 coll channels, 24 collnet channels, 0 nvls channels, 32 p2p channels, 4 p2p channels per peer`.
fn numbers(text: &str) -> Option<Message<'_>> {
    let (collectives, rest) = uint(text)?;
    let Some(rest) = rest.strip_prefix(" coll channels, ") else {
        return tuning(rest);
    };
    let p2p = rest.split(", ").find_map(|part| part.strip_suffix(" p2p channels"))?;
    Some(Message::Channels { collectives, p2p: uint(p2p)?.0 })
}

/// `AllReduce: opCount 1f sendbuff 0x… count 4 datatype 7 op 0 root 0 comm 0x… [nranks=8] stream 0x…`: most lines of the largest logs.
fn collective(text: &str) -> Option<Message<'_>> {
    let bytes = text.as_bytes();
    let colon = bytes.iter().take(LONGEST_CALL).position(|b| !b.is_ascii_alphanumeric()).filter(|at| *at > 0)?;
    let rest = text.get(colon..)?.strip_prefix(": opCount ")?;
    let (op_count, rest) = hex(rest)?;
    Some(Message::Collective { name: text.get(..colon)?, op_count, rest })
}

/// The handle in `… comm 0x55ab [nranks=8] stream 0x7f`. Read from the end, as what is between are addresses and counts. `None` also where
/// the line does not end as it should: another writer's text may be in it.
#[must_use]
pub fn comm_of_call(rest: &str) -> Option<u64> {
    let bytes = rest.as_bytes();
    let digits = bytes.iter().rev().take(18).position(|b| !b.is_ascii_hexdigit() && *b != b'x')?;
    let before = bytes.get(..bytes.len() - digits)?.strip_suffix(b"] stream ")?;
    let number = before.iter().rev().take(10).position(|b| !b.is_ascii_digit())?;
    let before = before.get(..before.len() - number)?.strip_suffix(b" [nranks=")?;
    let digits = before.iter().rev().take(18).position(|b| *b == b' ')?;
    let (before, handle) = before.split_at_checked(before.len() - digits)?;
    before.ends_with(b" comm ").then(|| std::str::from_utf8(handle).ok().and_then(hex)).flatten().map(|(c, _)| c)
}

/// What follows the size in `1048576 Bytes -> Algo 1 proto 2 time 1234.5`, later `Algo RING proto SIMPLE channel{Lo..Hi}={0..15}`.
fn tuning(rest: &str) -> Option<Message<'_>> {
    let rest = rest.strip_prefix(" Bytes -> Algo ")?;
    let blank = memchr::memchr(b' ', rest.as_bytes())?;
    let protocol = rest.get(blank..)?.strip_prefix(" proto ")?;
    let end = memchr::memchr(b' ', protocol.as_bytes()).unwrap_or(protocol.len());
    Some(Message::Tuning { algorithm: rest.get(..blank)?, protocol: protocol.get(..end)? })
}

/// `+ PCI[0.2] - PCI/0-65000 (104c823200000000)`: 2.5 GT/s on one lane, which no card's own port has. NCCL counts 0.19 to 0.25 GB/s for it.
fn slow_link(text: &str) -> Option<Message<'_>> {
    let (speed, rest) = text.strip_prefix("+ PCI[")?.split_once(']')?;
    let speed = speed.parse::<f64>().ok().filter(|s| (0.0..=0.25).contains(s))?;
    let to = rest.strip_prefix(" - ")?;
    Some(Message::SlowLink { centi: (speed * 100.0).round() as u32, to })
}

/// Words of which one is in every line that [`rare`] knows: one pass over the text in place of a dozen.
const RARE: &[&str] = &[
    "COMPLETE",
    "Init START",
    ": opCount ",
    ".cc:",
    ".h:",
    ".cpp:",
    ".cu:",
    "NCCL_",
    "GPU Direct RDMA ",
    "Cuda failure",
    "connect returned",
    "onnect to ",
    "Got completion with error",
    "Connection closed by remote peer",
    "IMEX",
    " Bytes -> Algo ",
];

static RARE_WORDS: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(RARE).ok());

fn rare(text: &str) -> Option<Message<'_>> {
    let words = RARE_WORDS.as_ref()?;
    let found = words.find(text)?;
    let has = |w: &str| text.contains(w);
    match RARE.get(found.pattern().as_usize()).copied()? {
        " Bytes -> Algo " => return tuning(text.get(found.start()..)?),
        ": opCount " => return collective(text),
        "COMPLETE" | "Init START" => {
            if let Some(c) = comm::read(text) {
                return Some(Message::Comm(c));
            }
        }
        _ => {}
    }
    if let Some((at, code)) = text.rsplit_once(" -> ") {
        let code = code.split(' ').next().unwrap_or_default();
        let located = at.rsplit_once(':').is_some_and(|(f, l)| {
            [".cc", ".h", ".cpp", ".cu"].iter().any(|e| f.ends_with(e)) && l.trim().bytes().all(|b| b.is_ascii_digit())
        });
        if let Some(code) = located.then(|| code.parse().ok()).flatten() {
            return Some(Message::Returned { at, code });
        }
    }
    if let Some((name, value)) = env::setting(text) {
        return Some(Message::Env { name, value });
    }
    if let Some(gdr) = after(text, "GPU Direct RDMA ").and_then(gdr_rest) {
        return Some(gdr);
    }
    let failed = [
        "Cuda failure",
        "connect returned",
        "onnect to ",
        "Got completion with error",
        "Connection closed by remote peer",
    ];
    if failed.iter().any(|w| has(w)) || text.starts_with("MNNVL") && has("IMEX") {
        return Some(Message::Failure(failure::warning(text)));
    }
    None
}

impl<'a> Completion<'a> {
    /// Reads the completion out of any text that holds one, a framework's error for example.
    #[must_use]
    pub fn find(text: &'a str) -> Option<Self> {
        match failure::warning(text) {
            Failure::Completion(c) => Some(c),
            _ => None,
        }
    }
}

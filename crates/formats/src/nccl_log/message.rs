//! What a message means.

use super::comm::{self, Comm};
use super::connect::{self, Connect};
use super::cursor::{after, after_int, hex, int, uint, word};
use super::env;
use super::failure::{self, Completion, Failure};
use super::gdr::{self, GdrPair};
use super::line::{Level, Line};

/// What a plugin's line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plugin<'a> {
    /// It is loaded: kind (`NET`, `TUNER`, …) and name.
    Loaded(&'a str, &'a str),
    /// None was found, or it lacks a symbol of some version: no error.
    Missing(&'a str),
    /// It was found and cannot be loaded or started.
    Failed(&'a str),
}

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
        /// Channels, where told.
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
        /// Communicator.
        comm: Option<u64>,
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
    /// Reads a line's message.
    #[must_use]
    pub fn read(line: &Line<'a>) -> Self {
        let text = line.message;
        match line.level {
            Level::Version => Message::Version(word(text)),
            Level::Trace => Message::Other,
            Level::Warn => warn(text),
            Level::Info => info(text).unwrap_or(Message::Other),
        }
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
    match text.as_bytes().first()? {
        b'C' => starts_c(text),
        b'R' => text.strip_prefix("Ring ").and_then(|rest| connect::read(rest)).map(Message::Connect),
        b'N' => starts_n(text),
        b'G' => gdr_line(text),
        b'c' => starts_comm(text),
        b'B' if text.starts_with("Bootstrap") => bootstrap(text),
        b'D' if text.starts_with("DMA-BUF is available") => Some(Message::DmaBuf),
        b'U' => text.strip_prefix("Using network ").map(|n| Message::Network(n.trim())),
        b'H' => text.strip_prefix("HINT: ").map(Message::Hint),
        b'P' if text.starts_with("P2P is disabled") => Some(Message::P2pDisabled(text)),
        b'A' if text.starts_with("All") => collective(text),
        b'I' if text.starts_with("Initialized NET plugin ") => {
            text.get(23..).map(|name| Message::Plugin(Plugin::Loaded("NET", name.trim())))
        }
        b'F' if text.starts_with("Failed to open libibverbs") || text.starts_with("Failed to open lib") => {
            Some(Message::Failure(Failure::Library(text)))
        }
        b'F' if text.starts_with("Failed to bind NVLink SHARP") => Some(Message::Failure(Failure::Nvls(text))),
        b'F' if text.starts_with("Failed to initialize NET plugin") => Some(Message::Plugin(Plugin::Failed(text))),
        b'S' if text.starts_with("Successfully loaded external network plugin ") => {
            text.get(44..).map(|name| Message::Plugin(Plugin::Loaded("NET", name.trim())))
        }
        b'0'..=b'9' => numbers(text),
        b'[' => text.split_once("] ").and_then(|(_, rest)| starts_comm(rest)),
        _ => None,
    }
    .or_else(|| rare(text))
}

fn starts_c(text: &str) -> Option<Message<'_>> {
    if let Some(rest) = text.strip_prefix("Channel ") {
        return connect::read(rest).map(Message::Connect).or_else(|| ring(rest));
    }
    if let Some(rest) = text.strip_prefix("Coll ").or_else(|| text.strip_prefix("CollNet ")) {
        return connect::read(rest).map(Message::Connect);
    }
    if text.starts_with("Connected all rings") {
        return Some(Message::Connected);
    }
    if text.starts_with("Could not enable P2P") {
        return Some(Message::P2pRefused(text));
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
        return network(text, rest);
    }
    if let Some((name, value)) = env::setting(text) {
        return Some(Message::Env { name, value });
    }
    if let Some(rest) = text.strip_prefix("NVLS multicast support is ") {
        return Some(Message::NvlsSupport(rest.starts_with("available")));
    }
    if let Some(version) = text.strip_prefix("NCCL version ") {
        return Some(Message::Version(word(version)));
    }
    None
}

/// Lines that begin with `NET/`.
fn network<'a>(text: &'a str, rest: &'a str) -> Option<Message<'a>> {
    let (name, rest) = rest.split_once(':')?;
    let (name, rest) = (name.trim(), rest.trim_start());
    if name == "Plugin" {
        return Some(plugin(text, rest));
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

fn plugin<'a>(text: &'a str, rest: &'a str) -> Message<'a> {
    if let Some(name) = rest.strip_prefix("Loaded net plugin ") {
        return Message::Plugin(Plugin::Loaded("NET", name.split(" (v").next().unwrap_or(name).trim()));
    }
    if rest.starts_with("No plugin found")
        || rest.starts_with("Could not find")
        || rest.starts_with("Failed to find")
        || rest.contains("No plugin found")
        || rest.contains("cannot open shared object file")
    {
        return Message::Plugin(Plugin::Missing(text));
    }
    if rest.contains("load returned") || rest.contains("failed") {
        return Message::Plugin(Plugin::Failed(text));
    }
    Message::Other
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

/// `24 coll channels, 24 collnet channels, 0 nvls channels, 32 p2p channels, 4 p2p channels per peer`, and `init.cc:1234 -> 3` of files
/// whose names begin with a digit there are none.
fn numbers(text: &str) -> Option<Message<'_>> {
    let (collectives, rest) = uint(text)?;
    let rest = rest.strip_prefix(" coll channels, ")?;
    let p2p = rest.split(", ").find_map(|part| part.strip_suffix(" p2p channels"))?;
    Some(Message::Channels { collectives, p2p: uint(p2p)?.0 })
}

/// `AllReduce: opCount 1f sendbuff 0x… count 4 datatype 7 op 0 root 0 comm 0x… [nranks=8] stream 0x…`.
fn collective(text: &str) -> Option<Message<'_>> {
    let (name, rest) = text.split_once(": opCount ")?;
    let (op_count, rest) = hex(rest)?;
    let named = !name.is_empty() && name.len() < 40 && !name.contains(' ');
    named.then(|| Message::Collective { name, op_count, comm: after(rest, " comm ").and_then(hex).map(|(c, _)| c) })
}

fn rare(text: &str) -> Option<Message<'_>> {
    if let Some(c) = text.contains("COMPLETE").then(|| comm::read(text)).flatten() {
        return Some(Message::Comm(c));
    }
    if let Some(c) = text.contains("Init START").then(|| comm::read(text)).flatten() {
        return Some(Message::Comm(c));
    }
    if text.contains(": opCount ") {
        return collective(text);
    }
    if let Some((at, code)) = text.rsplit_once(" -> ") {
        let code = code.split(' ').next().unwrap_or_default();
        let located = at.rsplit_once(':').is_some_and(|(f, l)| {
            [".cc", ".h", ".cpp", ".cu"].iter().any(|e| f.ends_with(e)) && l.trim().bytes().all(|b| b.is_ascii_digit())
        });
        return located.then(|| code.parse().ok()).flatten().map(|code| Message::Returned { at, code });
    }
    if let Some((name, value)) = env::setting(text) {
        return Some(Message::Env { name, value });
    }
    if text.contains("GPU Direct RDMA ") {
        return after(text, "GPU Direct RDMA ").and_then(gdr_rest);
    }
    if text.contains("Cuda failure")
        || text.contains("connect returned")
        || text.contains("onnect to ")
        || text.contains("Got completion with error")
        || text.contains("Connection closed by remote peer")
    {
        return Some(Message::Failure(failure::warning(text)));
    }
    if text.starts_with("MNNVL") && text.contains("IMEX") {
        return Some(Message::Failure(Failure::Imex(text)));
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

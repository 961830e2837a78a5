//! What a run of a perftest program says.

use crate::bounds::{LeftOut, Limit};
use crate::gid::Gid;
use crate::record::recorded;
use crate::refusal::Refusals;
use crate::text::At;
use crate::units::{Bytes, Gbps, MiBps, Microseconds, Mpps, PerSecond, Percent};
use serde::Serialize;
use smol_str::SmolStr;

/// One run: one header and the table below it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Run {
    /// What is tested: the title.
    pub test: Option<At<Test>>,
    /// The header.
    pub header: Header,
    /// Ends of connections.
    pub addresses: Vec<Address>,
    /// Measurements.
    pub rows: Vec<Row>,
    /// Rows that could not be read, and why.
    pub refused: Refusals,
    /// What the program remarked.
    pub notes: Vec<Note>,
    /// What failed.
    pub failures: Vec<Failure>,
    /// The program waited for a client: this end is the server's.
    pub is_server: bool,
    /// How many times the title was printed before anything else: more than one where server and client write to one place, and
    /// their lines are mixed.
    pub copies: u32,
    /// Measurements, ends, remarks, failures and later runs of the text beyond the limits.
    pub left_out: Vec<LeftOut>,
    /// 1-based first and last line that belong to the run.
    pub lines: (u32, u32),
}

recorded!(Run, Limit::PERFTEST_RUNS);

impl Run {
    /// The best average bandwidth of all sizes, with its size.
    pub fn best_bandwidth(&self) -> Option<(Bytes, Gbps)> {
        let rows = self.rows.iter().filter_map(|r| match &r.values {
            Values::Bandwidth(b) => Some((r.size, b.average?.gbps())),
            _ => None,
        });
        rows.max_by(|a, b| a.1.0.total_cmp(&b.1.0))
    }
}

/// The title: `RDMA_Write Bidirectional BW Test`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Test {
    /// `Send`, `RDMA_Write`, `RDMA_Read`, `Atomic` and what they became.
    pub verb: SmolStr,
    /// What is measured.
    pub kind: Kind,
    /// Both directions at once: the bandwidth is the sum.
    pub bidirectional: bool,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Bandwidth.
    Bandwidth,
    /// Latency.
    Latency,
    /// Rate of flow-steering rules, or another test of raw Ethernet.
    Other,
}

/// The header. What it does not show is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Header {
    /// RDMA device.
    pub device: Option<SmolStr>,
    /// Both ports of the device.
    pub dual_port: Option<bool>,
    /// Queue pairs.
    pub qps: Option<u32>,
    /// `IB` also for RoCE; `IW`: iWARP.
    pub transport: Option<SmolStr>,
    /// `RC`, `UC`, `UD`, `RawEth`, `XRC`, `DC`, `SRD`.
    pub connection: Option<SmolStr>,
    /// Shared receive queue.
    pub srq: Option<bool>,
    /// PCIe relaxed ordering asked for. `Unsupported` by the build is `None`.
    pub relaxed_ordering: Option<bool>,
    /// The newer way of posting.
    pub ibv_wr_api: Option<bool>,
    /// Send queue's depth; a server that only receives shows none.
    pub tx_depth: Option<u32>,
    /// Receive queue's depth.
    pub rx_depth: Option<u32>,
    /// Completions are asked for once per this many messages.
    pub cq_moderation: Option<u32>,
    /// Messages that are posted at once.
    pub post_list: Option<u32>,
    /// Path MTU of the connection.
    pub mtu: Option<Bytes>,
    /// `IB` or `Ethernet`.
    pub link: Option<SmolStr>,
    /// Index of the GID.
    pub gid_index: Option<u32>,
    /// Inline data at most.
    pub max_inline: Option<Bytes>,
    /// Outstanding reads.
    pub outstanding_reads: Option<u32>,
    /// Connected by the RDMA connection manager.
    pub rdma_cm: Option<bool>,
    /// How the ends found each other: `Ethernet` or `rdma_cm`.
    pub exchange: Option<SmolStr>,
    /// Type of service.
    pub tos: Option<u32>,
    /// CUDA device whose memory is used (JSON, or the program's remark).
    pub cuda_device: Option<u32>,
    /// Whose memory the command above the output asked for; `None`: the text has no command, or two that differ.
    pub memory: Option<Memory>,
    /// A field was shown twice with different values: headers of several runs are mixed.
    pub is_mixed: bool,
}

/// Whose memory a test uses, by its command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Memory {
    /// The host's: the command has no option for another.
    Host,
    /// An accelerator's: `--use_cuda`, `--use_rocm` and the like.
    Accelerator,
}

/// One end of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Address {
    /// 1-based line.
    pub line: u32,
    /// This end or the peer's.
    pub side: Side,
    /// Local identifier; 0 on RoCE.
    pub lid: u32,
    /// Queue pair.
    pub qpn: u32,
    /// First packet's number.
    pub psn: u32,
    /// Key of the remote memory.
    pub rkey: Option<u32>,
    /// Address of the memory.
    pub vaddr: Option<u64>,
    /// GID, on RoCE.
    pub gid: Option<Gid>,
}

/// Which end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// This one.
    Local,
    /// The peer.
    Remote,
}

/// One size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// 1-based line.
    pub line: u32,
    /// Size of a message.
    pub size: Bytes,
    /// Messages that were sent.
    pub iterations: Option<u64>,
    /// Service level, in tests of several.
    pub service_level: Option<u32>,
    /// The measurement.
    pub values: Values,
    /// Load of the processors, where asked for.
    pub cpu: Option<Percent>,
}

/// A measurement.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// Of a bandwidth test.
    Bandwidth(BandwidthValues),
    /// Of a latency test.
    Latency(LatencyValues),
}

/// Of a bandwidth test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BandwidthValues {
    /// The best stretch. `None` where the program did not measure it and printed zero.
    pub peak: Option<Bandwidth>,
    /// Over the whole test.
    pub average: Option<Bandwidth>,
    /// Messages per second.
    pub messages: Option<Mpps>,
    /// Of each port, in tests of both.
    pub ports: Option<[(Bandwidth, Mpps); 2]>,
}

/// A bandwidth in the unit in which it was printed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bandwidth {
    /// `MiB/sec`, and the `MB/sec` of older releases, which is the same: 2²⁰ bytes.
    MiBps(MiBps),
    /// `Gb/sec`, 10⁹ bits.
    Gbps(Gbps),
}

impl Bandwidth {
    /// In gigabits per second.
    pub fn gbps(self) -> Gbps {
        match self {
            Bandwidth::MiBps(v) => v.into(),
            Bandwidth::Gbps(v) => v,
        }
    }
}

/// Of a latency test: half of a round trip; for reads and atomics a whole one.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct LatencyValues {
    /// Shortest.
    pub min: Option<Microseconds>,
    /// Longest.
    pub max: Option<Microseconds>,
    /// Median.
    pub typical: Option<Microseconds>,
    /// Mean.
    pub average: Option<Microseconds>,
    /// Standard deviation.
    pub stdev: Option<Microseconds>,
    /// 99 of 100 are shorter.
    pub p99: Option<Microseconds>,
    /// 999 of 1000 are shorter.
    pub p999: Option<Microseconds>,
    /// Transactions per second, in tests of a duration.
    pub transactions: Option<PerSecond>,
}

/// A remark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// 1-based line.
    pub line: u32,
    /// Which.
    pub kind: NoteKind,
    /// The line.
    pub text: String,
}

/// Which remark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoteKind {
    /// Processors ran at different frequencies: times may be wrong. The governor is not `performance`.
    CpuFrequency,
    /// The peak is not measured: in the table it is zero.
    PeakNotMeasured,
    /// The asked MTU is higher than the port's; the port's is used.
    MtuLowered,
    /// Relaxed ordering is on, and the processor does not do it right.
    RelaxedOrderingNotCompliant,
    /// Large messages with moderated completions: inaccurate.
    Inaccurate,
    /// Inline data is off for GPU memory.
    InlineOff,
}

/// Something failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// 1-based line.
    pub line: u32,
    /// What kind.
    pub kind: FailureKind,
    /// The line.
    pub text: String,
}

/// What kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// No RDMA device, or not the one that was named.
    NoDevice,
    /// The port cannot be used: its state, link layer, MTU or GID.
    Port,
    /// Memory could not be registered.
    MemoryRegistration,
    /// Memory of a GPU could not be had or exported.
    GpuMemory,
    /// Queue pairs or completion queues could not be made, or not brought up.
    QueuePair,
    /// The peer was not reached over TCP or the connection manager.
    Connection,
    /// The peer left, or its data did not come.
    Exchange,
    /// A work completion with an error: `ibv_wc_status`, the vendor's syndrome.
    Completion {
        /// `ibv_wc_status`: 4 local protection, 5 flushed, 10 remote access, 12 retries exceeded, 13 receiver not ready.
        status: u32,
        /// `vendor_err`.
        syndrome: Option<u32>,
    },
    /// The asked limit was not reached.
    BelowLimit,
    /// Follows from another failure.
    Propagated,
    /// Anything else that says that it failed.
    Other,
}

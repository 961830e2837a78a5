//! What a run of iperf says.

use crate::bounds::{LeftOut, Limit};
use crate::record::{keep, recorded};
use crate::refusal::{End, Refusals, Said};
use crate::text::At;
use crate::units::{Bytes, Gbps, Microseconds, PerSecond, Percent};
use serde::Serialize;
use smol_str::SmolStr;

/// One run: one test between a client and a server, as one of them (or both) shows it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Run {
    /// Which program. `None` where an excerpt does not tell.
    pub tool: Option<Tool>,
    /// `3.12`.
    pub version: Option<At<SmolStr>>,
    /// Whose output this is.
    pub role: Option<Role>,
    /// The server's output that the client fetched (`--get-server-output`): the same test as the run before.
    pub is_servers_view: bool,
    /// Protocol.
    pub protocol: Option<Protocol>,
    /// Which way the data went.
    pub direction: Option<Direction>,
    /// What was asked for.
    pub params: Params,
    /// The host that was asked for, and its port.
    pub peer: Option<At<Endpoint>>,
    /// When it began, in seconds since 1970.
    pub began: Option<f64>,
    /// Connections.
    pub connections: Vec<Connection>,
    /// Measurements.
    pub rows: Vec<Row>,
    /// Load of the processors.
    pub cpu: Option<At<Cpu>>,
    /// Congestion control of the sender and of the receiver.
    pub congestion: (Option<SmolStr>, Option<SmolStr>),
    /// What looks like a measurement but is not one, and why.
    pub refused: Refusals,
    /// What the program remarked.
    pub notes: Vec<Said>,
    /// What failed.
    pub failures: Vec<Said>,
    /// Measurements, connections, remarks and failures beyond the limits.
    pub left_out: Vec<LeftOut>,
    /// How it ended.
    pub end: End,
    /// 1-based first and last line that belong to the run.
    pub lines: (u32, u32),
}

recorded!(Run, Limit::IPERF_RUNS);

impl Run {
    /// Rows of the whole test: what a comparison is made of. One per stream and side, and the sums.
    pub fn totals(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|r| r.scope != Scope::Interval)
    }

    /// The rate of the whole test as the receiver saw it; where only the sender's is known, the sender's. In a test of both
    /// directions each has its own. Of UDP, a total of [`Scope::Total`] or [`Scope::Sender`] is what was sent, not what arrived.
    pub fn rate(&self, way: Option<Way>) -> Option<&Row> {
        let best = |scope| self.total(scope, way);
        best(Scope::Receiver).or_else(|| best(Scope::Total)).or_else(|| best(Scope::Sender))
    }

    /// Segments of TCP that were sent again in the whole test: the sender counts them.
    pub fn retransmits(&self, way: Option<Way>) -> Option<u64> {
        let of = |scope| self.total(scope, way)?.more.retransmits;
        of(Scope::Sender).or_else(|| of(Scope::Total))
    }

    /// All streams of a test as one end counts them.
    fn total(&self, scope: Scope, way: Option<Way>) -> Option<&Row> {
        let of_scope = || self.rows.iter().filter(move |r| r.scope == scope && r.way == way);
        let sum = of_scope().find(|r| r.stream == Stream::Sum);
        // One stream has no sum; of several without one, none is the whole.
        sum.or_else(|| of_scope().next().filter(|_| of_scope().count() == 1))
    }

    pub(super) fn push_row(&mut self, row: Row) {
        let line = row.line;
        keep(&mut self.rows, row, Limit::IPERF_ROWS, line, &mut self.left_out);
    }

    pub(super) fn push_connection(&mut self, connection: Connection) {
        let line = connection.line;
        keep(&mut self.connections, connection, Limit::IPERF_CONNECTIONS, line, &mut self.left_out);
    }

    pub(super) fn note(&mut self, said: Said) {
        let line = said.line;
        keep(&mut self.notes, said, Limit::IPERF_SAID, line, &mut self.left_out);
    }

    pub(super) fn fail(&mut self, said: Said) {
        let line = said.line;
        keep(&mut self.failures, said, Limit::IPERF_SAID, line, &mut self.left_out);
    }
}

/// Which program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// iperf 2.
    Iperf2,
    /// iperf 3.
    Iperf3,
}

/// Whose output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Began the test.
    Client,
    /// Waited for it.
    Server,
}

/// Protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// SCTP.
    Sctp,
}

/// Which way the data went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the client to the server.
    Forward,
    /// From the server to the client (`-R`).
    Reverse,
    /// Both at once (`--bidir`, `-d`, `--full-duplex`): two measurements that share the link.
    Both,
}

/// What was asked for. What the output does not show is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Params {
    /// Parallel streams.
    pub streams: Option<u32>,
    /// Size of a read or write; of a datagram in UDP.
    pub block: Option<Bytes>,
    /// Seconds at the beginning that do not count.
    pub omit: Option<f64>,
    /// Seconds that were asked for. `None` where bytes or blocks were.
    pub duration: Option<f64>,
    /// Bytes that were asked for.
    pub bytes: Option<Bytes>,
    /// Rate that was asked for.
    pub target: Option<Gbps>,
    /// Type of service.
    pub tos: Option<u32>,
    /// Largest segment.
    pub mss: Option<Bytes>,
    /// TCP window or UDP buffer.
    pub window: Option<Bytes>,
}

/// Host and port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Endpoint {
    /// Name or address.
    pub host: SmolStr,
    /// Port.
    pub port: u16,
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Connection {
    /// 1-based line.
    pub line: u32,
    /// Number of the stream.
    pub stream: Stream,
    /// This end.
    pub local: Endpoint,
    /// The peer's.
    pub remote: Endpoint,
}

/// Which stream a row is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    /// One, by the number that the program gives.
    One(u32),
    /// All together: `[SUM]`.
    Sum,
}

/// In tests of both directions: which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// The client sends.
    ToServer,
    /// The server sends.
    ToClient,
    /// The sum of both (iperf 2's `[FD1]`).
    Both,
}

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// A part of the test.
    Interval,
    /// The whole test, as the sender counts: what it handed to the network.
    Sender,
    /// The whole test, as the receiver counts: what arrived.
    Receiver,
    /// The whole test; the output does not say who counts. For UDP in iperf3 before 3.2 the rate is the sender's, jitter and loss
    /// the receiver's.
    Total,
}

/// One row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Row {
    /// 1-based line.
    pub line: u32,
    /// Of which stream.
    pub stream: Stream,
    /// In tests of both directions: of which.
    pub way: Option<Way>,
    /// About what.
    pub scope: Scope,
    /// From the time before the test, which does not count.
    pub omitted: bool,
    /// Seconds since the start.
    pub start: f64,
    /// Seconds since the start.
    pub end: f64,
    /// What went. In text to three digits.
    pub transfer: Option<Bytes>,
    /// The rate.
    pub rate: Gbps,
    /// What else the row shows.
    pub more: Measured,
}

/// What a row shows beside the rate.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Measured {
    /// Segments sent again.
    pub retransmits: Option<u64>,
    /// Congestion window.
    pub cwnd: Option<Bytes>,
    /// Smoothed round-trip time of TCP.
    pub rtt: Option<Microseconds>,
    /// Its variation.
    pub rttvar: Option<Microseconds>,
    /// Path MTU.
    pub pmtu: Option<Bytes>,
    /// Jitter of UDP (RFC 1889).
    pub jitter: Option<Microseconds>,
    /// Datagrams that did not arrive. Negative counts of some releases are not kept.
    pub lost: Option<u64>,
    /// Datagrams that were sent.
    pub packets: Option<u64>,
    /// Datagrams that arrived out of order.
    pub out_of_order: Option<u64>,
    /// Mean latency of a datagram, by clocks that must be synchronised (iperf 2 `-e`).
    pub latency: Option<Microseconds>,
    /// Datagrams per second (iperf 2).
    pub packet_rate: Option<PerSecond>,
}

impl Measured {
    /// The part of the datagrams that did not arrive.
    pub fn loss(&self) -> Option<Percent> {
        let (lost, packets) = (self.lost?, self.packets.filter(|p| *p > 0)?);
        #[allow(clippy::cast_precision_loss)] // Far below 2^53.
        Some(Percent(lost as f64 / packets as f64 * 100.0))
    }
}

/// Load of the processors on both ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cpu {
    /// This end.
    pub local: Utilisation,
    /// The peer's.
    pub remote: Utilisation,
}

/// Of one processor: more than 100 % are several.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Utilisation {
    /// Together.
    pub total: Percent,
    /// In the program.
    pub user: Percent,
    /// In the kernel.
    pub system: Percent,
}

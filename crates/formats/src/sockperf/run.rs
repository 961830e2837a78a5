//! What a run of sockperf says.

use crate::bounds::{LeftOut, Limit};
use crate::record::{keep, recorded};
use crate::refusal::{End, Refusals, Said};
use crate::text::At;
use crate::units::{Bytes, Gbps, MiBps, Microseconds, PerSecond};
use serde::Serialize;
use smol_str::SmolStr;

/// One run of the client; of a server, what it said before one came.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Run {
    /// `3.7-no.git`.
    pub version: Option<At<SmolStr>>,
    /// A server's output: it measures nothing.
    pub is_server: bool,
    /// Which test, where the command line is shown or the result tells.
    pub mode: Option<At<Mode>>,
    /// What was asked for.
    pub params: Params,
    /// Peers.
    pub endpoints: Vec<Endpoint>,
    /// The whole run, warm-up included.
    pub total: Option<At<Counts>>,
    /// Latencies, one per server that was measured.
    pub servers: Vec<Server>,
    /// Of a throughput test.
    pub throughput: Option<At<Throughput>>,
    /// What looks like a measurement but is not one, and why.
    pub refused: Refusals,
    /// What the program remarked.
    pub notes: Vec<Said>,
    /// What failed.
    pub failures: Vec<Said>,
    /// Endpoints, servers, percentiles, remarks and failures beyond the limits.
    pub left_out: Vec<LeftOut>,
    /// How it ended.
    pub end: End,
    /// 1-based first and last line that belong to the run.
    pub lines: (u32, u32),
}

recorded!(Run, Limit::SOCKPERF_RUNS);

impl Run {
    pub(super) fn note(&mut self, said: Said) {
        let line = said.line;
        keep(&mut self.notes, said, Limit::SOCKPERF_SAID, line, &mut self.left_out);
    }

    pub(super) fn fail(&mut self, said: Said) {
        let line = said.line;
        keep(&mut self.failures, said, Limit::SOCKPERF_SAID, line, &mut self.left_out);
        self.ended(End::Failed);
    }

    /// An interrupt stays one, whatever the program says behind it.
    pub(super) fn ended(&mut self, end: End) {
        if self.end != End::Interrupted {
            self.end = end;
        }
    }
}

/// Which test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Latency, one message at a time.
    PingPong,
    /// Latency under a steady load.
    UnderLoad,
    /// Latency under a recorded load.
    Playback,
    /// Messages as fast as they go, one way.
    Throughput,
}

/// What was asked for, where the output or a command line above it shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Params {
    /// Size of a message.
    pub message: Option<Bytes>,
    /// Messages per second; `None` also where `max` was asked for.
    pub rate: Option<u64>,
    /// Messages that are sent together.
    pub burst: Option<u64>,
    /// One of so many messages is answered.
    pub reply_every: Option<u64>,
    /// Seconds.
    pub seconds: Option<u64>,
}

/// A peer, or what a server listens on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Endpoint {
    /// 1-based line.
    pub line: u32,
    /// Address.
    pub host: SmolStr,
    /// Port.
    pub port: Option<u16>,
    /// Protocol.
    pub transport: Option<Transport>,
}

/// Protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// A socket of this host.
    Unix,
}

/// Time and messages.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Counts {
    /// Seconds.
    pub seconds: f64,
    /// Messages that were sent.
    pub sent: u64,
    /// Messages that came back.
    pub received: u64,
}

/// What the times are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measured {
    /// Half of a round trip: one way, if both ways are alike.
    HalfRoundTrip,
    /// A whole round trip (`--full-rtt`).
    RoundTrip,
}

/// The latencies of one server.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Server {
    /// Its number.
    pub number: u32,
    /// The part of the run that counts: without warm-up and end.
    pub valid: Option<At<Counts>>,
    /// The latencies.
    pub latency: Option<At<Latency>>,
    /// What got lost.
    pub lost: Option<At<Lost>>,
    /// Observations and percentiles.
    pub observations: Option<At<Observations>>,
}

/// Mean and spread. Releases before 3.8 show fewer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Latency {
    /// Of a whole round trip or half of one.
    pub measured: Measured,
    /// Mean.
    pub mean: Microseconds,
    /// Standard deviation.
    pub stdev: Option<Microseconds>,
    /// Mean absolute deviation.
    pub mean_ad: Option<Microseconds>,
    /// Median absolute deviation.
    pub median_ad: Option<Microseconds>,
    /// Half of the distance between the quartiles.
    pub siqr: Option<Microseconds>,
    /// Standard deviation by mean.
    pub cv: Option<f64>,
    /// Standard error, as if observations were independent.
    pub std_error: Option<Microseconds>,
    /// Confidence interval with its level in percent, as if observations were independent: they are not, and it is too narrow.
    pub interval: Option<(f64, Microseconds, Microseconds)>,
}

/// What got lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// Never answered.
    pub dropped: u64,
    /// Answered more than once.
    pub duplicated: u64,
    /// Answered out of order: not among the observations.
    pub out_of_order: u64,
}

/// Observations and percentiles.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Observations {
    /// How many.
    pub count: u64,
    /// Shortest.
    pub min: Option<At<Microseconds>>,
    /// Longest.
    pub max: Option<At<Microseconds>>,
    /// Percentiles, as printed from high to low.
    pub percentiles: Vec<(f64, At<Microseconds>)>,
}

/// Of a throughput test. What the client handed to the network.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Throughput {
    /// Messages.
    pub sent: Option<u64>,
    /// Seconds.
    pub seconds: Option<f64>,
    /// Messages per second.
    pub messages: Option<PerSecond>,
    /// Payload.
    pub bandwidth: Option<Bandwidth>,
}

/// A bandwidth in the unit in which it was printed: `MBps` are 2²⁰ bytes per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bandwidth(pub MiBps);

impl Bandwidth {
    /// In gigabits per second. The `Mbps` that the program prints beside are 2²⁰ bits.
    pub fn gbps(self) -> Gbps {
        self.0.into()
    }
}

//! What `ping` prints: of iputils, busybox, inetutils, BSD and macOS, and of Windows in English.
//!
//! Windows prints whole milliseconds, cut: `time<1ms`, and a smallest of `0ms`, are upper bounds. It counts routers' answers as received.
//!
//! Times are round trips, in milliseconds as printed. Without a time in the replies (payloads below 16 bytes) there is none.

mod line;
mod reader;
mod windows;

pub use reader::{Reader, parse};

use crate::bounds::{LeftOut, Limit};
use crate::record::recorded;
use crate::refusal::{End, Refusals, Said};
use crate::text::At;
use crate::tool::{Command, Gives, Mark, Tool, seen};
use crate::units::{Bytes, Microseconds, Percent};
use serde::Serialize;
use smol_str::SmolStr;

/// ping.
pub const TOOL: Tool = Tool {
    name: "ping",
    called: "ping",
    run: "ping -c 10 HOST",
    gives: Gives::NoFacts("a result of ping"),
    marks: &[Mark::aside(is_own)
        .begins(&["PING ", "ping: ", "Reply from ", "Pinging ", "Ping statistics for "])
        .holds(&[" ping statistics ---", " bytes from "])],
    commands: &[Command::any("ping"), Command::any("ping6")],
    words: &[
        "PING ",
        "ping statistics",
        "icmp_seq",
        "rtt min/avg/max",
        "round-trip min/avg/max",
        "Reply from ",
        "Ping statistics for ",
        "Ping request could not find host ",
    ],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n",
        "[1795294324.960938] 64 bytes from ::1: icmp_seq=1 ttl=64 time=0.217 ms\n",
    ],
    ..Tool::NONE
};

fn is_own(line: &str) -> bool {
    let has = |word: &str| line.contains(word);
    line.starts_with("PING ") && has("bytes") && has("(")
        || has(" ping statistics ---")
        || has(" bytes from ") && (has("icmp_seq=") || has("icmp_req=") || has(" seq=") && has("ttl="))
        || line.starts_with("ping: ")
        || line.starts_with("Reply from ") && (has(": bytes=") && has("time") || has(": time"))
        || line.starts_with("Pinging ") && has(" bytes of data:")
        || line.starts_with("Ping statistics for ")
}

/// One run.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Run {
    /// The name or address that was asked for.
    pub host: Option<At<SmolStr>>,
    /// Its address.
    pub address: Option<SmolStr>,
    /// Bytes behind the ICMP header.
    pub payload: Option<Bytes>,
    /// Replies, as they came.
    pub replies: Vec<Reply>,
    /// Answers of routers, and of this host: unreachable, time to live exceeded, no answer yet.
    pub errors: Vec<Said>,
    /// The tool's own count.
    pub counts: Option<At<Counts>>,
    /// The tool's own summary.
    pub summary: Option<At<Summary>>,
    /// What looks like a measurement but is not one, and why.
    pub refused: Refusals,
    /// What the tool remarked.
    pub notes: Vec<Said>,
    /// Why nothing was measured.
    pub failures: Vec<Said>,
    /// Replies, errors, remarks and failures beyond the limits.
    pub left_out: Vec<LeftOut>,
    /// How it ended. An interrupt by the keyboard is the regular end of a run without a count.
    pub end: End,
    /// 1-based first and last line that belong to the run.
    pub lines: (u32, u32),
}

recorded!(Run, Limit::PING_RUNS);

/// One reply.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reply {
    /// 1-based line.
    pub line: u32,
    /// Its number. Wraps at 65536.
    pub sequence: Option<u32>,
    /// Round trip. `None` where the payload is too short to measure it.
    pub time: Option<Microseconds>,
    /// The time was too short for the clock, and the tool printed `<1`: it is an upper bound.
    pub is_bound: bool,
    /// Time to live that was left.
    pub ttl: Option<u8>,
    /// Seconds since 1970, with `-D`.
    pub at: Option<f64>,
    /// The same number was answered before.
    pub duplicate: bool,
}

/// The tool's own count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Counts {
    /// Requests.
    pub transmitted: u64,
    /// Replies.
    pub received: u64,
    /// Replies that came again.
    pub duplicates: u64,
    /// Errors that routers, or this host, answered.
    pub errors: u64,
    /// Part of the requests that were not answered, as printed.
    pub loss: Option<Percent>,
    /// Milliseconds from the first request to the last.
    pub milliseconds: Option<u64>,
}

/// The tool's own summary of the round trips.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// Shortest. `None` where it was too short for the clock.
    pub min: Option<Microseconds>,
    /// Mean. `None` where round trips that were too short for the clock were counted as nothing.
    pub mean: Option<Microseconds>,
    /// Longest.
    pub max: Option<Microseconds>,
    /// iputils' `mdev`, BSD's `stddev`: both the standard deviation. busybox shows none.
    pub stdev: Option<Microseconds>,
    /// Exponentially weighted mean, of floods and adaptive runs.
    pub ewma: Option<Microseconds>,
}

#[cfg(test)]
mod tests;

//! What grew on one or several nodes, in two forms.

mod json;
mod text;

pub use json::SCHEMA;

use crate::doctor::words::counted;
use linerate_node::counters::known::{Kind, Unit};
use linerate_node::counters::{Doubt, Grown, Growth, Verdict};
use serde::Serialize;
use std::io::{self, Write};

/// What grew, for a reader.
#[derive(Debug, Serialize)]
pub struct Report {
    /// One for each node.
    pub nodes: Vec<Node>,
    /// 0: nothing that is judged grew; 1: a fault or a loss grew; 2: neither can be said of some node.
    pub exit_code: u8,
}

/// A node, or why it says nothing.
#[derive(Debug, Serialize)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Why it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What its readings show.
    #[serde(flatten)]
    pub watched: Option<Watched>,
}

/// What a node's readings show.
#[derive(Debug, Serialize)]
pub struct Watched {
    /// `grew`, `clean`, `unknown`.
    pub verdict: &'static str,
    /// In one sentence.
    pub said: String,
    /// Intervals between readings.
    pub intervals: usize,
    /// Seconds from the first reading to the last.
    pub seconds: Option<f64>,
    /// Counters that two readings in a row show.
    pub compared: usize,
    /// Of these, those of which growth is a fault or a loss.
    pub judged: usize,
    /// Whether the node was started again in between.
    pub restarted: bool,
    /// The worst first.
    pub grown: Vec<Counter>,
    /// Counters at their maximum, which can show no more.
    pub stuck: Vec<AtMaximum>,
    /// Data that passed, of each owner that counts it.
    pub traffic: Vec<Passed>,
    #[serde(skip)]
    code: u8,
}

/// A counter that grew.
#[derive(Debug, Serialize)]
pub struct Counter {
    /// What counts: `mlx5_0 port 1`.
    pub owner: String,
    /// Its name.
    pub counter: String,
    /// What it is that it grows; `null`: its meaning is not known here.
    pub kind: Option<Kind>,
    /// In what it counts.
    pub unit: Option<Unit>,
    /// First reading.
    pub from: u64,
    /// Last reading.
    pub to: u64,
    /// By how much, over all readings.
    pub by: u64,
    /// Whether that is the least.
    pub at_least: bool,
    /// In how many intervals.
    pub in_intervals: usize,
    /// Growth in a second.
    pub per_second: Option<f64>,
    /// What it means.
    pub means: Option<&'static str>,
    /// What to do.
    pub then: Option<&'static str>,
    /// Where it was read last.
    pub at: String,
}

/// A counter that can show no more.
#[derive(Debug, Serialize)]
pub struct AtMaximum {
    /// What counts.
    pub owner: String,
    /// Its name.
    pub counter: String,
    /// The maximum.
    pub value: u64,
}

/// Data that passed.
#[derive(Debug, Serialize)]
pub struct Passed {
    /// What counts.
    pub owner: String,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// 10⁹ bits sent in a second.
    pub sent_gbps: Option<f64>,
    /// 10⁹ bits received in a second.
    pub received_gbps: Option<f64>,
}

/// A form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For a terminal.
    Text(crate::Style),
    /// For programs, schema `linerate.watch/1`.
    Json,
}

impl Report {
    /// Of nodes.
    #[must_use]
    pub fn of(nodes: Vec<Node>) -> Self {
        let code = |n: &Node| n.watched.as_ref().map_or(2, |w| w.code);
        let has = |wanted| nodes.iter().any(|n| code(n) == wanted);
        let exit_code = if has(1) { 1 } else { u8::from(has(2)) * 2 };
        Report { nodes, exit_code }
    }

    /// Writes it.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, format: Format, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Text(style) => text::render(self, style, out),
            Format::Json => json::render(self, out),
        }
    }
}

impl Node {
    /// A node that was not read.
    #[must_use]
    pub fn unread(name: impl Into<String>, why: impl Into<String>) -> Self {
        Node { name: name.into(), error: Some(why.into()), watched: None }
    }

    /// A node's growth; `at` says where a counter was read.
    #[must_use]
    pub fn of(name: impl Into<String>, growth: &Growth, at: &dyn Fn(&Grown) -> String) -> Self {
        Node { name: name.into(), error: None, watched: Some(Watched::of(growth, at)) }
    }
}

impl Watched {
    fn of(g: &Growth, at: &dyn Fn(&Grown) -> String) -> Self {
        let verdict = g.verdict();
        let (name, code) = match verdict {
            Verdict::Grew => ("grew", 1),
            Verdict::Clean => ("clean", 0),
            Verdict::CannotTell(_) => ("unknown", 2),
        };
        let mut grown: Vec<Counter> = g.grown.iter().map(|c| Counter::of(c, at(c))).collect();
        // Stable: within a kind by owner and name.
        grown.sort_by_key(|c| c.kind.map_or(u8::MAX, |k| k as u8));
        let gbps = |bytes: u64| g.seconds.map(|s| bytes as f64 * 8.0 / 1e9 / s);
        Watched {
            verdict: name,
            said: said(g, verdict),
            intervals: g.intervals,
            seconds: g.seconds,
            compared: g.compared,
            judged: g.judged,
            restarted: g.restarted,
            grown,
            stuck: g
                .stuck
                .iter()
                .map(|s| AtMaximum { owner: s.owner.to_string(), counter: s.name.clone(), value: s.value })
                .collect(),
            traffic: g
                .traffic
                .iter()
                .map(|(owner, t)| Passed {
                    owner: owner.to_string(),
                    sent_bytes: t.sent,
                    received_bytes: t.received,
                    sent_gbps: gbps(t.sent),
                    received_gbps: gbps(t.received),
                })
                .collect(),
            code,
        }
    }
}

impl Counter {
    fn of(c: &Grown, at: String) -> Self {
        Counter {
            owner: c.owner.to_string(),
            counter: c.name.clone(),
            kind: c.known.map(|k| k.kind),
            unit: c.known.map(|k| k.unit),
            from: c.from,
            to: c.to,
            by: c.by,
            at_least: c.at_least,
            in_intervals: c.in_intervals,
            per_second: c.per_second,
            means: c.known.map(|k| k.means),
            then: c.known.map(|k| k.then).filter(|t| !t.is_empty()),
            at,
        }
    }
}

fn said(g: &Growth, verdict: Verdict) -> String {
    let judged = counted(g.judged, "counter", "counters");
    match verdict {
        Verdict::Grew => {
            let n = g.bad().count();
            format!("{} of faults and losses grew", counted(n, "counter", "counters"))
        }
        Verdict::Clean => format!("none of {judged} of faults and losses grew"),
        Verdict::CannotTell(Doubt::NothingCompared) => {
            "cannot tell: no counter was read twice (only port, interface, PCIe and GPU counters are compared)"
                .to_owned()
        }
        Verdict::CannotTell(Doubt::NothingJudged) => {
            format!(
                "cannot tell: {} compared, none of them of faults or losses",
                counted(g.compared, "counter", "counters")
            )
        }
        Verdict::CannotTell(Doubt::Stuck) => {
            format!("cannot tell: none of {judged} grew, but some are at their maximum and cannot grow")
        }
        Verdict::CannotTell(Doubt::Idle) => {
            format!(
                "cannot tell: none of {judged} grew, but no port or interface carried data; watch while the job runs"
            )
        }
    }
}

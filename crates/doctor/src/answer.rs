//! What the doctor answers. Everything is owned and can be shown without what it was concluded from.

use crate::place::Quote;
use linerate_node::context::Role;
use linerate_rules::{Remedy, Severity};
pub use linerate_verdict::Confidence;
use serde::Serialize;

/// Kind of an input in which nothing is recognised.
pub const NOTHING_KNOWN: &str = "nothing known";
/// Version of the JSON form.
pub const SCHEMA: u32 = 1;

/// The whole answer.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Answer {
    /// What was read, and how much of it was understood.
    pub inputs: Vec<Input>,
    /// Jobs that ran, distinguished by their communicators.
    pub jobs: Vec<Job>,
    /// Causes, the most important first. Not serialized: who renders them adds what the planner says of their remedies.
    #[serde(skip)]
    pub causes: Vec<Cause>,
    /// What is wrong but cannot be decided from this, with what to read.
    pub undecided: Vec<Undecided>,
    /// What follows from a cause: it needs no search of its own.
    pub consequences: Vec<Note>,
    /// What people suspect and is not the cause.
    pub not_causes: Vec<Note>,
    /// What benchmarks measured, and what explains it.
    pub figures: Vec<Figure>,
    /// Failures in the order of time.
    pub timeline: Vec<Failure>,
    /// What was read but not distinguished for want of room, clocks that disagree, mixed lines: limits of this answer.
    pub limits: Vec<String>,
}

/// A file, a stream, a snapshot.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Input {
    /// Name.
    pub name: String,
    /// What it was taken for: `NCCL log`, `kernel log`, `nccl-tests table`, `snapshot of node1`, `lspci`, …; several joined by ` and `.
    pub kind: String,
    /// Bytes, unpacked.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
    /// Lines of NCCL.
    pub nccl_lines: u64,
    /// Of those, lines whose meaning is known.
    pub understood: u64,
    /// Remarks: cut lines, bytes that are no text, mixed writers, compression that is damaged.
    pub remarks: Vec<String>,
}

/// A job.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Job {
    /// `job 1`.
    pub name: String,
    /// Releases of NCCL, as given or by wordings; the grammar that decides what numbers mean.
    pub releases: Vec<String>,
    /// CUDA driver versions, `12.4`.
    pub cuda_drivers: Vec<String>,
    /// Ranks of the largest communicator, and how many of them the logs show.
    pub ranks: Option<u32>,
    /// Ranks that were seen.
    pub ranks_seen: u32,
    /// Hosts that were seen.
    pub hosts: Vec<String>,
    /// Nodes, as NCCL counts them.
    pub nodes: Option<u32>,
    /// Communicators.
    pub communicators: u32,
    /// Networks chosen, with the number of processes.
    pub networks: Vec<(String, u32)>,
    /// Plugins loaded.
    pub plugins: Vec<String>,
    /// NIC lists, with the hosts that have them: more than one means that nodes differ.
    pub nics: Vec<NicList>,
    /// For each GPU its nearest NIC, by NCCL's table of paths.
    pub paths: Vec<NearestNic>,
    /// What NCCL's search found.
    pub searches: Vec<Search>,
    /// Channels of collectives, smallest and largest.
    pub channels: Option<(u32, u32)>,
    /// Algorithms and protocols, with how often.
    pub algorithms: Vec<(String, u64)>,
    /// Environment, and what it does.
    pub environment: Vec<Setting>,
    /// Connections.
    pub matrix: Matrix,
    /// Benchmarks: one line each.
    pub benchmarks: Vec<String>,
}

/// Hosts with equal NICs.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NicList {
    /// Network.
    pub network: String,
    /// NICs.
    pub nics: Vec<String>,
    /// Hosts.
    pub hosts: Vec<String>,
}

/// A GPU and the NIC that is nearest to it, as NCCL counts.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NearestNic {
    /// PCI address, or the name as printed.
    pub gpu: String,
    /// As printed: `NET/0`.
    pub nic: String,
    /// `PIX`, `PHB`, ….
    pub path: String,
    /// Bandwidth of the path, GB/s.
    pub gb_per_s: f64,
    /// Hosts on which it is so.
    pub hosts: Vec<String>,
}

/// What NCCL's search found for a pattern.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Search {
    /// `ring`, `tree`, ….
    pub pattern: &'static str,
    /// Channels.
    pub channels: u32,
    /// Bandwidth of a channel within a node, GB/s.
    pub intra_gb_per_s: f64,
    /// Bandwidth of a channel between nodes, GB/s; `None` where the job is not seen to span nodes.
    pub inter_gb_per_s: Option<f64>,
    /// The longest path between its GPUs: `NVL`, `SYS`, ….
    pub gpus: String,
    /// The longest path from a GPU to its NIC; `None` as above.
    pub nics: Option<String>,
}

/// A variable.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Setting {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
    /// Who has it, in words: `gpu-1, gpu-2 only`, or that a command in the text sets it; `None` where all processes have it.
    pub only: Option<String>,
    /// What it does in this release.
    pub does: Option<String>,
    /// What is wrong with it.
    pub verdict: Option<String>,
    /// Where it was read.
    pub at: String,
}

/// Who is connected by what: ranks with equal connections share a row.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Matrix {
    /// Column heads: `P2P/CUMEM`, `SHM`, `NET/IB send`, `NET/IB receive`.
    pub columns: Vec<String>,
    /// Rows, the most frequent pattern first.
    pub rows: Vec<Row>,
}

/// Ranks with equal connections.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Row {
    /// Ranks, as ranges: `0-7,16-23`.
    pub ranks: String,
    /// How many.
    pub count: u32,
    /// Hosts.
    pub hosts: Vec<String>,
    /// For each column: what there is; empty for nothing.
    pub cells: Vec<Cell>,
    /// It differs from most others in this way.
    pub odd: Option<String>,
}

/// Connections of one kind.
#[derive(Debug, Clone, Default, Serialize, PartialEq, Eq)]
pub struct Cell {
    /// Channels, as ranges: `0-15`.
    pub channels: String,
    /// NICs by number, of networks: `0,2`.
    pub devices: String,
    /// GPUDirect RDMA; `None` where it does not apply.
    pub gdr: Option<Gdr>,
    /// Connections that go through another rank's GPU (PXN).
    pub proxied: bool,
}

/// How many of the connections use GPUDirect RDMA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Gdr {
    /// All.
    All,
    /// Some.
    Some,
    /// None.
    None,
}

/// A line that proves something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// `file:line`, or the path in a snapshot.
    pub at: String,
    /// The line, or what was read.
    pub text: String,
}

/// A cause.
#[derive(Debug, Clone, Serialize)]
pub struct Cause {
    /// Stable id.
    pub id: &'static str,
    /// The cause in general, in one line.
    pub title: &'static str,
    /// What it is here, in one line: hosts, ranks, devices, values.
    pub summary: String,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// Why that sure.
    pub because: String,
    /// Hosts and ranks that have it; empty where all have.
    pub scope: String,
    /// What proves it.
    pub evidence: Vec<Evidence>,
    /// What would confirm it.
    pub confirm: Vec<String>,
    /// What would refute it.
    pub refute: Vec<String>,
    /// Rules that judge it on a node.
    pub rules: Vec<&'static str>,
    /// What to do. Not serialized: who renders it adds what the planner says of it.
    #[serde(skip)]
    pub remedy: Option<Remedy>,
    /// The role of the node that is to be changed, where it is one that was given: what a fix can break depends on it.
    #[serde(skip)]
    pub role: Option<Role>,
    /// Primary sources.
    pub sources: Vec<linerate_rules::Source>,
}

/// Something wrong that cannot be decided from what was given.
#[derive(Debug, Clone, Serialize)]
pub struct Undecided {
    /// The symptom, as in `linerate explain symptom/…`.
    pub symptom: &'static str,
    /// What is seen, in one line.
    pub summary: String,
    /// What shows it.
    pub evidence: Vec<Evidence>,
    /// Causes that fit.
    pub candidates: Vec<&'static str>,
    /// What to read or run to decide.
    pub read: Vec<String>,
}

/// What a benchmark measured, and what explains it.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    /// Program or test, and device.
    pub name: String,
    /// The best value of the table.
    pub value: f64,
    /// `Gb/s` of a port, `GB/s` of a collective's bus bandwidth, `µs` one way.
    pub unit: &'static str,
    /// What the links carry, in words; `None` where neither a node nor the user says what they are.
    pub ceiling: Option<String>,
    /// The value as a share of that.
    pub share: Option<Share>,
    /// The row.
    pub evidence: Evidence,
    /// What the curve over sizes says; empty where there is none.
    pub shape: String,
    /// What fits, that which counts most first. None where the ceiling is reached.
    pub fits: Vec<Explanation>,
    /// More that fits.
    pub fits_left_out: usize,
    /// What would fit, and the nodes exclude.
    pub excluded: Vec<Note>,
    /// The command that tells most of what fits apart.
    pub next: Option<Next>,
    /// The value is what the links carry.
    pub reached: bool,
}

/// A share between two bounds: that of the higher ceiling and that of the lower.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// Of the higher ceiling.
    pub low: f64,
    /// Of the lower.
    pub high: f64,
}

/// Something that explains a figure.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// Stable id.
    pub id: &'static str,
    /// What it is here.
    pub what: String,
    /// What it predicts, and from what.
    pub because: String,
    /// `derived`, `measured elsewhere`, `estimate`.
    pub basis: &'static str,
    /// Rules that judge it on a node.
    pub rules: Vec<&'static str>,
    /// The rule that fails on a node that was given, with its words.
    pub on_node: Option<String>,
    /// What the log beside the figure shows of it, with its place.
    pub in_log: Option<String>,
}

/// A command, and what each of its outcomes leaves.
#[derive(Debug, Clone, Serialize)]
pub struct Next {
    /// What to run.
    pub command: String,
    /// Outcomes.
    pub outcomes: Vec<Outcome>,
}

/// An outcome of a command.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// What is seen.
    pub shows: &'static str,
    /// What explains the figure then: places in the list, from 1 on. Empty: none of the list.
    pub fits: Vec<usize>,
}

/// A remark with evidence.
#[derive(Debug, Clone, Serialize)]
pub struct Note {
    /// What, in one line.
    pub what: String,
    /// Why.
    pub why: String,
    /// What shows it.
    pub evidence: Vec<Evidence>,
}

/// A failure in the order of time.
#[derive(Debug, Clone, Serialize)]
pub struct Failure {
    /// Where: host and rank.
    pub who: String,
    /// Seconds since the first failure with a comparable clock.
    pub after: Option<f64>,
    /// How often in all.
    pub count: u64,
    /// Processes.
    pub processes: u32,
    /// The first line.
    pub evidence: Evidence,
    /// It follows from others, as a rule.
    pub consequence: bool,
}

impl Answer {
    /// Exit code: 0 nothing wrong was seen, 1 causes, 2 something is wrong or unreadable and cannot be decided.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let counts = |c: &Cause| c.severity > Severity::Info;
        if self.causes.iter().any(counts) {
            1
        } else if !self.undecided.is_empty() || self.open_figure().is_some() || self.nothing_understood() {
            2
        } else {
            0
        }
    }

    /// The first figure that something explains: whether that is wrong, or what of it, is not decided.
    #[must_use]
    pub fn open_figure(&self) -> Option<&Figure> {
        self.figures.iter().find(|f| !f.fits.is_empty())
    }

    /// Whether no input was useful.
    #[must_use]
    pub fn nothing_understood(&self) -> bool {
        self.jobs.is_empty()
            && self.causes.is_empty()
            && self.timeline.is_empty()
            && self.not_causes.is_empty()
            && self.figures.is_empty()
    }
}

impl Evidence {
    pub(crate) fn of(quote: &Quote, file: &str) -> Self {
        Evidence { at: format!("{file}:{}", quote.place.line), text: quote.text.clone() }
    }
}

//! A report, whichever form it has.

use crate::bounds::LeftOut;
use crate::text::At;
use serde::Serialize;
use smol_str::SmolStr;
use std::fmt;

/// One answer of RAS.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Report {
    /// First and last line, 1-based.
    pub lines: (u32, u32),
    /// It is JSON: everything that was gathered, without RAS's own judgement.
    pub is_json: bool,
    /// Events as they happened (`ncclras -m`), and no state of all.
    pub is_monitor: bool,
    /// Release of NCCL, `2.27.3`.
    pub nccl: Option<At<SmolStr>>,
    /// The CUDA runtime, `12090`.
    pub cuda_runtime: Option<u32>,
    /// The CUDA driver, `12040`.
    pub cuda_driver: Option<u32>,
    /// When it was asked; only JSON says so.
    pub time: Option<SmolStr>,
    /// The job in numbers.
    pub job: Option<At<Totals>>,
    /// How long gathering took.
    pub gathered: Option<Gathered>,
    /// Communicators that are alike, a row each; of JSON as RAS would group them.
    pub groups: Vec<Group>,
    /// RAS had no communicator to show.
    pub no_data: Option<At<()>>,
    /// Processes that did not answer in time.
    pub missing: Option<Absent>,
    /// Processes that RAS gave up: it could not reach them for a minute.
    pub dead: Option<Absent>,
    /// Communicators of which something is said.
    pub communicators: Vec<Communicator>,
    /// Messages between RAS's own threads that were waited for in vain.
    pub timeouts: Option<At<u32>>,
    /// How far the text goes.
    pub reached: Reached,
    /// What is beyond limits.
    pub left_out: Vec<LeftOut>,
}

/// How far a text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reached {
    /// The release, the job.
    #[default]
    Head,
    /// The table of communicators.
    Table,
    /// The heading of the errors.
    Errors,
    /// The heading of the warnings, which come last; the end of a JSON document.
    Last,
}

/// The job in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Nodes.
    pub nodes: u32,
    /// Processes.
    pub processes: u32,
    /// GPUs.
    pub gpus: u32,
}

/// How long gathering took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gathered {
    /// 1-based line.
    pub line: u32,
    /// Seconds.
    pub seconds: f64,
}

/// Communicators of one size, status and kind of error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Group {
    /// 1-based line.
    pub line: u32,
    /// Its number.
    pub number: u32,
    /// Communicators.
    pub communicators: u32,
    /// Nodes of each.
    pub nodes: u32,
    /// Ranks of each.
    pub ranks: u32,
    /// GPUs of those that answered, in all of them.
    pub answered: u32,
    /// The furthest that any of their ranks is.
    pub status: Status,
    /// What is wrong.
    pub errors: Errors,
}

/// Where a rank is, in the order of its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Its process answered, and does not know the communicator: it left, or never came (2.24 and 2.25 say `UNKNOWN`).
    NoComm,
    /// It is being made.
    Init,
    /// It is made.
    Running,
    /// It is being destroyed.
    Finalize,
    /// It was aborted.
    Abort,
}

impl Status {
    const ALL: [(Status, &'static str); 5] = [
        (Status::NoComm, "NOCOMM"),
        (Status::Init, "INIT"),
        (Status::Running, "RUNNING"),
        (Status::Finalize, "FINALIZE"),
        (Status::Abort, "ABORT"),
    ];

    /// The word of RAS.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(s, _)| *s == self).map_or("", |(_, w)| w)
    }

    pub(super) fn read(word: &str) -> Option<Status> {
        let word = if word == "UNKNOWN" { "NOCOMM" } else { word };
        Self::ALL.iter().find(|(_, w)| *w == word).map(|(s, _)| *s)
    }
}

/// What is wrong with a communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
pub struct Errors {
    /// Ranks did not answer.
    pub incomplete: bool,
    /// Ranks report an error.
    pub error: bool,
    /// Ranks differ.
    pub mismatch: bool,
}

impl Errors {
    /// Whether nothing is.
    #[must_use]
    pub fn is_ok(self) -> bool {
        self == Errors::default()
    }

    pub(super) fn read(word: &str) -> Option<Errors> {
        let mut all = Errors::default();
        for part in word.split(',').filter(|_| word != "OK") {
            match part {
                "INCOMPLETE" => all.incomplete = true,
                "ERROR" => all.error = true,
                "MISMATCH" => all.mismatch = true,
                _ => return None,
            }
        }
        Some(all)
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [(self.incomplete, "INCOMPLETE"), (self.error, "ERROR"), (self.mismatch, "MISMATCH")];
        let words: Vec<&str> = words.iter().filter(|(is, _)| *is).map(|(_, w)| *w).collect();
        f.write_str(if words.is_empty() { "OK".to_owned() } else { words.join(",") }.as_str())
    }
}

/// Some that are counted, of which perhaps not all are named.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Absent {
    /// 1-based line.
    pub line: u32,
    /// How many.
    pub count: u32,
    /// Those that are named.
    pub members: Vec<Member>,
}

/// A rank, or a process.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Member {
    /// 1-based line.
    pub line: u32,
    /// Rank in its communicator.
    pub rank: Option<u32>,
    /// Process.
    pub pid: Option<u32>,
    /// Address of its node; empty where it is not known.
    pub node: SmolStr,
    /// Its GPUs, as printed: `0`, `0,1`, `0 (NVML 3)`.
    pub gpus: SmolStr,
}

/// As the text form has it.
impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.gpus.contains(',') { "s" } else { "" };
        match (self.rank, self.pid) {
            (Some(rank), Some(pid)) => {
                write!(f, "Rank {rank} -- GPU {} managed by process {pid} on node {}", self.gpus, self.node)
            }
            (Some(rank), None) => write!(f, "Rank {rank}"),
            (None, Some(pid)) => write!(f, "Process {pid} on node {} managing GPU{s} {}", self.node, self.gpus),
            (None, None) => f.write_str(&self.node),
        }
    }
}

/// A communicator of which something is said.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Communicator {
    /// 1-based line.
    pub line: u32,
    /// Number of its group, and its own in that: `#0-1`; JSON has none.
    pub id: Option<(u32, u32)>,
    /// The number that NCCL's log prints as `commId`.
    pub hash: u64,
    /// Its ranks, where the report says so.
    pub size: Option<u32>,
    /// The headings under which it stands.
    pub errors: Errors,
    /// Ranks that did not answer.
    pub missing: Option<Absent>,
    /// Ranks by status, where they differ; the most frequent first.
    pub statuses: Vec<Share<Status>>,
    /// Ranks by number of operations, for each kind in which they differ.
    pub calls: Vec<Calls>,
    /// Ranks by the error that they report.
    pub reported: Vec<Share<Reported>>,
}

/// Ranks of which the same is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Share<T> {
    /// 1-based line.
    pub line: u32,
    /// What.
    pub what: T,
    /// How many.
    pub count: u32,
    /// Those that are named: few, as a rule.
    pub members: Vec<Member>,
}

/// Ranks by how many operations they have launched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Calls {
    /// 1-based line.
    pub line: u32,
    /// `AllReduce`; 2.24 and 2.25 count all kinds together.
    pub operation: Option<SmolStr>,
    /// By number of operations; the most frequent first.
    pub launched: Vec<Share<u64>>,
}

/// An error that a rank reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reported {
    /// While the communicator was made; otherwise while it ran.
    pub is_initialization: bool,
    /// `Remote process error`, as RAS names NCCL's result.
    pub error: SmolStr,
}

impl Report {
    /// Whether anything in it is wrong, unusual, or not gathered.
    #[must_use]
    pub fn is_troubled(&self) -> bool {
        self.missing.is_some()
            || self.dead.is_some()
            || self.timeouts.is_some()
            || !self.communicators.is_empty()
            || self.groups.iter().any(|g| !g.errors.is_ok())
    }

    /// Whether it is whole, and says that all communicators are made and complete.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.reached == Reached::Last
            && !self.is_troubled()
            && self.left_out.is_empty()
            && !self.groups.is_empty()
            && self.groups.iter().all(|g| g.status == Status::Running)
    }

    /// Communicators in its table.
    #[must_use]
    pub fn communicators_in_all(&self) -> u32 {
        self.groups.iter().fold(0, |n: u32, g| n.saturating_add(g.communicators))
    }
}

/// Puts the most frequent first, as RAS does.
pub(super) fn by_frequency<T: Ord + Copy>(shares: &mut [Share<T>]) {
    shares.sort_by_key(|s| (std::cmp::Reverse(s.count), std::cmp::Reverse(s.what)));
}

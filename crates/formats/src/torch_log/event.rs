//! What the watchdog's lines say.

use serde::Serialize;
use smol_str::SmolStr;
use std::time::Duration;

/// A line of the watchdog, or of an exception.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Line {
    /// 1-based line.
    pub line: u32,
    /// Rank in the job: `[rank3]:`.
    pub rank: Option<u32>,
    /// Rank in the process group: `Rank 1]`.
    pub group_rank: Option<u32>,
    /// Which process group.
    pub group: Option<Group>,
    /// What it says.
    pub event: Event,
}

impl Line {
    /// The rank in the job. Where only the rank in a group is shown, that, unless the group is known to be another than the job's.
    pub fn job_rank(&self) -> Option<u32> {
        let is_job = self.group.as_ref().is_none_or(|g| g.id == Some(0) || g.name.as_deref() == Some("default_pg"));
        self.rank.or(self.group_rank.filter(|_| is_job))
    }
}

/// A process group: `PG 0 (default_pg)`, `PG 1`, `PG ID 2 PG GUID 5(tp)`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Group {
    /// Number within the process.
    pub id: Option<u32>,
    /// Name that all members share.
    pub guid: Option<SmolStr>,
    /// Description.
    pub name: Option<SmolStr>,
}

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// A collective did not finish in time.
    Timeout(Timeout),
    /// Where this rank is in its sequence of collectives.
    Progress(Progress),
    /// Another rank asked this one to write down its state: the other one saw the trouble first.
    DumpObserved,
    /// The watchdog itself hangs, as a rule in a call of CUDA.
    WatchdogStuck {
        /// For how long.
        after: Option<Duration>,
    },
    /// The process ends itself.
    TakenDown,
    /// An exception ended the watchdog.
    Terminated {
        /// The exception's text.
        text: String,
    },
    /// An error of NCCL.
    Error(Error),
    /// What followed `Last error:`, NCCL's own words.
    LastError {
        /// The words.
        text: String,
    },
    /// Ranks that the desync report calls lagging.
    Lagging {
        /// Ranks.
        ranks: Vec<u32>,
        /// What they did not do.
        lag: Lag,
        /// Which collective, counted from 1.
        collective: Option<u64>,
        /// The words.
        text: String,
    },
    /// Ranks called different collectives.
    Mismatch {
        /// The words.
        text: String,
    },
    /// The store, over which ranks find each other, did not answer.
    Store {
        /// The words.
        text: String,
    },
}

/// `WorkNCCL(SeqNum=5, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600001 milliseconds before timing out`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Timeout {
    /// Number of the collective in its group (since 1.11).
    pub sequence: Option<u64>,
    /// `ALLREDUCE`, `_ALLGATHER_BASE`, `BROADCAST`, …
    pub operation: SmolStr,
    /// Elements that go in (since 2.1).
    pub elements_in: Option<u64>,
    /// Elements that come out (since 2.1).
    pub elements_out: Option<u64>,
    /// Shape of the tensor (before 2.1), as it was printed.
    pub shape: Option<SmolStr>,
    /// The limit.
    pub limit: Option<Duration>,
    /// How long it ran.
    pub ran: Option<Duration>,
}

/// Where a rank is in its sequence of collectives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Why it is printed.
    pub reason: Reason,
    /// The collective in question.
    pub at: Option<u64>,
    /// The last that this rank called; `None` where it called none (`-1`).
    pub enqueued: Option<u64>,
    /// The last that finished; `None` where none did.
    pub completed: Option<u64>,
}

/// Why a rank tells where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Its watchdog saw a failure or a timeout.
    Failure,
    /// It writes down its state, because of itself.
    DumpOfItself,
    /// It writes down its state, because another rank asked; which one, where it is shown.
    DumpForAnother(Option<u32>),
    /// It does so periodically.
    Periodic,
}

/// What lagging ranks did not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lag {
    /// Finish a collective that they had joined.
    DidNotFinish,
    /// Join the next one: these are the stragglers.
    DidNotJoin,
    /// Join any.
    NeverJoined,
}

/// `NCCL error in: file:line, unhandled system error, NCCL version 2.20.5`, and the line `ncclSystemError: …` after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Error {
    /// NCCL's result.
    pub kind: ErrorKind,
    /// NCCL's release.
    pub version: Option<SmolStr>,
    /// The words.
    pub text: String,
}

/// NCCL's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// `ncclUnhandledCudaError`.
    Cuda,
    /// `ncclSystemError`: a system call, or the network.
    System,
    /// `ncclInternalError`.
    Internal,
    /// `ncclInvalidArgument`.
    InvalidArgument,
    /// `ncclInvalidUsage`.
    InvalidUsage,
    /// `ncclRemoteError`: a peer left, or the network failed.
    Remote,
    /// Another.
    Other,
}

//! What a run of nccl-tests or rccl-tests says.

use super::head;
use super::job::Job;
use crate::bounds::{LeftOut, Limit};
use crate::record::{keep, recorded};
use crate::refusal::Refusals;
use crate::text::At;
use crate::units::{Bytes, GBps, Microseconds, Percent};
use serde::Serialize;
use smol_str::SmolStr;

/// One run: one header and the rows below it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Run {
    /// Which program, where the text tells. The tables of older releases are the same.
    pub tool: Option<Tool>,
    /// Version of the tests, printed since nccl-tests 2.17.
    pub version: Option<At<String>>,
    /// `nccl-headers=`: the release that the tests were compiled with, as NCCL's version code (22807 is 2.28.7).
    pub compiled_with: Option<u32>,
    /// `nccl-library=`: the release that is loaded, as NCCL's version code.
    pub library: Option<u32>,
    /// The library's own line, `NCCL version 2.27.3+cuda12.9`.
    pub library_text: Option<At<String>>,
    /// Parameters of the run.
    pub params: Option<At<Params>>,
    /// What else the header says of how was measured: `Blocking Enabled: …`, `Per-Iteration Report: …` (since 2.18).
    pub options: Vec<At<String>>,
    /// What ran, where a line tells: the program's name, a command line above the run.
    pub collective: Option<At<Collective>>,
    /// Participants.
    pub ranks: Vec<Rank>,
    /// Participants that are not listed: beyond the limit, or not to be read.
    pub ranks_not_kept: u64,
    /// `cputime` instead of `time`: how long the calls kept the processor.
    pub is_cpu_time: bool,
    /// Measurements.
    pub rows: Vec<Row>,
    /// Rows that could not be read, and why.
    pub refused: Refusals,
    /// `Avg bus bandwidth`. Averages all sizes: judge the largest size instead.
    pub average: Option<At<Average>>,
    /// `Out of bounds values`.
    pub out_of_bounds: Option<At<OutOfBounds>>,
    /// What failed.
    pub failures: Vec<Failure>,
    /// `# Reducing maxBytes to …`: less memory than the run wanted.
    pub reduced_to: Option<At<Bytes>>,
    /// Entries of the environment that concern NCCL: from JSON, from the command line above, from NCCL's log.
    pub env: Vec<(String, String)>,
    /// How it was started, and what it ran on.
    pub job: Job,
    /// How many times the same header was printed before the first row. More than one: several processes each ran alone (the
    /// tests were built without MPI), and their lines are mixed.
    pub copies: u32,
    /// Rows, participants, failures and later runs of the text beyond the limits.
    pub left_out: Vec<LeftOut>,
    /// 1-based first and last line that belong to the run. A JSON document's are those of the document.
    pub lines: (u32, u32),
}

recorded!(Run, Limit::NCCL_TESTS_RUNS);

impl Run {
    /// A variable of the environment: the first value counts.
    pub(super) fn set(&mut self, name: &str, value: &str, number: u32) {
        if !self.env.iter().any(|(n, _)| n == name) {
            let entry = (head::text(name), head::text(value));
            keep(&mut self.env, entry, Limit::NCCL_TESTS_SETTINGS, number, &mut self.left_out);
        }
    }
}

/// Which program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// NVIDIA/nccl-tests.
    NcclTests,
    /// ROCm/rccl-tests.
    RcclTests,
}

/// The line `# nThread …`. What it does not name is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Params {
    /// Threads of each process.
    pub threads: Option<u32>,
    /// GPUs of each thread.
    pub gpus: Option<u32>,
    /// Ranks of each GPU (rccl-tests).
    pub ranks_per_gpu: Option<u32>,
    /// Smallest size.
    pub min: Option<Bytes>,
    /// Largest size.
    pub max: Option<Bytes>,
    /// From one size to the next.
    pub step: Option<Step>,
    /// Iterations before measuring.
    pub warmup_iters: Option<u32>,
    /// Iterations that are measured.
    pub iters: Option<u32>,
    /// Operations in one iteration.
    pub agg_iters: Option<u32>,
    /// Iterations whose results are checked; 0: results were not checked.
    pub validation: Option<u32>,
    /// Launches of a CUDA graph; 0: no graph.
    pub graph: Option<u32>,
    /// Offset of buffers in elements.
    pub unalign: Option<u32>,
}

/// From one size to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Step {
    /// Multiplied by.
    Factor(u64),
    /// Increased by.
    Bytes(Bytes),
}

/// A participant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rank {
    /// 1-based line.
    pub line: u32,
    /// Its number.
    pub rank: u32,
    /// Communicator's group (since 2.14).
    pub group: Option<u32>,
    /// Process (since 2.0).
    pub pid: Option<u64>,
    /// Host name.
    pub host: Option<SmolStr>,
    /// CUDA device.
    pub device: u32,
    /// Where the GPU is.
    pub bus_id: Option<BusId>,
    /// The GPU's name.
    pub name: String,
}

/// Where a GPU is, as far as the release tells: `[0x1b]`, `[0000:1b:00]`, `[0000:1b:00.0]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct BusId {
    /// PCI domain.
    pub domain: Option<u32>,
    /// Bus.
    pub bus: u8,
    /// Device.
    pub device: Option<u8>,
    /// Function.
    pub function: Option<u8>,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[allow(missing_docs)] // The names are NCCL's.
#[serde(rename_all = "kebab-case")]
pub enum Collective {
    AllReduce,
    AllGather,
    ReduceScatter,
    Broadcast,
    Reduce,
    AllToAll,
    AllToAllV,
    Gather,
    Scatter,
    SendRecv,
    HyperCube,
}

impl Collective {
    /// The program that measures it, as nccl-tests names it.
    #[must_use]
    pub fn program(self) -> &'static str {
        match self {
            Collective::AllReduce => "all_reduce_perf",
            Collective::AllGather => "all_gather_perf",
            Collective::ReduceScatter => "reduce_scatter_perf",
            Collective::Broadcast => "broadcast_perf",
            Collective::Reduce => "reduce_perf",
            Collective::AllToAll => "alltoall_perf",
            Collective::AllToAllV => "alltoallv_perf",
            Collective::Gather => "gather_perf",
            Collective::Scatter => "scatter_perf",
            Collective::SendRecv => "sendrecv_perf",
            Collective::HyperCube => "hypercube_perf",
        }
    }

    /// From a program's name (`all_reduce_perf`, `all_reduce_perf_mpi`) or the tests' own (`AllReduce`).
    pub fn from_name(name: &str) -> Option<Self> {
        let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let base = base.find("_perf").and_then(|at| base.get(..at)).unwrap_or(base);
        let plain: String = base.chars().filter(char::is_ascii_alphanumeric).take(32).collect();
        Some(match plain.to_ascii_lowercase().as_str() {
            "allreduce" => Collective::AllReduce,
            "allgather" => Collective::AllGather,
            "reducescatter" => Collective::ReduceScatter,
            "broadcast" => Collective::Broadcast,
            "reduce" => Collective::Reduce,
            "alltoall" => Collective::AllToAll,
            "alltoallv" => Collective::AllToAllV,
            "gather" => Collective::Gather,
            "scatter" => Collective::Scatter,
            "sendrecv" => Collective::SendRecv,
            "hypercube" => Collective::HyperCube,
            _ => return None,
        })
    }
}

/// One size.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Row {
    /// 1-based line.
    pub line: u32,
    /// Size of the message. For AllGather and ReduceScatter that of the whole array.
    pub size: Bytes,
    /// Elements. The records of rccl-tests do not tell.
    pub count: Option<u64>,
    /// Element type.
    pub dtype: SmolStr,
    /// Reduction, where there is one.
    pub redop: Option<SmolStr>,
    /// Root rank, where there is one.
    pub root: Option<u32>,
    /// With separate buffers.
    pub out_of_place: Option<Measure>,
    /// With one buffer.
    pub in_place: Option<Measure>,
    /// Spread between iterations (since 2.19, where asked for): out of place, in place.
    pub each: Option<Box<[Option<PerIteration>; 2]>>,
}

impl Row {
    /// Spread between iterations of one of the measurements.
    pub fn per_iteration(&self, in_place: bool) -> Option<PerIteration> {
        self.each.as_ref().and_then(|e| e.get(usize::from(in_place)).copied().flatten())
    }

    pub(super) fn set_per_iteration(&mut self, in_place: bool, spread: PerIteration) {
        let each = self.each.get_or_insert_default();
        each.iter_mut().skip(usize::from(in_place)).take(1).for_each(|e| *e = Some(spread));
    }

    /// The better of both bus bandwidths.
    pub fn best_busbw(&self) -> Option<GBps> {
        let each = [self.out_of_place, self.in_place].into_iter().flatten().map(|m| m.busbw);
        each.max_by(|a, b| a.0.total_cmp(&b.0))
    }
}

/// One measurement.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Measure {
    /// Time of one operation.
    pub time: Microseconds,
    /// Size divided by time.
    pub algbw: GBps,
    /// Algorithm bandwidth × the collective's factor: comparable with the link's.
    pub busbw: GBps,
    /// Whether the results were right.
    pub errors: Errors,
}

/// The column `#wrong`, before 2.13 `error` or `res`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Errors {
    /// `N/A`: results were not checked.
    NotChecked,
    /// Elements that are wrong.
    Wrong(u64),
    /// The largest difference from the expected value; rounding is not zero.
    Delta(Delta),
    /// The table has no such column.
    #[default]
    NotShown,
}

/// A difference of values, in the elements' own unit.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct Delta(pub f64);

/// Spread between iterations.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct PerIteration {
    /// Shortest.
    pub min: Microseconds,
    /// Longest.
    pub max: Microseconds,
    /// 99th percentile.
    pub p99: Microseconds,
    /// Standard deviation divided by the mean.
    pub cv: Percent,
    /// What only JSON tells.
    pub more: Option<Spread>,
}

/// More of the spread between iterations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: Microseconds,
    /// Median.
    pub p50: Microseconds,
    /// 95th percentile.
    pub p95: Microseconds,
    /// Standard deviation.
    pub stdev: Microseconds,
    /// First iterations that are left out.
    pub skipped: u32,
    /// Iterations that were measured, where their times are listed.
    pub iterations: Option<u32>,
}

/// `Avg bus bandwidth`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Average {
    /// The mean over all sizes, out of place and in place.
    pub busbw: GBps,
    /// Whether it reached `NCCL_TESTS_MIN_BW`, where that was set.
    pub ok: Option<bool>,
}

/// `Out of bounds values`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct OutOfBounds {
    /// How many.
    pub count: u64,
    /// The program's verdict.
    pub ok: bool,
}

/// Something failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// 1-based line.
    pub line: u32,
    /// What kind.
    pub kind: FailureKind,
    /// Host that said so.
    pub host: Option<SmolStr>,
    /// Source file and line of the tests.
    pub source: Option<(SmolStr, u32)>,
    /// The message: `unhandled system error / Last error…`.
    pub message: String,
}

/// What kind of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// A call of NCCL.
    Nccl,
    /// A call of CUDA or HIP.
    Cuda,
    /// Operations did not finish in the time that was set with `-T`.
    Timeout,
    /// A caller of what failed: follows from another failure.
    Propagated,
    /// Wrong elements.
    WrongData,
    /// The library's last error, printed at the end.
    LastError,
    /// The run cannot be done: too few GPUs, an impossible option.
    Usage,
}

//! What a run of TorchTitan says.

use crate::bounds::{LeftOut, Limit};
use crate::record::recorded;
use crate::refusal::Refusals;
use crate::text::At;
use crate::units::{GiB, PerSecond, Percent};
use serde::Serialize;
use smol_str::SmolStr;

/// One training: from the first step to the last, or to where the steps begin anew.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Run {
    /// Who logged, in the order of their first lines.
    pub ranks: Vec<Rank>,
    /// The device's name and memory: `CUDA capacity: NVIDIA H100 with 94.99GiB memory`.
    pub device: Option<At<SmolStr>>,
    /// Memory of the device.
    pub capacity: Option<At<GiB>>,
    /// `Peak FLOPS used for computing MFU`, in 10¹² operations per second.
    pub peak: Option<At<TFlops>>,
    /// Batch and sequence, where the log says.
    pub setup: Option<At<Setup>>,
    /// The log says that the training came to its end.
    pub is_complete: bool,
    /// What the program remarked that bears upon the speed.
    pub notes: Vec<Note>,
    /// What makes a value no value.
    pub failures: Vec<Failure>,
    /// Lines or fields that could not be read, and why.
    pub refused: Refusals,
    /// Lines that said again what the same rank had said.
    pub repeated: u64,
    /// Steps, lines of ranks, failures and later runs of the text beyond the limits.
    pub left_out: Vec<LeftOut>,
    /// 1-based first and last line that belong to the run.
    pub lines: (u32, u32),
}

recorded!(Run, Limit::TORCHTITAN_RUNS);

/// One process of the training.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Rank {
    /// What the tags tell of it.
    pub who: Who,
    /// Of several whose tags are the same, or that have none: which, from 0. Not the job's rank.
    pub copy: u32,
    /// Steps of the training, ascending.
    pub steps: Vec<Step>,
    /// `validate step:`.
    pub validation: Vec<Step>,
}

/// What the tags before a line tell.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
pub struct Who {
    /// Rank in the job: `[rank3]:`, mpirun's `[1,3]<stdout>:`.
    pub rank: Option<u32>,
    /// Rank on its node: torchrun's `[default3]:`, `[trainer3]:`.
    pub local: Option<u32>,
    /// Task: srun's `3: `.
    pub task: Option<u32>,
    /// Pod or container.
    pub host: Option<SmolStr>,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Step {
    /// 1-based line.
    pub line: u32,
    /// Step of the training.
    pub step: u64,
    /// Since the run's first line, by the log's clock.
    pub at: Option<Seconds>,
    /// Loss. `None` also where the rank does not see it: stages of a pipeline other than the last print −1.
    pub loss: Option<f64>,
    /// Norm of the gradients, after clipping.
    pub grad_norm: Option<f64>,
    /// Reserved on the device, at its peak since the line before.
    pub memory: Option<Memory>,
    /// Tokens per second and device: `tps`, before November 2024 `wps`.
    pub tps: Option<PerSecond>,
    /// Operations per second and device.
    pub tflops: Option<TFlops>,
    /// Model's share of the device's peak. `N/A` with quantisation is `None`.
    pub mfu: Option<Percent>,
    /// Time of one step, where the line tells it.
    pub end_to_end: Option<Seconds>,
    /// Whether every value of the line was a finite number.
    pub is_finite: bool,
}

/// `66.91GiB(37.51%)`; `peak_memory: 37.5%` of early 2024 tells the share alone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Memory {
    /// 2³⁰ bytes.
    pub reserved: Option<GiB>,
    /// Share of the device's memory.
    pub share: Option<Percent>,
}

/// A time.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct Seconds(pub f64);

/// 10¹² floating-point operations per second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct TFlops(pub f64);

/// `Trainer is initialized with local batch size 1, global batch size 8, …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Setup {
    /// Sequences of a device in a step.
    pub local_batch: Option<u64>,
    /// Sequences of all devices in a step.
    pub global_batch: Option<u64>,
    /// Tokens of a sequence.
    pub sequence: Option<u64>,
    /// Steps of the training.
    pub total_steps: Option<u64>,
}

/// A field of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // The names are the program's.
pub enum Field {
    Loss,
    GradNorm,
    Memory,
    Tps,
    Tflops,
    Mfu,
    EndToEnd,
}

/// Something that makes a value no value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// 1-based line.
    pub line: u32,
    /// Step of the training, where the line is one of a step.
    pub step: Option<u64>,
    /// What kind.
    pub kind: FailureKind,
}

/// What kind of failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// A field that is not a finite number.
    NotFinite(Field, NotFinite),
    /// The device's memory was not enough.
    OutOfMemory,
    /// The process ended with an exception; its last line.
    Exception(String),
}

/// What is printed where a number should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotFinite {
    /// `nan`.
    NotANumber,
    /// `inf`.
    Infinite,
    /// `-inf`.
    NegativeInfinite,
}

/// A remark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// 1-based line.
    pub line: u32,
    /// Which.
    pub kind: NoteKind,
}

/// Which remark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoteKind {
    /// The allocator had to free and try again: steps are slowed.
    AllocationRetries,
    /// A dataset began anew.
    DatasetLooped,
    /// A rank prints −1 for the loss: it is a stage of a pipeline that does not see it.
    LossNotVisible,
    /// The peak of the device is not known; the program took another's, and `mfu` is wrong.
    PeakUnknown,
    /// Lines carry no rank: which is which follows from repeated steps.
    RanksNotNamed,
}

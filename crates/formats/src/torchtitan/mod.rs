//! The metric lines that TorchTitan logs: `step:  4  loss:  7.62585  grad_norm: 26.6250  memory: 66.91GiB(37.51%)  tps: 10,050
//! tflops: 314.71  mfu: 13.99%`, and its ancestors since 2024 (`wps`, `peak_memory`, no `grad_norm`).
//!
//! The definition is the program's `MetricsProcessor.log` (earlier `train.py`). What a line says is the mean since the line
//! before of the same rank: with a log frequency of 10 it covers ten steps. `tps` counts tokens per second and device.
//!
//! Every rank logs the same line. Launchers tag them (`[rank0]:`, `[default0]:`, `0: `), or do not: then lines that repeat a step
//! are other ranks'.

mod line;
mod reader;
mod run;

pub use reader::{Reader, parse};
pub use run::{
    Failure, FailureKind, Field, Memory, NotFinite, Note, NoteKind, Rank, Run, Seconds, Setup, Step, TFlops, Who,
};

use crate::tool::{Gives, Mark, Tool, seen};

/// The metric lines of a training log.
pub const TOOL: Tool = Tool {
    name: "torchtitan",
    called: "TorchTitan",
    run: "a training job of TorchTitan",
    gives: Gives::NoFacts("a log of TorchTitan"),
    marks: &[Mark::line(is_own).holds(&["step:"])],
    words: &["tps:", "mfu:", "wps:", "[titan]"],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "[rank0]:[titan] 2025-07-21 15:57:42,774 - root - INFO - step:  3  loss:  4.9  memory:  0.00GiB(0.00%)  tps: 30,768  mfu: 0.32%\n",
    ],
    ..Tool::NONE
};

/// A line of a step; a line of another program has not all of the names.
fn is_own(line: &str) -> bool {
    let Some((_, fields)) = line.split_once("step:") else { return false };
    let has = |names: &[&str]| names.iter().any(|n| fields.contains(n));
    has(&["loss:"]) && has(&["memory:"]) && has(&["tps:", "wps:"])
}

#[cfg(test)]
mod tests;

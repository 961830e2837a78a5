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
    Failure, FailureKind, Field, Memory, NotFinite, Note, NoteKind, PerSecond, Rank, Run, Seconds, Setup, Step, TFlops,
    Who,
};

#[cfg(test)]
mod tests;

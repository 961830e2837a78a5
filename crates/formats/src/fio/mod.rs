//! What fio (2.x and 3.x) prints: text, `--output-format=json`, `json+` and `terse` (`--minimal`), also several in one output.
//!
//! Units, by `stat.c` and `lib/num2str.c`: in JSON `bw` is KiB/s, `bw_bytes` B/s; times are nanoseconds (`clat_ns`) since 3.0 and
//! microseconds (`clat`) before. `io_bytes` was KiB in some releases of 2.x and bytes in others: bandwidth times run time decides.
//! In text, `KiB` is 2¹⁰ and the `kB` beside it 10³; before 2.18 there is only `KB`, which is 2¹⁰. `k`, `M` of IOPS and of times are
//! powers of 1000.

mod amount;
mod json;
mod reader;
mod run;
mod settle;
mod terse;
mod text;

pub use reader::{Reader, parse};
pub use run::{Direction, Group, Job, Kind, Run, Samples, Times};

/// Jobs that a run keeps.
const MAX_JOBS: usize = 65_536;
/// Remarks and failures that a run keeps.
const MAX_SAID: usize = 64;
/// Percentiles of one latency.
const MAX_PERCENTILES: usize = 64;
/// Options of a job.
const MAX_OPTIONS: usize = 256;
/// Runs that one text may have.
const MAX_RUNS: usize = 4096;

#[cfg(test)]
mod tests;

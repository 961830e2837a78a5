//! What fio (2.x and 3.x) prints: text, `--output-format=json`, `json+` and `terse` (`--minimal`), also several in one output.
//!
//! Units, by `stat.c` and `lib/num2str.c`: in JSON `bw` is KiB/s, `bw_bytes` B/s; times are nanoseconds (`clat_ns`) since 3.0 and
//! microseconds (`clat`) before. `io_bytes` was KiB in some releases of 2.x and bytes in others: bandwidth times run time decides.
//! In text, `KiB` is 2¹⁰ and the `kB` beside it 10³; before 2.18 there is only `KB`, which is 2¹⁰. `k`, `M` of IOPS and of times are
//! powers of 1000.

mod amount;
mod defined;
mod json;
mod reader;
mod run;
mod settle;
mod terse;
mod text;

pub use reader::{Reader, parse};
pub use run::{Direction, Group, Job, Kind, Run, Samples, Times};

#[cfg(test)]
mod tests;

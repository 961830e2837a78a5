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

use crate::tool::{Command, Gives, Mark, Tool, seen};

/// fio.
pub const TOOL: Tool = Tool {
    name: "fio",
    called: "fio",
    run: "fio JOB --output-format=normal,json",
    gives: Gives::NoFacts("a result of fio"),
    marks: &[
        Mark::aside(is_own).begins(&["fio-", "fio: "]).holds(&[": (groupid=", ": (g=", ";fio-"]),
        Mark::json(|t| t.contains("\"fio version\"") || t.contains("\"jobs\"") && t.contains("\"jobname\"")),
    ],
    commands: &[Command::any("fio")],
    words: &["fio-", "\"fio version\"", "fio: ", ": (groupid=", "Run status group", "%=0;0%=0;0%=0;"],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "w: (g=0): rw=read, bs=(R) 4096B-4096B, ioengine=psync, iodepth=1\nfio-3.33\n",
        "{\n  \"fio version\" : \"fio-3.33\",\n  \"jobs\" : []}",
    ],
    ..Tool::NONE
};

fn is_own(line: &str) -> bool {
    let has = |word: &str| line.contains(word);
    let version =
        line.strip_prefix("fio-").is_some_and(|v| v.len() < 40 && v.starts_with(|c: char| c.is_ascii_digit()));
    has(": (groupid=") && has("err=")
        || has(": (g=") && has("): rw=")
        || version && !has(" ")
        || line.starts_with("fio: ")
        || has(";fio-") && line.matches(';').count() > 20
}

#[cfg(test)]
mod tests;

//! What a run of fio says.

use crate::bounds::{LeftOut, Limit};
use crate::record::{keep, recorded};
use crate::refusal::{End, Refusals, Said};
use crate::text::At;
use crate::units::{Bytes, MiBps, Microseconds, PerSecond, Percent};
use serde::Serialize;
use smol_str::SmolStr;

/// One run: one call of fio with all its jobs.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Run {
    /// `3.33`.
    pub version: Option<At<SmolStr>>,
    /// When it reported, in seconds since 1970 (JSON).
    pub reported: Option<f64>,
    /// It was read from JSON: its values are exact.
    pub is_json: bool,
    /// It was read from lines between semicolons alone (`--minimal`): times are cut to whole microseconds, options are not printed.
    pub is_terse: bool,
    /// A state in between (`--status-interval`): a later run of the same text is the same one, further on.
    pub is_interim: bool,
    /// Options of all jobs.
    pub options: Vec<(SmolStr, SmolStr)>,
    /// Jobs; with `group_reporting` one for many.
    pub jobs: Vec<Job>,
    /// Sums of groups (text).
    pub groups: Vec<Group>,
    /// What looks like a measurement but is not one, and why.
    pub refused: Refusals,
    /// What the program remarked.
    pub notes: Vec<Said>,
    /// What failed.
    pub failures: Vec<Said>,
    /// Jobs, sums, options, percentiles, remarks and failures beyond the limits.
    pub left_out: Vec<LeftOut>,
    /// How it ended.
    pub end: End,
    /// 1-based first and last line that belong to the run.
    pub lines: (u32, u32),
    /// What the disks did, by terse lines.
    #[serde(skip)]
    pub(super) disks: Option<String>,
}

recorded!(Run, Limit::FIO_RUNS);

impl Run {
    /// An option of a job: its own, or that of all.
    pub fn option<'a>(&'a self, job: &'a Job, name: &str) -> Option<&'a str> {
        let find = |list: &'a [(SmolStr, SmolStr)]| list.iter().rev().find(|(n, _)| n == name).map(|(_, v)| v.as_str());
        find(&job.options).or_else(|| find(&self.options))
    }

    pub(super) fn note(&mut self, said: Said) {
        let line = said.line;
        keep(&mut self.notes, said, Limit::FIO_SAID, line, &mut self.left_out);
    }

    pub(super) fn fail(&mut self, said: Said) {
        let line = said.line;
        keep(&mut self.failures, said, Limit::FIO_SAID, line, &mut self.left_out);
    }

    pub(super) fn push_job(&mut self, job: Job) {
        let line = job.line;
        keep(&mut self.jobs, job, Limit::FIO_JOBS, line, &mut self.left_out);
    }
}

/// A job, or what `group_reporting` made of several.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Job {
    /// 1-based line.
    pub line: u32,
    /// Its name.
    pub name: SmolStr,
    /// Its group.
    pub group: Option<u32>,
    /// Processes that are summed up (text).
    pub processes: Option<u32>,
    /// Its process (text).
    pub pid: Option<u64>,
    /// Zero, or why it ended. With an error its values are of what was done before.
    pub error: Option<i64>,
    /// What the error was, where it is printed.
    pub error_text: Option<String>,
    /// Its own options: `rw`, `bs`, `iodepth`, `ioengine`, `direct`, `filename`, … as written.
    pub options: Vec<(SmolStr, SmolStr)>,
    /// What it did. Directions in which nothing went are left out.
    pub directions: Vec<Direction>,
    /// Load of the processor, in the program and in the kernel.
    pub cpu: Option<(Percent, Percent)>,
}

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Reads.
    #[default]
    Read,
    /// Writes.
    Write,
    /// Trims.
    Trim,
    /// `fsync` and its like: latencies alone.
    Sync,
    /// All together (`unified_rw_reporting`).
    Mixed,
}

/// What a job did one way.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Direction {
    /// 1-based line.
    pub line: u32,
    /// Which way.
    pub kind: Kind,
    /// What was moved. In text to three or four digits.
    pub bytes: Option<Bytes>,
    /// Over the whole run time.
    pub bandwidth: Option<MiBps>,
    /// Operations per second.
    pub iops: Option<PerSecond>,
    /// Operations.
    pub operations: Option<u64>,
    /// Run time in milliseconds.
    pub milliseconds: Option<f64>,
    /// From the job to the kernel.
    pub submission: Option<Times>,
    /// From the kernel to the end.
    pub completion: Option<Times>,
    /// Both together.
    pub total: Option<Times>,
    /// Samples of the bandwidth, in MiB/s.
    pub bandwidth_samples: Option<Samples>,
    /// Samples of the operations per second.
    pub iops_samples: Option<Samples>,
}

/// A latency.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Times {
    /// 1-based line.
    pub line: u32,
    /// Shortest.
    pub min: Option<Microseconds>,
    /// Longest.
    pub max: Option<Microseconds>,
    /// Mean.
    pub mean: Option<Microseconds>,
    /// Standard deviation.
    pub stdev: Option<Microseconds>,
    /// How many.
    pub count: Option<u64>,
    /// Percentiles, from low to high. They are rounded to the bins of fio's histogram (1.6 %).
    pub percentiles: Vec<(f64, Microseconds)>,
}

/// Samples that fio takes each half second. One job's; with `group_reporting` the mean is of the sum.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Samples {
    /// Least.
    pub min: Option<f64>,
    /// Most.
    pub max: Option<f64>,
    /// Mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub stdev: Option<f64>,
    /// How many.
    pub count: Option<u64>,
}

/// The sum of a group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Group {
    /// 1-based line.
    pub line: u32,
    /// Its number.
    pub number: u32,
    /// Which way.
    pub kind: Kind,
    /// Of all jobs together.
    pub bandwidth: MiBps,
    /// What was moved.
    pub bytes: Option<Bytes>,
}

//! One line for each job, its values between semicolons: `--minimal`, `--output-format=terse`, of the versions 3, 4 and 5.
//!
//! By the HOWTO's "Terse output", and beside the JSON of the same runs: bandwidth is KiB/s, times are microseconds, run times
//! milliseconds. What has no decimals is cut, not rounded: a time of 0 is one below 1 µs. There are two directions (version 4: and
//! trims), or one where the job was set to report them together. The percentiles are the completion's, unless the job asked for
//! others: the line does not say.

use super::run::{Direction, Job, Kind, Times};
use crate::bounds::BENCH_LINE;
use crate::decimal::{Fraction, decimal};
use crate::error::Why;
use crate::units::{Bytes, MiBps, Microseconds, PerSecond, Percent};
use smol_str::SmolStr;

/// Fields before the first direction.
const HEAD: usize = 5;
/// Percentiles of a direction.
const PERCENTILES: usize = 20;
/// Fields behind the directions and before the disks: processor, depths, latencies by bins.
const TAIL: usize = 5 + 7 + 22;
/// Fields of a disk.
const DISK: usize = 9;

/// A line that was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Terse {
    pub(super) version: SmolStr,
    pub(super) job: Job,
    /// What the disks did, as printed: the same in all lines of a call, and another in the next. `None` where they did nothing or
    /// are not shown.
    pub(super) disks: Option<String>,
}

/// Whether a line is one of them, whole or cut.
pub(super) fn is_ours(line: &str) -> bool {
    let mut fields = line.split(';');
    let version = fields.next().unwrap_or_default();
    match version {
        "3" | "4" | "5" => fields.next().is_some_and(|v| v.starts_with("fio-")) && fields.next().is_some(),
        // Without fio's own version; known by the percentiles.
        "2" => line.matches("%=").count() >= PERCENTILES && fields.count() > 2 * PERCENTILES,
        _ => false,
    }
}

/// Reads one.
///
/// # Errors
/// Why the values are not where they belong.
pub(super) fn line(number: u32, line: &str) -> Result<Terse, Why> {
    if line.len() > BENCH_LINE {
        return Err(Why::Foreign("a terse line that is longer than any of fio's"));
    }
    let fields: Vec<&str> = line.split(';').collect();
    let size = match fields.first() {
        Some(&("3" | "4")) => 41,
        // Counts of samples, and samples of the operations per second.
        Some(&"5") => 47,
        _ => {
            return Err(Why::Unsupported(
                "the terse format 2 is not read: its columns depend on the release; --terse-version=3 or --output-format=json say the same",
            ));
        }
    };
    let is_share = |at: usize| fields.get(at).is_some_and(|f| f.ends_with('%'));
    // The load of the processor follows the directions, and is a share; a direction begins with a count.
    let count = (1..=3)
        .find(|n| is_share(HEAD + n * size))
        .ok_or(Why::Missing("the terse line is cut, or its columns are elsewhere"))?;
    let kinds: &[Kind] = match count {
        1 => &[Kind::Mixed],
        _ => &[Kind::Read, Kind::Write, Kind::Trim],
    };
    let (name, group, error) = match &fields[..] {
        [_, _, name, group, error, ..] => (*name, *group, *error),
        _ => return Err(Why::Missing("the terse line is cut")),
    };
    if fields.len() < HEAD + count * size + TAIL {
        return Err(Why::Missing("the terse line is cut"));
    }
    let group = group.parse().map_err(|_| Why::word(group, "no group"))?;
    let error = error.parse().map_err(|_| Why::word(error, "no error code"))?;
    let mut job = Job {
        line: number,
        name: name.chars().take(256).collect(),
        group: Some(group),
        error: Some(error),
        ..Job::default()
    };
    let (head, tail) = fields.split_at_checked(HEAD + count * size).ok_or(Why::Missing("the terse line is cut"))?;
    for (own, kind) in head.get(HEAD..).unwrap_or_default().chunks_exact(size).zip(kinds) {
        job.directions.extend(direction(number, *kind, own)?);
    }
    let share = |at: usize| tail.get(at).and_then(|f| decimal(f.strip_suffix('%')?, Fraction::Maybe).ok()).map(Percent);
    job.cpu = share(0).zip(share(1));
    let version = fields.get(1).and_then(|v| v.strip_prefix("fio-")).unwrap_or_default();
    let disks = disks(tail.get(TAIL..).unwrap_or_default());
    Ok(Terse { version: version.chars().take(40).collect(), job, disks })
}

/// Nothing where nothing went.
fn direction(line: u32, kind: Kind, fields: &[&str]) -> Result<Option<Direction>, Why> {
    let [kib, bandwidth, iops, runtime, rest @ ..] = fields else { return Err(Why::Missing("the terse line is cut")) };
    let whole = |f: &str| f.parse::<u64>().map_err(|_| Why::word(f, "no count"));
    let (kib, bandwidth, iops, runtime) = (whole(kib)?, whole(bandwidth)?, whole(iops)?, whole(runtime)?);
    if kib == 0 && bandwidth == 0 && iops == 0 {
        return Ok(None);
    }
    let (submission, rest) = rest.split_at_checked(4).ok_or(Why::Missing("the terse line is cut"))?;
    let (completion, rest) = rest.split_at_checked(4).ok_or(Why::Missing("the terse line is cut"))?;
    let (shares, rest) = rest.split_at_checked(PERCENTILES).ok_or(Why::Missing("the terse line is cut"))?;
    let (total, _) = rest.split_at_checked(4).ok_or(Why::Missing("the terse line is cut"))?;
    let mut percentiles = shares.iter().filter_map(|f| percentile(f).transpose()).collect::<Result<Vec<_>, _>>()?;
    percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut completion = times(line, completion)?;
    if let Some(times) = &mut completion {
        times.percentiles = percentiles;
    }
    #[allow(clippy::cast_precision_loss)] // Far below 2^53.
    let (rate, operations, milliseconds) = (bandwidth as f64 * 1024.0, iops as f64, runtime as f64);
    // Without a run time there is no rate.
    let has_run = runtime > 0;
    Ok(Some(Direction {
        line,
        kind,
        bytes: kib.checked_mul(1024).map(Bytes),
        bandwidth: has_run.then(|| MiBps::from_bytes_per_second(rate)),
        iops: has_run.then_some(PerSecond(operations)),
        milliseconds: has_run.then_some(milliseconds),
        submission: times(line, submission)?,
        completion,
        total: times(line, total)?,
        ..Direction::default()
    }))
}

/// Shortest, longest, mean, standard deviation. Zeros all over are what fio writes where it did not measure.
fn times(line: u32, fields: &[&str]) -> Result<Option<Times>, Why> {
    let values = fields.iter().map(|f| decimal(f, Fraction::Always)).collect::<Result<Vec<_>, _>>()?;
    let [min, max, mean, stdev] = values[..] else { return Err(Why::Missing("the terse line is cut")) };
    let time = |v: f64| (v > 0.0).then_some(Microseconds(v));
    let of = Times { line, min: time(min), max: time(max), mean: time(mean), ..Times::default() };
    Ok(time(mean).map(|_| Times { stdev: Some(Microseconds(stdev)), ..of }))
}

/// `99.900000%=4620`. Those that were not asked for are `0%=0`.
fn percentile(field: &str) -> Result<Option<(f64, Microseconds)>, Why> {
    let (which, time) = field.split_once("%=").ok_or_else(|| Why::word(field, "no percentile"))?;
    let (which, time) = (decimal(which, Fraction::Always)?, decimal(time, Fraction::Maybe)?);
    Ok((which > 0.0 && which <= 100.0 && time > 0.0).then_some((which, Microseconds(time))))
}

/// The disks' part, without the job's description behind it.
fn disks(fields: &[&str]) -> Option<String> {
    let whole = fields.chunks_exact(DISK).take_while(|d| d.last().is_some_and(|f| f.ends_with('%')));
    let is_busy = |d: &[&str]| d.iter().skip(1).any(|f| f.bytes().any(|b| matches!(b, b'1'..=b'9')));
    let all: Vec<&[&str]> = whole.collect();
    all.iter().any(|d| is_busy(d)).then(|| all.concat().join(";"))
}

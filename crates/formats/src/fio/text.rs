//! Single lines of the text.

use super::amount::{self, Plain, value};
use super::run::{Direction, Group, Job, Kind, Samples, Times};
use crate::error::Why;
use crate::text::{leading_number, words};
use crate::units::{Bytes, MiBps, Microseconds, PerSecond, Percent};
use smol_str::SmolStr;

/// Name, group and options of a job.
pub(super) type Definition = (SmolStr, u32, Vec<(SmolStr, SmolStr)>);

/// `w: (g=0): rw=read, bs=(R) 4096B-4096B, …, ioengine=psync, iodepth=1`: name, group and options.
pub(super) fn definition(line: &str) -> Option<Definition> {
    let (name, rest) = line.split_once(": (g=")?;
    let (group, rest) = rest.split_once("): rw=")?;
    let rw = rest.split(',').next()?;
    let mut options = vec![("rw".into(), rw.into())];
    // 3.x: `bs=(R) 4096B-4096B, (W) …`; 2.x: `bs=4K-4K/4K-4K/4K-4K`.
    let block = value(rest, "bs").map(|b| b.trim_start_matches("(R) "));
    let block = block.and_then(|b| b.split([',', '/']).next()).and_then(|b| {
        let (low, high) = b.trim().split_once('-')?;
        Some(if low == high { low } else { b.trim() })
    });
    for (name, v) in [("bs", block), ("ioengine", value(rest, "ioengine")), ("iodepth", value(rest, "iodepth"))] {
        if let Some(v) = v.and_then(|v| v.split([',', ' ']).next()).filter(|v| !v.is_empty()) {
            options.push((name.into(), v.chars().take(64).collect()));
        }
    }
    Some((name.trim().chars().take(256).collect(), group.parse().ok()?, options))
}

/// `r: (groupid=0, jobs=1): err= 0: pid=15372: Sat Nov 21 06:36:27 2026`.
pub(super) fn job(line: u32, text: &str) -> Option<Job> {
    let (name, rest) = text.split_once(": (groupid=")?;
    let (_, error) = rest.split_once("err=")?;
    let code = error.trim_start();
    let reason =
        code.split_once('(').and_then(|(_, r)| r.split_once("): pid=")).map(|(r, _)| r.chars().take(300).collect());
    Some(Job {
        line,
        name: name.trim().chars().take(256).collect(),
        group: leading_number(rest),
        processes: value(rest, "jobs").and_then(leading_number),
        pid: value(rest, "pid").and_then(leading_number),
        error: leading_number(code),
        error_text: reason,
        ..Job::default()
    })
}

fn kind(name: &str) -> Option<Kind> {
    match name.trim().to_ascii_lowercase().as_str() {
        "read" => Some(Kind::Read),
        "write" => Some(Kind::Write),
        "trim" => Some(Kind::Trim),
        "mixed" => Some(Kind::Mixed),
        _ => None,
    }
}

/// `read: IOPS=21.3k, BW=83.4MiB/s (87.4MB/s)(250MiB/3001msec)`, before 2.17 `read : io=250MB, bw=…KB/s, iops=6008, runt= 10037msec`.
pub(super) fn direction(line: u32, text: &str) -> Option<Result<Direction, Why>> {
    let (name, rest) = text.split_once(':')?;
    let kind = kind(name)?;
    let mut out = Direction { line, kind, ..Direction::default() };
    let milliseconds = |t: &str| leading_number::<u32>(t).map(f64::from);
    if let (Some(iops), Some(bw)) = (value(rest, "IOPS"), value(rest, "BW")) {
        let read = || -> Result<Direction, Why> {
            out.iops = Some(PerSecond(amount::count(iops)?));
            out.bandwidth = Some(amount::bandwidth(bw, Plain::Decimal)?);
            // The last bracket: what was moved, and in which time.
            if let Some((size, time)) =
                bw.rsplit_once('(').and_then(|(_, last)| last.split_once('/')).filter(|(_, t)| t.contains("msec)"))
            {
                out.bytes = Some(amount::size(size, Plain::Decimal)?);
                out.milliseconds = milliseconds(time);
            } else {
                return Err(Why::Missing("the row is cut: no run time"));
            }
            if kind == Kind::Mixed && out.bytes == Some(Bytes(0)) {
                // With `unified_rw_reporting=both` some releases print zeros here, and the latencies of all.
                (out.bytes, out.bandwidth, out.iops) = (None, None, None);
            }
            Ok(out)
        };
        return Some(read());
    }
    let (io, bw, iops) = (value(rest, "io")?, value(rest, "bw")?, value(rest, "iops")?);
    let read = || -> Result<Direction, Why> {
        let run_time =
            value(rest, "runt").filter(|t| t.contains("msec")).ok_or(Why::Missing("the row is cut: no run time"))?;
        out.bytes = Some(amount::size(io, Plain::Binary)?);
        out.bandwidth = Some(amount::bandwidth(bw, Plain::Binary)?);
        out.iops = Some(PerSecond(amount::count(iops)?));
        out.milliseconds = milliseconds(run_time);
        Ok(out)
    };
    Some(read())
}

/// Which latency a line begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Latency {
    Submission,
    Completion,
    Total,
    Sync,
}

/// `clat (usec): min=33, max=1756, avg=46.38, stdev=15.73`.
pub(super) fn times(line: u32, text: &str) -> Option<(Latency, Result<Times, Why>)> {
    let (head, rest) = text.split_once(':')?;
    let (name, unit) = head.split_once('(')?;
    let which = latency(name)?;
    let unit = amount::time_unit(unit)?;
    let (min, max, mean, stdev) = (value(rest, "min"), value(rest, "max"), value(rest, "avg"), value(rest, "stdev"));
    min?;
    let read = || -> Result<Times, Why> {
        let time = |v: Option<&str>| v.map_or(Err(Why::Missing("the row is cut")), |v| amount::time(v, unit).map(Some));
        Ok(Times { line, min: time(min)?, max: time(max)?, mean: time(mean)?, stdev: time(stdev)?, ..Times::default() })
    };
    Some((which, read()))
}

fn latency(name: &str) -> Option<Latency> {
    match name.trim() {
        "slat" => Some(Latency::Submission),
        "clat" => Some(Latency::Completion),
        "lat" => Some(Latency::Total),
        "sync" => Some(Latency::Sync),
        _ => None,
    }
}

/// `clat percentiles (usec):`, `lat percentiles (nsec):`: of which latency, and the unit in microseconds.
pub(super) fn percentiles(text: &str) -> Option<(Latency, f64)> {
    let (name, unit) = text.split_once(" percentiles (")?;
    // With priorities: `clat prio 0/0 (50.0% of IOs) percentiles`: not of all.
    Some((latency(name)?, amount::time_unit(unit)?))
}

/// `|  1.00th=[   39],  5.00th=[   40]`.
pub(super) fn percentile_row(text: &str, unit: f64) -> Option<Result<Vec<(f64, Microseconds)>, Why>> {
    let rest = text.trim_start().strip_prefix('|')?;
    let entry = |part: &str| -> Result<(f64, Microseconds), Why> {
        let (which, rest) = part.split_once("th=[").ok_or(Why::Foreign("not a percentile"))?;
        let (value, _) = rest.split_once(']').ok_or(Why::Missing("the row is cut"))?;
        let which = amount::count(which.trim_start_matches([',', ' ']))?;
        Ok((which, amount::time(value.trim_start_matches(['>', '=', ' ']), unit)?))
    };
    // Every entry ends in `]`; what follows the last is nothing.
    let mut parts: Vec<&str> = rest.split_inclusive(']').collect();
    if parts.last().is_some_and(|p| p.trim_matches([',', ' ']).is_empty()) {
        parts.pop();
    }
    Some(parts.into_iter().map(entry).collect())
}

/// `bw (  KiB/s): min=83512, max=88312, per=100.00%, avg=86025.60, stdev=2077.86, samples=5`; whether of IOPS.
pub(super) fn samples(text: &str) -> Option<(bool, Result<Samples, Why>)> {
    let (head, rest) = text.split_once(':')?;
    let head = head.trim();
    let (is_iops, factor) = if head == "iops" {
        (true, 1.0)
    } else {
        let unit: String = head.strip_prefix("bw")?.trim().trim_matches(['(', ')']).split_whitespace().collect();
        // `KB  /s` before 2.18 is 2^10, `kB/s` later 10^3.
        let plain = if unit.starts_with("KB") { Plain::Binary } else { Plain::Decimal };
        (false, amount::bandwidth(&format!("1{unit}"), plain).ok()?.0)
    };
    let read = || -> Result<Samples, Why> {
        let one = |name: &str| {
            value(rest, name)
                .map_or(Err(Why::Missing("the row is cut")), |v| amount::count(v).map(|v| Some(v * factor)))
        };
        let count = value(rest, "samples").and_then(leading_number);
        Ok(Samples { min: one("min")?, max: one("max")?, mean: one("avg")?, stdev: one("stdev")?, count })
    };
    Some((is_iops, read()))
}

/// `cpu          : usr=1.43%, sys=49.53%, ctx=63843`.
pub(super) fn cpu(text: &str) -> Option<(Percent, Percent)> {
    let (head, rest) = text.split_once(':')?;
    let percent = |name: &str| amount::count(value(rest, name)?.split('%').next()?).ok().map(Percent);
    (head.trim() == "cpu").then(|| Some((percent("usr")?, percent("sys")?)))?
}

/// `issued rwts: total=64070,0,0,0 short=…`, before 3.0 `issued    : total=r=64070/w=0/d=0, …`: reads, writes, trims, syncs.
pub(super) fn issued(text: &str) -> Option<Vec<(Kind, u64)>> {
    let (head, rest) = text.split_once(':')?;
    if !head.trim_start().starts_with("issued") {
        return None;
    }
    let total = words(value(rest, "total")?).next()?;
    let kinds = [Kind::Read, Kind::Write, Kind::Trim, Kind::Sync];
    if let Some(old) = total.strip_prefix("r=") {
        let numbers = old.split('/').map(|p| p.trim_start_matches(|c: char| !c.is_ascii_digit()));
        return Some(kinds.into_iter().zip(numbers.map_while(leading_number)).collect());
    }
    Some(kinds.into_iter().zip(total.split(',').map_while(|n| n.parse().ok())).collect())
}

/// `READ: bw=83.4MiB/s (87.4MB/s), …, io=250MiB (262MB), run=3001-3001msec`, before 2.17 `READ: io=250MB, aggrb=…KB/s, …`.
pub(super) fn group(line: u32, number: u32, text: &str) -> Option<Result<Group, Why>> {
    let (name, rest) = text.split_once(':')?;
    let kind = kind(name).filter(|_| name.trim().bytes().all(|b| b.is_ascii_uppercase()))?;
    let (bandwidth, plain) = match (value(rest, "bw"), value(rest, "aggrb")) {
        (Some(bw), _) => (bw, Plain::Decimal),
        (None, Some(bw)) => (bw, Plain::Binary),
        (None, None) => return Some(Err(Why::Missing("the row is cut: no bandwidth"))),
    };
    let read = || -> Result<Group, Why> {
        let bandwidth: MiBps = amount::bandwidth(bandwidth, plain)?;
        let bytes = value(rest, "io").map(|io| amount::size(io, plain)).transpose()?;
        Ok(Group { line, number, kind, bandwidth, bytes })
    };
    Some(read())
}

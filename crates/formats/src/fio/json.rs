//! fio's JSON.

use super::amount::in_microseconds;
use super::reader::Reader;
use super::run::{Direction, Job, Kind, Run, Samples, Times};
use crate::bounds::{FIO_OPTIONS, FIO_PERCENTILES, LeftOut, Limit};
use crate::error::Why;
use crate::json_docs::{Piece, Place};
use crate::json_loose::{Num, Text, loose};
use crate::record::add_left_out;
use crate::refusal::{End, Said};
use crate::text::At;
use crate::units::{Bytes, MiBps, PerSecond, Percent};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use smol_str::SmolStr;
use std::fmt;

/// Whether a text that begins with `{` is fio's.
pub(super) fn is_ours(head: &str) -> bool {
    head.contains("\"fio version\"") || head.contains("\"jobs\"") && head.contains("\"jobname\"")
}

loose! {
    pub(super) struct Document {
        version b"fio version": Text,
        timestamp b"timestamp": Num,
        timestamp_ms b"timestamp_ms": Num,
        options b"global options": Pairs,
        jobs b"jobs": Vec<JobOf>,
        clients b"client_stats": Vec<JobOf>,
    }
}

loose! {
    pub(super) struct JobOf {
        name b"jobname": Text,
        group b"groupid": Num,
        error b"error": Num,
        options b"job options": Pairs,
        read b"read": Option<Box<Values>>,
        write b"write": Option<Box<Values>>,
        trim b"trim": Option<Box<Values>>,
        sync b"sync": Option<Box<Values>>,
        mixed b"mixed": Option<Box<Values>>,
        user b"usr_cpu": Num,
        system b"sys_cpu": Num,
    }
}

loose! {
    pub(super) struct Values {
        io_bytes b"io_bytes": Num,
        io_kbytes b"io_kbytes": Num,
        bw_bytes b"bw_bytes": Num,
        bw b"bw": Num,
        iops b"iops": Num,
        runtime b"runtime": Num,
        total_ios b"total_ios": Num,
        slat_ns b"slat_ns": Option<Box<Latency>>,
        clat_ns b"clat_ns": Option<Box<Latency>>,
        lat_ns b"lat_ns": Option<Box<Latency>>,
        slat b"slat": Option<Box<Latency>>,
        clat b"clat": Option<Box<Latency>>,
        lat b"lat": Option<Box<Latency>>,
        bw_min b"bw_min": Num,
        bw_max b"bw_max": Num,
        bw_mean b"bw_mean": Num,
        bw_dev b"bw_dev": Num,
        bw_samples b"bw_samples": Num,
        iops_min b"iops_min": Num,
        iops_max b"iops_max": Num,
        iops_mean b"iops_mean": Num,
        iops_stddev b"iops_stddev": Num,
        iops_samples b"iops_samples": Num,
    }
    // A direction in which nothing goes: most are.
    skip |v| v.io_bytes.get() == Some(0.0) && v.total_ios.get() == Some(0.0)
}

loose! {
    pub(super) struct Latency {
        min b"min": Num,
        max b"max": Num,
        mean b"mean": Num,
        stddev b"stddev": Num,
        count b"N": Num,
        percentile b"percentile": Percentiles,
    }
}

/// Names and values.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    kept: Vec<(SmolStr, SmolStr)>,
    /// Those beyond the limit.
    more: u64,
}

/// Percentiles by their names.
#[derive(Debug, Default)]
pub(super) struct Percentiles {
    kept: Vec<(f64, f64)>,
    /// Those beyond the limit.
    more: u64,
}

pub(super) struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("options")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
        let mut out = Pairs::default();
        while let Some(name) = map.next_key::<Text>()? {
            let value: Text = map.next_value()?;
            match (name.0, value.0) {
                (Some(name), Some(value)) if out.kept.len() < FIO_OPTIONS => out.kept.push((name, value)),
                (Some(_), Some(_)) => out.more += 1,
                _ => {}
            }
        }
        Ok(out)
    }

    fn visit_unit<E>(self) -> Result<Pairs, E> {
        Ok(Pairs::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<Pairs, E> {
        Ok(Pairs::default())
    }
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(PairsVisitor)
    }
}

struct PercentilesVisitor;

/// The name of a percentile. Some releases pad the list with `0.00`.
struct Name(Option<f64>);

impl Visitor<'_> for Name {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a percentile")
    }

    fn visit_str<E>(self, v: &str) -> Result<Name, E> {
        Ok(Name(v.parse().ok().filter(|p| (0.0..=100.0).contains(p) && *p > 0.0)))
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_str(Name(None))
    }
}

impl<'de> Visitor<'de> for PercentilesVisitor {
    type Value = Percentiles;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("percentiles")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Percentiles, A::Error> {
        let mut out = Percentiles::default();
        while let Some(name) = map.next_key::<Name>()? {
            match name.0 {
                Some(which) if out.kept.len() < FIO_PERCENTILES => {
                    if let Some(value) = map.next_value::<Num>()?.get() {
                        out.kept.push((which, value));
                    }
                }
                name => {
                    map.next_value::<IgnoredAny>()?;
                    out.more += u64::from(name.is_some());
                }
            }
        }
        Ok(out)
    }

    fn visit_unit<E>(self) -> Result<Percentiles, E> {
        Ok(Percentiles::default())
    }
}

impl<'de> Deserialize<'de> for Percentiles {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(PercentilesVisitor)
    }
}

/// Takes a piece of a text.
pub(super) fn piece(piece: Piece<'_, Document>, reader: &mut Reader) {
    match piece {
        Piece::Line(number, line) => reader.line(number, line),
        Piece::Document(document, place) => reader.push(run(document, place)),
        Piece::Broken(place, why) => {
            let mut run = Run { lines: place.lines, is_json: true, ..Run::default() };
            run.refused.push(place.lines.0, why);
            reader.push(run);
        }
    }
}

fn run(document: Document, place: Place) -> Run {
    let line = place.lines.0;
    let version = document.version.0.map(|v| At::new(v.strip_prefix("fio-").unwrap_or(&v).into(), line));
    let mut left_out = Vec::new();
    beyond(&mut left_out, Limit::FIO_OPTIONS, line, document.options.more);
    let mut run = Run {
        left_out,
        version,
        reported: document.timestamp_ms.get().map(|ms| ms / 1e3).or(document.timestamp.get()),
        is_json: true,
        options: document.options.kept,
        end: if place.is_cut { End::Cut } else { End::Finished },
        lines: place.lines,
        ..Run::default()
    };
    place.refuse(&mut run.refused);
    // In client and server mode the last of the clients is the sum of the others.
    for each in document.jobs.into_iter().chain(document.clients) {
        let job = job(&mut run, each, line);
        run.push_job(job);
    }
    run
}

/// Counts what is beyond a limit, if anything is.
fn beyond(list: &mut Vec<LeftOut>, limit: Limit, line: u32, count: u64) {
    add_left_out(list, (count > 0).then_some(LeftOut { limit, line, count }));
}

fn job(run: &mut Run, of: JobOf, line: u32) -> Job {
    let cpu = of.user.get().zip(of.system.get()).map(|(u, s)| (Percent(u), Percent(s)));
    #[allow(clippy::cast_possible_truncation)] // Saturates; codes are small.
    let error = of.error.get().map(|e| e as i64);
    let name = of.name.0.unwrap_or_default();
    if let Some(code) = error.filter(|e| *e != 0) {
        run.fail(Said::new(line, &format!("{name}: error {code}")));
    }
    let kinds = [
        (Kind::Read, of.read),
        (Kind::Write, of.write),
        (Kind::Trim, of.trim),
        (Kind::Sync, of.sync),
        (Kind::Mixed, of.mixed),
    ];
    beyond(&mut run.left_out, Limit::FIO_OPTIONS, line, of.options.more);
    let mut job = Job { line, name, group: of.group.u32(), error, options: of.options.kept, cpu, ..Job::default() };
    for (kind, values) in kinds {
        let Some(values) = values else { continue };
        let all = [&values.slat_ns, &values.clat_ns, &values.lat_ns, &values.slat, &values.clat, &values.lat];
        let more = all.into_iter().flatten().map(|l| l.percentile.more).sum();
        beyond(&mut run.left_out, Limit::FIO_PERCENTILES, line, more);
        match direction(kind, &values, line) {
            Ok(direction) => job.directions.extend(direction),
            Err(why) => run.refused.push(line, why),
        }
    }
    job
}

/// Nothing where nothing went: fio writes all directions always.
fn direction(kind: Kind, v: &Values, line: u32) -> Result<Option<Direction>, Why> {
    let operations = v.total_ios.u64();
    let bytes = bytes(v)?;
    let is_idle = bytes.is_none_or(|b| b.0 == 0) && operations.is_none_or(|n| n == 0);
    if is_idle {
        return Ok(None);
    }
    // Without a run time there is no rate: with some kinds of verification fio writes zeros.
    let has_run = v.runtime.get().is_none_or(|r| r > 0.0) || v.bw.get().is_some_and(|b| b > 0.0);
    let bandwidth =
        v.bw_bytes.get().or(v.bw.get().map(|kib| kib * 1024.0)).map(MiBps::from_bytes_per_second).filter(|_| has_run);
    let pick = |ns: &Option<Box<Latency>>, us: &Option<Box<Latency>>| match (ns, us) {
        (Some(v), _) => times(v, 1e-3, line),
        (None, Some(v)) => times(v, 1.0, line),
        (None, None) => None,
    };
    Ok(Some(Direction {
        line,
        kind,
        bytes,
        bandwidth,
        iops: v.iops.get().map(PerSecond).filter(|_| has_run),
        operations,
        milliseconds: v.runtime.get().filter(|r| *r > 0.0),
        submission: pick(&v.slat_ns, &v.slat),
        completion: pick(&v.clat_ns, &v.clat),
        total: pick(&v.lat_ns, &v.lat),
        bandwidth_samples: samples([v.bw_min, v.bw_max, v.bw_mean, v.bw_dev], v.bw_samples, 1.0 / 1024.0),
        iops_samples: samples([v.iops_min, v.iops_max, v.iops_mean, v.iops_stddev], v.iops_samples, 1.0),
    }))
}

/// Releases of 2.x wrote KiB under this name, others bytes; what follows from bandwidth and run time decides.
fn bytes(v: &Values) -> Result<Option<Bytes>, Why> {
    let Some(amount) = v.io_bytes.u64() else { return Ok(None) };
    if v.io_kbytes.get().is_some() || v.bw_bytes.get().is_some() || amount == 0 {
        return Ok(Some(Bytes(amount)));
    }
    let (Some(bw), Some(runtime)) = (v.bw.get(), v.runtime.get().filter(|r| *r > 0.0)) else { return Ok(None) };
    // KiB.
    let expected = bw * runtime / 1e3;
    #[allow(clippy::cast_precision_loss)] // Compared loosely.
    let ratio = amount as f64 / expected;
    match ratio {
        r if (0.5..=2.0).contains(&r) => Ok(amount.checked_mul(1024).map(Bytes)),
        r if (512.0..=2048.0).contains(&r) => Ok(Some(Bytes(amount))),
        _ => Err(Why::Unclear("`io_bytes` is in neither bytes nor KiB, by bandwidth and run time")),
    }
}

/// Zeros all over are what fio writes where it did not measure.
fn times(v: &Latency, unit: f64, line: u32) -> Option<Times> {
    let time = |n: Num| n.get().map(|t| in_microseconds(t, unit));
    let is_nothing =
        v.count.get() == Some(0.0) || [v.min, v.max, v.mean].iter().all(|n| n.get().is_none_or(|t| t == 0.0));
    if is_nothing && v.percentile.kept.iter().all(|(_, t)| *t == 0.0) {
        return None;
    }
    let mut percentiles: Vec<_> =
        v.percentile.kept.iter().map(|(which, t)| (*which, in_microseconds(*t, unit))).collect();
    percentiles.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(Times {
        line,
        min: time(v.min),
        max: time(v.max),
        mean: time(v.mean),
        stdev: time(v.stddev),
        count: v.count.u64(),
        percentiles,
    })
}

fn samples([min, max, mean, stdev]: [Num; 4], count: Num, factor: f64) -> Option<Samples> {
    let of = |n: Num| n.get().map(|v| v * factor);
    let is_nothing = count.get() == Some(0.0) || [min, max, mean].iter().all(|n| n.get().is_none_or(|v| v == 0.0));
    (!is_nothing).then(|| Samples { min: of(min), max: of(max), mean: of(mean), stdev: of(stdev), count: count.u64() })
}

//! nccl-tests and rccl-tests.

use super::{Benchmark, Sink, failed};
use crate::model::{Better, Fault, Label, Metric, Run, Series, Stat, Sweep, Unit};
use crate::summary::Area;
use linerate_formats::bounds::{Limit, beyond};
use linerate_formats::nccl_tests::{self as theirs, Collect, Errors, Measure, Row};
use smol_str::SmolStr;

pub(super) const BENCHMARK: Benchmark =
    Benchmark { tool: &theirs::TOOL, read, area: Area::Collectives, secondary: &["time", "algbw"] };

fn read(bytes: &[u8], to: &mut Sink<'_>) {
    theirs::parts(bytes, &mut Reader { to, rows: Rows::default() });
}

/// Puts rows into series as they come.
struct Reader<'a, 'b> {
    to: &'a mut Sink<'b>,
    rows: Rows,
}

impl Collect for Reader<'_, '_> {
    fn rows(&mut self, rows: &mut Vec<Row>) {
        rows.iter().for_each(|row| self.rows.push(row));
    }

    fn again(&mut self) {
        self.rows = Rows::default();
    }

    fn run(&mut self, found: theirs::Run) {
        self.to.record("rows", &found.refused, &found.left_out);
        let mut rows = std::mem::take(&mut self.rows);
        rows.room = found.rows.len();
        found.rows.iter().for_each(|row| rows.push(row));
        self.to.run(run(&found, rows), found.lines.0);
    }
}

/// `rows` are all of the run.
fn run(found: &theirs::Run, rows: Rows) -> Run {
    let mut run = Run { version: found.version.as_ref().map(|v| v.value.as_str().into()), ..Run::default() };
    run.tool = found.collective.as_ref().map(|c| c.value.program().into());
    params(found, &rows, &mut run);
    run.all_hosts(found.ranks.iter().filter_map(|r| r.host.as_deref()));
    faults(found, &mut run);
    notes(found, &rows, &mut run);
    run.faults.extend(rows.faults);
    let several = rows.groups.len() > 1;
    // There may be very many runs: each takes the room that it needs.
    let mut series = Vec::with_capacity(rows.groups.iter().map(|g| g.sweep.filled()).sum());
    series.extend(rows.groups.into_iter().flat_map(|g| g.series(several)));
    run.series = series;
    run
}

/// Rows of a run.
#[derive(Default)]
struct Rows {
    /// One for each type and reduction: with `-d all` a size comes once for each.
    groups: Vec<Group>,
    faults: Vec<Fault>,
    /// Rows whose results were not checked.
    unchecked: u64,
    /// Rows that are still to come, as far as known.
    room: usize,
}

impl Rows {
    fn push(&mut self, row: &Row) {
        let unchecked = |m: &Option<Measure>| m.is_some_and(|m| m.errors == Errors::NotChecked);
        self.unchecked += u64::from(unchecked(&row.out_of_place) || unchecked(&row.in_place));
        let place = self.groups.iter().rposition(|g| g.holds(row)).unwrap_or_else(|| {
            self.groups.push(Group::new(row));
            // As a rule there is one.
            if let [only] = &mut self.groups[..] {
                only.sweep.reserve(self.room);
            }
            self.groups.len() - 1
        });
        if let Some(group) = self.groups.get_mut(place) {
            group.push(row, &mut self.faults);
        }
    }
}

/// Rows of one type, reduction and root.
struct Group {
    dtype: SmolStr,
    redop: Option<SmolStr>,
    root: Option<u32>,
    /// Out of place, then in place: time, algorithm bandwidth, bus bandwidth; of iterations: shortest, longest, 99th percentile.
    sweep: Sweep<12>,
}

impl Group {
    fn new(first: &Row) -> Self {
        let (dtype, redop) = (first.dtype.clone(), first.redop.clone());
        Group { dtype, redop, root: first.root, sweep: Sweep::default() }
    }

    fn holds(&self, row: &Row) -> bool {
        self.dtype == row.dtype && self.redop == row.redop && self.root == row.root
    }

    fn push(&mut self, row: &Row, faults: &mut Vec<Fault>) {
        let valid = [is_valid(row, false, faults), is_valid(row, true, faults)];
        let [[a, b, c, d, e, f], [g, h, i, j, k, l]] = [values(row, false), values(row, true)];
        let [out_of_place, in_place] = valid;
        self.sweep.push(
            row.size.0,
            [a, b, c, d, e, f, g, h, i, j, k, l],
            |n| if n < 6 { out_of_place } else { in_place },
        );
    }

    fn series(self, several: bool) -> impl Iterator<Item = Series> {
        let mut more = Vec::new();
        if several {
            more.push(Label::new("dtype", self.dtype));
            more.extend(self.redop.map(|op| Label::new("redop", op)));
            more.extend(self.root.map(|root| Label::new("root", root.to_string())));
        }
        let series = PLACES.into_iter().flat_map(|place| metrics().map(|metric| (place, metric)));
        let filled = series.zip(self.sweep.points()).filter(|(_, points)| !points.is_empty());
        filled.map(move |((place, metric), points)| {
            let mut labels = Vec::with_capacity(1 + more.len());
            labels.push(Label::new("place", place));
            labels.extend_from_slice(&more);
            Series { metric, labels, points }
        })
    }
}

const PLACES: [&str; 2] = ["out-of-place", "in-place"];

fn measure(row: &Row, in_place: bool) -> Option<&Measure> {
    if in_place { row.in_place.as_ref() } else { row.out_of_place.as_ref() }
}

/// Whether one of a row's measurements is a result. Where it is not, that is a fault.
#[inline]
fn is_valid(row: &Row, in_place: bool, faults: &mut Vec<Fault>) -> bool {
    let Some(Errors::Wrong(n @ 1..)) = measure(row, in_place).map(|m| m.errors) else { return true };
    let [out_of_place, inside] = PLACES;
    let place = if in_place { inside } else { out_of_place };
    let what = format!("{n} wrong elements at {}, {place}: not a valid result", row.size);
    faults.push(Fault { what, line: Some(row.line), whole_run: false });
    false
}

/// The values of one of a row's measurements, as [`metrics`] names them; those that are not there are no numbers.
#[inline]
fn values(row: &Row, in_place: bool) -> [f64; 6] {
    const NONE: f64 = f64::NAN;
    let Some(m) = measure(row, in_place) else { return [NONE; 6] };
    // Nothing was moved: zero bytes have no bandwidth.
    let (algbw, busbw) = if row.size.0 > 0 { (m.algbw.0, m.busbw.0) } else { (NONE, NONE) };
    let (min, max, p99) = row.per_iteration(in_place).map_or((NONE, NONE, NONE), |p| (p.min.0, p.max.0, p.p99.0));
    [m.time.0, algbw, busbw, min, max, p99]
}

fn metrics() -> [Metric; 6] {
    let time = || Metric::new("time", Unit::Microseconds, Better::Lower);
    [
        time(),
        Metric::new("algbw", Unit::GBps, Better::Higher),
        Metric::new("busbw", Unit::GBps, Better::Higher),
        time().stat(Stat::Min),
        time().stat(Stat::Max),
        time().stat(Stat::Percentile(99.0)),
    ]
}

fn params(found: &theirs::Run, rows: &Rows, run: &mut Run) {
    let ranks = found.ranks.len() as u64 + found.ranks_not_kept;
    run.param("ranks", (ranks > 0).then_some(ranks));
    let nodes = found.hosts();
    run.param("nodes", (nodes > 0).then_some(nodes as u64));
    if let Some(first) = found.ranks.first().filter(|r| !r.name.is_empty()) {
        run.param("gpu", Some(first.name.as_str()));
    }
    // The type is each row's; where all rows have one, it is the run's.
    if let Some(first) = rows.groups.first() {
        if rows.groups.iter().all(|g| g.dtype == first.dtype) {
            run.param("dtype", Some(first.dtype.clone()));
        }
        if rows.groups.iter().all(|g| g.redop == first.redop) {
            run.param("redop", first.redop.clone());
        }
    }
    if let Some(p) = found.params.as_ref().map(|p| &p.value) {
        run.param("threads", p.threads);
        run.param("gpus_per_thread", p.gpus);
        run.param("min_bytes", p.min.map(|b| b.0));
        run.param("max_bytes", p.max.map(|b| b.0));
        run.param("warmup_iters", p.warmup_iters);
        run.param("iters", p.iters);
        run.param("agg_iters", p.agg_iters);
        run.param("validation", p.validation);
        run.param("graph", p.graph);
    }
    run.param("nccl", found.library_text.as_ref().map(|v| v.value.as_str()));
    run.param("nccl_library", found.library);
    let job = &found.job;
    for (key, said) in
        [("launcher", &job.launcher), ("image", &job.image), ("network", &job.network), ("plugin", &job.plugin)]
    {
        run.param(key, said.as_ref().map(|s| s.value.as_str()));
    }
    for (key, value) in &found.env {
        run.params.insert(format!("env.{key}").into(), value.as_str().into());
    }
}

/// What makes the whole run no result.
fn faults(found: &theirs::Run, run: &mut Run) {
    if let Some(out) = found.out_of_bounds.as_ref().filter(|o| o.value.count > 0 || !o.value.ok) {
        run.fault(format!("out of bounds values: {}; the results were wrong", out.value.count), Some(out.line));
    }
    // The first failure is the cause; what follows from it is counted.
    if let Some(first) = found.failures.first() {
        let more = found.failures.len() as u64 - 1 + beyond(&found.left_out, Limit::NCCL_TESTS_FAILURES);
        run.fault(failed(&first.message, more), Some(first.line));
    }
    if found.ran_alone() {
        let line = found.lines.0;
        let copies = u64::from(found.copies).max(found.ranks.iter().filter(|r| r.rank == 0).count() as u64);
        let what = format!(
            "{copies} processes each ran alone, though started as one job: the tests were built without MPI (make MPI=1); \
             their tables are mixed"
        );
        run.fault(what, Some(line));
    }
}

fn notes(found: &theirs::Run, rows: &Rows, run: &mut Run) {
    if let Some(reduced) = &found.reduced_to {
        run.note(
            format!("the largest size was lowered to {}: not enough GPU memory", reduced.value),
            Some(reduced.line),
        );
    }
    if let Some(average) = &found.average {
        run.note(
            format!(
                "the tool's average over all sizes is {}: it depends on the sizes that were asked for; judge the largest size",
                average.value.busbw
            ),
            Some(average.line),
        );
    }
    if found.ranks.len() == 1 && found.ranks_not_kept == 0 && !rows.groups.is_empty() {
        run.note(
            "one rank: nothing crosses a link, bus bandwidth is 0 by its formula, and in place nothing is done at all",
            None,
        );
    }
    if rows.unchecked > 0 {
        run.note(format!("results of {} sizes were not checked for right values (N/A)", rows.unchecked), None);
    }
    if found.out_of_bounds.is_none() && found.average.is_none() && !rows.groups.is_empty() {
        run.note("the summary is missing: nothing says that the run came to its end", None);
    }
    if found.is_cpu_time {
        run.note("times are those of the calls on the processor (cputime), not of the operation", None);
    }
}

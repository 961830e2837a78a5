//! nccl-tests and rccl-tests.

use super::Sink;
use crate::model::{Better, Fault, Label, Metric, Note, Point, Run, Series, Stat, Unit};
use linerate_formats::nccl_tests::{self as theirs, Collective, Errors, Measure, PerIteration, Row};
use linerate_formats::units::Bytes;

pub(super) fn read(bytes: &[u8], to: &mut Sink<'_>) {
    theirs::each(bytes, |found| {
        for refused in &found.refused {
            to.refuse(refused.line, &refused.why);
        }
        if found.refused_not_kept > 0 {
            to.refuse(0, format!("{} more rows that could not be read", found.refused_not_kept));
        }
        let line = found.lines.0;
        let run = run(&found);
        to.run(run, line);
    });
}

fn run(found: &theirs::Run) -> Run {
    let mut run = Run { version: found.version.as_ref().map(|v| v.value.as_str().into()), ..Run::default() };
    run.tool = found.collective.as_ref().map(|c| program(c.value).into());
    params(found, &mut run);
    found.ranks.iter().filter_map(|r| r.host.as_deref()).for_each(|h| run.host(h));
    faults(found, &mut run);
    notes(found, &mut run);
    // One for each type and reduction: with `-d all` a size comes once for each.
    let mut groups: Vec<Group<'_>> = Vec::new();
    for row in &found.rows {
        let place = groups.iter().rposition(|g| g.holds(row)).unwrap_or_else(|| {
            // As a rule there is one.
            let room = if groups.is_empty() { found.rows.len() } else { 0 };
            groups.push(Group::new(row, room));
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(place) {
            group.push(row, &mut run.faults);
        }
    }
    let several = groups.len() > 1;
    run.series = groups.into_iter().flat_map(|g| g.series(several)).filter(|s| !s.points.is_empty()).collect();
    run
}

/// Rows of one type, reduction and root.
struct Group<'a> {
    first: &'a Row,
    places: [Place; 2],
}

impl<'a> Group<'a> {
    fn new(first: &'a Row, room: usize) -> Self {
        Group { first, places: [Place::new("out-of-place", room), Place::new("in-place", room)] }
    }

    fn holds(&self, row: &Row) -> bool {
        let first = self.first;
        first.dtype == row.dtype && first.redop == row.redop && first.root == row.root
    }

    fn push(&mut self, row: &Row, faults: &mut Vec<Fault>) {
        let each = [(&row.out_of_place, false), (&row.in_place, true)];
        for (place, (measure, in_place)) in self.places.iter_mut().zip(each) {
            if let Some(measure) = measure {
                place.push(row, measure, row.per_iteration(in_place), faults);
            }
        }
    }

    fn series(self, several: bool) -> impl Iterator<Item = Series> {
        let mut labels = Vec::new();
        if several {
            labels.push(Label::new("dtype", self.first.dtype.clone()));
            labels.extend(self.first.redop.clone().map(|op| Label::new("redop", op)));
            labels.extend(self.first.root.map(|root| Label::new("root", root.to_string())));
        }
        self.places.into_iter().flat_map(move |p| p.series(&labels))
    }
}

/// The program of a collective, as nccl-tests names it.
fn program(collective: Collective) -> &'static str {
    match collective {
        Collective::AllReduce => "all_reduce_perf",
        Collective::AllGather => "all_gather_perf",
        Collective::ReduceScatter => "reduce_scatter_perf",
        Collective::Broadcast => "broadcast_perf",
        Collective::Reduce => "reduce_perf",
        Collective::AllToAll => "alltoall_perf",
        Collective::AllToAllV => "alltoallv_perf",
        Collective::Gather => "gather_perf",
        Collective::Scatter => "scatter_perf",
        Collective::SendRecv => "sendrecv_perf",
        Collective::HyperCube => "hypercube_perf",
    }
}

fn params(found: &theirs::Run, run: &mut Run) {
    let ranks = found.ranks.len() as u64 + found.ranks_not_kept;
    run.param("ranks", (ranks > 0).then_some(ranks));
    let nodes = found.hosts();
    run.param("nodes", (nodes > 0).then_some(nodes as u64));
    if let Some(first) = found.ranks.first().filter(|r| !r.name.is_empty()) {
        run.param("gpu", Some(first.name.as_str()));
    }
    // The type is each row's; where all rows have one, it is the run's.
    let mut rows = found.rows.iter();
    if let Some(first) = rows.next() {
        if rows.clone().all(|r| r.dtype == first.dtype) {
            run.param("dtype", Some(first.dtype.clone()));
        }
        if rows.all(|r| r.redop == first.redop) {
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
    if found.runs_not_kept > 0 {
        run.notes
            .push(Note { what: format!("{} more runs of the text were not kept", found.runs_not_kept), line: None });
    }
    for (key, value) in &found.env {
        run.params.insert(format!("env.{key}").into(), value.as_str().into());
    }
}

/// What makes the whole run no result.
fn faults(found: &theirs::Run, run: &mut Run) {
    let mut whole = |what: String, line: u32| run.faults.push(Fault { what, line: Some(line), whole_run: true });
    if let Some(out) = found.out_of_bounds.as_ref().filter(|o| o.value.count > 0 || !o.value.ok) {
        whole(format!("out of bounds values: {}; the results were wrong", out.value.count), out.line);
    }
    // The first failure is the cause; what follows from it is counted.
    if let Some(first) = found.failures.first() {
        let more = found.failures.len() as u64 - 1 + found.failures_not_kept;
        let more = if more > 0 { format!(" (and {more} more failures)") } else { String::new() };
        whole(format!("the run failed: {}{more}", first.message), first.line);
    }
    if found.ran_alone() {
        let line = found.lines.0;
        let copies = u64::from(found.copies).max(found.ranks.iter().filter(|r| r.rank == 0).count() as u64);
        let what = format!(
            "{copies} processes each ran alone, though started as one job: the tests were built without MPI (make MPI=1); \
             their tables are mixed"
        );
        whole(what, line);
    }
}

fn notes(found: &theirs::Run, run: &mut Run) {
    let mut note = |what: String, line: Option<u32>| run.notes.push(Note { what, line });
    if let Some(reduced) = &found.reduced_to {
        note(format!("the largest size was lowered to {}: not enough GPU memory", reduced.value), Some(reduced.line));
    }
    if let Some(average) = &found.average {
        note(
            format!(
                "the tool's average over all sizes is {}: it depends on the sizes that were asked for; judge the largest size",
                average.value.busbw
            ),
            Some(average.line),
        );
    }
    let unchecked = |m: &Option<Measure>| m.is_some_and(|m| m.errors == Errors::NotChecked);
    let rows = found.rows.iter().filter(|r| unchecked(&r.out_of_place) || unchecked(&r.in_place)).count();
    if rows > 0 {
        note(format!("results of {rows} sizes were not checked for right values (N/A)"), None);
    }
    if found.rows_not_kept > 0 {
        note(format!("{} more rows were not kept", found.rows_not_kept), None);
    }
    if found.out_of_bounds.is_none() && found.average.is_none() && !found.rows.is_empty() {
        note("the summary is missing: nothing says that the run came to its end".to_owned(), None);
    }
    if found.is_cpu_time {
        note("times are those of the calls on the processor (cputime), not of the operation".to_owned(), None);
    }
}

/// Out of place or in place.
struct Place {
    name: &'static str,
    /// Time, algorithm bandwidth, bus bandwidth; of iterations: shortest, longest, 99th percentile.
    points: [Vec<Point>; 6],
}

impl Place {
    fn new(name: &'static str, room: usize) -> Place {
        let mut points: [Vec<Point>; 6] = Default::default();
        points.iter_mut().take(3).for_each(|p| p.reserve_exact(room));
        Place { name, points }
    }

    fn push(&mut self, row: &Row, m: &Measure, spread: Option<PerIteration>, faults: &mut Vec<Fault>) {
        let valid = match m.errors {
            Errors::Wrong(n) if n > 0 => {
                let what = format!("{n} wrong elements at {}, {}: not a valid result", Bytes(row.size.0), self.name);
                faults.push(Fault { what, line: Some(row.line), whole_run: false });
                false
            }
            _ => true,
        };
        // Nothing was moved: a bandwidth of zero bytes is none.
        let moved = row.size.0 > 0;
        let size = Some(row.size.0);
        let iterations = spread.map(|p| (p.min.0, p.max.0, p.p99.0));
        let values = [
            Some(m.time.0),
            Some(m.algbw.0).filter(|_| moved),
            Some(m.busbw.0).filter(|_| moved),
            iterations.map(|p| p.0),
            iterations.map(|p| p.1),
            iterations.map(|p| p.2),
        ];
        for (list, value) in self.points.iter_mut().zip(values) {
            if let Some(value) = value.filter(|v| v.is_finite()) {
                list.push(Point { size, at: None, value, valid });
            }
        }
    }

    fn series(self, more: &[Label]) -> impl Iterator<Item = Series> + use<> {
        let mut labels = vec![Label::new("place", self.name)];
        labels.extend_from_slice(more);
        let time = || Metric::new("time", Unit::Microseconds, Better::Lower);
        let metrics = [
            time(),
            Metric::new("algbw", Unit::GBps, Better::Higher),
            Metric::new("busbw", Unit::GBps, Better::Higher),
            time().stat(Stat::Min),
            time().stat(Stat::Max),
            time().stat(Stat::Percentile(99.0)),
        ];
        metrics.into_iter().zip(self.points).map(move |(metric, points)| Series {
            metric,
            labels: labels.clone(),
            points,
        })
    }
}

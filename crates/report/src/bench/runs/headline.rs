//! A run in one number.

use super::view::{Group, View};
use crate::bench::words::{self, counted, quantity};
use linerate_bench::Run;

/// What one would quote of a run: `busbw 93.13 GB/s at 2 GiB`. Of a sweep the largest size, as bandwidth is judged; of a time series
/// the median of all of it. `None` where nothing valid was measured.
#[must_use]
pub fn headline(run: &Run) -> Option<String> {
    let view = View::of(run);
    let sweep = view.sweeps.first().and_then(of_sweep);
    let time = || view.times.first().and_then(of_time);
    let single = || view.singles.first().and_then(of_single);
    sweep.or_else(single).or_else(time)
}

fn of_sweep(g: &Group<'_>) -> Option<String> {
    let values = g.by_size();
    let ((size, _), v) = values.iter().rev().find(|(_, v)| v.valid && v.value.is_finite())?;
    Some(format!("{} {} at {}", g.name(&[]), quantity(v.value, &g.metric.unit), words::size(*size)))
}

fn of_single(g: &Group<'_>) -> Option<String> {
    let v = g.single().filter(|v| v.valid)?;
    let at = g.size().map(|s| format!(" at {}", words::size(s))).unwrap_or_default();
    Some(format!("{} {}{at}", g.name(&[]), quantity(v.value, &g.metric.unit)))
}

fn of_time(g: &Group<'_>) -> Option<String> {
    let values = words::sorted(g.in_order().into_iter());
    let median = words::median(&values)?;
    let n = counted(values.len(), "value", "values");
    Some(format!("{} median {} of {n}", g.name(&[]), quantity(median, &g.metric.unit)))
}

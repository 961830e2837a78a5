//! Which comparisons stand in one table: a metric over its sizes; what has one row each, together.

use crate::bench::words;
use crate::group::alike;
use linerate_bench::compare::{Check, Comparison, Verdict};
use std::collections::BTreeMap;

/// A table's worth of comparisons.
pub(in crate::bench) struct Section<'a> {
    pub(in crate::bench) rows: Vec<&'a Comparison>,
    /// The rows are sizes of one metric. Otherwise each is a metric of its own.
    pub(in crate::bench) over_sizes: bool,
}

/// What comparisons of one metric have in common.
fn key(c: &Comparison) -> (String, String) {
    let program = format!("{}\0{}", c.kind.name(), c.tool.as_deref().unwrap_or_default());
    let labels = words::labels(&c.labels);
    let metric = format!("{}\0{}\0{}\0{labels}", c.metric, c.stat, c.unit.name());
    (program, metric)
}

/// All comparisons in tables, in the order of their first rows.
pub(in crate::bench) fn sections(all: &[Comparison]) -> Vec<Section<'_>> {
    let mut metrics: Vec<Vec<&Comparison>> = Vec::new();
    let mut places: BTreeMap<(String, String), usize> = BTreeMap::new();
    for c in all {
        let place = *places.entry(key(c)).or_insert(metrics.len());
        match metrics.get_mut(place) {
            Some(list) => list.push(c),
            None => metrics.push(vec![c]),
        }
    }
    let mut out: Vec<Section<'_>> = Vec::new();
    let mut singles: BTreeMap<String, usize> = BTreeMap::new();
    for rows in metrics {
        let Some(first) = rows.first() else { continue };
        if rows.len() > 1 {
            out.push(Section { rows, over_sizes: true });
            continue;
        }
        let place = *singles.entry(key(first).0).or_insert(out.len());
        match out.get_mut(place) {
            Some(s) => s.rows.extend(rows),
            None => out.push(Section { rows, over_sizes: false }),
        }
    }
    out
}

impl Section<'_> {
    /// `nccl-tests all_reduce_perf: busbw, out-of-place, GB/s`.
    pub(in crate::bench) fn title(&self) -> String {
        let Some(c) = self.rows.first() else { return String::new() };
        let program = program(c);
        if !self.over_sizes {
            return program;
        }
        format!("{program}: {}", metric(c))
    }

    /// Name of a row.
    pub(in crate::bench) fn row_name(&self, c: &Comparison) -> String {
        match (self.over_sizes, c.size) {
            (true, Some(size)) => words::size(size),
            (true, None) => "all".into(),
            (false, Some(size)) => format!("{} at {}", metric(c), words::size(size)),
            (false, None) => metric(c),
        }
    }
}

fn program(c: &Comparison) -> String {
    c.tool.as_ref().map_or_else(|| c.kind.name().to_owned(), |t| format!("{} {t}", c.kind.name()))
}

/// `busbw, out-of-place, GB/s`.
pub(in crate::bench) fn metric(c: &Comparison) -> String {
    let parts = [words::metric(&c.metric, c.stat), words::labels(&c.labels), c.unit.to_string()];
    parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Comparisons in a few words: `busbw at 8 sizes, 1 MiB to 2 GiB`.
pub(in crate::bench) fn subjects(list: &[&Comparison]) -> String {
    let name = |c: &Comparison| {
        let parts = [words::metric(&c.metric, c.stat), words::labels(&c.labels)];
        parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" ")
    };
    let by_metric = alike(list.iter().map(|c| (name(c), c.size)));
    const MOST: usize = 6;
    let more = by_metric.len().saturating_sub(MOST);
    let mut parts: Vec<String> =
        by_metric.into_iter().take(MOST).map(|(name, sizes)| of_sizes(&name, &sizes)).collect();
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    parts.join("; ")
}

fn of_sizes(name: &str, sizes: &[Option<u64>]) -> String {
    let known: Vec<u64> = sizes.iter().flatten().copied().collect();
    match known.as_slice() {
        [] => name.to_owned(),
        [one] => format!("{name} at {}", words::size(*one)),
        [a, b] => format!("{name} at {} and {}", words::size(*a), words::size(*b)),
        all => {
            let (low, high) = (all.iter().min().copied().unwrap_or(0), all.iter().max().copied().unwrap_or(0));
            format!("{name} at {} sizes, {} to {}", all.len(), words::size(low), words::size(high))
        }
    }
}

/// Assumptions that were checked: the first check of each and what it gave, and how many there are.
pub(super) fn checks(all: &[Comparison]) -> Vec<(&Check, usize)> {
    let keyed = all.iter().flat_map(|c| &c.checks).map(|check| ((check.assumption, check.holds), check));
    alike(keyed).iter().filter_map(|(_, same)| Some((*same.first()?, same.len()))).collect()
}

/// `3 better, 1 worse`, without zeros.
pub(in crate::bench) fn tally(all: &[Comparison]) -> String {
    let count = |v| all.iter().filter(|c| c.verdict == v).count();
    let verdicts = [Verdict::Worse, Verdict::Better, Verdict::Equivalent, Verdict::Inconclusive];
    let parts = verdicts.into_iter().map(|v| (v, count(v))).filter(|(_, n)| *n > 0).map(|(v, n)| format!("{n} {v}"));
    parts.collect::<Vec<_>>().join(", ")
}

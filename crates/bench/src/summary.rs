//! What was measured of a cluster, in one place: GPUs, collectives, RDMA, TCP, storage, training; and what the network's figures mean to
//! the synchronisation of gradients.

use crate::ceiling::{Ceiling, Known, ceiling};
use crate::model::{Better, Kind, Label, Metric, Run, Stat, Unit};
use smol_str::SmolStr;
use std::collections::{BTreeMap, HashSet};

/// Parts of a cluster, in the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Area {
    /// Memory and links of GPUs.
    Gpu,
    /// NCCL.
    Collectives,
    /// Verbs.
    Rdma,
    /// Sockets.
    Tcp,
    /// Files.
    Storage,
    /// Training.
    Training,
    /// Tables of others.
    Other,
}

impl Area {
    /// Its heading.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Area::Gpu => "GPU memory and links",
            Area::Collectives => "Collectives (NCCL)",
            Area::Rdma => "RDMA",
            Area::Tcp => "TCP and UDP",
            Area::Storage => "Storage",
            Area::Training => "Training",
            Area::Other => "Other measurements",
        }
    }

    /// The part that a kind measures.
    #[must_use]
    pub fn of(kind: Kind) -> Area {
        kind.benchmark().area
    }
}

/// One figure: the largest size of a measurement, over all runs of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Whose.
    pub kind: Kind,
    /// Program.
    pub tool: Option<SmolStr>,
    /// What.
    pub metric: Metric,
    /// What else tells it from others.
    pub labels: Vec<Label>,
    /// The size that it is of: where bandwidth counts the largest, where time counts the smallest.
    pub size: Option<u64>,
    /// The median of the runs' values.
    pub value: f64,
    /// Smallest and largest.
    pub range: (f64, f64),
    /// Runs.
    pub runs: usize,
    /// What the links allow.
    pub ceiling: Option<Ceiling>,
}

/// What the network means to training with data parallelism.
#[derive(Debug, Clone, PartialEq)]
pub struct Synchronisation {
    /// `RDMA (ib_write_bw)`, `TCP (iperf3)`.
    pub over: String,
    /// Gb/s that were measured.
    pub bandwidth: f64,
    /// Bytes of gradients.
    pub bytes: u64,
    /// Nodes.
    pub nodes: u32,
    /// Seconds of one ring all-reduce over that bandwidth alone: an upper bound of what it allows, an estimate of what happens.
    pub seconds: f64,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// Figures by part.
    pub areas: BTreeMap<Area, Vec<Figure>>,
    /// Gradient synchronisation over each network that was measured, the fastest first.
    pub synchronisation: Vec<Synchronisation>,
    /// RDMA against TCP and the like, in sentences.
    pub against: Vec<String>,
    /// Runs that are no valid result, with their reason.
    pub invalid: Vec<String>,
    /// Remarks of the tools.
    pub notes: Vec<String>,
    /// Hosts.
    pub hosts: Vec<SmolStr>,
    /// Runs in all.
    pub runs: usize,
}

/// Gradients of a model with seven thousand million parameters in 16 bits: what is taken where nobody says.
pub const GRADIENTS: u64 = 14_000_000_000;

/// Sums up runs. `gradient`: bytes that are synchronised in a step.
#[must_use]
pub fn summary(runs: &[Run], known: &Known, gradient: Option<u64>, nodes: Option<u32>) -> Summary {
    let mut out = Summary { runs: runs.len(), ..Summary::default() };
    let options = crate::compare::Options::default();
    let mut values: BTreeMap<Key, Vec<(Option<u64>, f64, usize)>> = BTreeMap::new();
    let mut metrics: BTreeMap<Key, Metric> = BTreeMap::new();
    let (mut hosts, mut notes) = (HashSet::new(), HashSet::new());
    for (n, run) in runs.iter().enumerate() {
        out.hosts.extend(run.hosts.iter().filter(|h| hosts.insert((*h).clone())).cloned());
        if let Some(f) = run.void() {
            out.invalid.push(format!("{} ({}): {}", run.program(), run.source.name, f.what));
            continue;
        }
        for note in &run.notes {
            let text = format!("{}: {}", run.program(), note.what);
            if notes.insert(text.clone()) {
                out.notes.push(text);
            }
        }
        for s in options.wanted(run) {
            let labels: Vec<Label> = s.telling().cloned().collect();
            let key = (
                Area::of(run.kind),
                run.kind,
                run.tool.clone(),
                s.metric.name.clone(),
                s.metric.stat.to_string(),
                labels,
            );
            let valid = || s.points.valid();
            let pick = if s.metric.better == Better::Lower {
                valid().filter_map(|p| p.size).min()
            } else {
                valid().filter_map(|p| p.size).max()
            };
            let at: Vec<f64> = valid().filter(|p| p.size == pick).map(|p| p.value).collect();
            if !at.is_empty() {
                metrics.entry(key.clone()).or_insert_with(|| s.metric.clone());
                values.entry(key).or_default().push((pick, at.iter().sum::<f64>() / at.len() as f64, n));
            }
        }
    }
    for (key, list) in values {
        let Some(metric) = metrics.remove(&key) else { continue };
        let (area, kind, tool, _, _, labels) = key;
        // Runs that went to another size are another measurement: the size that most runs have.
        let size = most_common(list.iter().map(|l| l.0));
        let mut at: Vec<(f64, usize)> = list.iter().filter(|l| l.0 == size).map(|l| (l.1, l.2)).collect();
        at.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (Some(first), Some(last)) = (at.first(), at.last()) else { continue };
        let all: Vec<f64> = at.iter().map(|a| a.0).collect();
        let value = linerate_stats::quantile(&all, 0.5).unwrap_or(first.0);
        let ceiling = runs.get(first.1).and_then(|r| ceiling(r, &metric, known));
        let figure =
            Figure { kind, tool, size, value, range: (first.0, last.0), runs: at.len(), ceiling, metric, labels };
        out.areas.entry(area).or_default().push(figure);
    }
    against(&mut out);
    synchronise(&mut out, gradient.unwrap_or(GRADIENTS), nodes.unwrap_or(2).max(2));
    out
}

type Key = (Area, Kind, Option<SmolStr>, SmolStr, String, Vec<Label>);

fn most_common(sizes: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    let mut counts: BTreeMap<Option<u64>, usize> = BTreeMap::new();
    sizes.for_each(|s| *counts.entry(s).or_default() += 1);
    counts.into_iter().max_by_key(|(size, n)| (*n, *size)).and_then(|(size, _)| size)
}

/// The figure of a network that stands for it: the best of a metric.
fn figure(s: &Summary, area: Area, name: &[&str], lower: bool) -> Option<(Figure, f64)> {
    let unit = if lower { Unit::Microseconds } else { Unit::Gbps };
    let typical = |f: &&Figure| matches!(f.metric.stat, Stat::Value | Stat::Median | Stat::Mean);
    let all = s.areas.get(&area)?.iter().filter(|f| name.contains(&f.metric.name.as_str())).filter(typical);
    let each = all.filter_map(|f| Some((f.clone(), f.metric.unit.convert(f.value, &unit)?)));
    each.min_by(|a, b| if lower { a.1.total_cmp(&b.1) } else { b.1.total_cmp(&a.1) })
}

fn tool(f: &Figure) -> String {
    f.tool.as_deref().unwrap_or(f.kind.name()).to_owned()
}

fn against(s: &mut Summary) {
    let n = |a: &Figure, b: &Figure| {
        let least = a.runs.min(b.runs);
        if a.runs.max(b.runs) == 1 {
            "n = 1 run of each: the spread between runs is not known".to_owned()
        } else if least == 1 {
            "n = 1 run of one of them: its spread between runs is not known".to_owned()
        } else {
            format!("n = {} and {} runs, different tools", a.runs, b.runs)
        }
    };
    if let (Some((r, rv)), Some((t, tv))) =
        (figure(s, Area::Rdma, &["bandwidth"], false), figure(s, Area::Tcp, &["bandwidth"], false))
    {
        s.against.push(format!(
            "bandwidth: RDMA {rv:.1} Gb/s ({}) against TCP {tv:.1} Gb/s ({}): {:.2} times as much; {}",
            tool(&r),
            tool(&t),
            rv / tv,
            n(&r, &t)
        ));
    }
    if let (Some((r, rv)), Some((t, tv))) =
        (figure(s, Area::Rdma, &["latency"], true), figure(s, Area::Tcp, &["latency"], true))
    {
        s.against.push(format!(
            "latency, one way: RDMA {rv:.2} µs ({} {}) against TCP {tv:.2} µs ({} {}): {:.1} times as long; {}",
            tool(&r),
            r.metric.stat,
            tool(&t),
            t.metric.stat,
            tv / rv,
            n(&r, &t)
        ));
    }
}

/// Ring all-reduce of S bytes among n nodes moves 2(n − 1)/n · S through each node's network.
fn synchronise(s: &mut Summary, bytes: u64, nodes: u32) {
    let n = f64::from(nodes);
    for (area, word) in [(Area::Rdma, "RDMA"), (Area::Tcp, "TCP")] {
        if let Some((f, gbps)) = figure(s, area, &["bandwidth"], false).filter(|(_, v)| *v > 0.0) {
            let seconds = 2.0 * (n - 1.0) / n * bytes as f64 / (gbps * 1e9 / 8.0);
            s.synchronisation.push(Synchronisation {
                over: format!("{word} ({})", tool(&f)),
                bandwidth: gbps,
                bytes,
                nodes,
                seconds,
            });
        }
    }
    s.synchronisation.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
}

//! What a table measured: its best figure, its curve over sizes, and what it says about how it was measured.

use super::steps::{number, payload, span};
use super::training::{self, Slower};
use crate::causes::perf::{counts_whole_node, ranks_per_host};
use crate::nodes::NodeView;
use crate::observe::Observer;
use crate::place::Place;
use linerate_formats::nccl_tests::{self, Collective};
use linerate_formats::perftest::{Kind, Memory, Run, Values};
use linerate_topology::ceiling::{Links, Port, Range};
use std::collections::BTreeSet;

/// A size from which on a transfer is long beside its start: what is slower at smaller sizes is no sign of a slow path.
pub(super) const LARGE: u64 = 64 << 10;

/// One figure.
pub(super) struct Measured<'a> {
    pub(super) place: Place,
    /// Program or test, and device.
    pub(super) name: String,
    /// In the unit of what was measured: Gb/s of a port, GB/s of a collective, µs.
    pub(super) value: f64,
    /// Bytes of the message.
    pub(super) size: u64,
    /// All sizes with their values, by size.
    pub(super) points: Vec<(u64, f64)>,
    pub(super) of: Of<'a>,
}

/// What was measured.
pub(super) enum Of<'a> {
    Port(PortTest<'a>),
    Collective(Job<'a>),
    Latency(LatencyTest<'a>),
    Training(Slower),
}

/// Bandwidth between two ports.
pub(super) struct PortTest<'a> {
    pub(super) run: &'a Run,
    /// Whether the memory is a GPU's; `None` where the text does not tell.
    pub(super) gpu_memory: Option<bool>,
    /// The best stretch, Gb/s.
    pub(super) peak: Option<f64>,
}

/// A collective.
pub(super) struct Job<'a> {
    /// Hosts, where ranks are listed.
    pub(super) hosts: Option<usize>,
    /// Ranks in all, as listed; else where the table's two bandwidths show it.
    pub(super) ranks: Option<usize>,
    /// Ranks of a host, where all have as many.
    pub(super) ranks_per_host: Option<usize>,
    /// The bus bandwidth is that of all rails of a node together.
    pub(super) whole_node: bool,
    /// The GPUs' name.
    pub(super) gpu: Option<&'a str>,
}

/// Latency between two ports.
pub(super) struct LatencyTest<'a> {
    pub(super) run: &'a Run,
    /// Median, µs.
    pub(super) typical: f64,
    /// 99 of 100, µs.
    pub(super) p99: Option<f64>,
}

/// What the links carry.
pub(super) struct Ceiling {
    pub(super) range: Range,
    pub(super) words: String,
}

/// All figures, in the order of the inputs.
pub(super) fn all(o: &Observer) -> Vec<Measured<'_>> {
    let of_ports = o.perftest.iter().filter_map(|(file, run)| {
        let place = |line: u32| Place { file: *file, line: u64::from(line) };
        match kind(run)? {
            Kind::Bandwidth => port(o, run).map(|(line, m)| Measured { place: place(line), ..m }),
            Kind::Latency => latency(run).map(|(line, m)| Measured { place: place(line), ..m }),
            Kind::Other => None,
        }
    });
    let of_jobs = o.nccl_tests.iter().filter_map(|(file, run)| {
        let (line, m) = collective(run)?;
        Some(Measured { place: Place { file: *file, line: u64::from(line) }, ..m })
    });
    let trainings = o.trainings.iter().filter_map(|(file, run)| {
        let (line, m) = training::measured(run)?;
        Some(Measured { place: Place { file: *file, line: u64::from(line) }, ..m })
    });
    of_ports.chain(of_jobs).chain(trainings).collect()
}

/// What is measured: by the title, else, where the head of the text is cut, by the columns.
fn kind(run: &Run) -> Option<Kind> {
    let by_title = run.test.as_ref().map(|t| t.value.kind);
    by_title.or_else(|| {
        Some(match run.rows.first()?.values {
            Values::Bandwidth(_) => Kind::Bandwidth,
            Values::Latency(_) => Kind::Latency,
        })
    })
}

pub(super) const NOWHERE: Place = Place { file: crate::FileId(0), line: 0 };

fn title(run: &Run) -> String {
    let what = if kind(run) == Some(Kind::Latency) { "latency" } else { "bandwidth" };
    let test = match &run.test {
        Some(t) => format!("{} {what}", t.value.verb),
        None => format!("{what} (the test's title is not in the text: one direction is assumed)"),
    };
    let device = run.header.device.as_ref().map(|d| format!(" of {d}"));
    format!("perftest {test}{}", device.unwrap_or_default())
}

fn port<'a>(o: &Observer, run: &'a Run) -> Option<(u32, Measured<'a>)> {
    // Both directions count once each.
    let halves = if run.test.as_ref().is_some_and(|t| t.value.bidirectional) { 2.0 } else { 1.0 };
    let mut rows: Vec<(u64, f64, Option<f64>, u32)> = run
        .rows
        .iter()
        .filter_map(|r| match &r.values {
            Values::Bandwidth(b) => {
                Some((r.size.0, b.average?.gbps().0 / halves, b.peak.map(|p| p.gbps().0 / halves), r.line))
            }
            Values::Latency(_) => None,
        })
        .filter(|(_, v, ..)| *v > 0.0)
        .collect();
    rows.sort_by_key(|r| r.0);
    let best = *rows.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let gpu_memory = match run.header.memory {
        _ if run.header.cuda_device.is_some() => Some(true),
        Some(memory) => Some(memory == Memory::Accelerator),
        None => o.gpu_buffers.then_some(true),
    };
    let m = Measured {
        place: NOWHERE,
        name: title(run),
        value: best.1,
        size: best.0,
        points: rows.iter().map(|r| (r.0, r.1)).collect(),
        of: Of::Port(PortTest { run, gpu_memory, peak: best.2 }),
    };
    Some((best.3, m))
}

fn latency(run: &Run) -> Option<(u32, Measured<'_>)> {
    let row = run.rows.iter().filter(|r| matches!(&r.values, Values::Latency(_))).min_by_key(|r| r.size)?;
    let Values::Latency(l) = &row.values else { return None };
    let typical = l.typical.or(l.average)?.0;
    let m = Measured {
        place: NOWHERE,
        name: title(run),
        value: typical,
        size: row.size.0,
        points: Vec::new(),
        of: Of::Latency(LatencyTest { run, typical, p99: l.p99.map(|p| p.0) }),
    };
    Some((row.line, m))
}

fn collective(run: &nccl_tests::Run) -> Option<(u32, Measured<'_>)> {
    let row = run.largest()?;
    let value = row.best_busbw()?.0;
    if value <= 0.0 || !value.is_finite() || run.ran_alone() {
        return None;
    }
    let listed = run.ranks_not_kept == 0 && !run.ranks.is_empty() && run.ranks.iter().all(|r| r.host.is_some());
    let hosts = listed.then(|| run.hosts());
    let names: BTreeSet<&str> = run.ranks.iter().map(|r| r.name.trim()).collect();
    let gpu = if names.len() == 1 { names.into_iter().next().filter(|n| !n.is_empty()) } else { None };
    let mut points: Vec<(u64, f64)> = run.rows.iter().filter_map(|r| Some((r.size.0, r.best_busbw()?.0))).collect();
    points.sort_by_key(|p| p.0);
    let name = run.collective.as_ref().map_or("nccl-tests", |c| c.value.program());
    let m = Measured {
        place: NOWHERE,
        name: format!("{name}, bus bandwidth"),
        value,
        size: row.size.0,
        points,
        of: Of::Collective(Job {
            hosts,
            ranks: if listed { Some(run.ranks.len()) } else { ranks_of(run, row) },
            ranks_per_host: ranks_per_host(run),
            whole_node: counts_whole_node(run, row),
            gpu,
        }),
    };
    Some((row.line, m))
}

/// Ranks of a run whose head is not there. Bus bandwidth is that of the algorithm, times 2(n-1)/n for all_reduce and (n-1)/n for what gathers or scatters
/// (nccl-tests, doc/PERFORMANCE.md). `None`: the printed digits leave several numbers open.
fn ranks_of(run: &nccl_tests::Run, row: &nccl_tests::Row) -> Option<usize> {
    const MOST: u32 = 64;
    let is = |all: &[Collective]| run.collective.as_ref().is_some_and(|c| all.contains(&c.value));
    let times = match () {
        () if is(&[Collective::AllReduce]) => 2.0,
        () if is(&[Collective::AllGather, Collective::ReduceScatter]) => 1.0,
        // No other has more bandwidth on the bus than the algorithm has.
        () if run.collective.is_none() && row.out_of_place.is_some_and(|m| m.busbw.0 > m.algbw.0) => 2.0,
        () => return None,
    };
    let rows = || run.rows.iter().flat_map(|r| [r.out_of_place, r.in_place]).flatten();
    let fits = |n: &u32| {
        let factor = times * f64::from(n - 1) / f64::from(*n);
        // Both are rounded to two digits, large ones to one.
        let digit = |v: f64| if v >= 1000.0 { 0.051 } else { 0.0051 };
        let is = |m: nccl_tests::Measure| {
            (m.busbw.0 - m.algbw.0 * factor).abs() <= digit(m.busbw.0) + factor * digit(m.algbw.0)
        };
        rows().all(is)
    };
    let mut all = (2..=MOST).filter(fits);
    let one = all.next()?;
    all.next().is_none().then_some(one as usize)
}

impl Measured<'_> {
    pub(super) fn unit(&self) -> &'static str {
        match &self.of {
            Of::Port(_) => "Gb/s",
            Of::Collective(_) => "GB/s",
            Of::Latency(_) => "µs",
            Of::Training(t) => t.unit(),
        }
    }

    /// The figure in words.
    pub(super) fn shown(&self) -> String {
        if let Of::Training(t) = &self.of {
            return t.words();
        }
        format!("{} {} at {}", number(self.value), self.unit(), bytes(self.size))
    }

    /// Whether the bandwidth still rises at the largest size. `None` where one size says nothing of that.
    pub(super) fn rises(&self) -> Option<bool> {
        let [.., (s1, before), (s2, last)] = self.points.as_slice() else { return None };
        // A step of two in size that gives a tenth more: twice the size takes less than twice the time.
        Some(*s2 > *s1 && *last > before * 1.1)
    }

    /// Whether it falls again behind its best size.
    fn falls(&self) -> bool {
        self.points.last().is_some_and(|(size, v)| *size > self.size && *v < self.value * 0.9)
    }

    /// What the curve says.
    pub(super) fn shape(&self) -> String {
        match &self.of {
            Of::Latency(_) => return String::new(),
            Of::Training(t) => return t.shape(),
            Of::Port(_) | Of::Collective(_) => {}
        }
        match self.rises() {
            None => format!("one size, {}", bytes(self.size)),
            Some(true) => "still rises at the largest size: it is not yet what the path carries".to_owned(),
            Some(false) if self.falls() => format!("highest at {}, falls behind it", bytes(self.size)),
            Some(false) => {
                let flat = self.points.iter().find(|(_, v)| *v >= self.value * 0.95).map_or(self.size, |p| p.0);
                format!("flat from {} on", bytes(flat))
            }
        }
    }

    /// What the links carry, by the nodes that were given, else by what the user says.
    pub(super) fn ceiling(&self, nodes: &[NodeView<'_>], links: Option<Links>) -> Option<Ceiling> {
        match &self.of {
            Of::Port(test) => {
                let header = &test.run.header;
                let seen =
                    header.device.as_deref().and_then(|d| nodes.iter().find_map(|n| Some((n.name, n.port_of(d)?))));
                let (whose, port) = match (seen, links) {
                    (Some((name, port)), _) => (format!("the port on {name}"), port),
                    (None, Some(l)) => ("the port, as given".to_owned(), l.port),
                    _ => return None,
                };
                let port = Port { mtu: header.mtu.and_then(|m| u32::try_from(m.0).ok()).or(port.mtu), ..port };
                let range = payload(port)?;
                Some(Ceiling {
                    range,
                    words: format!("{} Gb/s: {whose} runs at {} Gb/s", span(range), number(port.rate?)),
                })
            }
            Of::Collective(job) => {
                if job.hosts == Some(1) || !job.whole_node {
                    return None;
                }
                let ranks = job.ranks_per_host;
                let seen = ranks.and_then(|r| nodes.iter().filter_map(|n| n.nics_of_ranks(r)).min_by(f64::total_cmp));
                if let Some(sum) = seen {
                    let words = format!("{} GB/s: the ports of the rails of a node together", number(sum));
                    return Some(Ceiling { range: Range::exact(sum), words });
                }
                let l = links?;
                let range = payload(l.port)?.map(|v| v / 8.0 * f64::from(l.count));
                Some(Ceiling {
                    range,
                    words: format!(
                        "{} GB/s: {} ports of {} Gb/s, as given",
                        span(range),
                        l.count,
                        number(l.port.rate?)
                    ),
                })
            }
            Of::Latency(_) | Of::Training(_) => None,
        }
    }
}

/// `64 KiB`.
pub(super) fn bytes(n: u64) -> String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if n >= 1 << shift && n.trailing_zeros() >= shift {
            return format!("{} {unit}", n >> shift);
        }
    }
    format!("{n} B")
}

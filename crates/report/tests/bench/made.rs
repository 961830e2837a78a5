//! Runs and comparisons made by hand: what imports and comparisons conclude is tested elsewhere.

use linerate_bench::ceiling::{AgainstCeiling, Ceiling};
use linerate_bench::compare::{
    Check, Comparison, Comparisons, Confound, Design, Excluded, MethodNote, Outlier, RunRef, Side, SideSummary,
    Transient, Verdict, Weight,
};
use linerate_bench::{Better, Fault, Kind, Label, Metric, Note, Run, Source, Stat, Unit};

pub(crate) const MIB: u64 = 1 << 20;

/// An all-reduce that follows `time = alpha + size / beta`, a little above or below it.
pub(crate) fn nccl(host: &str, factor: f64) -> Run {
    let mut run = Run {
        kind: Kind::NcclTests,
        tool: Some("all_reduce_perf".into()),
        version: Some("2.17.6".into()),
        began: Some(1_793_614_263.0),
        source: Source { name: format!("{host}.txt"), line: 12 },
        ..Run::default()
    };
    run.param("ranks", Some(8_u32));
    run.param("dtype", Some("float"));
    run.param("op", Some("sum"));
    run.host(host);
    run.host("u18");
    for place in ["out-of-place", "in-place"] {
        let labels = [Label::new("place", place)];
        let shift = if place == "in-place" { 0.998 } else { 1.0 };
        for e in 10..=31 {
            let size = 1_u64 << e;
            let time = (40.0 + size as f64 / 53_500.0) / factor / shift;
            let algbw = size as f64 / time / 1e3;
            run.series_mut(Metric::new("time", Unit::Microseconds, Better::Lower), &labels).push(
                Some(size),
                None,
                time,
            );
            run.series_mut(Metric::new("algbw", Unit::GBps, Better::Higher), &labels).push(Some(size), None, algbw);
            run.series_mut(Metric::new("busbw", Unit::GBps, Better::Higher), &labels).push(
                Some(size),
                None,
                algbw * 1.75,
            );
        }
    }
    run
}

/// The same with three wrong elements.
pub(crate) fn wrong() -> Run {
    let mut run = nccl("u12", 0.9);
    run.faults.push(Fault { what: "3 wrong elements at 8 MiB, out of place".into(), line: Some(44), whole_run: false });
    for s in run.series.iter_mut().filter(|s| s.label("place") == Some("out-of-place")) {
        s.points = s.points.map(|p| linerate_bench::Point { valid: p.size != Some(8 * MIB), ..p });
    }
    run.notes.push(Note { what: "NCCL_ALGO is set: the tuner did not choose".into(), line: Some(3) });
    run
}

/// Nothing of it counts.
pub(crate) fn void() -> Run {
    let mut run = nccl("u13", 1.0);
    run.faults.push(Fault { what: "out of bounds values: 4 FAILED".into(), line: Some(61), whole_run: true });
    run
}

/// One size, many statistics.
pub(crate) fn write_lat() -> Run {
    let mut run = Run { kind: Kind::Perftest, tool: Some("ib_write_lat".into()), ..Run::default() };
    run.source = Source { name: "lat.txt".into(), line: 1 };
    run.param("mtu", Some(2048_u32));
    run.param("qps", Some(1_u32));
    for (stat, v) in [
        (Stat::Min, 0.81),
        (Stat::Max, 6.03),
        (Stat::Median, 0.85),
        (Stat::Mean, 0.93),
        (Stat::Stdev, 0.02),
        (Stat::Percentile(99.0), 5.05),
        (Stat::Percentile(99.9), 5.61),
    ] {
        let metric = Metric::new("latency", Unit::Microseconds, Better::Lower).stat(stat);
        run.series_mut(metric, &[]).push(Some(2), None, v);
    }
    let frequency = "Conflicting CPU frequency values detected: 1200.000000 != 3600.000000".to_owned();
    run.notes.push(Note { what: frequency, line: Some(2) });
    run
}

/// Training: a slow start, then steps about a level, by a recurrence that always gives the same.
pub(crate) fn training(seed: u64, level: f64, ranks: u32) -> Run {
    let mut run =
        Run { kind: Kind::Torchtitan, source: Source { name: "train.log".into(), line: 1 }, ..Run::default() };
    run.host(if seed.is_multiple_of(2) { "u17" } else { "u12" });
    let mut state = seed;
    for rank in 0..ranks {
        let labels = [Label::new("rank", rank.to_string())];
        for step in 1..=80_u32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let noise = (state >> 40) as f64 / f64::from(1 << 24) - 0.5;
            let warm = 1.0 - (-f64::from(step - 1) / 4.0).exp() * 0.97;
            let at = Some(f64::from(step));
            let tps = Metric::new("tps", Unit::TokensPerSecond, Better::Higher);
            run.series_mut(tps, &labels).push(None, at, level * warm * (1.0 + noise * 0.12));
            let loss = Metric::new("loss", Unit::One, Better::Lower);
            run.series_mut(loss, &labels).push(None, at, 2.0 + 9.0 / f64::from(step));
            let memory = Metric::new("memory", Unit::GiB, Better::Neither);
            run.series_mut(memory, &labels).push(None, at, 41.3);
        }
    }
    run
}

fn side(name: &str, runs: &[Run], hosts: &[&str]) -> Side {
    let reference = |r: &Run| RunRef { id: r.id(), kind: r.kind, source: r.source.name.clone(), valid: r.is_valid() };
    Side {
        name: name.into(),
        runs: runs.iter().map(reference).collect(),
        hosts: hosts.iter().map(|h| (*h).into()).collect(),
        has_snapshot: true,
    }
}

fn summary(runs: usize, values: &[f64]) -> SideSummary {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    SideSummary {
        runs,
        values: values.len(),
        typical: Some(mean),
        min: values.iter().copied().reduce(f64::min),
        max: values.iter().copied().reduce(f64::max),
        ..SideSummary::default()
    }
}

fn cell(size: Option<u64>, a: &[f64], b: &[f64]) -> Comparison {
    let (a, b) = (summary(a.len(), a), summary(b.len(), b));
    Comparison {
        kind: Kind::NcclTests,
        tool: Some("all_reduce_perf".into()),
        metric: "busbw".into(),
        stat: Stat::Value,
        unit: Unit::GBps,
        labels: vec![Label::new("place", "out-of-place")],
        size,
        estimate: a.typical.zip(b.typical).map(|(a, b)| b / a),
        interval: None,
        interval_of: None,
        verdict: Verdict::Inconclusive,
        reason: String::new(),
        p: None,
        p_adjusted: None,
        detectable: None,
        further_runs: None,
        method: None,
        checks: Vec::new(),
        ceiling: None,
        a,
        b,
    }
}

/// Eight sizes, one run a side, on different nodes; training with its transient.
pub(crate) fn single_runs() -> Comparisons {
    let sizes = [1, 4, 16, 64, 256, 512, 1024, 2048];
    let a = [5.91, 23.25, 75.92, 89.23, 92.44, 93.04, 93.08, 93.13];
    let b = [5.90, 23.17, 75.71, 88.90, 91.98, 92.26, 92.30, 92.37];
    let mut comparisons: Vec<Comparison> = Vec::new();
    for ((size, a), b) in sizes.iter().zip(a).zip(b) {
        let mut c = cell(Some(size * MIB), &[a], &[b]);
        c.reason = "one run a side: how far repetitions lie apart is not known".into();
        if *size >= 256 {
            let ceiling = Ceiling {
                low: 196.0,
                high: 196.0,
                unit: Unit::GBps,
                by: "4 NICs of 400 Gb/s, ring".into(),
                derivation: vec!["4 × 400 Gb/s × 98.0 % (RoCE v2, MTU 4096) = 196 GB/s a node".into()],
            };
            let sentence = "93 of 196 GB/s: 47 %; both sides share a limit below the links, so this has no power to see what \
                            only matters near it";
            c.ceiling = Some(AgainstCeiling {
                share_a: Some(a / 196.0),
                share_b: Some(b / 196.0),
                ceiling,
                sentence: sentence.into(),
            });
        }
        comparisons.push(c);
    }
    let (left, right) = (training(2, 195_000.0, 1), training(3, 187_000.0, 1));
    let mut tps = cell(None, &[195_000.0], &[187_000.0]);
    tps.kind = Kind::Torchtitan;
    tps.tool = None;
    tps.metric = "tps".into();
    tps.unit = Unit::TokensPerSecond;
    tps.labels.clear();
    tps.interval = Some([0.94, 0.98]);
    tps.interval_of = Some("within the run");
    tps.reason = "one run a side; the interval is of these two runs alone".into();
    tps.method = Some("block-bootstrap");
    tps.further_runs = Some(4);
    tps.checks = vec![
        Check {
            assumption: "the values of a run are independent",
            holds: Some(false),
            detail: "lag-1 autocorrelation 0.41 on side A".into(),
        },
        Check { assumption: "the series is steady after the cut", holds: Some(true), detail: "no trend left".into() },
        Check { assumption: "runs vary as a normal distribution", holds: None, detail: "1 run a side".into() },
    ];
    let transient = |run: &Run, before, after| Transient {
        run: run.id(),
        cut: 14,
        of: 80,
        mean_before: before,
        mean_after: after,
        unsettled: false,
    };
    tps.a.transients.push(transient(&left, 169_093.0, 195_000.0));
    tps.b.transients.push(transient(&right, 158_852.0, 187_000.0));
    tps.a.outliers.push(Outlier { run: left.id(), value: 120_300.0, deviations: 6.2 });
    comparisons.insert(0, tps);
    Comparisons {
        a: side("iommu=pt", &[nccl("u17", 1.0), left], &["u17", "u18"]),
        b: side("iommu off", &[nccl("u12", 0.992), right], &["u12", "u16"]),
        threshold: 0.02,
        level: 0.95,
        design: Design {
            nodes: "different-nodes",
            order: "unknown",
            sentence: "each side ran on nodes of its own, so a difference can be the nodes' as well as the setting's"
                .into(),
        },
        comparisons,
        excluded: vec![Excluded { side: "B", what: "algbw".into(), why: "only side A has it".into() }],
        confounds: vec![
            Confound {
                weight: Weight::Decisive,
                what: "nodes".into(),
                a: "u17, u18".into(),
                b: "u12, u16".into(),
                why: "different nodes without cross-over: every difference between the nodes is part of the result"
                    .into(),
                rule: None,
            },
            Confound {
                weight: Weight::Strong,
                what: "NIC firmware".into(),
                a: "28.39.1002".into(),
                b: "28.41.1000".into(),
                why: "firmware changes PCIe ordering and congestion control".into(),
                rule: Some("nic-firmware-drift".into()),
            },
        ],
        conclusions: vec![
            "No difference is shown: one run a side, on different nodes.".into(),
            "NCCL reaches 93 of 196 GB/s on both sides: something else limits both, look there first.".into(),
            "TPS: inconclusive; both series begin with a transient that the published means include.".into(),
        ],
        methods: vec![MethodNote {
            id: "block-bootstrap",
            text: "Ratio of means of the steady parts; moving blocks keep the autocorrelation.",
            source: "Künsch 1989, Annals of Statistics 17(3)",
        }],
    }
}

/// Eight runs a side on the same nodes: every verdict occurs.
pub(crate) fn repeated() -> Comparisons {
    let sizes = [8, 16, 64, 512, 1024, 8192];
    let ratios = [0.93, 0.97, 1.002, 1.004, 1.03, 1.09];
    let halves = [0.02, 0.04, 0.006, 0.012, 0.022, 0.03];
    let verdicts = [
        Verdict::Worse,
        Verdict::Inconclusive,
        Verdict::Equivalent,
        Verdict::Equivalent,
        Verdict::Inconclusive,
        Verdict::Better,
    ];
    let mut out = single_runs();
    out.comparisons.clear();
    for (i, size) in sizes.iter().enumerate() {
        let level = 190.0 * (*size as f64 / (*size as f64 + 40.0));
        let a: Vec<f64> = (0..8).map(|n| level * (1.0 + (f64::from(n) - 3.5) * 0.004)).collect();
        let b: Vec<f64> = a.iter().map(|v| v * ratios[i]).collect();
        let mut c = cell(Some(size * MIB), &a, &b);
        c.interval = Some([ratios[i] - halves[i], ratios[i] + halves[i]]);
        c.interval_of = Some("between runs");
        c.verdict = verdicts[i];
        c.reason = match verdicts[i] {
            Verdict::Worse => "the whole interval lies below 1, and below the threshold in its middle".into(),
            Verdict::Better => "the whole interval lies above 1".into(),
            Verdict::Equivalent => "the interval lies within ±2 %".into(),
            Verdict::Inconclusive => {
                c.further_runs = Some(6 + i as u32);
                c.detectable = Some(halves[i] * 1.4);
                "the interval holds 1 and reaches beyond ±2 %".into()
            }
        };
        c.method = Some("welch-log");
        c.checks = vec![Check {
            assumption: "runs vary as a log-normal distribution",
            holds: Some(true),
            detail: "Shapiro–Wilk p = 0.41".into(),
        }];
        out.comparisons.push(c);
    }
    out.design = Design {
        nodes: "crossed",
        order: "interleaved",
        sentence: "both settings ran on the same nodes, in turns".into(),
    };
    out.confounds.clear();
    out.excluded.clear();
    out.conclusions =
        vec!["Better at 8 GiB by 9.0 % (6.0 to 12.0 %), worse at 8 MiB by 7.0 %; between them no difference above 2 % is shown.".into()];
    out.methods = vec![MethodNote {
        id: "welch-log",
        text: "Ratio of geometric means; Welch's interval on logarithms; two one-sided tests against the threshold.",
        source: "Welch 1947, Biometrika 34; Schuirmann 1987, J. Pharmacokin. Biopharm. 15",
    }];
    let runs: Vec<Run> = (0..8).map(|i| nccl("u17", 1.0 + f64::from(i) * 1e-4)).collect();
    out.a = side("NCCL 2.27", &runs, &["u17", "u18"]);
    out.b = side("NCCL 2.28", &runs, &["u17", "u18"]);
    out
}

//! Lists, bands, bests, standings, targets.
#![allow(clippy::unwrap_used)]

use linerate_bench::{Better, Fault, Kind, Label, Metric, Run, Unit};
use linerate_store::{Filter, Outcome, Store, StoreError, Target, Typical};

/// An all-reduce of so many ranks on a node, at 8 MiB and 1 GiB.
fn allreduce(ranks: u32, host: &str, began: f64, busbw: f64) -> Run {
    let mut run = Run { kind: Kind::NcclTests, tool: Some("all_reduce_perf".into()), ..Run::default() };
    run.began = Some(began);
    run.param("ranks", Some(ranks));
    run.host(host);
    for (place, factor) in [("out-of-place", 1.0), ("in-place", 0.5)] {
        let metric = Metric::new("busbw", Unit::GBps, Better::Higher);
        let series = run.series_mut(metric, &[Label::new("place", place)]);
        series.push(Some(8 << 20), None, busbw * factor / 10.0);
        series.push(Some(1 << 30), None, busbw * factor);
    }
    run
}

/// Field note N1's band, 194 to 309 GB/s, of twelve runs; with one of 8 ranks, one that is no result, and one of another program.
fn history() -> (tempfile::TempDir, Store, Vec<Run>) {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path().join("history.db")).unwrap();
    let values = [240.0, 194.0, 309.0, 250.0, 255.0, 260.0, 265.0, 270.0, 275.0, 280.0, 290.0, 300.0];
    let mut runs: Vec<Run> = (0_u32..).zip(values).map(|(i, v)| allreduce(16, "n1", f64::from(1000 + i), v)).collect();
    runs.push(allreduce(8, "n2", 2000.0, 470.0));
    let mut bad = allreduce(16, "n1", 3000.0, 999.0);
    bad.faults.push(Fault { what: "wrong elements".into(), line: Some(7), whole_run: true });
    runs.push(bad);
    runs.push(Run { tool: Some("all_gather_perf".into()), ..allreduce(16, "n1", 4000.0, 120.0) });
    let imported: Vec<_> = runs.iter().map(Into::into).collect();
    assert_eq!(store.add(&imported, 5000.0).unwrap().new.len(), runs.len());
    (dir, store, runs)
}

fn big() -> Filter {
    let series = vec![Label::new("place", "out-of-place")];
    let tool = Some("all_reduce_perf".into());
    Filter { metric: Some("busbw".into()), size: Some(1 << 30), series, tool, ..Filter::default() }
}

fn with_ranks(ranks: &str) -> Filter {
    Filter { params: vec![("ranks".into(), ranks.into())], ..big() }
}

#[test]
fn a_band_has_its_n() {
    let (_dir, store, runs) = history();
    let bands = store.bands(&with_ranks("16"), Typical::Mean).unwrap();
    assert_eq!(bands.len(), 1);
    let band = &bands[0];
    assert_eq!((band.n(), band.min(), band.max()), (12, 194.0, 309.0));
    assert_eq!((band.first, band.last), (1000.0, 1011.0));
    // R: quantile(x, c(.25, .5, .9)) of the twelve values.
    assert_eq!((band.quantile(0.25), band.median()), (253.75, 267.5));
    assert!((band.quantile(0.9) - 299.0).abs() < 1e-9);
    // R: sort(x)[c(3, 10)], as qbinom(0.025, 12, 0.5) = 3.
    assert_eq!(band.median_interval(), Some([250.0, 290.0]));
    assert_eq!(band.best(), Some((309.0, runs[2].id())));
    assert_eq!((band.rank(100.0), band.rank(309.0), band.rank(400.0)), (0.0, 11.5 / 12.0, 1.0));
}

#[test]
fn what_a_band_mixes_is_told() {
    let (_dir, store, _) = history();
    assert_eq!(store.bands(&big(), Typical::Mean).unwrap()[0].n(), 13);
    let mixed = store.mixed(&big(), &[]).unwrap();
    assert_eq!(mixed.get("ranks").map(Vec::as_slice), Some(&["8".to_owned(), "16".to_owned()][..]));
    assert!(store.mixed(&with_ranks("8"), &[]).unwrap().is_empty());
}

#[test]
fn what_is_measured_differently_is_never_in_one_band() {
    let (_dir, store, _) = history();
    let bands = store.bands(&Filter::default(), Typical::Median).unwrap();
    // Two programs, two places, two sizes.
    assert_eq!(bands.len(), 8);
    assert!(bands.iter().all(|b| b.values.windows(2).all(|w| w[0] <= w[1])));
    assert_eq!(store.measured(&Filter { metric: Some("busbw".into()), ..Filter::default() }).unwrap().len(), 4);
}

#[test]
fn filters_restrict() {
    let (_dir, store, runs) = history();
    let count = |f: Filter| store.list(&f).unwrap().len();
    let all = Filter::default;
    assert_eq!(count(all()), 15);
    assert_eq!(count(Filter { host: Some("n2".into()), ..all() }), 1);
    assert_eq!(count(Filter { valid: Some(false), ..all() }), 1);
    assert_eq!(count(Filter { since: Some(2000.0), until: Some(4000.0), ..all() }), 2);
    assert_eq!(count(Filter { metric: Some("latency".into()), ..all() }), 0);
    assert_eq!(count(Filter { size: Some(1 << 30), ..all() }), 14);
    assert_eq!(count(Filter { size: Some(4), ..all() }), 0);
    assert_eq!(count(Filter { kind: Some(Kind::Fio), ..all() }), 0);
    assert_eq!(count(Filter { tool: Some("all_gather_perf".into()), ..all() }), 1);
    assert_eq!(count(Filter { labels: vec!["x".into()], ..all() }), 0);
    assert_eq!(count(Filter { session: Some("x".into()), ..all() }), 0);
    assert_eq!(count(Filter { params: vec![("ranks".into(), "8.0".into())], ..all() }), 1);
    assert_eq!(count(Filter { params: vec![("ranks".into(), "'; DROP TABLE run".into())], ..all() }), 0);
    assert_eq!(count(Filter { id: Some(runs[0].id().to_string()[..12].into()), ..all() }), 1);
    let newest = store.list(&Filter { limit: Some(2), ..all() }).unwrap();
    assert_eq!([newest[0].id, newest[1].id], [runs[14].id(), runs[13].id()]);
    assert_eq!((newest[0].points, newest[0].metrics.as_slice()), (4, &["busbw".to_owned()][..]));
}

#[test]
fn the_best_come_first() {
    let (_dir, store, runs) = history();
    let best = store.best(&big(), Typical::Mean, 2).unwrap();
    assert_eq!(best[0].runs, [(470.0, runs[12].id()), (309.0, runs[2].id())]);
}

#[test]
fn a_run_stands_beside_its_like_only() {
    let (_dir, store, runs) = history();
    let standing = store.standing(&runs[2], &big(), &["ranks"], Typical::Mean).unwrap();
    assert_eq!(standing.len(), 1);
    let band = standing[0].band.as_ref().unwrap();
    // Without itself, and without the run of 8 ranks.
    assert_eq!((standing[0].value, band.n(), band.rank(standing[0].value)), (309.0, 11, 1.0));
    let first = allreduce(64, "n9", 1.0, 400.0);
    let standing = store.standing(&first, &Filter::default(), &["ranks"], Typical::Mean).unwrap();
    assert!(standing.len() == 4 && standing.iter().all(|s| s.band.is_none()));
}

#[test]
fn targets_are_checked_in_their_unit() {
    let (_dir, mut store, runs) = history();
    let target = |name: &str, unit, low, high| Target {
        name: name.into(),
        kind: Some(Kind::NcclTests),
        tool: None,
        metric: "busbw".into(),
        stat: None,
        labels: vec![Label::new("place", "out-of-place")],
        size: Some(1 << 30),
        params: vec![("ranks".into(), "16".into())],
        unit,
        low,
        high,
        source: "field note N1".into(),
    };
    store.set_target(&target("n1", Unit::GBps, Some(194.0), Some(309.0)), 0.0).unwrap();
    store.set_target(&target("n1-bits", Unit::Gbps, Some(2000.0), None), 0.0).unwrap();
    store.set_target(&target("odd", Unit::Microseconds, None, Some(1.0)), 0.0).unwrap();
    assert_eq!(store.targets().unwrap().len(), 3);
    assert_eq!(store.targets().unwrap()[0], target("n1", Unit::GBps, Some(194.0), Some(309.0)));
    let outcomes = |run: &Run| store.check(run).unwrap().iter().map(|c| (c.value, c.outcome)).collect::<Vec<_>>();
    let within = (Some(194.0), Some(Outcome::Within));
    assert_eq!(outcomes(&runs[1]), [within, (Some(1552.0), Some(Outcome::Below)), (None, None)]);
    assert!(outcomes(&runs[12]).is_empty() && outcomes(&runs[13]).is_empty());
    for bad in [target("x", Unit::One, None, None), target("x", Unit::One, Some(2.0), Some(1.0))] {
        assert!(matches!(store.set_target(&bad, 0.0), Err(StoreError::Unfit { .. })));
    }
    assert!(store.remove_target("odd").unwrap() && !store.remove_target("odd").unwrap());
}

#[test]
fn a_beginning_of_a_name_suffices() {
    let (_dir, mut store, runs) = history();
    let id = runs[0].id();
    assert_eq!(store.find(&id.to_string().to_uppercase()).unwrap(), id);
    for none in ["", "xyz", "é", "0123456789abcdef0"] {
        assert!(matches!(store.find(none), Err(StoreError::NoSuchRun { .. })), "{none}");
    }
    // More runs than there are first digits.
    let more: Vec<Run> = (0..17).map(|i| allreduce(2, "n3", f64::from(i), 1.0)).collect();
    store.add(&more.iter().map(Into::into).collect::<Vec<_>>(), 0.0).unwrap();
    let ambiguous = "0123456789abcdef".chars().filter_map(|c| store.find(&c.to_string()).err()).find_map(|e| match e {
        StoreError::Ambiguous { candidates, .. } => Some(candidates),
        _ => None,
    });
    assert!(ambiguous.unwrap().len() > 1);
}

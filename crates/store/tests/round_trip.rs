//! What goes in comes out, once.
#![allow(clippy::unwrap_used)]

use linerate_bench::{Better, Fault, Kind, Label, Metric, Note, Param, Point, Run, Series, Source, Stat, Unit};
use linerate_store::{Filter, Imported, Place, SnapshotRef, Store, StoreError, TextRef};
use proptest::prelude::*;
use proptest::sample::select;
use smol_str::SmolStr;

fn text() -> impl Strategy<Value = SmolStr> {
    prop_oneof!["[a-z]{1,6}", any::<String>()].prop_map(SmolStr::from)
}

fn finite() -> impl Strategy<Value = f64> {
    use prop::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO
}

fn param() -> impl Strategy<Value = Param> {
    prop_oneof![
        any::<bool>().prop_map(Param::Flag),
        any::<i64>().prop_map(Param::Int),
        finite().prop_map(Param::Real),
        Just(Param::Real(f64::INFINITY)),
        text().prop_map(Param::Text),
    ]
}

fn metric() -> impl Strategy<Value = Metric> {
    let stats =
        vec![Stat::Value, Stat::Mean, Stat::Max, Stat::Stdev, Stat::Percentile(99.9), Stat::Percentile(0.1 + 0.2)];
    let units = vec![Unit::Gbps, Unit::GBps, Unit::Microseconds, Unit::One, Unit::Other("furlong".into())];
    let better = vec![Better::Higher, Better::Lower, Better::Neither];
    (text(), select(units), select(stats), select(better)).prop_map(|(name, unit, stat, better)| Metric {
        name,
        unit,
        stat,
        better,
    })
}

fn series() -> impl Strategy<Value = Series> {
    let key = prop_oneof![select(vec!["rank", "place", "stream"]).prop_map(SmolStr::from), text()];
    let labels = prop::collection::vec((key, text()).prop_map(|(key, value)| Label { key, value }), 0..4);
    let size = prop_oneof![Just(None), (0..4_u64).prop_map(Some), any::<u64>().prop_map(Some)];
    let point = (size, prop::option::of(finite()), finite(), any::<bool>())
        .prop_map(|(size, at, value, valid)| Point { size, at, value, valid });
    (metric(), labels, prop::collection::vec(point, 0..20)).prop_map(|(metric, labels, points)| Series {
        metric,
        labels,
        points: points.into_iter().collect(),
    })
}

fn run() -> impl Strategy<Value = Run> {
    let fault = (any::<String>(), any::<Option<u32>>(), any::<bool>());
    let note = (any::<String>(), any::<Option<u32>>());
    let head =
        (select(Kind::ALL.to_vec()), prop::option::of(text()), prop::option::of(text()), prop::option::of(finite()));
    let lists = (
        prop::collection::btree_map(text(), param(), 0..5),
        prop::collection::vec(text(), 0..3),
        prop::collection::vec(series(), 0..5),
        prop::collection::vec(fault.prop_map(|(what, line, whole_run)| Fault { what, line, whole_run }), 0..3),
        prop::collection::vec(note.prop_map(|(what, line)| Note { what, line }), 0..3),
    );
    (head, lists, any::<String>(), any::<u32>()).prop_map(|(head, lists, name, line)| Run {
        kind: head.0,
        tool: head.1,
        version: head.2,
        began: head.3,
        params: lists.0,
        hosts: lists.1,
        series: lists.2,
        faults: lists.3,
        notes: lists.4,
        source: Source { name, line },
        ..Run::default()
    })
}

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("history.db")).unwrap();
    (dir, store)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_run_comes_back_as_it_was(runs in prop::collection::vec(run(), 1..4)) {
        let (_dir, mut store) = store();
        let imported: Vec<Imported<'_>> = runs.iter().map(Imported::from).collect();
        let added = store.add(&imported, 1.0).unwrap();
        prop_assert_eq!(added.new.len() + added.known.len(), runs.len());
        for run in &runs {
            let back = store.load(run.id()).unwrap();
            prop_assert_eq!(back.id(), run.id());
            // Of two with the same name, the first is kept: they may differ in their source and notes.
            if added.known.is_empty() {
                prop_assert_eq!(&back, run);
            }
        }
        let again = store.add(&imported, 2.0).unwrap();
        prop_assert!(again.new.is_empty());
        prop_assert_eq!(store.list(&Filter::default()).unwrap().len(), added.new.len());
        prop_assert_eq!(store.verify().unwrap(), Vec::<String>::new());
    }
}

fn small(value: f64) -> Run {
    let mut run = Run { kind: Kind::Perftest, tool: Some("ib_write_bw".into()), ..Run::default() };
    run.series_mut(Metric::new("bandwidth", Unit::Gbps, Better::Higher), &[]).push(Some(65536), None, value);
    run
}

fn at(digest: &str, ordinal: u32) -> Option<TextRef<'_>> {
    Some(TextRef { digest, ordinal })
}

#[test]
fn a_series_of_many_parts_comes_back() {
    let (_dir, mut store) = store();
    let mut run = small(1.0);
    let series = run.series_mut(Metric::new("tps", Unit::TokensPerSecond, Better::Higher), &[]);
    (0..200_000).for_each(|i| series.push(None, Some(f64::from(i)), f64::from(i % 1013)));
    store.add(&[(&run).into()], 0.0).unwrap();
    assert_eq!(store.load(run.id()).unwrap(), run);
    assert_eq!(store.stats().unwrap().points, 200_001);
}

#[test]
fn a_changed_reader_does_not_double_a_text() {
    let (_dir, mut store) = store();
    let (first, second) = (small(1.0), small(2.0));
    let both = |a: u32, b: u32| {
        [Imported { text: at("t", a), ..(&first).into() }, Imported { text: at("t", b), ..(&second).into() }]
    };
    assert_eq!(store.add(&both(0, 1), 0.0).unwrap().new.len(), 2);
    // The new reader sees other values in the second run.
    let changed = small(2.5);
    let added = store.add(&[Imported { text: at("t", 1), ..(&changed).into() }], 1.0).unwrap();
    assert!(added.new.is_empty());
    assert_eq!((added.read_differently[0].stored, added.read_differently[0].given), (second.id(), changed.id()));
    assert!(matches!(store.load(changed.id()), Err(StoreError::NoSuchRun { .. })));
    // A newer one sees a run before them, which moves both.
    let before = small(0.5);
    let [a, b] = both(1, 2);
    let added = store.add(&[Imported { text: at("t", 0), ..(&before).into() }, a, b], 2.0).unwrap();
    assert_eq!((added.new, added.known), (vec![before.id()], vec![first.id(), second.id()]));
}

#[test]
fn what_is_known_beside_a_run_is_kept_and_added_to() {
    let (_dir, mut store) = store();
    let run = small(1.0);
    let facts = [("kernel".to_owned(), "6.1".to_owned())].into();
    let snapshot =
        SnapshotRef { digest: "d".into(), host: "n1".into(), taken: Some(5.0), facts, ..SnapshotRef::default() };
    let place = Place { session: "s", side: Some("A"), position: Some(3) };
    store.add(&[Imported { labels: &["iommu=off"], ..(&run).into() }], 0.0).unwrap();
    let more = Imported {
        labels: &["rack 3"],
        snapshots: std::slice::from_ref(&snapshot),
        place: Some(place),
        ..(&run).into()
    };
    assert_eq!(store.add(&[more], 1.0).unwrap().known, [run.id()]);
    let listed =
        store.list(&Filter { labels: vec!["rack 3".into(), "iommu=off".into()], ..Filter::default() }).unwrap();
    assert_eq!(listed[0].labels, ["iommu=off", "rack 3"]);
    assert_eq!(
        (listed[0].session.as_deref(), listed[0].side.as_deref(), listed[0].position),
        (Some("s"), Some("A"), Some(3))
    );
    assert_eq!(store.snapshots(run.id()).unwrap(), [snapshot]);
    store.delete(run.id()).unwrap();
    let stats = store.stats().unwrap();
    assert_eq!((stats.runs, stats.points, stats.snapshots), (0, 0, 0));
    assert!(matches!(store.delete(run.id()), Err(StoreError::NoSuchRun { .. })));
    assert_eq!(store.verify().unwrap(), Vec::<String>::new());
}

#[test]
fn what_would_come_back_otherwise_is_refused_and_nothing_stored() {
    let (_dir, mut store) = store();
    let (good, mut bad) = (small(1.0), small(2.0));
    bad.series[0].metric.stat = Stat::Percentile(150.0);
    let refused = store.add(&[(&good).into(), (&bad).into()], 0.0);
    assert!(matches!(refused, Err(StoreError::Unfit { .. })), "{refused:?}");
    assert_eq!(store.stats().unwrap().runs, 0);
}

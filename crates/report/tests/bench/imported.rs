//! What was imported.

use crate::common::schema::Schema;
use crate::{keeps_to, made, text, wide};
use linerate_bench::{Better, Metric, Run, Unit};
use linerate_report::Style;
use linerate_report::bench::{Refused, headline, runs_json, runs_text};
use proptest::prelude::*;
use serde_json::Value;

fn refused() -> Vec<Refused> {
    vec![
        Refused { name: "u14.txt".into(), line: 80, why: "a table of nccl-tests that is cut after its header".into() },
        Refused { name: "notes.md".into(), line: 0, why: "nothing that is known".into() },
    ]
}

#[test]
fn runs_for_a_terminal() {
    let runs = [made::nccl("u17", 1.0), made::wrong(), made::void(), made::write_lat(), made::training(2, 195e3, 4)];
    let got = text(|out| runs_text(&runs, &refused(), wide(100), out));
    keeps_to(&got, 100);
    insta::assert_snapshot!(got);
}

#[test]
fn many_runs_are_a_list() {
    let mut runs: Vec<Run> = (0..60).map(|i| made::nccl("u17", 1.0 + f64::from(i) / 1e3)).collect();
    runs.push(made::void());
    runs.insert(0, made::training(7, 1e5, 2));
    let got = text(|out| runs_text(&runs, &refused(), wide(120), out));
    keeps_to(&got, 120);
    insta::assert_snapshot!(got);
}

#[test]
fn a_run_in_one_number() {
    assert_eq!(headline(&made::nccl("u17", 1.0)).as_deref(), Some("busbw out-of-place 93.53\u{a0}GB/s at 2 GiB"));
    assert_eq!(headline(&made::write_lat()).as_deref(), Some("latency 0.93\u{a0}µs at 2 B"));
    let training = headline(&made::training(2, 195e3, 4)).unwrap();
    assert!(training.starts_with("tps median 19") && training.ends_with("of 80 values"), "{training}");
    assert_eq!(headline(&Run::default()), None);
}

#[test]
fn json_keeps_to_its_schema() {
    let schema = Schema::of("bench-runs-1");
    let runs = [made::nccl("u17", 1.0), made::wrong(), made::void(), made::write_lat(), made::training(2, 195e3, 1)];
    let value: Value = serde_json::from_str(&text(|out| runs_json(&runs, &refused(), out))).unwrap();
    schema.check(&value).unwrap();
    assert_eq!(value["runs"].as_array().unwrap().len(), 5);
    assert_eq!(value["runs"][1]["samples"].as_array().unwrap().len(), runs[1].points());
    assert_eq!(value["refused"][0]["line"], 80);
    let nothing: Value = serde_json::from_str(&text(|out| runs_json(&[], &[], out))).unwrap();
    schema.check(&nothing).unwrap();
}

#[test]
fn hostile_names_stay_harmless() {
    let mut run = made::write_lat();
    let evil = "x\x1b[2J\u{202e}\ny";
    run.tool = Some(evil.into());
    run.hosts = vec![evil.into(); 3];
    run.params.insert(evil.into(), evil.into());
    run.source.name = evil.into();
    run.notes[0].what = evil.into();
    let metric = Metric { name: evil.into(), ..Metric::new("", Unit::Other(evil.into()), Better::Neither) };
    run.series_mut(metric, &[]).push(None, None, 1.0);
    let refused = [Refused { name: evil.into(), line: 1, why: evil.into() }];
    let got = text(|out| runs_text(&vec![run.clone(); 9], &refused, wide(80), out));
    keeps_to(&got, 80);
    let style = Style { width: 80, verbose: true, ..Style::default() };
    keeps_to(&text(|out| runs_text(&[run], &refused, style, out)), 80);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_values_are_told(
        points in prop::collection::vec((prop::option::of(any::<u64>()), prop::option::of(any::<f64>()), any::<f64>()), 0..50),
        began in prop::option::of(any::<f64>()),
        width in 60_usize..200,
    ) {
        let mut run = Run { began, ..made::write_lat() };
        for (i, (size, at, value)) in points.into_iter().enumerate() {
            let name = ["bandwidth", "tps", "loss"][i % 3];
            run.series_mut(Metric::new(name, Unit::Gbps, Better::Higher), &[]).push(size, at, value);
        }
        keeps_to(&text(|out| runs_text(&[run], &[], wide(width), out)), width);
    }
}

#[test]
fn one_size_again_and_again_is_a_series() {
    let mut run = Run { kind: linerate_bench::Kind::Perftest, ..Run::default() };
    for i in 0..30_u32 {
        let metric = Metric::new("bandwidth", Unit::Gbps, Better::Higher);
        run.series_mut(metric, &[]).push(Some(65_536), None, 392.0 + f64::from(i % 3));
    }
    let got = text(|out| runs_text(&[run.clone()], &[], wide(80), out));
    assert!(got.contains("bandwidth  Gb/s  30     393  392  394"), "{got}");
    assert_eq!(headline(&run).as_deref(), Some("bandwidth median 393\u{a0}Gb/s of 30 values"));
}

#[test]
fn a_table_of_ten_thousand_columns_is_told_at_once() {
    let mut run = made::write_lat();
    for i in 0..10_000_u64 {
        let metric = Metric { name: format!("column {i}").into(), ..Metric::new("", Unit::One, Better::Neither) };
        let series = linerate_bench::Series { metric, labels: Vec::new(), points: linerate_bench::Points::default() };
        run.series.push(series);
        for size in [1, 2] {
            if let Some(s) = run.series.last_mut() {
                s.push(Some(size), None, i as f64);
            }
        }
    }
    let got = text(|out| runs_text(&[run], &[], wide(100), out));
    keeps_to(&got, 100);
    assert!(got.contains("more columns not shown"), "{got}");
}

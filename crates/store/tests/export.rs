//! Exports, and what other programs read out of them.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use linerate_bench::{Better, Kind, Label, Metric, Point, Run, Unit};
use linerate_store::export::{Exported, Form};
use linerate_store::{Filter, Imported, Store};
use std::path::Path;
use std::process::Command;

/// Two runs: one with every optional thing and odd texts, one with hardly any.
fn history() -> (tempfile::TempDir, Store, Vec<Run>) {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path().join("history.db")).unwrap();
    let mut full = Run { kind: Kind::NcclTests, tool: Some("all_reduce_perf".into()), ..Run::default() };
    full.version = Some("2.17, \"dev\"\nline".into());
    full.began = Some(1_700_000_000.25);
    full.param("ranks", Some(16_u32));
    full.host("n1");
    full.host("n,2");
    let metric = Metric::new("busbw", Unit::GBps, Better::Higher);
    let series = full.series_mut(metric.clone(), &[Label::new("place", "in-place")]);
    series.push(Some(u64::MAX), None, 309.5);
    series.push(Some(8), Some(2.5), 0.1 + 0.2);
    series.points = series.points.iter().enumerate().map(|(n, p)| Point { valid: n != 1, ..p }).collect();
    full.series_mut(metric, &[]).push(None, None, -1.0);
    let mut bare = Run::default();
    bare.series_mut(Metric::new("x", Unit::One, Better::Neither), &[]).push(None, None, 1e-300);
    let labels = ["iommu=off", "a \"word\""];
    store.add(&[Imported { labels: &labels, ..(&full).into() }], 1_700_000_100.0).unwrap();
    store.add(&[(&bare).into()], 1_700_000_200.0).unwrap();
    (dir, store, vec![full, bare])
}

fn text(store: &Store, form: Form, filter: &Filter) -> String {
    let mut out = Vec::new();
    store.export(form, filter, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn json_is_that_of_runs() {
    let (_dir, store, runs) = history();
    let json: serde_json::Value = serde_json::from_str(&text(&store, Form::Json, &Filter::default())).unwrap();
    assert_eq!(json, serde_json::json!({"runs": [runs[0], runs[1]]}));
    let lines = text(&store, Form::JsonLines, &Filter::default());
    let lines: Vec<serde_json::Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines, [serde_json::to_value(&runs[0]).unwrap(), serde_json::to_value(&runs[1]).unwrap()]);
    let none = Filter { metric: Some("none".into()), ..Filter::default() };
    assert_eq!(text(&store, Form::Json, &none), "{\"runs\":[]}\n");
}

#[test]
fn csv_is_quoted_and_exact() {
    let (_dir, store, runs) = history();
    let csv = text(&store, Form::Csv, &Filter { kind: Some(Kind::NcclTests), size: Some(8), ..Filter::default() });
    let head = "run,kind,tool,version,began,stored,hosts,params,run_labels,session,side,position,run_valid,metric,stat,unit,labels,size,at,value,valid";
    let row = format!(
        "{},nccl-tests,all_reduce_perf,\"2.17, \"\"dev\"\"\nline\",1700000000.25,1700000100,\"[\"\"n1\"\",\"\"n,2\"\"]\",\
         \"{{\"\"ranks\"\":16}}\",\"[\"\"a \\\"\"word\\\"\"\"\",\"\"iommu=off\"\"]\",,,,true,busbw,value,GB/s,\
         \"{{\"\"place\"\":\"\"in-place\"\"}}\",8,2.5,0.30000000000000004,false",
        runs[0].id()
    );
    assert_eq!(csv, format!("{head}\n{row}\n"));
}

#[test]
fn names_of_files_tell_the_form() {
    for (name, form) in [
        ("a.json", Some(Form::Json)),
        ("a.b.JSONL", Some(Form::JsonLines)),
        ("x.csv", Some(Form::Csv)),
        ("x.parquet", Some(Form::Parquet)),
        ("x.txt", None),
        ("csv", None),
    ] {
        assert_eq!(Form::of_name(name), form, "{name}");
    }
}

#[test]
fn a_full_disk_is_told() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (_dir, store, _) = history();
    for form in [Form::Json, Form::JsonLines, Form::Csv, Form::Parquet] {
        assert!(store.export(form, &Filter::default(), Full).is_err(), "{form:?}");
    }
}

/// Python with pyarrow or duckdb, as LINERATE_TEST_PYTHON or `python3` has them.
fn python(library: &str) -> Option<String> {
    let python = std::env::var("LINERATE_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has =
        Command::new(&python).args(["-c", &format!("import {library}")]).output().is_ok_and(|o| o.status.success());
    if !has {
        println!("SKIPPED: {python} has no {library} (set LINERATE_TEST_PYTHON)");
    }
    has.then_some(python)
}

fn answer(python: &str, program: &str, file: &Path) -> String {
    let out = Command::new(python).args(["-c", program]).arg(file).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn others_read_parquet() {
    let (dir, mut store, runs) = history();
    // More rows than a row group has.
    let mut long = Run { kind: Kind::Torchtitan, ..Run::default() };
    let series = long.series_mut(Metric::new("tps", Unit::TokensPerSecond, Better::Higher), &[]);
    (0..140_000).for_each(|i| series.push(None, Some(f64::from(i)), f64::from(i) * 0.5));
    store.add(&[(&long).into()], 1_700_000_300.0).unwrap();
    let file = dir.path().join("history.parquet");
    let done = store.export(Form::Parquet, &Filter::default(), std::fs::File::create(&file).unwrap()).unwrap();
    assert_eq!(done, Exported { runs: 3, samples: 140_004 });
    assert!(std::fs::metadata(&file).unwrap().len() < 3_000_000);
    let first = format!(
        r#"{{"run": "{}", "kind": "nccl-tests", "tool": "all_reduce_perf", "version": "2.17, \"dev\"\nline", "began": "2023-11-14 22:13:20.250000+00:00", "stored": "2023-11-14 22:15:00+00:00", "hosts": "[\"n1\",\"n,2\"]", "params": "{{\"ranks\":16}}", "run_labels": "[\"a \\\"word\\\"\",\"iommu=off\"]", "session": null, "side": null, "position": null, "run_valid": true, "metric": "busbw", "stat": "value", "unit": "GB/s", "labels": "{{\"place\":\"in-place\"}}", "size": 18446744073709551615, "at": null, "value": 309.5, "valid": true}}"#,
        runs[0].id()
    );
    if let Some(python) = python("pyarrow.parquet") {
        let program = "import sys, json, pyarrow.parquet as p\n\
            t = p.read_table(sys.argv[1]).to_pylist()\n\
            print(json.dumps(t[0], default=str))\n\
            print(len(t), t[1]['value'], t[1]['valid'], t[2]['size'], t[3]['began'], t[3]['value'], sum(r['value'] for r in t[4:]))\n\
            print(p.ParquetFile(sys.argv[1]).num_row_groups)";
        let want = format!("{first}\n140004 0.30000000000000004 False None None 1e-300 4899965000.0\n2\n");
        assert_eq!(answer(&python, program, &file), want);
    }
    if let Some(python) = python("duckdb") {
        let program = "import sys, duckdb\n\
            q = \"SELECT kind, count(*), max(value), min(labels->>'place') FROM '\" + sys.argv[1] + \"' GROUP BY kind ORDER BY kind\"\n\
            print(duckdb.sql(q).fetchall())";
        let want = "[('nccl-tests', 3, 309.5, 'in-place'), ('series', 1, 1e-300, None), ('torchtitan', 140000, 69999.5, None)]\n";
        assert_eq!(answer(&python, program, &file), want);
    }
}

//! DuckDB and Polars open the index, and answer in SQL as it does. `lab/emulators/frames-setup` installs both.

#![allow(clippy::print_stdout, clippy::unwrap_used)] // helpers of tests, outside of test functions

use linerate_fleet::condition::Condition;
use linerate_fleet::{Record, Seen};
use linerate_gather::index::{FileId, Index, NAME, Question, When, Writer};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Rows that say what the snapshot is: layout, identity, addresses, whether it is whole, its file.
const HEAD: usize = 5;

const SCRIPT: &str = r#"
import sys, duckdb, polars as pl
path = sys.argv[1]
def say(*words): print("\t".join(str(w) for w in words))
rows = duckdb.sql(f"select * from '{path}'")
say("columns", *rows.columns)
say("rows", duckdb.sql(f"select count(*) from '{path}'").fetchall()[0][0], pl.scan_parquet(path).select(pl.len()).collect().item())
say("nodes", *[r[0] for r in duckdb.sql(f"select distinct label from '{path}' order by 1").fetchall()])
say("nulls", duckdb.sql(f"select count(*) from '{path}' where value is null").fetchall()[0][0], pl.scan_parquet(path).filter(pl.col("value").is_null()).select(pl.len()).collect().item())
say("last", duckdb.sql(f"select epoch(max(time))::bigint from '{path}'").fetchall()[0][0], int(pl.scan_parquet(path).select(pl.col("time").max()).collect().item().timestamp()))
for line in sys.stdin.read().splitlines():
    fact, value = line.split("\t")
    where = f"value = '{value}'" if value else "verdict = 'fail'"
    say("where", line.strip(), *[r[0] for r in duckdb.sql(f"select distinct label from '{path}' where fact = '{fact}' and {where} order by 1").fetchall()])
    test = pl.col("value") == value if value else pl.col("verdict") == "fail"
    frame = pl.scan_parquet(path).filter((pl.col("fact") == fact) & test).select("label").unique().sort("label").collect()
    say("where", line.strip(), *frame["label"])
"#;

fn python() -> Option<PathBuf> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.lab/frames/bin/python");
    let there = Command::new(&python).args(["-c", "import duckdb, polars"]).status().is_ok_and(|s| s.success());
    if !there {
        println!("SKIPPED: no DuckDB and Polars: run `cargo xtask test`, or lab/emulators/frames-setup");
    }
    there.then_some(python)
}

#[test]
fn data_frames_answer_as_where_does() {
    let Some(python) = python() else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(NAME);
    let read = |name: &str| {
        let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)).unwrap();
        Record::read(name, &linerate_snapshot::load_bytes(&bytes, name).unwrap())
    };
    let both = [read("healthy-8gpu.tar.zst"), read("sick-8gpu.tar.zst")];
    let mut out = Writer::begin(&path).unwrap();
    // More than one row group, and more rows than a page has.
    let (mut rows, mut nulls, nodes) = (0, 0, 520);
    for n in 0..nodes {
        let mut record = both[usize::from(n % 7 == 0)].clone();
        record.label = format!("gpu{n:03}");
        record.time = 1_793_000_000 + n;
        let places = record.rows.len();
        record.rows[(n as usize * 31) % places].seen = Seen::Unreadable;
        let known = record.rows.iter().filter(|r| matches!(r.seen, Seen::Known(_))).count();
        rows += record.rows.len() + HEAD;
        nulls += record.rows.len() - known;
        out.add(&format!("gpu{n:03}/1.tar.zst"), FileId::default(), &record).unwrap();
    }
    out.finish().unwrap();
    let index = Index::open(&path).unwrap();
    assert_eq!(index.groups(), 2);
    let mut asked =
        vec![("kernel.cmdline", "iommu=pt"), ("numa.distances", "10 21"), ("kernel.modules", "nvidia_peermem")];
    asked.extend(linerate_rules::rules().iter().map(|r| (r.id, "")).step_by(6));
    let answers: Vec<Vec<String>> = asked
        .iter()
        .map(|(id, value)| {
            let text = if value.is_empty() { (*id).to_owned() } else { format!("{id}={value}") };
            let Ok(condition) = Condition::parse(&text) else { return Vec::new() };
            let question = Question { conditions: &[condition], subject: None, when: When::All, nodes: None };
            index.ask(&question).unwrap().yes.into_iter().map(|n| n.label).collect()
        })
        .collect();
    assert!(answers.iter().filter(|a| !a.is_empty()).count() > 2);
    let lines: Vec<String> = asked.iter().map(|(id, value)| format!("{id}\t{value}")).collect();
    let input = dir.path().join("asked");
    std::fs::write(&input, lines.join("\n")).unwrap();
    let done = Command::new(python)
        .args(["-c", SCRIPT, path.to_str().unwrap()])
        .stdin(std::fs::File::open(&input).unwrap())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).unwrap();
    let mut lines = text.lines();
    let columns =
        "columns\ttime\tnode\tlabel\tclass\tsubject\tpart\tfact\tvalue\tstate\tverdict\tseverity\trule\tsnapshot";
    assert_eq!(lines.next(), Some(columns));
    assert_eq!(lines.next().unwrap(), format!("rows\t{rows}\t{rows}"));
    assert_eq!(lines.next().unwrap().split('\t').count(), nodes as usize + 1);
    assert_eq!(lines.next().unwrap(), format!("nulls\t{nulls}\t{nulls}"));
    let last = 1_793_000_000 + nodes - 1;
    assert_eq!(lines.next().unwrap(), format!("last\t{last}\t{last}"));
    for ((id, value), answer) in asked.iter().zip(&answers) {
        for _ in 0..2 {
            let line = lines.next().unwrap();
            let asked = format!("{id}\t{value}");
            let names: Vec<&str> =
                line.strip_prefix(&format!("where\t{}", asked.trim())).unwrap().split('\t').skip(1).collect();
            assert_eq!(names, *answer, "{id} {value}");
        }
    }
    assert_eq!(lines.next(), None);
}

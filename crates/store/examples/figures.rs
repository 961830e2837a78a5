//! Speed of the history: a million samples stored and asked for, in three shapes, beside the plain rows that it does not use.
//!
//! `cargo run --profile dist -p linerate-store --example figures [DIRECTORY]`
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use linerate_bench::{Better, Kind, Label, Metric, Run, Unit};
use linerate_store::{Filter, Imported, Store, Typical};
use rusqlite::{Connection, params};
use std::path::Path;
use std::time::Instant;

const SAMPLES: usize = 1_000_000;

/// Values without a pattern, the same in every call.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Three decimals, as tools print them.
        ((self.0 >> 44) as f64 / f64::from(1 << 20) * 1000.0).round() / 1000.0
    }
}

/// 25 sizes, in and out of place: 50 samples a run.
fn sweeps() -> Vec<Run> {
    let mut noise = Noise(1);
    let bandwidth = Metric::new("busbw", Unit::GBps, Better::Higher);
    (0..SAMPLES / 50)
        .map(|i| {
            let mut run = Run { kind: Kind::NcclTests, tool: Some("all_reduce_perf".into()), ..Run::default() };
            run.began = Some(1.7e9 + i as f64);
            run.param("ranks", Some(if i % 4 == 0 { 8_u32 } else { 16 }));
            run.host(&format!("n{}", i % 64));
            for place in ["out-of-place", "in-place"] {
                let series = run.series_mut(bandwidth.clone(), &[Label::new("place", place)]);
                (3..28).for_each(|s| series.push(Some(1 << s), None, 194.0 + 115.0 * noise.next()));
            }
            run
        })
        .collect()
}

/// A training log of so many steps each.
fn logs(runs: usize) -> Vec<Run> {
    let mut noise = Noise(2);
    (0..runs)
        .map(|i| {
            let mut run = Run { kind: Kind::Torchtitan, ..Run::default() };
            run.began = Some(1.7e9 + i as f64);
            let series = run.series_mut(Metric::new("tps", Unit::TokensPerSecond, Better::Higher), &[]);
            (0..SAMPLES / runs).for_each(|s| series.push(None, Some(s as f64), 6800.0 + noise.next()));
            run
        })
        .collect()
}

/// Milliseconds by the clock, and those that this thread had a core: they differ where others work on the machine, too.
fn timed<T>(what: &str, f: impl FnOnce() -> T) -> T {
    let (start, used) = (Instant::now(), on_core());
    let out = f();
    println!(
        "  {what:<52} {:>9.1} ms {:>9.1} ms on core",
        start.elapsed().as_secs_f64() * 1e3,
        (on_core() - used) / 1e6
    );
    out
}

/// Nanoseconds that this thread ran.
fn on_core() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(f64::NAN)
}

fn history(dir: &Path, name: &str, runs: &[Run], metric: &str, size: Option<u64>) {
    let path = dir.join(format!("{name}.db"));
    let points: usize = runs.iter().map(Run::points).sum();
    println!("{name}: {} runs, {points} samples", runs.len());
    let mut store = Store::open(&path).unwrap();
    let imported: Vec<Imported<'_>> = runs.iter().map(Imported::from).collect();
    timed("store all", || store.add(&imported, 0.0).unwrap());
    println!("  {:<52} {:>9.1} bytes", "a sample", std::fs::metadata(&path).unwrap().len() as f64 / points as f64);
    timed("the same again: all known", || store.add(&imported, 0.0).unwrap());
    drop(store);
    let store = Store::read(&path).unwrap();
    let filter = Filter { metric: Some(metric.into()), size, ..Filter::default() };
    timed("one run, whole", || store.load(runs[runs.len() / 2].id()).unwrap());
    timed("list, newest 50 of a metric", || store.list(&Filter { limit: Some(50), ..filter.clone() }).unwrap());
    timed("bands of a metric at a size", || store.bands(&filter, Typical::Mean).unwrap());
    timed("bands of runs on a host", || {
        store.bands(&Filter { host: Some("n7".into()), ..filter.clone() }, Typical::Mean).unwrap()
    });
    timed("bands of runs with ranks=8", || {
        store.bands(&Filter { params: vec![("ranks".into(), "8".into())], ..filter.clone() }, Typical::Mean).unwrap()
    });
    timed("bands of a metric at all sizes", || {
        store.bands(&Filter { size: None, ..filter.clone() }, Typical::Median).unwrap()
    });
    timed("best 10", || store.best(&filter, Typical::Mean, 10).unwrap());
    timed("a run's standing at a size", || store.standing(&runs[0], &filter, &["ranks"], Typical::Mean).unwrap());
    timed("a run's standing at all sizes", || {
        store.standing(&runs[0], &Filter { size: None, ..filter.clone() }, &["ranks"], Typical::Mean).unwrap()
    });
    timed("parameters that a band mixes", || store.mixed(&filter, &[]).unwrap());
    timed("statistics", || store.stats().unwrap());
}

/// What a table of samples would cost: one row each, with the index that queries over runs need.
fn rows(dir: &Path, name: &str, runs: &[Run], size: i64) {
    let path = dir.join(format!("{name}-rows.db"));
    println!("{name}, as plain rows");
    let mut db = Connection::open(&path).unwrap();
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE sample (run INT, series INT, place INT, size INT, at REAL, value REAL, valid INT,
           PRIMARY KEY (run, series, place)) WITHOUT ROWID;
         CREATE INDEX sample_size ON sample (series, size, run, value);",
    )
    .unwrap();
    timed("store all", || {
        let tx = db.transaction().unwrap();
        let mut insert = tx.prepare("INSERT INTO sample VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)").unwrap();
        for (i, run) in runs.iter().enumerate() {
            for (j, s) in run.series.iter().enumerate() {
                for (k, p) in s.points.iter().enumerate() {
                    let size = p.size.map_or(-1, |s| s as i64);
                    insert.execute(params![i as i64, j as i64, k as i64, size, p.at, p.value, p.valid]).unwrap();
                }
            }
        }
        drop(insert);
        tx.commit().unwrap();
    });
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let points: usize = runs.iter().map(Run::points).sum();
    println!("  {:<52} {:>9.1} bytes", "a sample", std::fs::metadata(&path).unwrap().len() as f64 / points as f64);
    timed("mean of each run at a size, for a band", || {
        let sql = "SELECT run, avg(value) FROM sample WHERE series = 0 AND size = ?1 GROUP BY run";
        let mut query = db.prepare(sql).unwrap();
        query.query_map([size], |r| r.get::<_, f64>(1)).unwrap().map(Result::unwrap).collect::<Vec<f64>>()
    });
    timed("one run, whole", || {
        let mut query = db.prepare("SELECT value FROM sample WHERE run = ?1 ORDER BY series, place").unwrap();
        query
            .query_map([runs.len() as i64 / 2], |r| r.get::<_, f64>(0))
            .unwrap()
            .map(Result::unwrap)
            .collect::<Vec<f64>>()
    });
}

fn main() {
    let dir = tempfile::tempdir_in(std::env::args().nth(1).unwrap_or_else(|| ".".into())).unwrap();
    let sweeps = sweeps();
    history(dir.path(), "sweeps", &sweeps, "busbw", Some(1 << 20));
    rows(dir.path(), "sweeps", &sweeps, 1 << 20);
    for runs in [100, 1] {
        let logs = logs(runs);
        let name = format!("logs of {} steps", SAMPLES / runs);
        history(dir.path(), &name, &logs, "tps", None);
        rows(dir.path(), &name, &logs, -1);
    }
}

//! The history: a million samples stored, and asked for, beside SQLite's own program with a plain table.

use super::Target;
use super::logs::read;
use super::measure::{self, Program, Run};
use super::results::{Bench, all_read, head, rows_of, with};
use crate::shell::{self, Result};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Aims: seconds of storing, of a query.
const STORED: f64 = 5.0;
const ASKED: f64 = 0.1;
/// The size of which the history is asked.
const SIZE: u32 = 1 << 20;

pub(super) fn measure(b: &Bench<'_>) -> Result<(String, Vec<Target>)> {
    let csv = b.texts.dir.join("history.csv");
    let [runs, rows] = b.make(&["history", &csv.to_string_lossy(), &b.scale.stored.to_string()])?;
    let bytes = read(&csv)? as f64;
    let (ours, plain) = (b.disk.dir.join("ours/history.db"), b.disk.dir.join("plain/samples.db"));
    let store = ["import", "--quiet", "--color", "never", "--store", &ours.to_string_lossy()].map(str::to_owned);
    let store = || with(b.bench(&store.each_ref().map(String::as_str), &[]), &[], &[&csv]);
    let lines = format!(".import --skip 1 \"{}\" sample", csv.display());
    let table = "CREATE TABLE sample (run TEXT, place TEXT, size INTEGER, value REAL)";
    let rows_in = || with(b.on_core(Path::new("sqlite3")), &["-batch"], &[&plain]);
    let rows_in = |words: &[&str]| with(rows_in(), words, &[]);
    let sqlite = shell::has("sqlite3");
    fresh(&ours)?;
    all_read(&mut store(), runs)?;
    let mut all: Vec<Program<'_>> = vec![
        ("`linerate bench import FILE --quiet --store DB`".into(), Box::new(|| fresh(&ours).map(|()| store()))),
        (
            "the same with `--no-store`: read, and nothing kept".into(),
            Box::new(|| Ok(b.bench(&["import", "--no-store", "--quiet", "--color", "never"], &[&csv]))),
        ),
    ];
    if sqlite {
        let version = shell::output(Command::new("sqlite3").arg("--version"))?;
        let version = version.split(' ').next().unwrap_or_default();
        let name = format!("`sqlite3 DB '.import FILE sample'`, a plain table without an index, {version}");
        all.push((name, Box::new(|| fresh(&plain).map(|()| rows_in(&[table, ".mode csv", &lines])))));
    }
    let stored = b.alternately(&all)?;
    let mut text = format!(
        "\n## The history\n\nA table of {runs} runs × {} samples, {:.1} MB; databases {}.\n\n{}",
        rows / runs.max(1),
        bytes / 1e6,
        b.disk.kind,
        head()
    );
    rows_of(&mut text, &all, &stored);
    drop(all);
    let size = |p: &Path| fs::metadata(p).map(|m| m.len() as f64 / rows.max(1) as f64).map_err(|e| e.to_string());
    let _ = write!(text, "\nBytes a sample: {:.1} in the history", size(&ours)?);
    if sqlite {
        let there = shell::output(&mut rows_in(&["SELECT count(*) FROM sample"]))?;
        if there.trim() != rows.to_string() {
            return Err(format!("sqlite3: {} of {rows} rows", there.trim()));
        }
        let _ = write!(text, ", {:.1} in the plain table", size(&plain)?);
    }
    let asked_size = SIZE.to_string();
    let ask = |words: &[&str]| {
        with(b.bench(&["history"], &[]), &[words, &["--color", "never", "--store"]].concat(), &[&ours])
    };
    let band = ["--band", "--metric", "busbw", "--size", &asked_size];
    let list = ["--limit", "20"];
    let sql = format!(
        "SELECT place, count(*), min(v), avg(v), max(v) FROM (SELECT run, place, avg(value) v FROM sample WHERE size = {SIZE} GROUP BY run, place) GROUP BY place"
    );
    for words in [band.as_slice(), list.as_slice()] {
        shell::output(&mut ask(words))?;
    }
    let mut all: Vec<Program<'_>> = vec![
        ("`linerate bench history --band --metric busbw --size 1M`".into(), Box::new(|| Ok(ask(&band)))),
        ("`linerate bench history --limit 20`".into(), Box::new(|| Ok(ask(&list)))),
    ];
    if sqlite {
        all.push((
            "`sqlite3`: count, smallest, mean, largest of the runs' means at 1 MiB".into(),
            Box::new(|| Ok(rows_in(&[&sql]))),
        ));
    }
    let asked = b.alternately(&all)?;
    let _ = write!(text, ".\n\nAsked, the whole command, {} rounds:\n\n{}", b.scale.rounds, head());
    rows_of(&mut text, &all, &asked);
    if b.scale.figures {
        text += &figures(&b.disk.dir)?;
    }
    let took = |all: &[Vec<Run>], n: usize| all.get(n).map_or(f64::NAN, |r| measure::wall(r).median / 1e3);
    let (wall, alone) = (took(&stored, 0), took(&stored, 1));
    let mut targets = vec![Target {
        what: format!(
            "{rows} samples are read and stored in less than {STORED} s: {wall:.2} s, of which {alone:.2} s reading (medians)"
        ),
        met: wall < STORED,
    }];
    for (n, name) in ["a band of all runs at a size", "the newest 20 runs"].into_iter().enumerate() {
        let wall = took(&asked, n);
        let what = format!("{name}: less than {:.0} ms: {:.0} ms (median)", ASKED * 1e3, wall * 1e3);
        targets.push(Target { what, met: wall < ASKED });
    }
    Ok((text, targets))
}

/// What the store does in its own process, without a program's start and a table's text.
fn figures(dir: &Path) -> Result<String> {
    let own = ["--package", "linerate-store", "--example", "figures", "--"];
    let told = shell::output(shell::measured().args(own).arg(dir))?;
    // Its first two sections: sweeps, and the same as plain rows. What follows are other shapes.
    let heading = |l: &&str| !l.starts_with(' ');
    let second = told.lines().enumerate().filter(|(_, l)| heading(l)).nth(2).map_or(usize::MAX, |(n, _)| n);
    let lines: Vec<&str> = told.lines().take(second).collect();
    Ok(format!(
        "\nThe store in its own process, not pinned, once: `cargo run --profile dist -p linerate-store --example figures`\n\n```text\n{}\n```\n",
        lines.join("\n")
    ))
}

/// Nothing where a database is to be made.
fn fresh(database: &Path) -> Result<()> {
    let dir = database.parent().unwrap_or(database);
    let _ = fs::remove_dir_all(dir);
    fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))
}

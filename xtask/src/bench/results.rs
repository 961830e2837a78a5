//! Results of benchmarks: `linerate bench import`, `compare` and `history`, beside programs that do part of the same, on one core.

use super::logs::{core, read};
use super::measure::{self, Program, Run};
use super::place::Place;
use super::{Scale, Target, data, results_history};
use crate::shell::{self, Result};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Aims: bytes per second of a text, seconds of a comparison.
const RATE: f64 = 200e6;
const COMPARED: f64 = 1.0;
/// Runs of a side, and resamples.
const SIDE: usize = 80;
const RESAMPLES: &str = "10000";

/// `scipy.stats.bootstrap` of what `bench compare --bootstrap` resamples: B over A of the geometric means, at each size.
/// Without resamples: how long the rest takes.
const SCIPY: &str = "import csv, sys, numpy
from scipy import stats
def side(name):
    rows = list(csv.reader(open(name)))[1:]
    return {s: numpy.log([float(v) for _, t, v in rows if t == s]) for s in {r[1] for r in rows}}
a, b, n = side(sys.argv[1]), side(sys.argv[2]), int(sys.argv[3])
ratio = lambda x, y, axis: y.mean(axis=axis) - x.mean(axis=axis)
for s in a if n else []:
    stats.bootstrap((a[s], b[s]), ratio, n_resamples=n, method='BCa', vectorized=True)
";
const LOADS: &str = "import json, sys
for line in open(sys.argv[1]): json.loads(line)
";

/// What is measured with: linerate, the core, the texts, the databases.
pub(super) struct Bench<'a> {
    pub(super) linerate: &'a Path,
    pub(super) scale: &'a Scale,
    core: String,
    pub(super) texts: Place,
    /// Where what is written must reach a disk.
    pub(super) disk: Place,
}

pub(super) fn measure(linerate: &Path, scale: &Scale) -> Result<(String, Vec<Target>)> {
    let name = format!("linerate-bench-results-{}", std::process::id());
    let texts = Place::new(2 * scale.results)?;
    let disk = Place::at(&shell::target().join("bench").join(name), "on a disk")?;
    let b = Bench { linerate, scale, core: core()?, texts, disk };
    let mut text = format!(
        "\nEvery program is pinned to core {} (`taskset -c {0}`), its output thrown away; what is compared runs alternately, {} rounds after one that \
         does not count. Texts are {}, read once before; the others run with `LC_ALL=C`.\n",
        b.core, scale.rounds, b.texts.kind
    );
    let mut targets = Vec::new();
    for (more, met) in [b.tables()?, b.json()?, b.compare()?, results_history::measure(&b)?] {
        text += &more;
        targets.extend(met);
    }
    Ok((text, targets))
}

impl Bench<'_> {
    pub(super) fn on_core(&self, program: &Path) -> Command {
        let mut c = Command::new("taskset");
        c.args(["-c", &self.core]).arg(program).env("LC_ALL", "C");
        c
    }

    pub(super) fn bench(&self, args: &[&str], files: &[&Path]) -> Command {
        let mut c = self.on_core(self.linerate);
        c.env_remove("LC_ALL").arg("bench").args(args).args(files);
        c
    }

    /// Makes a text; says how many runs and rows are in it.
    pub(super) fn make(&self, args: &[&str]) -> Result<[u64; 2]> {
        let told = data::request(&[&["results"], args].concat())?;
        let counts: Vec<u64> = told.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        <[u64; 2]>::try_from(counts).map_err(|_| format!("bench data results: no counts: {told}"))
    }

    fn tables(&self) -> Result<(String, Vec<Target>)> {
        let version = shell::output(Command::new("sh").args(["-c", "awk -W version 2>&1 < /dev/null | head -n 1"]))?;
        let sum = "{s += $8} END {print s}";
        let others = |file: PathBuf| -> Vec<Program<'_>> {
            let awk = move || Ok(with(self.on_core(Path::new("awk")), &[sum], &[&file]));
            vec![(format!("`awk '{sum}' FILE`, {}", version.trim()), Box::new(awk))]
        };
        self.text("Tables of nccl-tests", "tables", "`all_reduce_perf`, 13 columns", "nccl-tests, 13 columns", others)
    }

    fn json(&self) -> Result<(String, Vec<Target>)> {
        let others = |file: PathBuf| -> Vec<Program<'_>> {
            if shell::has("jq") {
                let version = shell::output(Command::new("jq").arg("--version")).unwrap_or_default();
                let jq = move || Ok(with(self.on_core(Path::new("jq")), &["-c", "length"], &[&file]));
                return vec![(format!("`jq -c length FILE`, {}", version.trim()), Box::new(jq))];
            }
            let python = move || Ok(with(self.on_core(Path::new("python3")), &["-c", LOADS], &[&file]));
            let there = shell::has("python3");
            if there { vec![("`json.loads`, python3 (no jq here)".into(), Box::new(python))] } else { vec![] }
        };
        self.text("JSON of nccl-tests", "json", "`all_reduce_perf -J`, one document", "nccl-tests, JSON", others)
    }

    /// A large text read, and kept nowhere.
    fn text<'s>(
        &'s self,
        title: &str,
        kind: &str,
        what: &str,
        word: &str,
        others: impl FnOnce(PathBuf) -> Vec<Program<'s>>,
    ) -> Result<(String, Vec<Target>)> {
        let file = self.texts.dir.join(kind);
        let [runs, rows] = self.make(&[kind, &file.to_string_lossy(), &self.scale.results.to_string()])?;
        let bytes = read(&file)? as f64;
        let import = || self.bench(&["import", "--no-store", "--quiet", "--color", "never"], &[&file]);
        all_read(&mut import(), runs)?;
        let mut all: Vec<Program<'_>> =
            vec![("`linerate bench import FILE --no-store --quiet`".into(), Box::new(move || Ok(import())))];
        all.extend(others(file.clone()));
        let measured = self.alternately(&all)?;
        let mut text = format!(
            "\n## {title}\n\n{what}, 8 ranks: {runs} runs, {rows} rows, {:.1} MB (10^6 bytes).\n\n\
             | | MB/s, best | MB/s, median | wall, median | CPU, median | peak memory |\n|---|---|---|---|---|---|\n",
            bytes / 1e6
        );
        for ((name, _), runs) in all.iter().zip(&measured) {
            let wall = measure::wall(runs);
            let rate = |ms: f64| bytes / ms / 1e3;
            let _ = writeln!(text, "| {name} | {:.0} | {:.0} | {} |", rate(wall.best), rate(wall.median), times(runs));
        }
        if let [ours, theirs] = measured.as_slice() {
            let _ = writeln!(
                text,
                "\nTime of the other program divided by that of linerate, round by round: {}.",
                shares(theirs, ours)
            );
        } else {
            text += "\nNot compared: neither jq nor python3 is installed.\n";
        }
        fs::remove_file(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        if self.scale.figures {
            text += &parsers(word)?;
        }
        let rate = measured.first().map_or(f64::NAN, |r| bytes / measure::wall(r).median * 1e3);
        let what = format!("{}, the whole command: {:.0} MB/s or more: {:.0} (median)", title, RATE / 1e6, rate / 1e6);
        Ok((text, vec![Target { what, met: rate >= RATE }]))
    }

    fn compare(&self) -> Result<(String, Vec<Target>)> {
        let (a, b) = (self.texts.dir.join("a.csv"), self.texts.dir.join("b.csv"));
        let [runs, rows] = self.make(&["sides", &a.to_string_lossy(), &b.to_string_lossy(), &SIDE.to_string()])?;
        let sizes = rows / runs.max(1);
        for file in [&a, &b] {
            all_read(&mut self.bench(&["import", "--no-store", "--quiet", "--color", "never"], &[file]), runs)?;
        }
        let ours = |more: &[&str]| with(self.bench(&["compare"], &[&a, &b]), more, &[]);
        let scipy = |n: &str| with(self.on_core(Path::new("python3")), &["-c", SCIPY], &[&a, &b, Path::new(n)]);
        // Exit code 1 is an answer, too: what was compared is in the answer.
        let told = ours(&["--bootstrap", RESAMPLES, "--format", "json"]).output().map_err(|e| e.to_string())?;
        let drawn = String::from_utf8_lossy(&told.stdout).matches(&format!("{RESAMPLES} resamples of runs")).count();
        if drawn as u64 != sizes {
            return Err(format!("bench compare: {drawn} bootstraps for {sizes} sizes"));
        }
        let mut all: Vec<Program<'_>> = vec![
            (
                format!("`linerate bench compare A B --bootstrap {RESAMPLES} --format json`"),
                Box::new(|| Ok(ours(&["--bootstrap", RESAMPLES, "--format", "json"]))),
            ),
            ("the same without `--bootstrap`".into(), Box::new(|| Ok(ours(&["--format", "json"])))),
        ];
        // Tried with few resamples: a scipy that does not know two samples is as good as none.
        let version = shell::output(Command::new("python3").args(["-c", "import scipy; print(scipy.__version__)"]))
            .ok()
            .filter(|_| shell::output(&mut scipy("200")).is_ok());
        if let Some(version) = &version {
            let name = format!("`scipy.stats.bootstrap`, {RESAMPLES} resamples, BCa, scipy {}", version.trim());
            all.push((name, Box::new(|| Ok(scipy(RESAMPLES)))));
            let name = "the same without resamples: python3 loads scipy and the files";
            all.push((name.into(), Box::new(|| Ok(scipy("0")))));
        }
        let measured = self.alternately(&all)?;
        let mut text = format!(
            "\n## A comparison\n\nTwo tables of {SIDE} runs × {sizes} sizes, {RESAMPLES} resamples at each size.\n\n{}",
            head()
        );
        rows_of(&mut text, &all, &measured);
        if version.is_none() {
            text += "\nNot compared with `scipy.stats.bootstrap`: not here.\n";
        }
        let wall = measured.first().map_or(f64::NAN, |r| measure::wall(r).median / 1e3);
        let what = format!(
            "{RESAMPLES} resamples of 2 × {SIDE} samples at {sizes} sizes take less than {COMPARED} s: {wall:.2} s (median)"
        );
        Ok((text, vec![Target { what, met: wall < COMPARED }]))
    }

    /// Runs all in turn.
    pub(super) fn alternately(&self, all: &[Program<'_>]) -> Result<Vec<Vec<Run>>> {
        measure::alternately(all, self.scale.rounds)
    }
}

/// What the parser does in its own process, without a file, a digest, runs and a report.
fn parsers(word: &str) -> Result<String> {
    let own = ["--package", "linerate-formats", "--example", "throughput", "--", "200"];
    // Its exit code is a verdict of its own.
    let told = shell::measured().args(own).arg(word).output().map_err(|e| format!("cannot run cargo: {e}"))?;
    let told = String::from_utf8_lossy(&told.stdout);
    let line = told.lines().find(|l| l.starts_with(word)).ok_or("the example throughput: no figure")?;
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(format!(
        "\nThe parser in its own process, per second of CPU time, best of three: `cargo run --profile dist -p linerate-formats --example throughput 200 \"{word}\"`\n\n```text\n{line}\n```\n"
    ))
}

/// That a text is imported whole, and is valid: otherwise its time says nothing.
pub(super) fn all_read(import: &mut Command, runs: u64) -> Result<()> {
    let told = shell::output(import)?;
    let first = told.lines().next().unwrap_or_default();
    let count: String = first.chars().take_while(char::is_ascii_digit).collect();
    if count == runs.to_string() { Ok(()) } else { Err(format!("bench import: `{first}` for {runs} runs")) }
}

pub(super) fn with(mut command: Command, words: &[&str], files: &[&Path]) -> Command {
    command.args(words).args(files);
    command
}

pub(super) fn head() -> &'static str {
    "| | wall, best | wall, median | CPU, median | peak memory |\n|---|---|---|---|---|\n"
}

pub(super) fn rows_of(text: &mut String, all: &[Program<'_>], measured: &[Vec<Run>]) {
    for ((name, _), runs) in all.iter().zip(measured) {
        let _ = writeln!(text, "| {name} | {:.3} s | {} |", measure::wall(runs).best / 1e3, times(runs));
    }
}

/// Medians of wall and CPU time, and the largest peak.
fn times(runs: &[Run]) -> String {
    let (wall, cpu) = (measure::wall(runs).median / 1e3, measure::cpu(runs).median / 1e3);
    format!("{wall:.3} s | {cpu:.3} s | {:.1} MiB", measure::peak(runs))
}

/// One's time over another's, round by round: a machine that is busy in between slows both.
fn shares(of: &[Run], over: &[Run]) -> String {
    let s = measure::summary(of.iter().zip(over).map(|(a, b)| b.wall / a.wall).collect());
    format!("best {:.2}, median {:.2}", 1.0 / s.best, 1.0 / s.median)
}

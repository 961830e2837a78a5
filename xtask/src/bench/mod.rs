//! `cargo xtask bench [--quick | --nodes N | --only logs | --only results]`: measures the build of the profile `dist` and writes
//! `docs/benchmarks.md`. Results of benchmarks have a page of their own, and are measured only when they are named.
//!
//! `fan`: many hosts at once beside pdsh ([`fan`]).
//!
//! Inputs are composed from `lab/nodes`, by a process of their own: a child's peak of memory starts at its parent's.
//! What is compared is run alternately, so that a busy machine slows all of it.

use crate::shell::{self, Result};
use std::fmt::Write;
use std::process::{Command, ExitCode};

mod data;
mod fan;
mod fleet;
mod logs;
mod measure;
pub(crate) use measure::wait4;
mod node;
mod place;
mod results;
mod results_data;
mod results_history;
mod topo;

/// How much is measured.
struct Scale {
    /// Runs of what takes milliseconds.
    runs: usize,
    /// Spawns of `linerate --version`.
    spawns: usize,
    /// Snapshots in the large fleet, and in the small one.
    many: usize,
    few: usize,
    /// Bytes of the NCCL log, and how often it is read.
    log: u64,
    rounds: usize,
    /// Bytes of a text of results, runs of 50 samples in the history, and whether the store is measured by itself, too.
    results: u64,
    stored: u64,
    figures: bool,
}

const FULL: Scale = Scale {
    runs: 30,
    spawns: 200,
    many: 10_000,
    few: 1_000,
    log: 2 << 30,
    rounds: 7,
    results: 250_000_000,
    stored: 20_000,
    figures: true,
};
const QUICK: Scale = Scale {
    runs: 5,
    spawns: 20,
    many: 400,
    few: 40,
    log: 256 << 20,
    rounds: 3,
    results: 25_000_000,
    stored: 2_000,
    figures: false,
};

/// What is promised, and whether it is kept.
struct Target {
    what: String,
    met: bool,
}

impl Target {
    fn new(what: String, met: bool) -> Target {
        Target { what, met }
    }
}

pub(crate) fn run(args: &[String]) -> ExitCode {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        [] => write(&FULL),
        // A smaller fleet for a machine that is slow or small; the page says how many there were.
        ["--nodes", n] => match n.parse() {
            Ok(many) if many >= 10 => write(&Scale { many, few: many / 10, ..FULL }),
            _ => Err(format!("--nodes {n}: a number from 10 on is expected")),
        },
        ["--quick"] => bench(&QUICK).map(drop),
        ["--only", name] => only(name, &FULL).and_then(|(file, page)| save(file, &page)),
        ["--quick", "--only", name] | ["--only", name, "--quick"] => only(name, &QUICK).map(drop),
        ["fan", how @ ..] => return fan::main(how),
        // Called by ourselves, as a process of its own in the release build.
        ["data", what @ ..] => data::make(what),
        _ => {
            eprintln!(
                "usage: cargo xtask bench [--quick | --nodes N] [--only logs | --only results] | fan [--hosts N] [--fanout N] [--rounds N] [--dead] [--check [--within SECONDS]] [--linerate FILE]"
            );
            return ExitCode::from(3);
        }
    };
    shell::exit(result)
}

fn write(scale: &Scale) -> Result<()> {
    save("docs/benchmarks.md", &bench(scale)?)
}

fn save(name: &str, page: &str) -> Result<()> {
    std::fs::write(shell::root().join(name), page).map_err(|e| format!("{name}: {e}"))
}

/// A section as a page of its own, and that page's file: a run of all takes long, and its figures belong to one run.
fn only(name: &str, scale: &Scale) -> Result<(&'static str, String)> {
    let (file, title, section): (_, _, Section) = match name {
        "logs" => ("docs/benchmarks-doctor.md", "Benchmarks of the doctor", logs::measure),
        "results" => {
            ("docs/benchmarks-results.md", "Benchmarks of reading, comparing and keeping results", results::measure)
        }
        _ => return Err(format!("--only {name}: logs or results is expected")),
    };
    let head =
        format!("# {title}\n\nWritten by `cargo xtask bench --only {name}`; every figure below is from one run of it.");
    let mut page = format!("{head}\n\n{}\n", machine()?);
    let (text, met) = section(&shell::dist()?, scale)?;
    page += text.trim_start();
    page += &targets(&met);
    println!("{page}");
    Ok((file, page))
}

/// What measures something of the program at this path.
type Section = fn(&std::path::Path, &Scale) -> Result<(String, Vec<Target>)>;

fn targets(all: &[Target]) -> String {
    let lines = all.iter().map(|t| format!("- {}: {}\n", if t.met { "met" } else { "**missed**" }, t.what));
    format!("\n## Targets\n\n{}", lines.collect::<String>())
}

fn bench(scale: &Scale) -> Result<String> {
    let machine = machine()?;
    let linerate = shell::dist()?;
    let mut page = format!(
        "# Benchmarks\n\nWritten by `cargo xtask bench`; every figure below is from one run of it. Inputs are composed from `lab/nodes`.\n\n{machine}\n"
    );
    let mut all = Vec::new();
    let sections: [Section; 5] = [node::measure, fleet::measure, topo::measure, logs::measure, start];
    for section in sections {
        let (text, more) = section(&linerate, scale)?;
        println!("{text}");
        page += &text;
        all.extend(more);
    }
    let promised = targets(&all);
    println!("{promised}");
    Ok(page + &promised)
}

/// Milliseconds that a command that does nothing may take.
const STARTED: f64 = 2.0;

/// The program itself: its size, what it loads, how long it takes to start.
fn start(linerate: &std::path::Path, scale: &Scale) -> Result<(String, Vec<Target>)> {
    let size = std::fs::metadata(linerate).map_err(|e| e.to_string())?.len();
    let loaded = crate::deps::loaded(linerate)?;
    let runs: Vec<_> =
        (0..scale.spawns).map(|_| measure::run(Command::new(linerate).arg("--version"))).collect::<Result<_>>()?;
    let (wall, cpu) = (measure::wall(&runs), measure::cpu(&runs));
    let mut text = String::from(
        "\n## The program\n\n`cargo build --profile dist -p linerate`. What `cargo xtask dist` hands out is smaller: it brings a library of Rust that is built for size, and has \
         no tables for unwinding.\n\n",
    );
    let _ = writeln!(text, "- size: {:.1} MiB, stripped", size as f64 / f64::from(1 << 20));
    let _ = writeln!(text, "- loads: {}", loaded.join(", "));
    let _ = writeln!(
        text,
        "- `linerate --version`, {} times: best {:.1} ms, median {:.1} ms (CPU {:.1} ms)",
        runs.len(),
        wall.best,
        wall.median,
        cpu.median
    );
    let what = format!("`linerate --version` takes at most {STARTED:.0} ms: {:.1} ms (median)", wall.median);
    Ok((text, vec![Target::new(what, wall.median <= STARTED)]))
}

/// The machine, and how busy it was.
fn machine() -> Result<String> {
    let read = |p: &str| std::fs::read_to_string(p).map_err(|e| format!("{p}: {e}"));
    let field = |text: &str, key: &str| -> String {
        let line = text.lines().find(|l| l.starts_with(key)).and_then(|l| l.split_once(':'));
        line.map(|(_, v)| v.trim().to_owned()).unwrap_or_default()
    };
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = field(&read("/proc/meminfo")?, "MemTotal");
    let memory = memory.split(' ').next().and_then(|k| k.parse::<u64>().ok()).unwrap_or(0) >> 20;
    let load = read("/proc/loadavg")?;
    Ok(format!(
        "Machine: {cpus} × {}, {memory} GiB, Linux {}; {}. Load before the run: {}.\n",
        field(&read("/proc/cpuinfo")?, "model name"),
        read("/proc/sys/kernel/osrelease")?.trim(),
        shell::output(Command::new("rustc").arg("--version"))?.trim(),
        load.split(' ').next().unwrap_or_default(),
    ))
}

//! Many nodes: `linerate audit DIR --format json` over a directory of archives.

use super::measure::{self, Run};
use super::{Scale, Target, data};
use crate::shell::{self, Result};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs of each; the fastest counts.
const RUNS: usize = 10;
/// Aim: nodes per second, on two cores.
const RATE: f64 = 2000.0;
/// Aim: memory for the large fleet, over that for the small one.
const GROWTH: f64 = 1.25;

pub(super) fn measure(linerate: &Path, scale: &Scale) -> Result<(String, Vec<Target>)> {
    let dir = shell::target().join("bench/fleet");
    let _ = fs::remove_dir_all(&dir);
    let (many, few, full) = (dir.join("many"), dir.join("few"), dir.join("full"));
    let many_is = describe(&many, "mix", scale.many)?;
    let full_is = describe(&full, "full", scale.few)?;
    // The small fleet is a part of the large one.
    fs::create_dir_all(&few).map_err(|e| format!("{}: {e}", few.display()))?;
    for i in 1..=scale.few {
        let name = format!("node-{i:05}.tar.zst");
        fs::hard_link(many.join(&name), few.join(&name)).map_err(|e| format!("{name}: {e}"))?;
    }
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut text = format!(
        "\n## A fleet\n\n`linerate audit DIR --format json > /dev/null`, archives in the page cache, {cpus} threads. All nodes are distinct (serials, GUIDs, addresses).\n\n\
         - mixed: {} in turn, without the root complexes' functions that do nothing (`clutter = false`): {many_is}\n\
         - whole: `{}` with all of its functions: {full_is}\n\n\
         | fleet | nodes | wall, best of {RUNS} | nodes/s | CPU per node | nodes/s and core of CPU time | peak memory |\n|---|---|---|---|---|---|---|\n",
        data::MIX.join(", "),
        data::NODE
    );
    let mut rows = Vec::new();
    for (name, dir, nodes) in [("mixed", &few, scale.few), ("mixed", &many, scale.many), ("whole", &full, scale.few)] {
        let run = best(linerate, dir)?;
        let (rate, cpu) = (nodes as f64 / run.wall * 1e3, run.cpu / nodes as f64);
        let _ = writeln!(
            text,
            "| {name} | {nodes} | {:.2} s | {rate:.0} | {cpu:.2} ms | {:.0} | {:.1} MiB |",
            run.wall / 1e3,
            1e3 / cpu,
            run.peak as f64 / 1024.0
        );
        rows.push((rate, run.peak as f64 / 1024.0));
    }
    let _ = fs::remove_dir_all(&dir);
    let [(_, little), (rate, much), _] = rows.as_slice() else { return Err("bench: three fleets".to_owned()) };
    let targets = vec![
        Target::new(format!("a mixed fleet takes {RATE} nodes/s or more on {cpus} cores: {rate:.0}"), *rate >= RATE),
        Target::new(
            format!(
                "memory does not grow with the fleet: {little:.1} MiB for {} nodes, {much:.1} MiB for {}",
                scale.few, scale.many
            ),
            much / little <= GROWTH,
        ),
    ];
    Ok((text, targets))
}

/// Makes a fleet, and says what is in it.
fn describe(dir: &Path, kind: &str, count: usize) -> Result<String> {
    let counts = data::request(&[kind, &dir.to_string_lossy(), &count.to_string()])?;
    let sums: Vec<usize> = counts.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    let [entries, functions] = sums.as_slice() else { return Err(format!("bench data {kind}: no counts")) };
    let mut bytes = 0;
    for entry in fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))? {
        bytes += entry.and_then(|e| e.metadata()).map_err(|e| e.to_string())?.len();
    }
    let count = count.max(1);
    Ok(format!(
        "on average {} functions, {} entries, {} KiB",
        functions / count,
        entries / count,
        bytes / 1024 / count as u64
    ))
}

fn best(linerate: &Path, dir: &Path) -> Result<Run> {
    let run = || measure::run(Command::new(linerate).arg("audit").arg(dir).args(["--format", "json"]));
    let runs = (0..RUNS).map(|_| run()).collect::<Result<Vec<_>>>()?;
    runs.into_iter().min_by(|a, b| a.wall.total_cmp(&b.wall)).ok_or_else(|| "bench: no runs".to_owned())
}

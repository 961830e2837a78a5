//! Topologies: from XML in memory to what NCCL concludes; the library alone, no process.

use super::measure;
use super::{Scale, Target};
use crate::shell::{self, Result};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Aims: nodes by the beginning of their name, milliseconds from XML to decisions and ceilings, and of the search.
const AIMS: [(&str, f64, f64); 3] =
    [("8 GPUs, 8 NICs", 0.5, 30.0), ("16 GPUs, 18 NICs", 1.0, 30.0), ("72 GPUs", 20.0, 30.0)];
/// Aim for a drawing, milliseconds.
const DRAWING: f64 = 50.0;

pub(super) fn measure(linerate: &Path, scale: &Scale) -> Result<(String, Vec<Target>)> {
    let own = ["--package", "linerate-topology", "--example", "judge"];
    let rows = shell::output(shell::measured().args(own))?;
    let mut text = format!(
        "\n## Topologies\n\n`cargo run --profile dist -p linerate-topology --example judge`: medians; XML in memory to the graph, all paths, GPUDirect RDMA, P2P and \
         local NICs; ceilings with their derivations, of two such nodes; then the search for their rings and trees.\n\n\
         | node | XML parsed | judged | ceilings | rings and trees |\n|---|---|---|---|---|\n{rows}"
    );
    let mut targets = Vec::new();
    for (name, judged, searched) in AIMS {
        let row =
            rows.lines().find(|r| r.starts_with(&format!("| {name}"))).ok_or_else(|| format!("no row of {name}"))?;
        let ms: Vec<f64> = row.split('|').filter_map(|c| c.trim().strip_suffix(" ms")?.parse().ok()).collect();
        let [parse, judge, ceilings, search] = ms.as_slice() else { return Err(format!("not understood: {row}")) };
        let whole = parse + judge + ceilings;
        let what = format!("{name}: XML to decisions and ceilings takes less than {judged} ms: {whole:.3} ms");
        targets.push(Target::new(what, whole < judged));
        let what = format!("{name}: the search takes less than {searched} ms: {search} ms");
        targets.push(Target::new(what, *search < searched));
    }
    let example = shell::root().join("examples/sick-8gpu.tar.zst");
    let draw = || measure::run(Command::new(linerate).arg("topo").arg(&example).args(["--format", "svg"]));
    let runs = (0..scale.runs).map(|_| draw()).collect::<Result<Vec<_>>>()?;
    let wall = measure::wall(&runs);
    let _ = writeln!(
        text,
        "\n`linerate topo examples/sick-8gpu.tar.zst --format svg`, the whole command: best {:.1} ms, median {:.1} ms",
        wall.best, wall.median
    );
    let what = format!("a drawing takes less than {DRAWING} ms, reading the archive included: {:.1} ms", wall.median);
    targets.push(Target::new(what, wall.median < DRAWING));
    Ok((text, targets))
}

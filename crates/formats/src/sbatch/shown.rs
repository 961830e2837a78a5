//! What is read of a script, as a script: for a snapshot, which keeps nothing else of it.

use super::option::{Given, Of};
use super::{Launcher, Most, Script, Step, read};
use crate::limits::Limit;
use crate::sbatch::Processes;
use crate::text::{decode, lines};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A script with the options, launchers and limits that are read of it, each on its line, in closed forms: [`super::parse`] gives the same of it.
#[must_use]
pub fn shown(bytes: &[u8]) -> Vec<u8> {
    let text = decode(bytes);
    let count = lines(&text).last().map_or(0, |(n, _)| n);
    let mut rows: BTreeMap<u32, String> = BTreeMap::new();
    for script in read(bytes, Most { scripts: usize::MAX, steps: usize::MAX }).items {
        directives(&script, &mut rows);
        commands(&script, &mut rows);
    }
    let mut out = String::new();
    for number in 1..=count {
        out.push_str(rows.get(&number).map_or("", String::as_str));
        out.push('\n');
    }
    if !text.ends_with('\n') {
        out.pop();
    }
    out.into_bytes()
}

fn directives(script: &Script, rows: &mut BTreeMap<u32, String>) {
    if let Some(line) = script.shebang {
        rows.insert(line, "#!".to_owned());
    }
    for line in &script.ignored {
        rows.insert(*line, "#SBATCH [redacted]".to_owned());
    }
    for given in &script.asked.0 {
        let row = rows.entry(given.line).or_insert_with(|| "#SBATCH".to_owned());
        row.push(' ');
        given.write(Of::Sbatch, row);
    }
    if let Some(line) = script.parts {
        rows.insert(line, "#SBATCH hetjob".to_owned());
    }
    if script.line > 0 {
        rows.entry(script.line).or_insert_with(|| "#SBATCH [redacted]".to_owned());
    }
}

/// What of a command is on a line, in the order of the text.
fn pieces(step: &Step) -> BTreeMap<u32, String> {
    let mut out: BTreeMap<u32, String> = BTreeMap::new();
    let of = if step.launcher == Launcher::Mpirun { Of::Mpirun } else { Of::Srun };
    let mut add = |line: u32, words: &str| {
        let row = out.entry(line).or_default();
        row.push(' ');
        row.push_str(words);
    };
    match step.launcher {
        Launcher::Srun => add(step.line, "srun"),
        Launcher::Mpirun => add(step.line, "mpirun"),
        Launcher::Torchrun => {}
    }
    let write = |given: &Given| {
        let mut words = String::new();
        given.write(of, &mut words);
        words
    };
    // Options come before the program, whatever their lines are.
    step.options.0.iter().for_each(|given| add(given.line, &write(given)));
    step.open.iter().for_each(|line| add(*line, "$X"));
    if let Some(torchrun) = step.torchrun {
        let processes = match torchrun.value {
            Processes::Number(n) => n.to_string(),
            Processes::PerGpu => "gpu".to_owned(),
            Processes::GpusOnNode => "$SLURM_GPUS_ON_NODE".to_owned(),
            Processes::TasksPerNode => "$SLURM_NTASKS_PER_NODE".to_owned(),
            Processes::Unknown => "$X".to_owned(),
        };
        add(torchrun.line, &format!("torchrun --nproc_per_node={processes}"));
    }
    out
}

fn commands(script: &Script, rows: &mut BTreeMap<u32, String>) {
    for m in &script.memlock {
        let row = rows.entry(m.line).or_default();
        let separator = if row.is_empty() { "" } else { "; " };
        let inner = if m.value.is_inner { "then " } else { "" };
        let _ = match m.value.limit {
            None => write!(row, "{separator}{inner}ulimit -l $X"),
            Some(Limit::Unlimited) => write!(row, "{separator}{inner}ulimit -l unlimited"),
            Some(Limit::Value(bytes)) => write!(row, "{separator}{inner}ulimit -l {}", bytes / 1024),
        };
    }
    for step in &script.steps {
        let all = pieces(step);
        let (Some((first, _)), Some((last, _))) = (all.first_key_value(), all.last_key_value()) else { continue };
        for line in *first..=*last {
            let row = rows.entry(line).or_default();
            if line == *first && !row.is_empty() {
                row.push(';');
            }
            row.push_str(all.get(&line).map_or("", |words| if row.is_empty() { words.trim_start() } else { words }));
            if line < *last {
                row.push_str(" \\");
            }
        }
    }
    // A command that is nothing: what is below it is no directive.
    if let Some(line) = script.command {
        let row = rows.entry(line).or_default();
        if row.is_empty() {
            row.push(':');
        }
    }
}

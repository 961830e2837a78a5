//! `jobs/directives-read`.

use super::{READS, no_script, subject};
use crate::{Cx, Effect, Findings, Remedy, Roles, Rule, Severities, Severity, Source};

pub(super) static RULE: Rule = Rule {
    id: "jobs/directives-read",
    title: "All #SBATCH lines of a batch script are read",
    severity: Severities::always(Severity::Low),
    roles: Roles::ALL,
    effect: Effect::sourced("what the lines ask for (nodes, GPUs, limits) is not asked for, without an error"),
    sources: &[
        Source {
            title: "sbatch(1): after the first line that is neither blank nor a comment, no #SBATCH line is processed",
            at: "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
        },
        Source {
            title: "Slurm src/sbatch/opt.c, _opt_batch_script",
            at: "https://github.com/SchedMD/slurm/blob/master/src/sbatch/opt.c",
        },
    ],
    reads: READS,
    docs: "\
## What it checks
Whether `#SBATCH` lines are below the first command of a script (`set -e`, `module load`, an assignment). A text that does not begin with `#!` may be a part of a script, or quoted in prose: unknown.

## Why it matters
sbatch stops at the first command. Lines below it are remarks for the shell, too: nobody says that they do nothing.

## See it yourself
`sbatch -vv JOB.sbatch` prints each option that it finds in the script. `linerate env check JOB.sbatch` judges the script's variables.

## Fix
Put all `#SBATCH` lines directly below the `#!` line.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if no_script(cx, out) {
        return;
    }
    for job in &cx.node.jobs {
        let (script, subject) = (&job.script, subject(job, "#SBATCH"));
        let first = job.at(script.first_line());
        match (script.ignored.first(), script.command) {
            (Some(line), command) => {
                let lines = match script.ignored.len() {
                    1 => "1 line is".to_owned(),
                    n => format!("{n} lines are"),
                };
                let text = format_args!("{lines} below the first command of the script: sbatch does not read them");
                out.fail(subject, text).at(job.at(*line)).at(command.map(|l| job.at(l))).fix(|| {
                    Remedy::investigate("put all #SBATCH lines above the first command", "order of the script's lines")
                        .prove("cat JOB.sbatch")
                });
            }
            (None, _) if script.shebang.is_none() => {
                let text = "the text does not begin with #!: it may be a part of a script";
                out.unknown(subject, text).at(first).see("the whole script, from its first line on");
            }
            (None, _) => _ = out.pass(subject, "all are above the first command").at(first),
        }
    }
}

//! Batch scripts of Slurm: what they ask for (`#SBATCH`), how they start ranks (`srun`, `mpirun`, `torchrun`), and their limit of locked memory. Variables
//! are not read: `linerate env check` judges those.
//!
//! Directives are read as `_opt_batch_script` and `get_argument` of Slurm's src/sbatch/opt.c read them: up to the first line that is a command. Options are
//! those of sbatch(1) and srun(1).

mod command;
mod option;
mod shown;
mod words;

pub use command::{Launcher, Processes, Step};
pub use option::{Bind, Given, Opt, Options, Value};
pub use shown::shown;

use crate::bounds::{JOB_SCRIPTS, JOB_STEPS, Kept, Limit as Bound, TEXT_ITEMS, leave_out};
use crate::limits::Limit;
use crate::text::{At, decode, lines};
use crate::tool::{Gives, Mark, Tool, seen};
use command::{Commands, Numbers};
use serde::Serialize;
use words::Word;

/// A batch script of Slurm.
pub const TOOL: Tool = Tool {
    name: "sbatch",
    called: "batch script (Slurm)",
    run: "cat JOB.sbatch",
    gives: Gives::Facts,
    marks: &[Mark::beginning(&["#SBATCH "])],
    of_cluster: true,
    read: Some(|b| {
        seen(parse(b));
        seen(shown(b));
    }),
    samples: &[
        "#!/bin/bash\n#SBATCH --nodes=2\nexport NCCL_DEBUG=INFO\nsrun ./all_reduce_perf\n",
        "#!/bin/bash\n#SBATCH -N 2 --ntasks-per-node=8 --gres=gpu:h100:8\n#SBATCH --propagate=STACK\nulimit -l unlimited\nsrun --gpu-bind=none \\\n  torchrun --nproc_per_node=8 train.py\n",
    ],
    ..Tool::NONE
};

/// A script, as far as it is read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Script {
    /// 1-based line of the first directive that is read; 0: none is.
    pub line: u32,
    /// `#!`, with which a file begins.
    pub shebang: Option<u32>,
    /// The first command: below it no directive is read.
    pub command: Option<u32>,
    /// Directives below the first command of a file.
    pub ignored: Vec<u32>,
    /// What `#SBATCH` lines ask for.
    pub asked: Options,
    /// `#SBATCH hetjob`: what is below it is of another part of the job, and not read.
    pub parts: Option<u32>,
    /// What starts ranks, in the order of the text.
    pub steps: Vec<Step>,
    /// `ulimit -l`.
    pub memlock: Vec<At<Memlock>>,
}

impl Script {
    /// 1-based line of its first directive, whether it is read or not.
    #[must_use]
    pub fn first_line(&self) -> u32 {
        if self.line > 0 { self.line } else { self.ignored.first().copied().unwrap_or(1) }
    }
}

/// What a script sets as the limit of locked memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Memlock {
    /// `None`: a variable, or a word that is no limit.
    pub limit: Option<Limit>,
    /// The line is indented: a condition or a function decides whether it is reached.
    pub is_inner: bool,
}

/// What a line is.
enum Line<'a> {
    /// `#SBATCH`, and what follows.
    Directive(&'a str),
    /// Blank, or a remark.
    Nothing,
    /// A command, or a part of one.
    Command,
}

fn line_of(raw: &str) -> Line<'_> {
    match raw.strip_prefix("#SBATCH").or_else(|| raw.strip_prefix("#SLURM")) {
        Some(rest) => Line::Directive(rest),
        None if raw.trim().is_empty() || raw.trim_start().starts_with('#') => Line::Nothing,
        None => Line::Command,
    }
}

/// Reads the scripts of a text: a second one begins with its `#!`.
#[must_use]
pub fn parse(bytes: &[u8]) -> Kept<Script> {
    read(bytes, Most { scripts: JOB_SCRIPTS, steps: JOB_STEPS })
}

/// How much is kept: of what a snapshot has nothing is left out, as its readers count that.
#[derive(Clone, Copy)]
struct Most {
    scripts: usize,
    steps: usize,
}

fn read(bytes: &[u8], most: Most) -> Kept<Script> {
    let text = decode(bytes);
    let (mut script, mut kept) = (Script::default(), Kept::default());
    let mut commands = Commands::default();
    for (number, raw) in lines(&text) {
        if raw.starts_with("#!") && !commands.goes_on() {
            std::mem::take(&mut commands).end(&mut script);
            add(std::mem::take(&mut script), most, &mut kept);
            script.shebang = Some(number);
            continue;
        }
        match line_of(raw) {
            Line::Directive(rest) if script.command.is_none() => {
                script.line = if script.line == 0 { number } else { script.line };
                directive(&mut script, rest, number);
            }
            // Without its first line a text may be something else around a script.
            Line::Directive(_) if !commands.goes_on() && script.shebang.is_some() => {
                if script.ignored.len() < most.steps.max(TEXT_ITEMS) {
                    script.ignored.push(number);
                }
            }
            Line::Directive(_) | Line::Nothing if !commands.goes_on() => {}
            _ => {
                script.command = script.command.or(Some(number));
                commands.line(raw, number, &mut script);
                if script.steps.len().max(script.memlock.len()) > most.steps {
                    script.steps.truncate(most.steps);
                    script.memlock.truncate(most.steps);
                    leave_out(&mut kept.left_out, Bound::JOB_STEPS, number);
                }
            }
        }
    }
    commands.end(&mut script);
    script.steps.truncate(most.steps);
    script.memlock.truncate(most.steps);
    add(script, most, &mut kept);
    kept
}

fn add(script: Script, most: Most, kept: &mut Kept<Script>) {
    let is_one = script.line > 0 || !script.ignored.is_empty();
    if is_one && kept.items.len() < most.scripts {
        kept.items.push(script);
    } else if is_one {
        leave_out(&mut kept.left_out, Bound::JOB_SCRIPTS, script.first_line());
    }
}

fn directive(script: &mut Script, rest: &str, number: u32) {
    let all = words::directive(rest);
    let is_part = all.first().is_some_and(|w| matches!(w.to_ascii_lowercase().as_str(), "hetjob" | "packjob"));
    if is_part {
        script.parts = script.parts.or(Some(number));
    }
    if script.parts.is_none() {
        let all: Vec<Word> = all.into_iter().map(|text| Word { text, line: number }).collect();
        script.asked.take(&all, option::Of::Sbatch, &Numbers::default());
    }
}

#[cfg(test)]
mod tests;

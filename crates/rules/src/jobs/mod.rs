//! Batch scripts of Slurm before they run: what they ask for, held to what ranks need.

mod directives_read;
mod gpu_isolation;
mod gpus_requested;
mod memlock;

use crate::rule::{Rule, Source};
use crate::{Cx, Findings, Subject};
use linerate_formats::sbatch::{Given, Opt, Script, Step};
use linerate_node::jobs::ScriptAt;
use linerate_snapshot::Place;

pub(crate) static RULES: &[&Rule] =
    &[&directives_read::RULE, &gpu_isolation::RULE, &gpus_requested::RULE, &memlock::RULE];

const SBATCH: Source = Source {
    title: "sbatch(1): #SBATCH, --gpus-per-task, --tres-bind, --ntasks-per-node, --exclusive, --propagate",
    at: "https://slurm.schedmd.com/sbatch.html",
};

const READS: &[&str] = &["cat JOB.sbatch"];

/// Answers where there is no script; `true` if it answered.
fn no_script(cx: &Cx<'_>, out: &mut Findings) -> bool {
    if cx.node.jobs.is_empty() {
        out.not_applicable("no batch script in this source");
    }
    cx.node.jobs.is_empty()
}

/// Judges each script. Of one with several parts only the first is read: it is not judged.
fn each(cx: &Cx<'_>, out: &mut Findings, judge: impl Fn(&ScriptAt, &mut Findings)) {
    if no_script(cx, out) {
        return;
    }
    for job in &cx.node.jobs {
        match job.script.parts {
            Some(line) => {
                let text = "a heterogeneous job (`#SBATCH hetjob`): its parts are not judged";
                out.not_applicable_to(subject(job, "job"), text).at(job.at(line));
            }
            None => judge(job, out),
        }
    }
}

/// A part of a script.
fn subject(job: &ScriptAt, what: &str) -> Subject {
    Subject::Named(format!("{}{what}", job.name))
}

/// A command that starts ranks, with the options that hold for it.
#[derive(Clone, Copy)]
struct Start<'a> {
    job: &'a ScriptAt,
    /// `None`: the script starts nothing that is known; what it asks for holds for all that it starts.
    step: Option<&'a Step>,
}

/// How many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    Number(u64),
    /// A variable, a range, or what the script does not say.
    Unknown,
}

impl<'a> Start<'a> {
    fn all(job: &'a ScriptAt) -> Vec<Start<'a>> {
        let script: &Script = &job.script;
        match script.steps.is_empty() {
            true => vec![Start { job, step: None }],
            false => script.steps.iter().map(|step| Start { job, step: Some(step) }).collect(),
        }
    }

    fn subject(&self) -> Subject {
        let Some(step) = self.step else { return subject(self.job, "job") };
        let name = step.launcher.name();
        // Several may be on one line.
        let before = self.job.script.steps.iter().take_while(|s| !std::ptr::eq(*s, step));
        let nth = match before.filter(|s| s.line == step.line).count() {
            0 => String::new(),
            n => format!(" ({})", n + 1),
        };
        subject(self.job, &format!("{name}, line {}{nth}", step.line))
    }

    fn place(&self) -> Place {
        self.job.at(self.step.map_or(self.job.script.first_line(), |s| s.line))
    }

    /// An option of the command, else of the job.
    fn get(&self, opt: Opt) -> Option<&'a Given> {
        let own = self.step.and_then(|s| s.options.get(opt));
        own.or_else(|| self.job.script.asked.get(opt))
    }

    /// Where an option is given.
    fn at(&self, opt: Opt) -> Option<Place> {
        self.get(opt).map(|g| self.job.at(g.line))
    }

    /// A variable that may hold further options.
    fn open(&self) -> Option<Place> {
        self.step.and_then(|s| s.open).map(|line| self.job.at(line))
    }

    fn number(&self, opt: Opt) -> Option<Count> {
        self.get(opt).map(|g| g.number().map_or(Count::Unknown, Count::Number))
    }

    /// Whether the command itself gives one of these options.
    fn has_own(&self, opts: &[Opt]) -> bool {
        self.step.is_some_and(|s| opts.iter().any(|o| s.options.get(*o).is_some()))
    }

    /// Tasks that it starts on each node. Without a number it is one.
    fn tasks_per_node(&self) -> Count {
        let total = self.number(Opt::Ntasks);
        if total == Some(Count::Number(1)) {
            return Count::Number(1);
        }
        let only_total = self.has_own(&[Opt::Ntasks]) && !self.has_own(&[Opt::NtasksPerNode]);
        if let Some(n) = self.number(Opt::NtasksPerNode).filter(|_| !only_total) {
            return n;
        }
        match (total, self.number(Opt::Nodes)) {
            // These two say how many tasks there are, by the number of GPUs.
            (None, _) if self.get(Opt::NtasksPerGpu).or(self.get(Opt::GpusPerTask)).is_some() => Count::Unknown,
            (None, _) => Count::Number(1),
            (Some(Count::Number(tasks)), Some(Count::Number(nodes))) if nodes > 0 => {
                Count::Number(tasks.div_ceil(nodes))
            }
            _ => Count::Unknown,
        }
    }

    /// An option about GPUs: those of the job hold where the command has none of its own.
    fn gpus(&self, opt: Opt) -> Option<&'a Given> {
        let is_own = self.has_own(&[Opt::GpusPerNode, Opt::GpusPerTask, Opt::Gpus]);
        if is_own { self.step.and_then(|s| s.options.get(opt)) } else { self.job.script.asked.get(opt) }
    }

    /// GPUs that it has on each node; `None`: it asks for none.
    fn gpus_per_node(&self) -> Option<Count> {
        let number = |opt| self.gpus(opt).map(|g| g.number().map_or(Count::Unknown, Count::Number));
        if let Some(n) = number(Opt::GpusPerNode) {
            return Some(n);
        }
        if let Some(n) = number(Opt::GpusPerTask) {
            return Some(match (n, self.tasks_per_node()) {
                (Count::Number(n), Count::Number(tasks)) => n.checked_mul(tasks).map_or(Count::Unknown, Count::Number),
                _ => Count::Unknown,
            });
        }
        Some(match (number(Opt::Gpus)?, self.number(Opt::Nodes)) {
            (Count::Number(n), Some(Count::Number(nodes))) if nodes > 0 && n.is_multiple_of(nodes) => {
                Count::Number(n / nodes)
            }
            _ => Count::Unknown,
        })
    }

    /// Where it asks for GPUs.
    fn gpus_at(&self) -> Option<Place> {
        [Opt::GpusPerNode, Opt::GpusPerTask, Opt::Gpus]
            .into_iter()
            .find_map(|o| self.gpus(o))
            .map(|g| self.job.at(g.line))
    }
}

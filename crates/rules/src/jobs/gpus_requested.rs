//! `jobs/gpus-requested`.

use super::{Count, SBATCH, Start, each, subject};
use crate::{Cx, Effect, Findings, Remedy, Roles, Rule, Severities, Severity, Source};
use linerate_formats::sbatch::{Launcher, Opt, Processes, Value};
use linerate_formats::text::At;
use linerate_node::jobs::ScriptAt;
use linerate_node::pci::Kind;

pub(super) static RULE: Rule = Rule {
    id: "jobs/gpus-requested",
    title: "A batch script starts as many processes as it has GPUs, and has all GPUs of its nodes",
    severity: Severities::up_to(Severity::Info, Severity::Low),
    roles: Roles::ALL,
    effect: Effect::sourced("NCCL refuses two ranks on one GPU (`Duplicate GPU detected`); GPUs without a process stay idle"),
    sources: &[
        SBATCH,
        Source {
            title: "torchrun: --nproc-per-node, 1 by default; gpu and auto start one for each GPU",
            at: "https://docs.pytorch.org/docs/stable/elastic/run.html",
        },
        Source {
            title: "NCCL src/init.cc, initTransportsRank: Duplicate GPU detected",
            at: "https://github.com/NVIDIA/nccl/blob/master/src/init.cc",
        },
    ],
    reads: &["cat JOB.sbatch", "sys/bus/pci/devices", "lspci -D -nn"],
    docs: "\
## What it checks
Of each `torchrun` in a batch script, alone or started by `srun`: tasks per node times `--nproc-per-node` against the GPUs per node that the script asks for (`--gpus-per-node`, `--gres=gpu:N`,
`--gpus` by `--nodes`, `--gpus-per-task` by tasks). More processes than GPUs is low, fewer is information. Processes that a program starts itself, and tasks without torchrun, are not judged: several may
share a GPU on purpose. Where the source holds a node, too: whether the script asks for all of its GPUs, or for `--exclusive`. If it does not, that is information: other jobs may run beside it.

## Why it matters
With `--ntasks-per-node=8` and `srun torchrun --nproc-per-node=8` there are 64 processes on a node. NCCL refuses two ranks of a communicator on one GPU. Jobs that share a node share its NICs.

## See it yourself
In the job: `srun … nvidia-smi -L`, and the number of ranks that the program reports. `linerate env check JOB.sbatch` judges the script's variables.

## Fix
One task per node (`--ntasks-per-node=1`) where torchrun starts the processes, and `--nproc-per-node` as large as `--gpus-per-node`. `--exclusive` for a measurement.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each(cx, out, |job, out| {
        let mut any = whole_node(cx, job, out);
        for start in Start::all(job) {
            if let Some(torchrun) = start.step.and_then(|s| s.torchrun) {
                any = true;
                processes(&start, torchrun, out);
            }
        }
        if !any {
            let text = "the script starts no torchrun, and what it asks for is not compared with a node";
            out.not_applicable_to(subject(job, "job"), text).at(job.at(job.script.first_line()));
        }
    });
}

/// Processes on a node against GPUs.
fn processes(start: &Start<'_>, torchrun: At<Processes>, out: &mut Findings) {
    let (subject, at) = (start.subject(), start.job.at(torchrun.line));
    let Some(gpus) = start.gpus_per_node() else {
        out.not_applicable_to(subject, "the script asks for no GPU").at(at);
        return;
    };
    // By itself it runs on the first node alone, once; what mpirun starts where is not in its options alone.
    let tasks = match start.step.map(|s| s.launcher) {
        Some(Launcher::Torchrun) => Count::Number(1),
        Some(Launcher::Mpirun) => Count::Unknown,
        _ if start.open().is_some() => Count::Unknown,
        _ => start.tasks_per_node(),
    };
    let (gpus, each, tasks) = match (gpus, torchrun.value, tasks) {
        (_, Processes::PerGpu, Count::Number(1)) => {
            out.pass(subject, "torchrun starts a process for each GPU that it sees").at(at);
            return;
        }
        (_, Processes::GpusOnNode, Count::Number(1)) => {
            out.pass(subject, "one task starts a process for each GPU that the job has on the node").at(at);
            return;
        }
        (Count::Number(gpus), Processes::Number(n), Count::Number(tasks)) => (gpus, n, tasks),
        (Count::Number(gpus), Processes::GpusOnNode, Count::Number(tasks)) => (gpus, gpus, tasks),
        (Count::Number(gpus), Processes::TasksPerNode, Count::Number(tasks)) => (gpus, tasks, tasks),
        _ => {
            let text = "how many processes run on a node, or how many GPUs they have, is not in the script";
            out.unknown(subject, text).at(at).at(start.gpus_at()).at(start.open());
            return;
        }
    };
    let all = each.saturating_mul(tasks);
    let how = if tasks == 1 { String::new() } else { format!(" ({tasks} tasks, {each} of torchrun in each)") };
    if all == gpus {
        out.pass(subject, format_args!("{all} processes on a node{how}, and {gpus} GPUs")).at(at).at(start.gpus_at());
        return;
    }
    let (severity, text) = match all > gpus {
        true => {
            (Severity::Low, format!("{all} processes on a node{how}, but {gpus} GPUs: NCCL refuses two ranks on one"))
        }
        false => (Severity::Info, format!("{all} processes on a node{how}, and {gpus} GPUs: {} stay idle", gpus - all)),
    };
    let tasks_at = start.at(Opt::NtasksPerNode).or(start.at(Opt::Ntasks));
    out.fail(subject, text).severity(severity).at(at).at(start.gpus_at()).at(tasks_at).fix(|| {
        let what = "one task per node for torchrun, and --nproc-per-node as large as --gpus-per-node";
        Remedy::investigate(what, "--ntasks-per-node, --nproc-per-node and GPUs of the script").prove("cat JOB.sbatch")
    });
}

/// GPUs per node against those of the node that the source holds. Whether it answered.
fn whole_node(cx: &Cx<'_>, job: &ScriptAt, out: &mut Findings) -> bool {
    let (pci, start) = (&cx.node.pci, Start { job, step: None });
    let Some(list) = pci.seen.filter(|list| !cx.is_excerpt(*list)) else { return false };
    let there = pci.gpus().filter(|(_, f)| f.kind == Kind::Gpu && f.physfn.is_none()).count() as u64;
    let Some(Count::Number(asked)) = start.gpus_per_node().filter(|_| there > 0) else { return false };
    let whole = subject(job, "GPUs of the node");
    let exclusive = start.get(Opt::Exclusive);
    let is_whole = exclusive.is_some_and(|g| matches!(g.value, Some(Value::Word("exclusive"))));
    let at = start.gpus_at();
    if asked == there {
        out.pass(whole, format_args!("the script asks for all {there} GPUs of this node")).at(at).at(list);
    } else if asked > there {
        let text =
            format_args!("the script asks for {asked} GPUs per node, and this node has {there}: it does not run here");
        out.not_applicable_to(whole, text).at(at).at(list);
    } else if is_whole {
        let text = format_args!(
            "the script asks for {asked} of {there} GPUs, and for --exclusive: no other job runs beside it"
        );
        out.pass(whole, text).at(at).at(start.at(Opt::Exclusive)).at(list);
    } else {
        let text = format_args!(
            "the script asks for {asked} of the {there} GPUs of this node, and not for --exclusive: other jobs may use its NICs beside it"
        );
        out.fail(whole, text).severity(Severity::Info).at(at).at(list).fix(|| {
            Remedy::investigate(
                "--exclusive, or all GPUs of the node, for a measurement",
                "GPUs per node of the script",
            )
            .prove("cat JOB.sbatch")
        });
    }
    true
}

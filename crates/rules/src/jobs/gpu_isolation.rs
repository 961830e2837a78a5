//! `jobs/gpu-isolation`.

use super::{Count, READS, SBATCH, Start, each};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};
use linerate_formats::sbatch::{Bind, Launcher, Opt, Step, Value};
use linerate_snapshot::Place;

pub(super) static RULE: Rule = Rule {
    id: "jobs/gpu-isolation",
    title: "Tasks of one node see each other's GPUs",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::direction_only("where cgroups hide GPUs, CUDA IPC between ranks can fail, and NCCL before 2.22 does not find all NVLinks"),
    sources: &[
        SBATCH,
        Source {
            title: "cgroup.conf(5): ConstrainDevices, off by default",
            at: "https://slurm.schedmd.com/cgroup.conf.html#OPT_ConstrainDevices",
        },
        Source {
            title: "NCCL issue 1066: with --gpus-per-task NCCL 2.12 falls back from NVLink; NCCL needs to see all GPUs of the node",
            at: "https://github.com/NVIDIA/nccl/issues/1066",
        },
        Source {
            title: "NCCL 2.22, src/graph/topo.cc, ncclTopoGetSystem: each process detects its own GPU, the others come from their ranks",
            at: "https://github.com/NVIDIA/nccl/blob/v2.22.3-1/src/graph/topo.cc",
        },
        Source {
            title: "Open MPI issue 11949: cuIpcOpenMemHandle fails between tasks whose GPUs Slurm binds",
            at: "https://github.com/open-mpi/ompi/issues/11949",
        },
    ],
    reads: READS,
    docs: "\
## What it checks
Of each `srun` of a batch script (or of the script, where it shows none) with several tasks on a node: how GPUs are bound to tasks. `--gpus-per-task` and `--tres-per-task=gres/gpu` imply
`--gpu-bind=per_task:N`, `--ntasks-per-gpu` implies `single:N`, unless `--gpu-bind` or `--tres-bind` says otherwise. `--gpu-bind=none`, and no binding at all, is right. Options of the command line and of
the environment of sbatch (SBATCH_GPU_BIND) go before the script's, and are not seen.

## Why it matters
Where cgroup.conf has ConstrainDevices=yes, a bound task cannot open the other tasks' GPUs. Between such tasks cuIpcOpenMemHandle failed in reports about Open MPI and Cray MPICH. A report about NCCL 2.12
shows no NVLink between them; its maintainers answered that NCCL needs to see all GPUs of the node. Since 2.22 each process looks only for its own GPU, and takes the others from their ranks; no source says whether every
transport then works across cgroups. Where devices are not constrained, CUDA_VISIBLE_DEVICES alone hides them, with which NCCL and CUDA 10.1 or newer can do peer-to-peer. So this is information.

## See it yourself
`srun … nvidia-smi -L` shows what a task sees. `NCCL_DEBUG=INFO` says `via P2P/…` where NVLink is used, `via SHM` or `via NET` where it is not. `linerate env check JOB.sbatch` judges the script's variables.

## Fix
`--gpu-bind=none` beside `--gpus-per-task`, or `--gpus-per-node` (`--gres=gpu:N`) instead of it. Each rank must then choose its GPU itself, for example by SLURM_LOCALID.",
    myths: &[Myth {
        claim: "--gpus-per-task=1 only chooses a GPU for each task.",
        truth: "It implies --gpu-bind=per_task:1, and with ConstrainDevices=yes the other GPUs are hidden from the task.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each(cx, out, |job, out| Start::all(job).iter().for_each(|start| judge(start, out)));
}

/// How GPUs are bound, and where that is written.
fn binding(start: &Start<'_>) -> Option<(Option<Bind>, Option<Place>, &'static str)> {
    let said = |opt| start.get(opt).map(|g| (&g.value, start.at(opt)));
    if let Some((value, at)) = said(Opt::GpuBind) {
        let bind = match value {
            Some(Value::Bind(b)) => Some(*b),
            _ => None,
        };
        return Some((bind, at, ""));
    }
    if let Some((value, at)) = said(Opt::GpusPerTask) {
        let n = match value {
            Some(Value::Gpus { count, .. }) => Some(Bind::PerTask(*count)),
            _ => None,
        };
        return Some((n, at, ", which --gpus-per-task implies"));
    }
    let (_, at) = said(Opt::NtasksPerGpu)?;
    let n = start.get(Opt::NtasksPerGpu).and_then(linerate_formats::sbatch::Given::number);
    Some((n.map(Bind::Single), at, ", which --ntasks-per-gpu implies"))
}

fn judge(start: &Start<'_>, out: &mut Findings) {
    let subject = start.subject();
    if let Some(Step { launcher, .. }) = start.step.filter(|s| s.launcher != Launcher::Srun) {
        let text = format_args!("{} is not a step of Slurm: it binds no GPUs to ranks", launcher.name());
        out.not_applicable_to(subject, text).at(start.place());
        return;
    }
    if start.gpus_per_node().is_none() {
        out.not_applicable_to(subject, "the script asks for no GPU").at(start.place());
        return;
    }
    let tasks = start.tasks_per_node();
    let open = start.open();
    if tasks == Count::Number(1) && open.is_none() {
        out.not_applicable_to(subject, "one task on each node: there is no other whose GPUs it could see")
            .at(start.place());
        return;
    }
    let Some((bind, at, implied)) = binding(start) else {
        match open {
            Some(open) => {
                _ = out.unknown(subject, "a variable may hold further options, as --gpu-bind").at(open);
            }
            None => {
                let text = "nothing binds GPUs to tasks: each sees all that the job has on its node";
                out.pass(subject, text).at(start.gpus_at());
            }
        }
        return;
    };
    let Some(bind) = bind else {
        out.unknown(subject, "how GPUs are bound to tasks is not readable: a variable, or not a form of Slurm").at(at);
        return;
    };
    if bind == Bind::None {
        out.pass(subject, "--gpu-bind=none: each task sees all GPUs that the job has on its node").at(at);
        return;
    }
    let why = match (open, tasks, bind) {
        (Some(_), ..) => Some("a variable may hold further options"),
        (_, Count::Unknown, _) => Some("how many tasks run on a node is not in the script"),
        (.., Bind::Mask) => Some("each task sees the GPUs of its mask, which may be all"),
        _ => None,
    };
    let by = match implied {
        "" => format!("--gpu-bind={bind}"),
        implied => format!("--gpu-bind={bind}{implied}"),
    };
    if let Some(why) = why {
        out.unknown(subject, format_args!("{by}: tasks may not see each other's GPUs; {why}"))
            .at(at)
            .at(open)
            .see("`srun … nvidia-smi -L` in the job: what each task sees");
        return;
    }
    let what = if bind == Bind::Closest { "those that are closest to it" } else { "its own GPUs" };
    let text =
        format_args!("{by}: with ConstrainDevices=yes each task sees only {what}, and CUDA IPC between tasks can fail");
    out.fail(subject, text).at(at).fix(|| {
        Remedy::investigate(
            "--gpu-bind=none, and each rank chooses its GPU by SLURM_LOCALID",
            "--gpus-per-task, --gpu-bind and --tres-bind of the script",
        )
        .because("a program that takes GPU 0 in each task must choose its own instead")
        .prove("cat JOB.sbatch")
    });
}

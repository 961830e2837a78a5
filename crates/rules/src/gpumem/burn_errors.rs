//! `gpumem/burn-errors`.

use crate::{Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::gpu_burn::Gpu;
use linerate_node::burn::RunAt;
use linerate_snapshot::OutputKind;

pub(super) static RULE: Rule = Rule {
    id: "gpumem/burn-errors",
    title: "gpu-burn found no wrong result",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("a GPU that computes wrongly under load gives wrong results to every job, without an error"),
    sources: &[Source {
        title: "gpu-burn, gpu_burn-drv.cpp: listenClients (errors are compared results that differ; FAULTY where any was counted)",
        at: "https://github.com/wilicc/gpu-burn/blob/master/gpu_burn-drv.cpp",
    }],
    reads: &["gpu_burn 60"],
    docs: "\
## What it checks
Of each GPU in an output of gpu-burn: errors that were counted, and the verdict at the end (`OK`, `FAULTY`). GPUs have the numbers that CUDA gave them in that run, which need not be those of nvidia-smi.
A GPU passes with `OK`, for that run. A process that died, a run without its end, and `OK` after no multiplication at all, are unknown: gpu-burn prints `OK` for a GPU whose process died without an error.

## Why it matters
gpu-burn multiplies the same matrices again and again and compares the results. One that differs is a fault of the GPU, its memory, its power or its cooling. Nothing is said of links or networks.

## See it yourself
`gpu_burn 3600` on a drained node; `dmesg | grep Xid` and `nvidia-smi -q -d ECC,TEMPERATURE,POWER` after it.

## Fix
Drain the node. Look at temperature and power first, then run the vendor's field diagnostics and have the GPU replaced.",
    myths: &[Myth {
        claim: "OK means that the GPU was tested.",
        truth: "A process that ends early counts no errors. Look for `(DIED!)` and for `-1` behind proc'd.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let runs = &cx.node.burns;
    match (runs.is_empty(), cx.output(OutputKind::GpuBurn)) {
        (false, _) => {}
        (true, Some(text)) => _ = out.unknown(Subject::Node, "no GPU's result is in this output of gpu-burn").at(text),
        (true, None) => _ = out.not_applicable("no run of gpu-burn in this source"),
    }
    for (n, run) in (1_u32..).zip(runs) {
        let of_run = if runs.len() > 1 { format!(" of run {n}") } else { String::new() };
        if let Some(line) = run.run.aborted_line {
            let subject = Subject::Named(format!("gpu-burn{of_run}"));
            out.unknown(subject, "all processes had ended early: no GPU was tested").at(run.at(line));
        }
        for gpu in &run.run.gpus {
            judge(run, gpu, Subject::Named(format!("GPU {}{of_run}", gpu.number)), out);
        }
    }
}

fn judge<'o>(run: &RunAt, gpu: &Gpu, subject: Subject, out: &'o mut Findings) -> &'o mut Finding {
    if gpu.errors > 0 || gpu.faulty == Some(true) {
        let verdict = if gpu.faulty == Some(true) { "FAULTY" } else { "no verdict at the end" };
        let text = match gpu.errors {
            0 => "FAULTY: results differed".to_owned(),
            n => format!("{n} results differed: {verdict}"),
        };
        return out.fail(subject, text).at(run.at(gpu.line)).at(gpu.errors_line.map(|l| run.at(l))).fix(|| {
            Remedy::investigate(
                "drain the node, look at temperature, power and Xids, then run the vendor's field diagnostics",
                "which GPU it is, and whether it fails again",
            )
            .because("running jobs end")
            .prove("gpu_burn 3600")
        });
    }
    let why = match (gpu.died_line, gpu.faulty, gpu.done) {
        (Some(line), ..) => Some(("its process died: the GPU was not tested to the end", line)),
        (_, None, _) => Some(("no error so far; the run did not come to its end in this text", gpu.line)),
        (_, _, Some(0)) => Some(("OK, but no multiplication was counted", gpu.line)),
        _ => None,
    };
    match why {
        Some((why, line)) => out.unknown(subject, why).at(run.at(line)).see("gpu_burn 3600, its whole output"),
        None => out.pass(subject, "OK in this run").at(run.at(gpu.line)),
    }
}

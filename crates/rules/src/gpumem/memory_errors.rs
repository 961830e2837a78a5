//! `gpumem/memory-errors`.

use super::no_shown_gpu;
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::gpu::Gpu;
use linerate_snapshot::Reading;

const MANAGEMENT: Source = Source {
    title: "NVIDIA GPU memory error management: error recovery and response flags, row remapping, RMA policy",
    at: "https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/error-recovery-and-response-flags.html",
};

pub(super) static RULE: Rule = Rule {
    id: "gpumem/memory-errors",
    title: "No GPU lost data, waits for a reset, or has memory that cannot be repaired",
    severity: Severities::up_to(Severity::Low, Severity::High),
    roles: Roles::ALL,
    effect: Effect::direction_only("an error that was not corrected ended the program that met it; a replacement that waits costs nothing"),
    sources: &[
        MANAGEMENT,
        Source { title: "nvidia-smi: ECC Errors, Remapped Rows, Retired Pages", at: "https://docs.nvidia.com/deploy/nvidia-smi/index.html" },
    ],
    reads: &["nvidia-smi -q -x"],
    docs: "\
## What it checks
Of each GPU: the action that the driver itself asks for (`GPU Recovery Action`, on drivers that have it), a row of memory that could not be
replaced (`Remapping Failure Occurred`), errors of memory that were not corrected since the driver was loaded (`ECC Errors`, `Volatile`), and rows or
pages that are replaced at the next reset (`Pending`).

## Why it matters
An error that is not corrected ends the process that met it, and with it the job of all ranks. A pending replacement alone harms nothing:
the driver keeps the row from use until the reset. A replacement that failed means that there is no spare row left.

## See it yourself
`nvidia-smi -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT`; the events are in the kernel log (`dmesg | grep Xid`, gpumem/xid).

## Fix
An action that the driver asks for, and a pending replacement: drain the node, then `nvidia-smi --gpu-reset` or a reboot. A failed replacement: run
the vendor's field diagnostics and have the GPU replaced.",
    myths: &[Myth {
        claim: "A pending row remapping makes the GPU slow or wrong.",
        truth: "The driver takes the row out of use at once; what is pending is only the replacement.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if no_shown_gpu(cx, out) {
        return;
    }
    let nvidia = &cx.node.nvidia;
    if nvidia.gpus.is_empty() {
        if nvidia.asked.known().is_some() {
            out.not_applicable("nvidia-smi reports no GPU").at(nvidia.asked.place());
        } else {
            out.unreadable(Subject::Node, "answer of nvidia-smi", &nvidia.asked)
                .see("add the output of `nvidia-smi -q -x`");
        }
        return;
    }
    let (mut clean, mut unseen): (Vec<&Gpu>, Vec<&Gpu>) = (Vec::new(), Vec::new());
    for g in &nvidia.gpus {
        if fails(g, out) {
            continue;
        }
        // Without error correction there is nothing to count.
        let off = g.ecc.known().is_some_and(|e| e == "Disabled" || e == "N/A");
        let counted = g.ecc_uncorrected.known().is_some() && g.rows_pending.known().is_some();
        if counted || off { clean.push(g) } else { unseen.push(g) }
    }
    if let Some(first) = clean.first() {
        let place =
            if first.ecc_uncorrected.is_unreadable() { first.ecc.place() } else { first.ecc_uncorrected.place() };
        out.pass(
            Subject::Node,
            format_args!(
                "{} without uncorrected errors, none waits for a reset",
                linerate_formats::counted(clean.len(), "GPU", "GPUs")
            ),
        )
        .at(place);
    }
    if let Some(first) = unseen.first() {
        let more = if unseen.len() > 1 { " and others" } else { "" };
        out.unknown(Subject::Node, format_args!("memory errors of {}{more} are not shown", first.bdf))
            .at(first.ecc_uncorrected.place())
            .see("nvidia-smi -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT");
    }
}

/// The worst that a GPU shows. Whether there was anything.
fn fails(g: &Gpu, out: &mut Findings) -> bool {
    let action = g.recovery_action.known().filter(|a| !matches!(a.as_str(), "None" | "N/A"));
    let (severity, message, at) =
        match (action, g.rows_failed.known(), g.ecc_uncorrected.known(), g.rows_pending.known()) {
            (Some(action), ..) => {
                (Severity::High, format!("the driver asks for an action: {action}"), g.recovery_action.place())
            }
            (_, Some(true), ..) => (
                Severity::High,
                "a row of memory could not be replaced: no spare is left".to_owned(),
                g.rows_failed.place(),
            ),
            (_, _, Some(n), _) if *n > 0 => (
                Severity::Medium,
                format!(
                    "{} since the driver was loaded",
                    linerate_formats::counted(*n, "uncorrected memory error", "uncorrected memory errors")
                ),
                g.ecc_uncorrected.place(),
            ),
            (_, _, _, Some(true)) => (
                Severity::Low,
                "rows or pages of memory are replaced at the next reset; until then they are not used".to_owned(),
                g.rows_pending.place(),
            ),
            _ => return false,
        };
    let failed = matches!(g.rows_failed, Reading::Known(true, _));
    out.fail(g.bdf, message).severity(severity).at(at).fix(|| {
        if failed {
            Remedy::physical("have the GPU replaced, after the vendor's field diagnostics", "the GPU")
                .because("the node is opened: drain it")
        } else {
            Remedy::investigate(
                "drain the node, then reset the GPU (nvidia-smi --gpu-reset) or reboot; look for its Xid in the kernel log",
                format!("memory errors of GPU {}", g.bdf),
            )
        }
        .prove("nvidia-smi -q -x")
    });
    true
}

//! `gpumem/gpu-query-agrees`.

use super::{no_own_gpu, own_gpus};
use crate::{About, Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::pci::PciFunction;
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "gpumem/gpu-query-agrees",
    title: "nvidia-smi reports every GPU that is on the PCI bus",
    severity: Severities::always(Severity::Critical),
    roles: Roles::ALL,
    effect: Effect::sourced("jobs find fewer GPUs than the node has, or fail to start"),
    sources: &[
        Source { title: "nvidia-smi: Attached GPUs", at: "https://docs.nvidia.com/deploy/nvidia-smi/index.html" },
        Source { title: "NVIDIA, XID errors: 79, GPU has fallen off the bus", at: "https://docs.nvidia.com/deploy/xid-errors/index.html" },
    ],
    reads: &["nvidia-smi -q -x", "sys/bus/pci/devices"],
    docs: "\
## What it checks
The addresses of the GPUs in `nvidia-smi -q` against the NVIDIA GPUs on the PCI bus that are not bound to vfio-pci, both ways.

## Why it matters
A GPU that the bus shows and the driver does not report failed to initialise or was lost. One that the driver reports and the bus does
not show has fallen off it.

## See it yourself
`lspci -d 10de: | grep -c -E '3D|VGA'`; `nvidia-smi -L | wc -l`.

## Fix
Read the kernel log for the GPU's address (Xid 79, RmInitAdapter failed). Drain the node, power-cycle it, replace what stays away.",
    myths: &[Myth {
        claim: "nvidia-smi shows 7 GPUs, so the node was delivered with 7.",
        truth: "Count on the PCI bus: nvidia-smi leaves out what the driver could not initialise.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if no_own_gpu(cx, out) {
        return;
    }
    let nvidia = &cx.node.nvidia;
    let Reading::Known((), asked) = nvidia.asked else {
        out.unreadable(Subject::Node, "answer of nvidia-smi", &nvidia.asked)
            .see("add the output of `nvidia-smi -q -x`");
        return;
    };
    let total = own_gpus(cx).count();
    let missing: Vec<&PciFunction<'_>> = own_gpus(cx).filter(|f| nvidia.gpu(f.bdf).is_none()).collect();
    if !missing.is_empty() && cx.node.firmware.in_container() {
        out.unknown(
            Subject::Node,
            format_args!(
                "nvidia-smi reports {} of {total} GPUs, but it ran in a container, which may be given a part",
                total - missing.len()
            ),
        )
        .at(asked)
        .see("run nvidia-smi on the host");
        return;
    }
    for f in &missing {
        out.fail(
            f.bdf,
            format_args!(
                "on the PCI bus, but not among the {} of nvidia-smi",
                linerate_formats::counted(nvidia.gpus.len(), "GPU", "GPUs")
            ),
        )
        .at(asked)
        .at(f.class.place())
        .follows("pcie/device-gone", About::Of(f.bdf.into()))
        .follows("gpumem/driver-loaded", About::Of(f.bdf.into()))
        .fix(lost);
    }
    let lost_gpus = nvidia.gpus.iter().filter(|g| cx.node.pci.find(g.bdf).is_none());
    let mut gone = 0usize;
    for g in lost_gpus.take(32) {
        gone += 1;
        out.fail(g.bdf, "nvidia-smi reports it, but it is not on the PCI bus").at(g.name.place()).fix(lost);
    }
    if missing.is_empty() && gone == 0 {
        out.pass(Subject::Node, format_args!("nvidia-smi reports every GPU of the PCI bus ({total})"))
            .at(asked)
            .at(cx.node.pci.seen);
    }
}

fn lost() -> Remedy {
    Remedy::investigate(
        "drain the node, read the kernel log about this GPU, power-cycle the node; replace the GPU if it stays away",
        "why the driver does not have this GPU",
    )
    .because("running jobs end")
    .prove("nvidia-smi -q -x")
}

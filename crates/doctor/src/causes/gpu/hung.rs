//! `gpu/hung`.

use super::AMDGPU;
use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::groups::Group;
use crate::observe::trouble::KernelTrouble;
use linerate_formats::dmesg::GpuFault;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "gpu/hung",
    title: "Work on a GPU does not end, or its firmware does not answer",
    what: "A GPU does not end the work that it was given, or its firmware does not answer the driver. The driver resets \
           it, or gives it up: the programs on it end, all other ranks wait.",
    shows: &[
        "amdgpu: `ring … timeout, signaled seq=…`, `GPU reset begin!`",
        "ROCm: `HW Exception by GPU node-1 (Agent handle: …) reason :GPU Hang`",
        "NVIDIA: `NVRM: GPU6 _kgspLogRpcTimeout: … GSP Timeout …`, `_kgspIsHeartbeatTimedOut: Heartbeat timed out` (with \
         its number: Xid 119)",
    ],
    why: "A kernel of the program that never ends, a fault of the driver's or the firmware's release, an error of the \
          hardware before it, or a link that lost the GPU. The lines before the first of these decide.",
    confirm: &[
        "`dmesg` before the first line: page faults of a program, hardware errors, PCIe errors, the GPU's power states",
        "the same program on another node: does it hang there?",
    ],
    refute: &["one program alone hangs, on every GPU: it is the program"],
    remedy: Advice::Investigate(
        "Drain the node, keep the driver's lines, and reset the GPU or restart the node; where it returns on this GPU alone, replace it; where it returns on others, change the release of driver and firmware",
    ),
    sources: &[
        AMDGPU,
        nccl(
            "open-gpu-kernel-modules, src/nvidia/src/kernel/gpu/gsp/kernel_gsp.c: _kgspLogRpcTimeout",
            "https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/src/nvidia/src/kernel/gpu/gsp/kernel_gsp.c",
        ),
    ],
    severity: Severity::High,
    rules: &["gpumem/xid"],
    follows: &["kernel/xid", "kernel/device-gone", "kernel/pcie-error", "gpu/uncorrected-error", "gpu/page-fault"],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let hung = |k: &KernelTrouble| match k {
        KernelTrouble::GpuFault { gpu, fault: GpuFault::Hung | GpuFault::Reset } => Some(*gpu),
        _ => None,
    };
    if let Some((g, instance)) = silent(c) {
        let whose = instance.map_or_else(|| "a GPU".to_owned(), |n| format!("GPU {n}, as the driver counts,"));
        let words = format!("the firmware (GSP) of {whose} does not answer");
        return Some(Found::new(Likely, words, "the driver says so; why, these lines do not show").shown(c, g));
    }
    let (whose, groups) = c.devices(hung, |_, _| true)?;
    let timed_out = c.kernel_line(|k| matches!(k, KernelTrouble::GpuFault { fault: GpuFault::Hung, .. })).is_some();
    let whose = whose.unwrap_or_else(|| "a GPU".to_owned());
    let found = if timed_out {
        let why = "the driver says so; whether the program, the driver or the GPU is why, these lines do not show";
        Found::new(Likely, format!("work on {whose} did not end in time"), why)
    } else {
        Found::new(
            Possible,
            format!("the driver reset {whose}"),
            "the driver says so, and not why; a person may ask for it",
        )
    };
    Some(found.shown_by(c, &groups))
}

/// A GPU whose firmware does not answer, and the driver's number of it.
fn silent<'a>(c: &Case<'a>) -> Option<(&'a Group, Option<u32>)> {
    let all = c.kernel(|k| matches!(k, KernelTrouble::GpuFault { fault: GpuFault::Firmware(_), .. }));
    all.into_iter().find_map(|(k, g)| match k {
        KernelTrouble::GpuFault { fault: GpuFault::Firmware(n), .. } => Some((g, n)),
        _ => None,
    })
}

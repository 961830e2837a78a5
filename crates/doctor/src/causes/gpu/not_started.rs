//! `gpu/not-started`.

use super::AMDGPU;
use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::kernel::device_gone::Gone;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::groups::Group;
use crate::observe::trouble::KernelTrouble;
use linerate_formats::dmesg::StartFault;
use linerate_rules::{Severity, gpu_start};

pub(super) static CAUSE: Cause = Cause {
    id: "gpu/not-started",
    title: "The GPU driver could not start a GPU",
    what: "The GPU driver found a GPU on the bus and could not initialise it. CUDA and NVML do not see it, so that a job \
           has fewer GPUs, or does not start.",
    shows: &[
        "`NVRM: GPU 0000:18:00.0: RmInitAdapter failed! (0x24:0x65:1423)`",
        "`NVRM: GPU 0000:18:00.0: rm_init_adapter failed, device minor number 0`",
        "its reasons: `requires use of the NVIDIA open kernel modules`, `is not supported by the NVIDIA … driver release`, \
         `… Legacy drivers`, `failed to wait for GFW_BOOT`, `The NVIDIA probe routine was not called for …`",
        "`amdgpu 0000:03:00.0: amdgpu: Fatal error during GPU init`, `probe with driver amdgpu failed with error -110`",
    ],
    why: "The firmware on the GPU does not answer, a power cable or a BAR is missing, the PCIe link is broken, another \
          driver has it, or this driver is not for this GPU (new ones need the open kernel modules). The driver's lines \
          before the first failure say which; the numbers in brackets name a place in its source.",
    confirm: &[
        "`dmesg | grep -e NVRM -e amdgpu`: the lines before the first failure of that GPU",
        "`lspci -vvs BDF`: BARs with addresses, LnkSta against LnkCap",
    ],
    refute: &["`nvidia-smi -L` or `amd-smi list` has the GPU: a later start succeeded"],
    remedy: Advice::Investigate(
        "Read the driver's lines before the failure; drain the node, check BARs, power and PCIe link of the GPU, restart it; replace the GPU if it comes back",
    ),
    sources: &[
        gpu_start::CHECKS,
        AMDGPU,
        nccl(
            "open-gpu-kernel-modules, src/nvidia/arch/nvalloc/unix/src/osinit.c: RmInitAdapter",
            "https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/src/nvidia/arch/nvalloc/unix/src/osinit.c",
        ),
        nccl(
            "open-gpu-kernel-modules, kernel-open/nvidia/nv.c: nv_start_device",
            "https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/nvidia/nv.c",
        ),
    ],
    severity: Severity::High,
    rules: &["gpumem/driver-init"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let of = |k: &KernelTrouble| match k {
        KernelTrouble::GpuNotStarted(bdf) | KernelTrouble::GpuRefused { gpu: bdf, .. } => Some(*bdf),
        _ => None,
    };
    let gone = Gone::of(c);
    let (whose, groups) = c.devices(of, |bdf, g| !gone.has(bdf, g))?;
    let whose = whose.unwrap_or_else(|| "a GPU".to_owned());
    let Some((why, reasons)) = reason(c, &gone) else {
        let because = "the driver says so; whether a later start succeeded, these lines do not show";
        return Some(
            Found::new(Likely, format!("the GPU driver could not start {whose}"), because).shown_by(c, &groups),
        );
    };
    let gave_up = c.kernel_line(|k| matches!(k, KernelTrouble::GpuNotStarted(_))).is_some();
    let (sure, severity) = match why {
        // A guest's GPU, or the display of the host, may be meant so.
        StartFault::OtherDriver if !gave_up => (Possible, Severity::High),
        StartFault::Legacy if !gave_up => (Likely, Severity::Medium),
        _ => (Likely, Severity::High),
    };
    let words = format!("the GPU driver could not start {whose}: {}", gpu_start::words(why));
    // The line with the reason comes first.
    let lines: Vec<&Group> = reasons
        .iter()
        .chain(groups.iter().filter(|g| !reasons.iter().any(|r| std::ptr::eq(*r, **g))))
        .copied()
        .collect();
    let found = Found::new(sure, words, "the driver names the reason").shown_by(c, &lines).severity(severity);
    Some(found.fix(Some(gpu_start::remedy(why))))
}

/// The reason that says most, and where it is said, of a GPU that is not gone.
fn reason<'a>(c: &Case<'a>, gone: &Gone<'_>) -> Option<(StartFault, Vec<&'a Group>)> {
    let refused = |k: &KernelTrouble| match k {
        KernelTrouble::GpuRefused { gpu, why } => Some((*gpu, *why)),
        _ => None,
    };
    let all = c.kernel(|k| refused(k).is_some()).into_iter().filter_map(|(k, g)| Some((refused(&k)?, g)));
    let all: Vec<_> = all.filter(|((gpu, _), g)| !gone.has(*gpu, g)).collect();
    let why = all.iter().map(|((_, why), _)| *why).min()?;
    Some((why, all.iter().filter(|((_, other), _)| *other == why).map(|(_, g)| *g).collect()))
}

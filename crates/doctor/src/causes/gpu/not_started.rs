//! `gpu/not-started`.

use crate::answer::Confidence::Likely;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::groups::Group;
use crate::observe::trouble::KernelTrouble;
use linerate_formats::pci::Bdf;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "gpu/not-started",
    title: "The GPU driver could not start a GPU",
    what: "The GPU driver found a GPU on the bus and could not initialise it. CUDA and NVML do not see it, so that a job \
           has fewer GPUs, or does not start.",
    shows: &[
        "`NVRM: GPU 0000:18:00.0: RmInitAdapter failed! (0x24:0x65:1423)`",
        "`NVRM: GPU 0000:18:00.0: rm_init_adapter failed, device minor number 0`",
    ],
    why: "The firmware on the GPU does not answer, a power cable or a BAR is missing, the PCIe link is broken, or this \
          driver is not for this GPU (new ones need the open kernel modules). The driver's lines before the first \
          failure say which; the numbers in brackets name a place in its source.",
    confirm: &[
        "`dmesg | grep NVRM`: the lines before the first failure of that GPU",
        "`lspci -vvs BDF`: BARs with addresses, LnkSta against LnkCap",
    ],
    refute: &["`nvidia-smi -L` lists the GPU: a later start succeeded"],
    remedy: Advice::Investigate(
        "Read the driver's lines before the failure; drain the node, check BARs, power and PCIe link of the GPU, restart it; replace the GPU if it comes back",
    ),
    sources: &[
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
        KernelTrouble::GpuNotStarted(bdf) => Some(*bdf),
        _ => None,
    };
    let (whose, groups) = c.devices(of, |bdf, g| !is_gone(c, bdf, g))?;
    let whose = whose.unwrap_or_else(|| "a GPU".to_owned());
    let why = "the driver says so; whether a later start succeeded, these lines do not show";
    Some(Found::new(Likely, format!("the GPU driver could not start {whose}"), why).shown_by(c, &groups))
}

/// Whether the GPU left the bus of that host: that it does not start follows, and `kernel/xid` says it.
fn is_gone(c: &Case<'_>, bdf: Option<Bdf>, g: &Group) -> bool {
    let gone = |k: &KernelTrouble| match k {
        KernelTrouble::Xid { number: 79, gpu, .. } => *gpu == bdf || bdf.is_none(),
        KernelTrouble::GpuLost => true,
        _ => false,
    };
    c.kernel(gone).iter().any(|(_, other)| other.host == g.host)
}

//! `gpu/page-fault`.

use super::AMDGPU;
use crate::answer::Confidence::Likely;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::trouble::KernelTrouble;
use linerate_formats::dmesg::GpuFault;
use linerate_rules::{Severity, Source};

pub(super) static CAUSE: Cause = Cause {
    id: "gpu/page-fault",
    title: "A program used an address that its GPU has not mapped",
    what: "A program on a GPU used an address that is not mapped for it, or not for this access. The program ends; all \
           other ranks wait.",
    shows: &[
        "amdgpu: `[gfxhub0] no-retry page fault (src_id:… ring:… vmid:… pasid:…)`",
        "ROCm: `Memory access fault by GPU node-3 (Agent handle: …) on address …. Reason: …`",
    ],
    why: "Mostly a kernel that reads or writes past its buffer, or memory that was freed while a kernel or a NIC still \
          used it: a fault of the program or of one of its libraries. NVIDIA's number for the same is Xid 31.",
    confirm: &[
        "the same program alone on one GPU, with AMD_SERIALIZE_KERNEL=3: the kernel that faults",
        "the same program on another GPU: does it fault there?",
    ],
    refute: &["different programs fault on this GPU alone: run the vendor's diagnostics"],
    remedy: Advice::Investigate(
        "Look for the error in the program and its libraries (kernels, attention, communication), and start it again; the GPU is sound unless different programs fault on it alone",
    ),
    sources: &[AMDGPU, ROCR],
    severity: Severity::Medium,
    rules: &[],
    follows: &["kernel/iommu-fault", "gpu/uncorrected-error"],
    check,
};

const ROCR: Source = nccl(
    "ROCR-Runtime, runtime.cpp: VMFaultHandler, HwExceptionHandler",
    "https://github.com/ROCm/ROCR-Runtime/blob/master/runtime/hsa-runtime/core/runtime/runtime.cpp",
);

fn check(c: &Case<'_>) -> Option<Found> {
    let of = |k: &KernelTrouble| match k {
        KernelTrouble::GpuFault { gpu, fault: GpuFault::Page } => Some(*gpu),
        _ => None,
    };
    let (whose, groups) = c.devices(of, |_, _| true)?;
    let whose = whose.unwrap_or_else(|| "a GPU".to_owned());
    let words = format!("a program used an address that {whose} has not mapped");
    Some(Found::new(Likely, words, "the driver's own report in the kernel's log").shown_by(c, &groups))
}

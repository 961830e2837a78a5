//! `gpu/uncorrected-error`.

use super::{AMDGPU, CUDA};
use crate::answer::Confidence::Certain;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use crate::observe::trouble::KernelTrouble;
use linerate_formats::dmesg::GpuFault;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "gpu/uncorrected-error",
    title: "A GPU had an error of its hardware or memory that was not corrected",
    what: "An error in a GPU's memory or logic was found and could not be corrected. What ran on it ends; all other ranks \
           wait.",
    shows: &[
        "amdgpu: `uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!`",
        "ROCm: `HW Exception by GPU node-1 (Agent handle: …) reason :ECC`",
        "CUDA: `uncorrectable ECC error encountered`; the kernel's log has its Xid (48, 94, 95)",
    ],
    why: "Cells of memory fail with age, heat or radiation, and logic fails rarely. Single bits are corrected; more are \
          reported, and the driver ends the programs or resets the GPU. A row that fails is mapped out at the next reset.",
    confirm: &[
        "NVIDIA: `nvidia-smi -q -d ECC,ROW_REMAPPER`; `dmesg | grep Xid`, and `linerate explain xid/N` of the number",
        "AMD: `amd-smi metric --ecc`, `amd-smi bad-pages`; `dmesg | grep 'Hardware Error'`: block and count",
    ],
    refute: &[],
    remedy: Advice::Investigate(
        "Drain the node and reset the GPU, or restart the node; run the vendor's diagnostics, and replace the GPU if the error returns",
    ),
    sources: &[AMDGPU, CUDA],
    severity: Severity::Critical,
    rules: &["gpumem/xid"],
    follows: &["kernel/xid"],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let of = |k: &KernelTrouble| match k {
        KernelTrouble::GpuFault { gpu, fault: GpuFault::Uncorrected } => Some(*gpu),
        _ => None,
    };
    let (whose, groups) = c.devices(of, |_, _| true)?;
    let whose = whose.unwrap_or_else(|| "a GPU".to_owned());
    let why = "the driver's own report in the kernel's log; which GPU of those that are connected had it, its lines behind it show";
    Some(
        Found::new(Certain, format!("{whose} reported a hardware error that was not corrected"), why)
            .shown_by(c, &groups),
    )
}

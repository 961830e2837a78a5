//! `gpu/driver-mismatch`.

use super::cuda;
use crate::answer::Confidence::Certain;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::trouble::{KernelTrouble, ToolTrouble};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "gpu/driver-mismatch",
    title: "The GPU driver's library and its kernel module are of different releases",
    what: "The GPU driver's library and its kernel module are of different releases. NVML and CUDA refuse to work.",
    shows: &[
        "`Failed to initialize NVML: Driver/library version mismatch`",
        "`NVRM: API mismatch` in the kernel's log",
    ],
    why: "The driver was upgraded, and the old kernel module still runs; or a container carries a driver library of \
          its own.",
    confirm: &[
        "`cat /proc/driver/nvidia/version` (module) against `ls /usr/lib*/libnvidia-ml.so.*` (library), in the job's container, too",
    ],
    refute: &[],
    remedy: Advice::Software(
        "Load the module of the installed release (stop all that uses the GPUs, or restart the node), or remove the other library",
    ),
    sources: &[nccl("NVML: nvmlReturn_t", "https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceEnumvs.html")],
    severity: Severity::Critical,
    rules: &["gpumem/driver-loaded", "gpumem/driver-init"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let tools = c.tools(|t| matches!(t, ToolTrouble::DriverMismatch));
    let kernel = c.kernel(|k| matches!(k, KernelTrouble::DriverMismatch));
    let g = tools.first().map(|(_, g)| *g).or_else(|| kernel.first().map(|(_, g)| *g));
    let g = g.or_else(|| cuda(c, &[], &["Driver/library version mismatch"]))?;
    let words = "library and kernel module of the GPU driver are of different releases";
    Some(Found::new(Certain, words, "the driver says so").shown(c, g))
}

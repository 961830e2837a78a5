//! `gpu/driver-too-old`.

use super::{CUDA, cuda};
use crate::answer::Confidence::{Certain, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "gpu/driver-too-old",
    title: "The GPU driver is too old for the CUDA runtime",
    what: "The CUDA runtime in the image needs a newer GPU driver than the node has, or NCCL needs a newer CUDA \
           driver than it finds.",
    shows: &[
        "`CUDA driver version is insufficient for CUDA runtime version` (35), CUDA errors 803 and 804",
        "`The NVIDIA driver on your system is too old` of PyTorch",
    ],
    why: "Image and node are updated apart. CUDA gives error 35 also where a container has no GPU driver at all.",
    confirm: &["`nvidia-smi` on the node (driver, CUDA) against the image's CUDA version"],
    refute: &[],
    remedy: Advice::Software(
        "Upgrade the node's driver, or take an image with an older CUDA; forward compatibility packages help on data-centre GPUs",
    ),
    sources: &[CUDA],
    severity: Severity::Critical,
    rules: &["gpumem/driver-loaded"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    if let Some(g) = cuda(c, &[803, 804], &["Driver version found", "unsupported display driver"]) {
        return Some(
            Found::new(Certain, "the driver is older than the CUDA runtime needs", "the CUDA error says so")
                .shown(c, g),
        );
    }
    // The runtime gives the same error where it finds no driver at all: a container that was given no GPU.
    let g = cuda(c, &[35], &["driver version is insufficient"])?;
    Some(
        Found::new(
            Possible,
            "the driver is older than the CUDA runtime needs, or the program does not see the driver",
            "CUDA's error 35 says no more",
        )
        .shown(c, g),
    )
}

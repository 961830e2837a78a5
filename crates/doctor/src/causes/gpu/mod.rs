//! What fails on GPUs and between them.

mod driver_mismatch;
mod driver_too_old;
mod duplicate;
mod hung;
mod imex;
mod not_started;
mod nvlink;
mod out_of_memory;
mod page_fault;
mod uncorrected_error;
mod wrong_data;

use crate::case::Case;
use crate::causes::{Cause, nccl};
use crate::observe::groups::Group;
use crate::observe::trouble::Trouble;
use linerate_rules::Source;

pub(super) static CAUSES: &[&Cause] = &[
    &duplicate::CAUSE,
    &driver_too_old::CAUSE,
    &driver_mismatch::CAUSE,
    &out_of_memory::CAUSE,
    &not_started::CAUSE,
    &uncorrected_error::CAUSE,
    &hung::CAUSE,
    &page_fault::CAUSE,
    &nvlink::CAUSE,
    &imex::CAUSE,
    &wrong_data::CAUSE,
];

const CUDA: Source =
    nccl("CUDA runtime API: cudaError", "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html");

const AMDGPU: Source = nccl(
    "Linux, drivers/gpu/drm/amd/amdgpu: amdgpu_ras.c, amdgpu_job.c, amdgpu_device.c, gmc_v9_0.c",
    "https://github.com/torvalds/linux/tree/master/drivers/gpu/drm/amd/amdgpu",
);

/// CUDA calls that failed with one of these numbers or words.
fn cuda<'a>(c: &Case<'a>, codes: &[i64], words: &[&str]) -> Option<&'a Group> {
    let is = |t: &Trouble| match t {
        Trouble::Cuda { code, error } => {
            code.is_some_and(|n| codes.contains(&n)) || words.iter().any(|w| c.name(*error).contains(w))
        }
        _ => false,
    };
    c.failure(is)
}

//! Limits and page settings that RDMA registration and jobs meet.

mod hugepages;
mod memlock;
mod memlock_of_runtime;
mod shm_size;
mod transparent_hugepages;

use crate::Cx;
use crate::rule::Rule;
use linerate_snapshot::{Place, Reading};

pub(crate) static RULES: &[&Rule] =
    &[&memlock::RULE, &memlock_of_runtime::RULE, &shm_size::RULE, &hugepages::RULE, &transparent_hugepages::RULE];

/// Where NCCL's variables are in the environment of the capture: it was taken where a job runs.
fn job_env(cx: &Cx<'_>) -> Option<Place> {
    let Reading::Known(text, place) = cx.snapshot.text(cx.snapshot.root(), "linerate/env") else { return None };
    text.lines().any(|l| l.starts_with("NCCL_")).then_some(place)
}

//! Limits and page settings that RDMA registration and jobs meet.

mod hugepages;
mod memlock;
mod shm_size;
mod transparent_hugepages;

use crate::rule::Rule;

pub(crate) static RULES: &[&Rule] = &[&memlock::RULE, &shm_size::RULE, &hugepages::RULE, &transparent_hugepages::RULE];

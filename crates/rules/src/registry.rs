//! The table of all rules: area modules, nothing else.

use crate::rule::Rule;
use std::sync::LazyLock;

/// An area of the catalogue: name, what it is about, its rules.
pub type Area<'a> = (&'static str, &'static str, &'a [&'static Rule]);

static AREAS: &[Area<'static>] = &[
    ("iommu", "IOMMU domains, groups and kernel defaults", crate::iommu::RULES),
    ("cmdline", "Kernel command line: what each word really does", crate::cmdline::RULES),
    ("modules", "Kernel modules and their parameters", crate::modules::RULES),
    ("acs", "PCIe Access Control Services", crate::acs::RULES),
    ("nicfw", "Firmware settings of NICs", crate::nicfw::RULES),
    ("gpumem", "GPU driver, memory registration and errors", crate::gpumem::RULES),
    ("ats", "PCIe Address Translation Services", crate::ats::RULES),
    ("pcie", "PCI Express links, packets and errors", crate::pcie::RULES),
    ("gpu", "GPUs as targets of peer-to-peer traffic", crate::gpu::RULES),
    ("rdma", "Ports of RDMA NICs: InfiniBand and RoCE", crate::rdma::RULES),
    ("numa", "Distance of GPUs and NICs, NUMA nodes", crate::numa::RULES),
    ("topo", "What NCCL makes of the tree: shared NICs, virtual switches, topology files", crate::topo::RULES),
    ("vm", "Domains of virtual machines, beside their host", crate::vm::RULES),
    ("cpu", "Frequency and sleep policies", crate::cpu::RULES),
    ("memory", "Limits and page settings", crate::memory::RULES),
    ("claims", "What Kubernetes and Slurm claim of the node", crate::claims::RULES),
    ("pods", "Pods and compose services before they run: what they ask for", crate::pods::RULES),
    ("jobs", "Batch scripts of Slurm before they run: what they ask for", crate::jobs::RULES),
];

static RULES: LazyLock<Vec<&'static Rule>> =
    LazyLock::new(|| AREAS.iter().flat_map(|(_, _, r)| r.iter().copied()).collect());

/// Areas in reading order.
#[must_use]
pub fn areas() -> &'static [Area<'static>] {
    AREAS
}

/// Every rule, in the order of the areas.
#[must_use]
pub fn rules() -> &'static [&'static Rule] {
    &RULES
}

/// A rule by id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|r| r.id == id)
}

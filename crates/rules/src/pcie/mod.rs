//! PCI Express: links, payload, requests, tags, errors of the GPU–NIC path.

mod aer_errors;
mod ari_forwarding;
mod aspm;
mod bus_peer2peer;
mod config_space_visible;
mod demand;
mod device_gone;
mod extended_tags;
mod gpu_replays;
mod link_speed;
mod link_width;
pub(crate) mod links;
mod max_payload;
mod max_read_request;
mod nccl_blind_to_degraded_link;
mod nic_fits_port;
mod path_bottleneck;
mod payload_mismatch;
mod relaxed_ordering;
mod ten_bit_tags;

use crate::rule::{Roles, Rule, Source};
use crate::sources::linux;

pub(crate) static RULES: &[&Rule] = &[
    &device_gone::RULE,
    &config_space_visible::RULE,
    &link_width::RULE,
    &link_speed::RULE,
    &path_bottleneck::RULE,
    &nic_fits_port::RULE,
    &nccl_blind_to_degraded_link::RULE,
    &aer_errors::RULE,
    &payload_mismatch::RULE,
    &max_payload::RULE,
    &bus_peer2peer::RULE,
    &max_read_request::RULE,
    &relaxed_ordering::RULE,
    &extended_tags::RULE,
    &ten_bit_tags::RULE,
    &ari_forwarding::RULE,
    &aspm::RULE,
    &gpu_replays::RULE,
];

/// Where links and registers are those of the hardware: a guest sees what its hypervisor invents.
const PHYSICAL: Roles = Roles::BARE_METAL.or(Roles::VM_HOST);

const LINK_ABI: Source = Source {
    title: "Linux ABI: /sys/bus/pci/devices/*/{current,max}_link_{speed,width}",
    at: "https://github.com/torvalds/linux/blob/master/Documentation/ABI/testing/sysfs-bus-pci",
};
const AMD_SMI_LINK: Source = Source {
    title: "AMD SMI, amd_smi.cc: amdsmi_get_pcie_info (most lanes from sysfs, lanes in use from gpu_metrics, slot type OAM, PCIE, CEM)",
    at: "https://github.com/ROCm/amdsmi/blob/amd-staging/src/amd_smi/amd_smi.cc",
};
const PRINT_LINK_STATUS: Source = linux!("drivers/pci/pci.c", "pcie_bandwidth_available, __pcie_print_link_status");
const PCI_REGS: Source = linux!("include/uapi/linux/pci_regs.h", "registers of the PCI Express capability");
const KERNEL_PARAMETERS: Source = linux!("Documentation/admin-guide/kernel-parameters.txt", "pci=");

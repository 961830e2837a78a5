//! Address Translation Services in NICs: wanted under virtual machines, not on bare metal.

mod bare_metal;
mod not_enabled_with_vm;
mod vmhost;

use crate::rule::{Rule, Source};
use crate::{Action, Remedy};
use linerate_node::pci::PciFunction;

pub(crate) static RULES: &[&Rule] = &[&bare_metal::RULE, &vmhost::RULE, &not_enabled_with_vm::RULE];

const VM_DOC: Source = Source {
    title: "NVIDIA AI Enterprise, Optimizing VM Configuration for AI Inference, appendix: ATS and ACS",
    at: "https://docs.nvidia.com/ai-enterprise/planning-resource/optimizing-vm-configuration-ai-inference/latest/appendix.html",
};
const RDMA_TOPO: Source = Source {
    title: "rdma-core, rdma_topo: check, __auto_detect_virt",
    at: "https://github.com/linux-rdma/rdma-core/blob/master/kernel-boot/rdma_topo",
};

/// Has the NIC's firmware offer ATS, or not.
fn set(nic: &PciFunction<'_>, value: &'static str, words: &'static str) -> Remedy {
    let device = nic.bdf.to_string().into();
    Remedy::new(words, Action::NicFirmware { device, parameter: "ATS_ENABLED".into(), value: value.into() })
        .prove(format!("sys/bus/pci/devices/{}/config ATS capability", nic.bdf))
}

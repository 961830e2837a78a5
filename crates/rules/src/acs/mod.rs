//! Access Control Services: which ports send peer-to-peer traffic on a detour, and where that is right.

mod direct_nic;
mod guest_ports;
mod kernel_sets_redirect;
mod parameter_not_effective;
mod redirect_on_p2p_path;
mod translation_blocking;
mod vmhost_direct_translated;

use crate::sources::linux;
pub(crate) use parameter_not_effective::in_force;
pub use parameter_not_effective::{AcsAsked, acs_asked_for};

use crate::rule::{Rule, Source};
use linerate_formats::pci::caps::AcsBits;
use linerate_node::pci::PciFunction;
use linerate_snapshot::Place;

pub(crate) static RULES: &[&Rule] = &[
    &redirect_on_p2p_path::RULE,
    &kernel_sets_redirect::RULE,
    &parameter_not_effective::RULE,
    &vmhost_direct_translated::RULE,
    &translation_blocking::RULE,
    &direct_nic::RULE,
    &guest_ports::RULE,
];

const RDMA_TOPO: Source = Source {
    title: "rdma-core, rdma_topo: compute_acs, wanted strings per topology",
    at: "https://github.com/linux-rdma/rdma-core/blob/master/kernel-boot/rdma_topo",
};
const NCCL_ACS: Source = Source {
    title: "NCCL user guide, GPU troubleshooting, PCI Access Control Services",
    at: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
};
const KERNEL_PCI: Source = linux!(
    "drivers/pci/pci.c",
    "pci_std_enable_acs, pci_enable_acs, pci_restore_state, disable_acs_redir clears RR, CR and EC"
);
const VM_DOC: Source = Source {
    title: "NVIDIA AI Enterprise, Optimizing VM Configuration for AI Inference, appendix: ATS and ACS",
    at: "https://docs.nvidia.com/ai-enterprise/planning-resource/optimizing-vm-configuration-ai-inference/latest/appendix.html",
};

/// The control register itself: its line in text, its two bytes in binary.
fn control_place(f: &PciFunction<'_>) -> Place {
    // In binary, the place of the capability is the control register's already: it is what decides.
    match f.acs.known() {
        Some(acs) if acs.control_line != 0 => f.acs.place().line(acs.control_line),
        _ => f.acs.place(),
    }
}

/// What is switched on, where it was seen.
fn control(f: &PciFunction<'_>) -> Option<AcsBits> {
    f.acs.known()?.control
}

/// Bits by which a register differs from a string of `config_acs` and rdma_topo: leftmost bit 6, rightmost bit 0, `x` for any. First the
/// bits to set, then those to clear.
fn differs(want: &str, bits: AcsBits) -> (u16, u16) {
    let (mut set, mut clear) = (0, 0);
    for (n, c) in want.bytes().rev().enumerate().take(7) {
        let bit = 1_u16 << n;
        match c {
            b'1' if bits.0 & bit == 0 => set |= bit,
            b'0' if bits.0 & bit != 0 => clear |= bit,
            _ => {}
        }
    }
    (set, clear)
}

/// Names of the bits of a mask, as lspci prints them.
fn names(mask: u16) -> String {
    AcsBits::names().filter(|(b, _)| mask & b != 0).map(|(_, n)| n).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanted_strings_name_bits_from_the_left() {
        assert_eq!(differs("1x111x1", AcsBits(0x5d)), (0, 0));
        assert_eq!(differs("1x111x1", AcsBits(0x1d)), (AcsBits::DT, 0));
        assert_eq!(differs("xx000x0", AcsBits(0x1d)), (0, 0x1d));
        assert_eq!(differs("xx101x1", AcsBits(0x1d)), (0, AcsBits::CR));
        assert_eq!(names(AcsBits::RR | AcsBits::CR), "ReqRedir CmpltRedir");
    }
}

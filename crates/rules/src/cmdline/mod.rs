//! The kernel command line: what each word really does, and which do nothing.

mod acs_override;
mod aer_off;
mod amd_iommu_off;
mod amd_iommu_on;
mod config_acs_syntax;
mod idle_states;
mod intel_iommu_values;
mod intremap_off;
mod iommu_off;
mod iommu_pt_on_arm;
mod iommu_pt_without_iommu;
mod iommu_soft;
mod iommu_unknown_value;
mod next_boot_differs;
mod noacs;
mod noats;
mod pci_assign_busses;
mod pci_realloc;
mod pci_unknown_option;
mod raw_qp_enforcement;
mod repeated_pci;
pub(crate) mod words;

use crate::rule::Rule;

pub(crate) static RULES: &[&Rule] = &[
    &iommu_off::RULE,
    &amd_iommu_off::RULE,
    &intremap_off::RULE,
    &noats::RULE,
    &iommu_pt_on_arm::RULE,
    &iommu_soft::RULE,
    &config_acs_syntax::RULE,
    &aer_off::RULE,
    &pci_assign_busses::RULE,
    &pci_realloc::RULE,
    &acs_override::RULE,
    &noacs::RULE,
    &pci_unknown_option::RULE,
    &raw_qp_enforcement::RULE,
    &iommu_pt_without_iommu::RULE,
    &iommu_unknown_value::RULE,
    &intel_iommu_values::RULE,
    &amd_iommu_on::RULE,
    &repeated_pci::RULE,
    &idle_states::RULE,
    &next_boot_differs::RULE,
];

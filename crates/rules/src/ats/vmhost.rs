//! `ats/vmhost`.

use super::{RDMA_TOPO, VM_DOC};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity};
use linerate_node::context::TopologyType;
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "ats/vmhost",
    title: "RDMA NICs that are passed to virtual machines offer ATS",
    severity: Severities::always(Severity::High),
    roles: Roles::VM_HOST,
    effect: Effect::estimate("GPUDirect traffic of the VM climbs to the root complex and its IOMMU and back: 35 Gb/s of 400 in one report"),
    sources: &[VM_DOC, RDMA_TOPO],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vvv", "sys/bus/pci/devices/*/driver"],
    docs: "\
## What it checks
Whether each RDMA NIC function passed to a virtual machine shows the ATS capability.

## Why it matters
In a VM the NIC is given guest addresses, which a switch cannot route to the GPU next to it. With ATS the NIC asks the IOMMU once, caches the
answer, and sends translated packets that Direct Translated ports route straight across the switch.

## See it yourself
`sudo lspci -vvv -s BDF | grep ATS` on the host. No line: ATS_ENABLED is false in firmware.

## Fix
`mlxconfig -d DEV set ATS_ENABLED=true` on the host, then reboot the host: rebooting the VM is not enough. It helps only together with
acs/vmhost-direct-translated and acs/translation-blocking. Platforms without ATS (Grace) use the Data Direct function instead.",
    myths: &[Myth {
        claim: "ATS was switched on and did not help, so it does not matter.",
        truth: "Alone it does nothing: the switch port above the NIC must have Direct Translated set, Translation Blocking must be clear, and the guest's virtual topology must put GPU and NIC together.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let nics = || cx.node.pci.rdma_nics().map(|(_, f)| f).filter(|f| f.is_passed() && f.silent.is_none());
    let data_direct = cx.node.context.topology.value == Some(TopologyType::DataDirect);
    if nics().next().is_none() {
        out.not_applicable("no RDMA NIC is passed to a virtual machine").at(cx.node.pci.seen);
        return;
    }
    if cx.no_gpu(out) {
        return;
    }
    for f in nics() {
        match &f.ats {
            Reading::Known(_, p) => out.pass(f.bdf, "offers ATS").at(*p),
            Reading::Absent(p) if data_direct => {
                out.not_applicable_to(f.bdf, "no ATS: peer-to-peer goes through the Data Direct function").at(*p)
            }
            Reading::Absent(p) => out
                .fail(f.bdf, "passed to a VM without ATS")
                .at(*p)
                .at(f.passed_at())
                .fix(|| super::set(f, "True", "set ATS_ENABLED to true in the NIC's firmware")),
            r @ Reading::Unreadable(..) => out.unreadable(f.bdf, "ATS capability", r),
        };
    }
}

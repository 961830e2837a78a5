//! `ats/bare-metal`.

use super::RDMA_TOPO;
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Source};
use linerate_node::pci::PciFunction;
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "ats/bare-metal",
    title: "RDMA NICs do not offer ATS on bare metal",
    severity: Severities::always(Severity::Low),
    roles: Roles::BARE_METAL,
    effect: Effect::direction_only("nothing measured; NVIDIA's profile for bare metal switches it off"),
    sources: &[
        Source {
            title: "NVIDIA NIC configuration operator, GpuDirectOptimized for Baremetal sets ATS_ENABLED=0",
            at: "https://github.com/Mellanox/nic-configuration-operator/blob/main/pkg/configuration/configvalidation.go",
        },
        RDMA_TOPO,
    ],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vvv"],
    docs: "\
## What it checks
Whether the physical functions of ConnectX and BlueField NICs show the ATS capability on a node that uses them itself.

## Why it matters
ATS lets the NIC ask the IOMMU for translated addresses. On bare metal nothing is translated, so it has no use, and tools that look
at a node (rdma_topo) take it for a virtual machine host and want other ACS settings.

## See it yourself
`sudo lspci -vvv -s BDF | grep ATS`. The capability is there exactly when the firmware setting ATS_ENABLED is true.

## Fix
`mlxconfig -d DEV set ATS_ENABLED=false`, then a firmware reset or reboot. If the node is going to host virtual machines, leave it.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    // On others' NICs the capability is always there and says nothing about plans; rdma_topo looks at ConnectX and BlueField only.
    let mellanox = |f: &&PciFunction<'_>| f.vendor.known().is_none_or(|v| *v == 0x15b3);
    let nics = || cx.node.pci.rdma_nics().map(|(_, f)| f).filter(|f| !f.is_vf() && f.silent.is_none()).filter(mellanox);
    if cx.no_subjects(nics().next().is_some(), "physical function of a ConnectX or BlueField", out) {
        return;
    }
    for f in nics() {
        match &f.ats {
            Reading::Absent(p) => out.pass(f.bdf, "no ATS capability").at(*p),
            Reading::Known(ats, p) => {
                let enabled = if ats.enabled == Some(true) { ", and the kernel enabled it" } else { "" };
                let low = cx.serves_no_gpu(f).then_some(Severity::Info);
                out.fail(f.bdf, format_args!("offers ATS{enabled}")).severity(low).at(*p).fix(|| {
                    let words =
                        "set ATS_ENABLED to false in the NIC's firmware, unless the node is to host virtual machines";
                    super::set(f, "False", words)
                })
            }
            r @ Reading::Unreadable(..) => out.unreadable(f.bdf, "ATS capability", r),
        };
    }
}

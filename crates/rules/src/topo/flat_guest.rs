//! `topo/flat-guest`.

use super::{LAYOUT, settled, usable};
use crate::{Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity};
use linerate_node::pci::PciFunction;
use linerate_node::rails;

pub(super) static RULE: Rule = Rule {
    id: "topo/flat-guest",
    title: "In a guest each GPU shares a virtual switch with a NIC, or a topology file shows which NIC is near",
    severity: Severities::always(Severity::Medium),
    roles: Roles::VM_GUEST,
    effect: Effect::estimate("without a shared switch (PHB) NCCL by default uses no GPUDirect RDMA, however near GPU and NIC are on the host; an estimated 1.5 to 4 \
               times slower"),
    sources: &[crate::numa::NCCL_PATHS, super::NCCL_SYSTEM, super::QEMU_PCIE],
    reads: &["sys/bus/pci/devices/* (tree)", "etc/nccl.conf", "var/run/nvidia-topologyd/virtualTopology.xml", "sys/class/dmi/id/sys_vendor"],
    docs: "\
## What it checks
In virtual machines, whether each GPU has an RDMA NIC in use below a common virtual switch. Where every device sits on the root bus or behind a
root port of its own, none has. Bare metal without switches is numa/no-shared-switch's matter. On Amazon EC2 it is information, because the plugin
aws-ofi-nccl brings a topology file of its own; Arm guests are not judged: NCCL may use the way over C2C there.

## Why it matters
NCCL reads the guest's /sys. PHB, or SYS with two virtual NUMA nodes, is beyond its default limit for GPUDirect RDMA (PXB), so that data takes
a copy in the guest's memory. QEMU's advice to prefer flat root ports is right for setup latency, and wrong for NCCL.

## See it yourself
`nvidia-smi topo -m`: PHB, NODE or SYS between each GPU and each NIC. `lspci -tv`: all on the first bus, or each behind a port of its own.

## Fix
One virtual switch per physical one: root port, upstream port, and a downstream port for each GPU and its NIC, below a pxb-pcie of the right NUMA
node. Where the provider decides the tree: NCCL_TOPO_FILE with the provider's file. NCCL_NET_GDR_LEVEL=PHB switches GPUDirect on without saying
which NIC belongs to which GPU: good only with one NIC.",
    myths: &[Myth {
        claim: "GPU Direct RDMA disabled in the VM: ACS must be disabled in the guest.",
        truth: "NCCL looks at NIC and GPU support, and at the distance in the guest's tree. It never looks at ACS.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if settled(cx, out) {
        return;
    }
    let (node, pci) = (cx.node, &cx.node.pci);
    let nics = usable(cx);
    let hidden = nics.iter().map(|id| pci.get(*id)).find(|f| complete(cx, f).is_none());
    for (gpu, f) in pci.gpus() {
        let rail = rails::nearest(pci, gpu, &nics);
        if rail.shares_switch() {
            out.pass(f.bdf, || format!("{}: {}", rail.distance, crate::numa::names(cx, &rail.nics)))
                .at(f.vendor.place());
        } else if !pci.ancestors(gpu).1 || hidden.is_some() || nics.is_empty() {
            out.unknown(f.bdf, "the source does not show which bridges this GPU and the NICs in use are below")
                .at(f.class.place())
                .see("add `lspci -D -vvv` as root, or capture with `linerate collect`");
        } else if node.cpu.is_arm() {
            out.unknown(
                f.bdf,
                "no switch in common with a NIC; whether C2C reaches this GPU from an Arm guest is not visible",
            )
            .at(f.class.place())
            .see("nvidia-smi topo -m; NCCL_DEBUG=INFO: via NET/IB/…/GDRDMA");
        } else if node.nccl.has_topology_file().is_none() {
            out.unknown(f.bdf, "no switch in common with a NIC; whether a topology file corrects it is not visible")
                .at(f.class.place())
                .at(node.nccl.conf.place())
                .see("cat /etc/nccl.conf; ls /var/run/nvidia-topologyd");
        } else {
            flat(cx, f, out);
        }
    }
}

fn complete(cx: &Cx<'_>, f: &PciFunction<'_>) -> Option<()> {
    let id = cx.node.pci.find(f.bdf)?;
    cx.node.pci.ancestors(id).1.then_some(())
}

fn flat<'o>(cx: &Cx<'_>, gpu: &PciFunction<'_>, out: &'o mut Findings) -> &'o mut Finding {
    let aws = super::plugin_brings_file(cx);
    let finding = out.fail(gpu.bdf, || {
        let name = cx.node.name_of(gpu);
        let then = if aws {
            "aws-ofi-nccl must bring its topology file"
        } else {
            "no topology file says otherwise: default NCCL uses no GPUDirect RDMA"
        };
        format!("{name}: shares no virtual switch with any NIC, and {then}")
    });
    if aws {
        finding.severity(Severity::Info).at(cx.node.firmware.sys_vendor.place());
    }
    finding.at(gpu.class.place()).at(cx.node.nccl.topology.place()).fix(|| {
        Remedy::host_side(
            "put each GPU and its NIC below one virtual switch, or give NCCL a topology file",
            format!("{LAYOUT}; else NCCL_TOPO_FILE in /etc/nccl.conf of the guest"),
        )
        .because("bus numbers in the guest change with its PCIe tree")
        .prove("NCCL log: via NET/IB/…/GDRDMA")
    })
}

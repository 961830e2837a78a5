//! `numa/no-shared-switch`.

use crate::{Action, Cx, Effect, Findings, Myth, Persistence, Quality, Remedy, Risk, Roles, Rule, Severity};
use linerate_node::context::TopologyType;
use linerate_node::pci::Distance;

pub(super) static RULE: Rule = Rule {
    id: "numa/no-shared-switch",
    title: "Every GPU shares a PCIe switch with a NIC, or NCCL is told to go through the CPU's root ports",
    severity: Severity::Medium,
    roles: Roles::BARE_METAL,
    effect: Effect {
        text: "NCCL's default level is PXB: without a shared switch (PHB) it copies through host memory, an estimated 1.5 to 4 times slower",
        quality: Quality::Estimate,
    },
    sources: &[super::NCCL_PATHS],
    reads: &["sys/bus/pci/devices/* (tree)", "lspci -vvv"],
    docs: "\
## What it checks
Whether each GPU has an RDMA NIC with a link below a common PCIe switch (PIX or PXB). GPU and NIC behind root ports of their own on one NUMA
node are PHB. Grace and Vera machines are not judged: since 2.29 NCCL allows GPUDirect over C2C there.

## Why it matters
On boxes without switches, many EPYC servers among them, the missing /GDRDMA in the NCCL log comes from this distance, not from the IOMMU,
ACS or a missing module.

## See it yourself
`nvidia-smi topo -m`: PHB or NODE between GPU and NIC. NCCL_DEBUG=INFO: `GPU Direct RDMA Disabled for GPU … (distance 8 > 5)`; the
numbers change with the version, 8 is PHB and 5 PXB in 2.27 to 2.30.

## Fix
Set NCCL_NET_GDR_LEVEL=PHB for the jobs, run the benchmark with and without it, keep what is faster: root complexes differ. Recent EPYC
usually gain, older Xeons may lose (estimate).",
    myths: &[
        Myth {
            claim: "GPU Direct RDMA disabled: iommu=pt is missing.",
            truth: "NCCL never looks at the IOMMU. It looks at NIC and GPU support, and at this distance.",
        },
        Myth {
            claim: "GPU and NIC must be in the same IOMMU group.",
            truth: "Groups follow isolation. What counts is the common switch.",
        },
    ],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let node = cx.node;
    if super::no_pairs(cx, out) {
        return;
    }
    if node.context.topology.value == Some(TopologyType::GraceRootPort) {
        let f = out.not_applicable("Grace or Vera: GPUDirect goes over C2C and the CPU's fabric");
        for p in node.context.topology.places() {
            f.at(p);
        }
        return;
    }
    for rail in &super::serving(cx) {
        let gpu = node.pci.get(rail.gpu);
        match rail.distance {
            Distance::Pix | Distance::Pxb => {
                out.pass(gpu.bdf, || format!("{}: {}", rail.distance, super::names(cx, &rail.nics)))
                    .at(gpu.vendor.place());
            }
            Distance::Phb => {
                let why = || {
                    let (gpu, nic) = (node.name_of(gpu), super::names(cx, &rail.nics));
                    format!(
                        "{gpu}: no switch in common with a NIC that has a link; nearest {nic} is PHB, default NCCL uses no GPUDirect RDMA{}",
                        super::passed_over(cx, rail)
                    )
                };
                out.fail(gpu.bdf, why).at(gpu.vendor.place()).fix(|| {
                    Remedy::new(
                        "allow GPUDirect RDMA through the root complex and measure",
                        Action::Environment { set: vec!["NCCL_NET_GDR_LEVEL=PHB".into()], unset: vec![] },
                        Persistence::Runtime,
                        Risk::Low,
                    )
                    .because("some root complexes forward peer-to-peer slowly: keep it only if the benchmark gains")
                    .prove("NCCL log: via NET/IB/…/GDRDMA")
                });
            }
            Distance::Sys => {
                out.not_applicable_to(gpu.bdf, "its nearest NIC is on another NUMA node: see numa/cross-socket-nic")
                    .at(gpu.numa_node.place());
            }
            Distance::Unknown => {
                out.unknown(
                    gpu.bdf,
                    "the PCIe path to the NICs is not visible (bridges or NUMA nodes are missing in this source)",
                )
                .at(gpu.numa_node.place())
                .see("capture with `linerate collect`, or `lspci -D -nn -vvv` as root");
            }
        }
    }
}

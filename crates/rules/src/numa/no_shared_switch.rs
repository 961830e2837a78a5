//! `numa/no-shared-switch`.

use crate::{Action, Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Subject};
use linerate_formats::nvidia_smi::{PathKind, Topo};
use linerate_node::context::TopologyType;
use linerate_node::pci::Distance;
use linerate_snapshot::{Place, Reading};

pub(super) static RULE: Rule = Rule {
    id: "numa/no-shared-switch",
    title: "Every GPU shares a PCIe switch with a NIC, or NCCL is set to go through the CPU's root ports",
    severity: Severities::always(Severity::Medium),
    roles: Roles::BARE_METAL,
    effect: Effect::estimate("NCCL's default level is PXB: without a shared switch (PHB) it copies through host memory, an estimated 1.5 to 4 times slower"),
    sources: &[super::NCCL_PATHS],
    reads: &["sys/bus/pci/devices/* (tree)", "lspci -vvv", "nvidia-smi topo -m"],
    docs: "\
## What it checks
Whether each GPU has an RDMA NIC with a link below a common PCIe switch (PIX or PXB). GPU and NIC behind root ports of their own on one NUMA
node are PHB. Where no GPU of the node shares a switch with a NIC, that is the machine's design, and information; where others do, or a nearer NIC has
no link, it is a finding. Grace and Vera machines are not judged: NCCL does GPUDirect RDMA over C2C there, by default since 2.27 (2.26:
NCCL_NET_GDR_C2C=1). Where `nvidia-smi topo -m` is all there is, its words are information: they show neither which NICs
have a link nor C2C. Nor are nodes judged on which neither DMA-BUF nor a peer-memory module can serve: data passes host memory there, however near the NIC is.

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
    if node.pci.functions.is_empty()
        && let Reading::Known(matrix, at) = node.nvidia.topo()
        && by_matrix(matrix, *at, out)
    {
        return;
    }
    if super::no_pairs(cx, out) {
        return;
    }
    if node.context.topology.value == Some(TopologyType::GraceRootPort) {
        out.not_applicable("Grace or Vera: GPUDirect goes over C2C and the CPU's fabric")
            .at_all(node.context.topology.places());
        return;
    }
    if crate::gpumem::gpudirect(cx) == Some(false) {
        out.not_applicable(
            "no way to register GPU memory here, so no GPUDirect RDMA at any distance: see gpumem/registration-path",
        )
        .at(node.peermem.clients.place());
        return;
    }
    let serving = super::serving(cx);
    let switches = serving.iter().any(|r| r.shares_switch());
    for rail in &serving {
        let gpu = node.pci.get(rail.gpu);
        match rail.distance {
            Distance::Pix | Distance::Pxb => out
                .pass(gpu.bdf, || format!("{}: {}", rail.distance, super::names(cx, &rail.nics)))
                .at(gpu.vendor.place()),
            Distance::Phb => {
                let why = || {
                    let (gpu, nic) = (node.name_of(gpu), super::names(cx, &rail.nics));
                    format!(
                        "{gpu}: no switch in common with a NIC that has a link; nearest {nic} is PHB, default NCCL uses no GPUDirect RDMA{}",
                        super::passed_over(cx, rail)
                    )
                };
                let design = !switches && super::passed_over(cx, rail).is_empty();
                out.fail(gpu.bdf, why).severity(design.then_some(Severity::Info)).at(gpu.vendor.place()).fix(|| {
                    Remedy::new(
                        "allow GPUDirect RDMA through the root complex and measure",
                        Action::Environment { set: vec!["NCCL_NET_GDR_LEVEL=PHB".into()], unset: vec![] },
                    )
                    .because("some root complexes forward peer-to-peer slowly: keep it only if the benchmark gains")
                    .prove("NCCL log: via NET/IB/…/GDRDMA")
                })
            }
            Distance::Sys => out
                .not_applicable_to(gpu.bdf, "its nearest NIC is on another NUMA node: see numa/cross-socket-nic")
                .at(gpu.numa_node.place()),
            Distance::Unknown => super::path_hidden(gpu, out),
        };
    }
}

/// What `nvidia-smi topo -m` shows by itself: the nearest NIC of each GPU. Whether a NIC has a link, and whether there is C2C, it does not
/// show. `false` where it has no pair of GPU and NIC.
fn by_matrix(matrix: &Topo, at: Place, out: &mut Findings) -> bool {
    let (gpus, nics): (Vec<&String>, Vec<&String>) = matrix.devices.iter().partition(|d| d.starts_with("GPU"));
    let rank = |p: &PathKind| match p {
        PathKind::Pix => Some((0, "PIX")),
        PathKind::Pxb => Some((1, "PXB")),
        PathKind::Phb => Some((2, "PHB")),
        PathKind::Node => Some((3, "NODE")),
        PathKind::Sys => Some((4, "SYS")),
        _ => None,
    };
    let mut any = false;
    for gpu in gpus {
        let to = |nic: &&String| {
            let cell = matrix.path(gpu, nic)?;
            Some((rank(cell.value)?, matrix.nic_name(nic).to_owned(), cell.line))
        };
        // One cell that cannot be read may be the nearest.
        let ways: Option<Vec<_>> = nics.iter().map(to).collect();
        let Some(((near, word), nic, line)) = ways.and_then(|w| w.into_iter().min()) else { continue };
        let at = at.line(line);
        any = true;
        let subject = Subject::Named(gpu.clone());
        if near <= 1 {
            out.pass(subject, format_args!("{word}: {nic}, as `nvidia-smi topo -m` shows it")).at(at);
            continue;
        }
        out.fail(subject, || {
            format!(
                "no PCIe switch in common with any NIC: the nearest is {nic}, {word} in `nvidia-smi topo -m`; by default NCCL uses no GPUDirect \
                 RDMA there, except over C2C; which NICs have a link is not in this source"
            )
        })
        .severity(Severity::Info)
        .at(at);
    }
    any
}

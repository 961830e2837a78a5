//! `topo/nic-shared-while-idle`.

use super::{Slot, slot, usable};
use crate::{Action, Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Subject};
use linerate_node::context::Role;
use linerate_node::pci::{Distance, FnId};
use linerate_node::rails::{self, Rail};
use linerate_node::rdma::{LinkLayer, PortState, RdmaDevice, RdmaPort};
use linerate_snapshot::Reading;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    id: "topo/nic-shared-while-idle",
    title: "No two GPUs share a NIC while an equal NIC is nearest to no GPU",
    severity: Severities::always(Severity::Medium),
    roles: Roles::BARE_METAL.or(Roles::VM_GUEST),
    effect: Effect::derived("the GPUs that share halve their part of the network, and the idle port carries nothing"),
    sources: &[super::NCCL_SYSTEM, crate::numa::NCCL_PATHS],
    reads: &["sys/bus/pci/devices/* (tree)", "sys/class/infiniband/*/ports/*/{state,rate,link_layer,sm_lid}", "etc/nccl.conf"],
    docs: "\
## What it checks
The nearest NICs of each GPU by PCIe path, as NCCL chooses them, among the NICs with an active port that NCCL_IB_HCA in /etc/nccl.conf
does not leave out. It fails where more GPUs have the same nearest NICs than there are cards among them, while another card is nearest to no GPU
though it has an active port of the same link layer, at least as fast, and on InfiniBand with the same subnet manager. Cards that fail any
of these count as storage or management NICs. A storage NIC that is equal in all of them cannot be distinguished from a rail: another product
is therefore only severity low, and NCCL_IB_HCA settles it.

## Why it matters
NCCL gives a GPU the nets of the shortest path and no others: bandwidth first, then the type of path. A NIC on the wrong side of the
board stays idle in rings, however free it is.

## See it yourself
`nvidia-smi topo -m`: a NIC column without PIX or PXB in any row of a GPU, while two rows have their PIX in the same column.

## Fix
Move the idle card below the switch of the GPUs that share; in a guest, put it below their virtual switch if it is there on the host. If the
card serves storage, say so: NCCL_IB_HCA with `=` and the list of rails.",
    myths: &[Myth {
        claim: "NCCL uses every NIC that it finds.",
        truth: "It lists every active port, and gives each GPU those that are nearest. The others may stay idle.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if crate::numa::no_pairs(cx, out) {
        return;
    }
    let node = cx.node;
    if node.nccl.has_topology_file() == Some(true) {
        out.not_applicable("NCCL takes the tree from a topology file: see topo/topology-file")
            .at(node.nccl.topology.place());
        return;
    }
    match &node.rdma {
        Reading::Known(..) => {}
        Reading::Absent(at) => {
            out.not_applicable("no RDMA device: see rdma/device-present").at(*at);
            return;
        }
        r @ Reading::Unreadable(..) => {
            out.unreadable(Subject::Node, "state of the RDMA ports", r)
                .see("capture the node with `linerate collect`, or add the output of `ibv_devinfo -v`");
            return;
        }
    }
    let nics = usable(cx);
    let near: Vec<Rail> = rails::all(&node.pci, &nics);
    let cards: Vec<BTreeSet<Slot>> =
        near.iter().map(|r| r.nics.iter().map(|id| slot(node.pci.get(*id))).collect()).collect();
    let served: BTreeSet<Slot> = cards.iter().flatten().copied().collect();
    let idle: Vec<FnId> = nics.iter().copied().filter(|id| !served.contains(&slot(node.pci.get(*id)))).collect();
    for (rail, own) in near.iter().zip(&cards) {
        let gpu = node.pci.get(rail.gpu);
        if rail.distance == Distance::Unknown || rail.nics.is_empty() {
            out.unknown(gpu.bdf, "which NICs are nearest is not visible (bridges, NUMA nodes or active ports are missing in this source)")
                .at(gpu.numa_node.place())
                .see("capture with `linerate collect`, or `lspci -D -nn -vvv` as root");
            continue;
        }
        let sharing = cards.iter().filter(|c| *c == own).count();
        let pairs =
            || rail.nics.iter().flat_map(|n| idle.iter().map(move |id| (*n, *id))).filter(|_| sharing > own.len());
        let free = pairs().find(|(n, id)| equal(cx, *n, *id) == Some(true));
        let unseen = pairs().find(|(n, id)| equal(cx, *n, *id).is_none());
        match (free, unseen) {
            (Some((_, free)), _) => shared(cx, rail, sharing, own.len(), free, out),
            (None, Some((_, id))) => {
                let nic = node.pci.get(id);
                out.unknown(gpu.bdf, || {
                    let (own, other) = (crate::numa::names(cx, &rail.nics), crate::numa::names(cx, &[id]));
                    format!("{sharing} GPUs share {own}; state, rate or link layer of its ports or of {other} is not visible")
                })
                .at(nic.vendor.place())
                .see("ibv_devinfo -v; capture with `linerate collect`")
            }
            (None, None) => {
                let said = || {
                    let names = crate::numa::names(cx, &rail.nics);
                    match sharing > own.len() {
                        true => format!("{sharing} GPUs share {names}; no equal NIC is idle"),
                        false => format!("nearest {names}"),
                    }
                };
                out.pass(gpu.bdf, said).at(gpu.vendor.place())
            }
        };
    }
}

fn shared<'o>(
    cx: &Cx<'_>,
    rail: &Rail,
    sharing: usize,
    cards: usize,
    free: FnId,
    out: &'o mut Findings,
) -> &'o mut Finding {
    let node = cx.node;
    let (gpu, idle) = (node.pci.get(rail.gpu), node.pci.get(free));
    let same = rail.nics.iter().any(|n| node.pci.get(*n).device.known() == idle.device.known());
    let finding = out.fail(gpu.bdf, || {
        format!(
            "{sharing} GPUs have {} as nearest NIC{}, while {} is active and nearest to no GPU",
            crate::numa::names(cx, &rail.nics),
            if cards == 1 { "" } else { "s" },
            crate::numa::names(cx, &[free]),
        )
    });
    finding.severity(if same { Severity::Medium } else { Severity::Low }).at(gpu.vendor.place());
    for nic in rail.nics.iter().take(2).map(|n| node.pci.get(*n)).chain([idle]) {
        finding.at(nic.vendor.place()).at(port(cx, nic.bdf).flatten().map(|p| p.state.place()));
    }
    finding.fix(|| {
        let what = format!(
            "{} to the switch of {}, or NCCL_IB_HCA without it if it is not a rail",
            node.name_of(idle),
            gpu.bdf
        );
        let action = match node.context.role.value {
            Some(Role::VmGuest) => Action::HostSide { what: what.into() },
            _ => Action::Physical { what: what.into() },
        };
        Remedy::new("give each GPU a NIC of its own", action)
    })
}

/// The fastest active port of a function; the inner `None` where all its ports are seen and none is active.
fn port<'a>(cx: &Cx<'a>, bdf: linerate_formats::pci::Bdf) -> Option<Option<&'a RdmaPort>> {
    let d: &RdmaDevice = cx.node.rdma.known()?.iter().find(|d| d.pci == Some(bdf))?;
    let rate = |p: &RdmaPort| p.rate_gbps.known().copied().unwrap_or(0.0);
    let active = d.ports.iter().filter(|p| p.state.known() == Some(&PortState::Active));
    match active.max_by(|a, b| rate(a).total_cmp(&rate(b))) {
        Some(p) => Some(Some(p)),
        None if d.ports.iter().all(|p| p.state.known().is_some()) => Some(None),
        None => None,
    }
}

/// Whether the idle NIC could stand for the one that is used; `None` where that cannot be seen.
fn equal(cx: &Cx<'_>, used: FnId, idle: FnId) -> Option<bool> {
    let of = |id: FnId| port(cx, cx.node.pci.get(id).bdf);
    let (Some(used), Some(idle)) = (of(used)?, of(idle)?) else { return Some(false) };
    let layer = used.link_layer.known()?;
    if layer != idle.link_layer.known()? || idle.rate_gbps.known()? < used.rate_gbps.known()? {
        return Some(false);
    }
    Some(*layer == LinkLayer::Ethernet || (used.sm_lid.known()? == idle.sm_lid.known()? && *used.sm_lid.known()? != 0))
}

//! `iommu/shared-group`.

use crate::cmdline::words::RDMA_TOPO;
use crate::sources::open_modules;
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::context::TopologyType;
use linerate_node::pci::{FnId, Kind};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "iommu/shared-group",
    title: "GPU and NIC share an IOMMU group, or do not, as their topology needs",
    severity: Severities::always(Severity::High),
    roles: Roles::BARE_METAL.or(Roles::VM_HOST),
    effect: Effect::sourced("VM host: devices that share a group can only be passed through together; Data Direct: dma-buf over PCIe is refused"),
    sources: &[
        RDMA_TOPO,
        open_modules!("kernel-open/nvidia/nv-pci.c", "nv_pci_is_valid_topology_for_direct_pci"),
        Source { title: "Linux: VFIO, groups, devices and IOMMUs", at: "https://docs.kernel.org/driver-api/vfio.html" },
    ],
    reads: &["sys/bus/pci/devices/*/iommu_group"],
    docs: "\
## What it checks
The IOMMU group of each GPU against that of the RDMA NICs near it, where it matters:
VM host: they must be in different groups. ConnectX-8 Data Direct: the GPU and its Data Direct function must be in the same group
(or neither in one). GPU directly under a Grace or Vera root port: groups must be unique.
On other bare metal it does not matter, and the rule says so.

## Why it matters
A group says what cannot be isolated from what; it says nothing about what can reach what. A VM host hands out whole groups.
Groups are made once, when the kernel enumerates: clearing ACS with setpci later changes no group. Nor does redirect off put GPU and NIC
together: with `pci=disable_acs_redir=` each switch port shares a group with what is below it, and a GPU and a NIC below two ports
stay in two groups (ports that are devices of their own; Linux 6.1 and 6.12).
On coherent platforms the GPU driver maps its memory over PCIe only for a peer of the same group.

## See it yourself
`readlink /sys/bus/pci/devices/{GPU,NIC}/iommu_group`.

## Fix
VM host: ACS on the switch ports above both, set when the kernel enumerates (it is, once an IOMMU driver asks for ACS). Data
Direct: the ACS values that `rdma_topo check` prints, at boot; source validation off on the shared root port forms the group.",
    myths: &[
        Myth {
            claim: "GPU and NIC should be in the same IOMMU group for peer-to-peer.",
            truth: "False in general, and the opposite holds on VM hosts. On a classic x86 node a shared group is at most a consequence of ACS off, never a cause of peer-to-peer; and redirect off alone does not form one.",
        },
        Myth {
            claim: "The IOMMU group is too large, so ACS must be disabled (or overridden).",
            truth: "Large groups are what ACS off looks like. Peer-to-peer on bare metal wants that; passthrough wants the contrary. A node cannot have both with one setting.",
        },
    ],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let pci = &cx.node.pci;
    let partner = |k: Kind| matches!(k, Kind::RdmaNic | Kind::DataDirect);
    let any = pci.gpus().next().is_some() && pci.iter().any(|(_, f)| partner(f.kind));
    if cx.no_subjects(any, "GPU together with an RDMA NIC", out) {
        return;
    }
    let on_host = crate::cmdline::words::vm_host(cx);
    let topology = cx.node.context.topology.value;
    match topology {
        Some(TopologyType::DataDirect) => data_direct(cx, out),
        _ if on_host => host(cx, topology, out),
        Some(TopologyType::GraceRootPort) => unique(cx, out),
        _ => {
            out.not_applicable("on bare metal without Data Direct, groups express isolation, not reachability: sharing one or not changes no traffic").at(cx.node.pci.seen);
        }
    }
    if out.is_empty() {
        out.not_applicable("no GPU has a NIC below the same bridge")
            .at(pci.seen.unwrap_or(cx.node.iommu.groups.place()));
    }
}

/// Same group, different groups, both in none; or the reading that is missing.
enum Pair {
    Same(u32),
    Different,
    None,
    OneOnly,
    Unseen,
}

fn pair(cx: &Cx<'_>, a: FnId, b: FnId) -> Pair {
    match (&cx.node.pci.get(a).iommu_group, &cx.node.pci.get(b).iommu_group) {
        (Reading::Known(x, _), Reading::Known(y, _)) if x == y => Pair::Same(*x),
        (Reading::Known(..), Reading::Known(..)) => Pair::Different,
        (Reading::Absent(_), Reading::Absent(_)) => Pair::None,
        (Reading::Unreadable(..), _) | (_, Reading::Unreadable(..)) => Pair::Unseen,
        _ => Pair::OneOnly,
    }
}

fn data_direct(cx: &Cx<'_>, out: &mut Findings) {
    let pci = &cx.node.pci;
    for (gpu, f) in pci.gpus() {
        for (dma, d) in pci.of_kind(Kind::DataDirect).filter(|(d, _)| pci.path(gpu, *d).common.is_some()) {
            match pair(cx, gpu, dma) {
                Pair::Same(g) => {
                    out.pass(f.bdf, format_args!("in group {g} together with Data Direct function {}", d.bdf))
                }
                Pair::None => {
                    out.pass(f.bdf, format_args!("neither it nor Data Direct function {} is in a group", d.bdf))
                }
                Pair::Unseen => out.unreadable(f.bdf, "IOMMU group", &f.iommu_group),
                Pair::Different | Pair::OneOnly => out
                    .fail(
                        f.bdf,
                        format_args!(
                            "not in the group of Data Direct function {}: dma-buf over PCIe is refused",
                            d.bdf
                        ),
                    )
                    .fix(|| look("set the ACS values that `rdma_topo check` prints, at boot")),
            }
            .at(f.iommu_group.place())
            .at(d.iommu_group.place());
        }
    }
}

fn host(cx: &Cx<'_>, topology: Option<TopologyType>, out: &mut Findings) {
    let pci = &cx.node.pci;
    let inline = topology == Some(TopologyType::Inline);
    for (gpu, f) in pci.gpus() {
        let nics: Vec<FnId> = pci.rdma_nics().map(|(n, _)| n).filter(|n| pci.path(gpu, *n).common.is_some()).collect();
        let shared = nics.iter().find(|n| matches!(pair(cx, gpu, **n), Pair::Same(_)));
        if let Some(nic) = shared {
            let nic = pci.get(*nic);
            out.fail(
                f.bdf,
                format_args!("shares its group with NIC {}: they can only be passed through together", nic.bdf),
            )
            .severity(if inline { Severity::High } else { Severity::Medium })
            .at(f.iommu_group.place())
            .at(nic.iommu_group.place())
            .fix(|| look("enable ACS on the switch ports above both, before the kernel forms the groups"));
        } else if nics.iter().any(|n| matches!(pair(cx, gpu, *n), Pair::Unseen)) {
            out.unreadable(f.bdf, "IOMMU group", &f.iommu_group);
        } else if f.iommu_group.is_absent() {
            out.fail(f.bdf, "in no IOMMU group: it cannot be passed through")
                .at(f.iommu_group.place())
                .fix(|| look("see iommu/active"));
        } else if let (false, Some(place)) = (nics.is_empty(), pci.seen) {
            out.pass(
                f.bdf,
                format_args!(
                    "in another group than the {} below the same switch",
                    linerate_formats::counted(nics.len(), "NIC function", "NIC functions")
                ),
            )
            .at(f.iommu_group.place())
            .at(place);
        }
    }
}

fn unique(cx: &Cx<'_>, out: &mut Findings) {
    let pci = &cx.node.pci;
    let mut groups: Vec<(u32, FnId)> = Vec::new();
    for (id, f) in pci.iter().filter(|(_, f)| f.is_endpoint_of_path() && !f.is_vf()) {
        match &f.iommu_group {
            Reading::Known(g, place) => match groups.iter().find(|(x, _)| x == g) {
                Some((_, other)) => {
                    let message = format!(
                        "shares group {g} with {}; under Grace root ports groups are unique",
                        pci.get(*other).bdf
                    );
                    out.fail(f.bdf, message)
                        .severity(Severity::Medium)
                        .at(*place)
                        .fix(|| look("compare with what `rdma_topo check` prints"));
                }
                None => {
                    groups.push((*g, id));
                    out.pass(f.bdf, format_args!("alone in group {g} among GPUs and NICs")).at(*place);
                }
            },
            Reading::Absent(p) => {
                out.pass(f.bdf, "in no group").at(*p);
            }
            r @ Reading::Unreadable(..) => {
                out.unreadable(f.bdf, "IOMMU group", r);
            }
        }
    }
    if out.is_empty() {
        out.not_applicable_to(Subject::Node, "no physical GPU or NIC function");
    }
}

fn look(what: &'static str) -> Remedy {
    Remedy::investigate(what, what)
        .because("ACS decides how peer-to-peer packets are routed and which devices can be isolated; wrong bits break either")
        .prove("sys/bus/pci/devices/*/iommu_group")
}

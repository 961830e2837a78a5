//! `topo/virtual-hides-affinity`.

use super::{LAYOUT, settled, usable};
use crate::{Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Subject};
use linerate_node::pci::{FnId, PciFunction};
use linerate_node::rails;

/// Lanes of the largest PCIe 5.0 switch (PEX89144). What hangs below more than that is not one switch.
const LANES: u32 = 144;

pub(super) static RULE: Rule = Rule {
    id: "topo/virtual-hides-affinity",
    title: "A guest's PCIe tree shows which NIC belongs to which GPU, or a topology file does",
    severity: Severities::always(Severity::High),
    roles: Roles::VM_GUEST,
    effect: Effect::measured("NCCL takes every GPU and NIC for neighbours of one switch: rails are mixed, and traffic crosses the host's sockets; \
               a tenth of bare metal was seen on 8 GPUs and 8 NICs"),
    sources: &[super::NCCL_VIRTUAL, crate::numa::NCCL_PATHS, super::QEMU_PCIE, super::LIBVIRT],
    reads: &["sys/bus/pci/devices/* (tree)", "sys/bus/pci/devices/*/numa_node", "etc/nccl.conf", "var/run/nvidia-topologyd/virtualTopology.xml"],
    docs: "\
## What it checks
Whether all GPUs and RDMA NICs of a guest are below one virtual port, each NIC equally near to each GPU. It is certain that this is not the
hardware where the devices have more lanes together than a PCIe switch has (144, the largest of generation 5). Where they have less the
host may really have one switch: severity low, or medium where the guest has several NUMA nodes and no device shows its own.
A topology file settles the matter: topo/topology-file judges it.

## Why it matters
NCCL reads the guest's /sys. From one switch it concludes that each pair is PIX or PXB: GPUDirect RDMA is used with any NIC, also one of
the other socket; it divides one uplink, which does not exist, among all GPUs; and with numa_node -1 there is one CPU. Packets
take the host's ways, whatever the guest shows: the virtual switch itself carries nothing and costs nothing.

## See it yourself
`lspci -tv` in the guest: one branch that holds all. QEMU's ports are 1b36:000c (root port), 104c:8232 and 104c:8233 (up- and
downstream port of a switch, shown as Texas Instruments), 1b36:000b (pxb-pcie). `nvidia-smi topo -m`: the same word everywhere.

## Fix
One pxb-pcie per host root complex, bound to the guest NUMA node of its host node (`linerate vm layout HOST` writes it); below it, per physical switch, a root port, an upstream port, and a downstream
port for each GPU and its NIC. Root port and upstream port are mandatory between. Where the machine's definition cannot be changed:
NCCL_TOPO_FILE with the guest's bus ids and invented bridges. The host's ACS and ATS are a matter of their own.",
    myths: &[
        Myth {
            claim: "One virtual upstream port for 16 devices is a bottleneck.",
            truth: "It carries no data. What is slow is the choice that NCCL makes from it, and the host's path without ATS and Direct Translated.",
        },
        Myth {
            claim: "A switch's ports can be plugged into pxb-pcie directly.",
            truth: "A root port and a switch upstream port must be between; only root ports plug into pxb-pcie.",
        },
        Myth {
            claim: "Dump NCCL's topology on the host and load it in the guest.",
            truth: "Bus ids differ: NCCL finds none of its devices in that file and falls back to the guest's /sys for each. Rewrite them first.",
        },
    ],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if settled(cx, out) {
        return;
    }
    let pci = &cx.node.pci;
    let gpus: Vec<FnId> = pci.gpus().map(|(id, _)| id).collect();
    let nics = usable(cx);
    if gpus.len() < 2 || nics.len() < 2 {
        let f =
            out.not_applicable(format_args!("{} GPUs and {} NICs in use: nothing to choose", gpus.len(), nics.len()));
        pci.seen.into_iter().for_each(|p| {
            f.at(p);
        });
        return;
    }
    if let Some(gpu) = gpus.iter().find(|g| !pci.ancestors(**g).1) {
        out.unknown(pci.get(*gpu).bdf, "the source does not show which bridges this GPU is below")
            .at(pci.get(*gpu).class.place())
            .see("add `lspci -D -vvv` as root, or capture with `linerate collect`");
        return;
    }
    let near: Vec<_> = gpus.iter().map(|g| rails::nearest(pci, *g, &nics)).collect();
    let Some(first) = near.first() else { return };
    if near.iter().all(|r| !r.shares_switch()) {
        out.not_applicable("no GPU shares a bridge with a NIC: see topo/flat-guest")
            .at(pci.get(first.gpu).class.place());
        return;
    }
    let all_alike = near.iter().all(|r| r.shares_switch() && r.nics.len() == nics.len());
    let common = pci.path(first.gpu, *nics.first().unwrap_or(&first.gpu)).common;
    let (true, Some(top)) = (all_alike, common) else {
        out.pass(Subject::Node, || {
            let mut groups: Vec<_> = near.iter().map(|r| r.nics.clone()).collect();
            groups.sort_unstable();
            groups.dedup();
            format!("{} GPUs have {} different sets of nearest NICs", gpus.len(), groups.len())
        })
        .at_all(near.iter().take(2).map(|rail| pci.get(rail.gpu).class.place()));
        return;
    };
    hidden(cx, &gpus, &nics, top, &near, out);
}

fn hidden<'o>(
    cx: &Cx<'_>,
    gpus: &[FnId],
    nics: &[FnId],
    top: FnId,
    near: &[rails::Rail],
    out: &'o mut Findings,
) -> &'o mut Finding {
    let pci = &cx.node.pci;
    let port = pci.get(top);
    let ends: Vec<&PciFunction<'_>> = gpus.iter().chain(nics).map(|id| pci.get(*id)).collect();
    let lanes: u32 = ends.iter().filter_map(|f| f.link.max_width.known()).map(|w| u32::from(w.0)).sum();
    let nodes = cx.node.numa.known().map_or(0, |n| n.iter().filter(|n| !n.cpulist.is_empty()).count());
    let unplaced = ends.iter().all(|f| f.numa_node.known() == Some(&-1));
    let said = || {
        let way = near.first().map_or(String::new(), |r| r.distance.to_string());
        let why = match lanes {
            l if l > LANES => format!("; {l} lanes are more than any one PCIe 5.0 switch has"),
            _ if nodes > 1 && unplaced => format!("; {nodes} NUMA nodes, and no device shows its own"),
            _ => "; right only if the host has them below one switch, too".to_owned(),
        };
        format!(
            "all {} GPUs and {} NICs are below virtual port {} ({}): to NCCL every pair is {way}{why}",
            gpus.len(),
            nics.len(),
            port.bdf,
            ids(port)
        )
    };
    // A file that this source does not show may tell NCCL the truth.
    if cx.node.nccl.has_topology_file().is_none() {
        return out
            .unknown(Subject::Node, || format!("{}; whether a topology file corrects it is not visible", said()))
            .at(port.device.place())
            .at(cx.node.nccl.conf.place())
            .see("cat /etc/nccl.conf; ls /var/run/nvidia-topologyd");
    }
    let severity = match lanes {
        _ if super::plugin_brings_file(cx) => Severity::Info,
        l if l > LANES => Severity::High,
        _ if nodes > 1 && unplaced => Severity::Medium,
        _ => Severity::Low,
    };
    let finding = out.fail(Subject::Node, said);
    finding.severity(severity).at(port.device.place());
    for f in [gpus.first(), nics.first()].into_iter().flatten().map(|id| pci.get(*id)) {
        finding.at(f.class.place()).at(f.numa_node.place());
    }
    finding.at(cx.node.nccl.topology.place()).fix(|| {
        Remedy::host_side(
            "show the host's topology in the guest, or give NCCL a topology file",
            format!("{LAYOUT}; else NCCL_TOPO_FILE in /etc/nccl.conf of the guest"),
        )
        .because("bus numbers in the guest change with its PCIe tree")
        .prove("sys/bus/pci/devices/* (tree)")
    })
}

fn ids(f: &PciFunction<'_>) -> String {
    match (f.vendor.known(), f.device.known()) {
        (Some(v), Some(d)) => format!("{v:04x}:{d:04x}"),
        _ => "ids not visible".to_owned(),
    }
}

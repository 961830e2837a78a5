//! `vm/links-believed`.

use crate::{Cx, Effect, Findings, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::pci::LinkSpeed;
use linerate_node::pci::PciFunction;

/// QEMU's upstream and downstream port.
const PORTS: [(u16, u16); 2] = [(0x104c, 0x8232), (0x104c, 0x8233)];

pub(super) static RULE: Rule = Rule {
    id: "vm/links-believed",
    title: "NCCL does not use the link speeds that emulated switch ports show",
    severity: Severities::always(Severity::High),
    roles: Roles::VM_GUEST,
    effect: Effect::derived("NCCL counts 0.2 GB/s for each way through such a port, and chooses few channels and wrong rings"),
    sources: &[
        super::NCCL_VIRTUAL,
        Source { title: "NCCL issues: NCCL_TOPO_FILE in virtual machines (nccl-tests 256)", at: "https://github.com/NVIDIA/nccl-tests/issues/256" },
    ],
    reads: &["sys/bus/pci/devices/* (tree)", "sys/bus/pci/devices/*/current_link_speed", "etc/nccl.conf", "var/run/nvidia-topologyd/virtualTopology.xml", "sys/class/dmi/id/sys_vendor"],
    docs: "\
## What it checks
In a guest: whether a GPU or RDMA NIC is below a switch port of QEMU (104c:8232, 104c:8233) whose link shows 2.5 GT/s, and no topology file says otherwise. Machines of Google have ports of another hypervisor and are not judged.

## Why it matters
An emulated port has one lane of 2.5 GT/s. NCCL takes the lower of a device's link and its port's, which makes 0.2 GB/s of a link that carries 50.

## See it yourself
`cat /sys/bus/pci/devices/*/current_link_speed` in the guest; NCCL's dump (NCCL_TOPO_DUMP_FILE): `link_speed=\"2.5 GT/s PCIe\" link_width=\"1\"`.

## Fix
A topology file with the host's links and the guest's bus ids: `linerate vm layout HOST --nccl FILE`, as NCCL_TOPO_FILE or at /var/run/nvidia-topologyd/virtualTopology.xml.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let pci = &cx.node.pci;
    let any = pci.iter().any(|(_, f)| f.is_endpoint_of_path());
    if cx.no_subjects(any, "GPU or RDMA NIC", out) {
        return;
    }
    let is_port =
        |f: &PciFunction<'_>| f.vendor.known().zip(f.device.known()).is_some_and(|(v, d)| PORTS.contains(&(*v, *d)));
    let below: Vec<_> = pci
        .iter()
        .filter(|(_, f)| f.is_endpoint_of_path())
        .filter_map(|(id, f)| Some((f, pci.ancestors(id).0.into_iter().map(|p| pci.get(p)).find(|p| is_port(p))?)))
        .collect();
    let Some((_, port)) = below.first() else {
        let f = out.not_applicable("no GPU and no RDMA NIC below a switch port of QEMU");
        f.at(pci.seen);
        return;
    };
    let slow: Vec<_> = below.iter().filter(|(_, p)| p.link.speed.known() == Some(&LinkSpeed::Gen1)).collect();
    // Of Google's own hypervisor, whose ports look like these, it is not known what they say and what its NCCL plugin brings.
    if let Some(vendor) = cx.node.firmware.sys_vendor.known().filter(|v| *v == "Google") {
        out.not_applicable(format_args!(
            "a machine of {vendor}: not QEMU, and its NCCL plugin brings settings of its own"
        ))
        .at(cx.node.firmware.sys_vendor.place());
        return;
    }
    let place = port.device.place();
    match (slow.first(), cx.node.nccl.has_topology_file()) {
        (None, _) if below.iter().any(|(_, p)| p.link.speed.known().is_none()) => {
            out.unknown(Subject::Node, "links of emulated switch ports are not in this source").at(place);
        }
        (None, _) => {
            out.pass(
                Subject::Node,
                format_args!("{} devices below emulated ports, whose links show more than 2.5 GT/s", below.len()),
            )
            .at(place);
        }
        (Some(_), Some(true)) => {
            out.not_applicable("a topology file replaces the links: topo/topology-file judges it").at(cx
                .node
                .nccl
                .topology
                .place());
        }
        (Some((_, p)), None) => {
            out.unknown(Subject::Node, format_args!("{} devices are below emulated ports of 2.5 GT/s; whether a topology file says otherwise is not visible", slow.len()))
                .at(p.link.speed.place())
                .at(cx.node.nccl.conf.place())
                .see("cat /etc/nccl.conf; ls /var/run/nvidia-topologyd");
        }
        (Some((f, p)), Some(false)) => {
            out.fail(
                Subject::Node,
                format_args!(
                    "{} devices are below emulated ports of 2.5 GT/s, {} first, and no topology file says otherwise",
                    slow.len(),
                    f.bdf
                ),
            )
            .at(p.link.speed.place())
            .at(place)
            .at(cx.node.nccl.topology.place())
            .fix(|| {
                Remedy::host_side(
                    "give NCCL a topology file with the real links",
                    "linerate vm layout HOST --nccl FILE; NCCL_TOPO_FILE in /etc/nccl.conf of the guest",
                )
                .prove("NCCL log: bandwidths of the chosen graph")
            });
        }
    }
}

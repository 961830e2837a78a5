//! `numa/node-unknown`.

use crate::{Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::pci::PciFunction;

pub(super) static RULE: Rule = Rule {
    id: "numa/node-unknown",
    title: "The kernel knows the NUMA node of every GPU and RDMA NIC",
    severity: Severities::always(Severity::Medium),
    roles: Roles::BARE_METAL.or(Roles::VM_HOST),
    effect: Effect::direction_only("threads and buffers are placed by chance; NCCL uses the NUMA node of the topmost switch above the device, or a NUMA node of its own (-1) if that has none"),
    sources: &[
        Source {
            title: "Linux ABI: /sys/bus/pci/devices/.../numa_node",
            at: "https://github.com/torvalds/linux/blob/master/Documentation/ABI/testing/sysfs-bus-pci",
        },
        super::NCCL_PATHS,
    ],
    reads: &["sys/bus/pci/devices/*/numa_node", "sys/devices/system/node/node*/cpulist", "lspci -vvv"],
    docs: "\
## What it checks
`numa_node` of each GPU and RDMA NIC, on machines with more than one NUMA node that has CPUs. -1 means that the firmware did not say
(no _PXM in ACPI). With a single node, and in virtual machines, -1 is normal and not judged.

## Why it matters
Drivers allocate near the device, job launchers pin near the device, NCCL groups by node: all from this number.

## See it yourself
`grep . /sys/bus/pci/devices/*/numa_node`, `nvidia-smi topo -m` (columns CPU and NUMA affinity).

## Fix
Update the BIOS, or look for a setting that hides the proximity (node interleaving). Until then the node can be written:
`echo N > /sys/bus/pci/devices/BDF/numa_node` taints the kernel and lasts until reboot.",
    myths: &[Myth {
        claim: "numa_node -1 means that the device is on node 0.",
        truth: "It means that nobody knows. Tools that print 0 guess.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let ends = || cx.node.pci.functions.iter().filter(|f| f.is_endpoint_of_path() && !f.is_vf());
    if cx.no_subjects(ends().next().is_some(), "GPU or RDMA NIC", out) {
        return;
    }
    let nodes = match cx.node.numa.known() {
        Some(all) if !all.is_empty() => Some(all.iter().filter(|n| !n.cpulist.is_empty()).count()),
        _ => None,
    };
    if let Some(0 | 1) = nodes {
        out.not_applicable("one NUMA node with CPUs: nothing to choose").at(cx.node.numa.place());
        return;
    }
    for f in ends() {
        judge(cx, f, nodes, out);
    }
}

/// Where NCCL puts it, as `linerate topo` shows.
fn nccl(cx: &Cx<'_>, f: &PciFunction<'_>) -> String {
    let tree = &cx.node.pci;
    let top = tree.find(f.bdf).map(|id| tree.get(linerate_topology::from_node::topmost(tree, id)));
    match top.and_then(|t| Some((t.bdf, *t.numa_node.known()?))) {
        Some((bdf, n)) if n >= 0 => format!("NCCL uses NUMA node {n}, that of {bdf} above it"),
        Some(_) => "NCCL gives it a NUMA node of its own, -1".to_owned(),
        None => "the NUMA node that NCCL uses is not known".to_owned(),
    }
}

fn judge<'o>(cx: &Cx<'_>, f: &PciFunction<'_>, nodes: Option<usize>, out: &'o mut Findings) -> &'o mut Finding {
    match (f.numa_node.known(), nodes) {
        (Some(n), _) if *n >= 0 => out.pass(f.bdf, format_args!("node {n}")).at(f.numa_node.place()),
        (Some(_), Some(n)) => out
            .fail(f.bdf, || {
                format!("{}: NUMA node unknown (-1) on a machine with {n} nodes; {}", cx.node.name_of(f), nccl(cx, f))
            })
            .at(f.numa_node.place())
            .at(cx.node.numa.place())
            .fix(|| {
                Remedy::bios(
                    "update the BIOS or switch node interleaving off; until then write the NUMA node by hand",
                    "node interleaving; PCIe proximity (_PXM)",
                    "off; reported",
                )
                .because("writing numa_node by hand taints the kernel")
                .prove(format!("sys/bus/pci/devices/{}/numa_node", f.bdf))
            }),
        (Some(_), None) => out
            .unknown(Subject::Pci(f.bdf), "node -1, and the number of NUMA nodes is not visible")
            .at(f.numa_node.place())
            .see("ls -d /sys/devices/system/node/node*"),
        (None, _) => out.unreadable(f.bdf, "NUMA node", &f.numa_node),
    }
}

//! `vm/numa`.

use super::{LIBVIRT, READS_HOST, each_with_host, edit, lay_out, subject};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Source};
use linerate_formats::libvirt::Domain;
use linerate_node::vms::Vm;

pub(super) static RULE: Rule = Rule {
    id: "vm/numa",
    title: "Each device is on the guest NUMA node whose memory comes from the device's host node",
    severity: Severities::up_to(Severity::Medium, Severity::High),
    roles: Roles::VM_HOST,
    effect: Effect::direction_only("processes and buffers are put on the other socket: all traffic of host memory crosses it"),
    sources: &[
        LIBVIRT,
        Source { title: "libvirt, Domain XML: NUMA node tuning", at: "https://libvirt.org/formatdomain.html#numa-node-tuning" },
    ],
    reads: READS_HOST,
    docs: "\
## What it checks
For GPUs and RDMA NICs of a host with several NUMA nodes: the node that the guest shows (the `<node>` of the expander bus above), and from which node of the host the memory of that guest node comes
(`<memnode>`). High where a device has no node in the guest although the host has several, or a wrong one; medium where memory is not bound.

## Why it matters
`numa_node` is -1 in the guest for what is not below an expander bus with a node. NCCL then has one CPU for all GPUs, and the kernel places interrupts and buffers anywhere.

## See it yourself
In the guest: `cat /sys/bus/pci/devices/*/numa_node`. On the host: `virsh dumpxml DOMAIN`, `<target busNr=…><node>`, and `<numatune>`.

## Fix
`linerate vm layout HOST --into DOMAIN.xml`: a guest node for each host node, memory strictly from it, expander buses bound to it.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each_with_host(cx, out, judge);
}

/// Nodes of the host that a cell's memory comes from; `None`: it is not bound.
fn memory_of(domain: &Domain, cell: u32) -> Option<Vec<u32>> {
    let of = |wanted| domain.memory_nodes.iter().find(|m| m.cell == wanted);
    let nodes = of(Some(cell)).or_else(|| of(None))?.nodes.as_ref()?;
    Some(nodes.iter().take(1024).collect())
}

fn judge(cx: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    let Some(placed) = super::placed(cx, vm, out) else { return };
    let Some(nodes) = cx.node.numa.known() else {
        out.unreadable(subject(vm), "NUMA nodes of the host", &cx.node.numa);
        return;
    };
    if nodes.iter().filter(|n| n.memory_kib != Some(0)).count() < 2 {
        out.not_applicable_to(subject(vm), "the host has one NUMA node").at(cx.node.numa.place());
        return;
    }
    let (mut right, mut unseen, mut unbound) = (0_usize, None, None);
    let mut wrong: Vec<(u32, String)> = Vec::new();
    for &(_, f, at, line) in placed.ends() {
        let Some(node) = f.numa_node.known().and_then(|n| u32::try_from(*n).ok()) else {
            unseen = unseen.or(Some(f));
            continue;
        };
        let cell = placed.tree.functions.get(at).and_then(|g| g.cell);
        match cell.map(|c| (c, memory_of(&vm.domain, c))) {
            None => wrong.push((line, format!("{} (host node {node}) has no node in the guest", f.bdf))),
            Some((cell, None)) => unbound = unbound.or(Some((line, cell))),
            Some((_, Some(from))) if from == [node] => right += 1,
            Some((cell, Some(from))) => {
                let from: Vec<String> = from.iter().map(ToString::to_string).collect();
                wrong.push((
                    line,
                    format!(
                        "{} (host node {node}) is on guest node {cell}, whose memory is of host node {}",
                        f.bdf,
                        from.join(",")
                    ),
                ));
            }
        }
    }
    if let Some((line, first)) = wrong.first() {
        let finding = out.fail(subject(vm), || match wrong.len() {
            1 => first.clone(),
            n => format!("{first}; {} more devices", n - 1),
        });
        finding.severity(Severity::High).at(vm.at(*line)).at(cx.node.numa.place());
        finding.fix(|| lay_out(vm, "give the guest the NUMA nodes of the host", true));
    } else if let Some((line, cell)) = unbound {
        out.fail(subject(vm), format_args!("the memory of guest node {cell} is bound to no node of the host"))
            .at(vm.at(line))
            .fix(|| {
                edit(
                    "bind the memory of each guest node",
                    "<memnode cellid='N' mode='strict' nodeset='HOST NODE'/> in <numatune>",
                )
            });
    } else if let Some(f) = unseen {
        out.unknown(subject(vm), format_args!("the NUMA node of {} is not known on the host", f.bdf))
            .at(f.numa_node.place());
    } else if right == 0 {
        out.not_applicable_to(subject(vm), "no GPU and no RDMA NIC of this host").at(vm.at(vm.domain.span.line));
    } else {
        out.pass(subject(vm), format_args!("{right} devices are on the guest node of their host node"))
            .at(vm.at(vm.domain.span.line))
            .at(cx.node.numa.place());
    }
}

//! `vm/pinning`.

use super::{each_with_host, lay_out, subject};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Source};
use linerate_formats::cpulist::{self, CpuList};
use linerate_node::vms::Vm;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    id: "vm/pinning",
    title: "Virtual CPUs run on the host node that their memory comes from",
    severity: Severities::up_to(Severity::Low, Severity::Medium),
    roles: Roles::VM_HOST,
    effect: Effect::direction_only("memory and interrupts of another socket: latency, and copies through host memory slow down"),
    sources: &[Source { title: "libvirt, Domain XML: CPU tuning", at: "https://libvirt.org/formatdomain.html#cpu-tuning" }],
    reads: &["virsh dumpxml", "sys/devices/system/node/node*/cpulist"],
    docs: "\
## What it checks
`<vcpupin>` of each virtual CPU, on a host with several NUMA nodes: the CPUs must be of one node, and of the one that the memory of the CPU's guest node comes from. Medium where a pin is wrong, low where there is none.

## Why it matters
The guest believes its nodes. A virtual CPU that runs on the other socket reads all of its memory from far.

## See it yourself
`virsh vcpupin DOMAIN`, `virsh numatune DOMAIN`; `lscpu | grep NUMA` on the host.

## Fix
One host CPU for each virtual CPU, of the right node; a core of each node left to the emulator (`<emulatorpin>`).",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each_with_host(cx, out, judge);
}

/// Whether two lists have a CPU in common.
fn overlap(a: &CpuList, b: &CpuList) -> bool {
    a.ranges.iter().any(|x| b.ranges.iter().any(|y| x.start() <= y.end() && y.start() <= x.end()))
}

fn judge(cx: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    let d = &vm.domain;
    let Some(nodes) = cx.node.numa.known() else {
        out.unreadable(subject(vm), "NUMA nodes of the host", &cx.node.numa);
        return;
    };
    let lists: Vec<(u32, CpuList)> = nodes
        .iter()
        .filter_map(|n| Some((n.id, cpulist::parse(&n.cpulist).filter(|l| !l.ranges.is_empty())?)))
        .collect();
    if lists.len() < 2 {
        out.not_applicable_to(subject(vm), "the host has one NUMA node with CPUs").at(cx.node.numa.place());
        return;
    }
    let pins: Vec<_> = d.pins.iter().filter_map(|p| Some((p.vcpu?, p.cpus.as_ref(), p.line))).collect();
    let own = vm.at(d.vcpus.as_ref().map_or(d.span.line, |v| v.line));
    for (vcpu, cpus, line) in &pins {
        let Some(cpus) = cpus else {
            out.unknown(subject(vm), format_args!("the pin of virtual CPU {vcpu} is not readable")).at(vm.at(*line));
            return;
        };
        let on: BTreeSet<u32> = lists.iter().filter(|(_, list)| overlap(cpus, list)).map(|(id, _)| *id).collect();
        let cell = d.cells.iter().find(|c| c.cpus.as_ref().is_some_and(|s| s.ranges.iter().any(|r| r.contains(vcpu))));
        let memory = cell.and_then(|c| d.memory_nodes.iter().find(|m| m.cell == Some(c.id)));
        let from: Option<BTreeSet<u32>> = memory.and_then(|m| m.nodes.as_ref()).map(|n| n.iter().take(1024).collect());
        let wrong = match (&from, on.len()) {
            (_, 0) => Some("on no CPU of the host's list".to_owned()),
            (_, 2..) => Some("on CPUs of several host nodes".to_owned()),
            (Some(from), _) if !from.is_superset(&on) => Some("on another host node than its memory".to_owned()),
            _ => None,
        };
        if let Some(wrong) = wrong {
            let finding = out.fail(subject(vm), format_args!("virtual CPU {vcpu} runs {wrong}"));
            finding.severity(Severity::Medium).at(vm.at(*line)).at(cx.node.numa.place());
            if let Some(m) = memory {
                finding.at(vm.at(m.line));
            }
            finding.fix(|| lay_out(vm, "pin each virtual CPU to the node of its memory", true));
            return;
        }
    }
    let pinned: BTreeSet<u32> = pins.iter().map(|p| p.0).collect();
    match d.vcpus.as_ref().map(|v| v.value) {
        None => out.unknown(subject(vm), "the number of virtual CPUs is not readable").at(own),
        Some(n) if (pinned.len() as u64) < u64::from(n) => out
            .fail(
                subject(vm),
                format_args!("{} of {n} virtual CPUs are pinned, on a host with several NUMA nodes", pinned.len()),
            )
            .at(own)
            .at(cx.node.numa.place())
            .fix(|| lay_out(vm, "pin each virtual CPU to the node of its memory", true)),
        Some(n) => out
            .pass(subject(vm), format_args!("{n} virtual CPUs run on the node of their memory"))
            .at(own)
            .at(cx.node.numa.place()),
    };
}

//! `vm/root-complex`.

use super::{LIBVIRT, QEMU_PXB, READS_HOST, each_with_host, lay_out, subject};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity};
use linerate_node::vms::Vm;
use std::collections::{BTreeMap, BTreeSet};

pub(super) static RULE: Rule = Rule {
    id: "vm/root-complex",
    title: "Each root complex of the host has an expander bus of its own in the guest",
    severity: Severities::up_to(Severity::Low, Severity::Medium),
    roles: Roles::VM_HOST,
    effect: Effect::direction_only("NCCL takes devices of several root complexes for devices of one, and their paths for shared"),
    sources: &[LIBVIRT, QEMU_PXB],
    reads: READS_HOST,
    docs: "\
## What it checks
Root complexes of the host that carry GPUs or RDMA NICs of the guest, and the root buses below which the guest has them. Medium where devices of several NUMA nodes share a root bus of the guest, low where
only root complexes of one node do.

## Why it matters
An expander bus (`pcie-expander-bus`) carries one NUMA node. One for all, or none, gives devices of several nodes one node, or none at all.

## See it yourself
`lspci -tv` on the host: one root (`[0000:15]`) for each root complex. In the domain: `<controller model='pcie-expander-bus'>`.

## Fix
`linerate vm layout HOST --into DOMAIN.xml`: an expander bus for each.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each_with_host(cx, out, judge);
}

/// What is below a root bus of the guest: root buses and nodes of the host, and a line.
type Below = (BTreeSet<(u32, u8)>, BTreeSet<i32>, u32);

fn judge(cx: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    let Some(placed) = super::placed(cx, vm, out) else { return };
    let pci = &cx.node.pci;
    let mut roots: BTreeMap<u8, Below> = BTreeMap::new();
    for &(id, f, at, line) in placed.ends() {
        let (above, complete) = pci.ancestors(id);
        if !complete {
            out.unknown(subject(vm), format_args!("the source does not show which root complex {} is below", f.bdf))
                .at(f.class.place())
                .see("capture the host with `linerate collect`");
            return;
        }
        let top = above.last().map_or(f.bdf, |top| pci.get(*top).bdf);
        let guest_top = placed.tree.above(at).last().unwrap_or(at);
        let bus = placed.tree.functions.get(guest_top).map_or(0, |f| f.bdf.bus);
        let entry = roots.entry(bus).or_insert_with(|| (BTreeSet::new(), BTreeSet::new(), line));
        entry.0.insert((top.domain, top.bus));
        entry.1.extend(f.numa_node.known().copied().filter(|n| *n >= 0));
    }
    if roots.is_empty() {
        out.not_applicable_to(subject(vm), "no GPU and no RDMA NIC of this host").at(vm.at(vm.domain.span.line));
        return;
    }
    let worst = roots.values().filter(|r| r.0.len() > 1).max_by_key(|r| (r.1.len(), r.0.len()));
    match worst {
        Some((complexes, nodes, line)) => {
            let finding = out.fail(
                subject(vm),
                format_args!(
                    "devices of {} root complexes of the host, of {} NUMA nodes, are below one root bus of the guest",
                    complexes.len(),
                    nodes.len().max(1)
                ),
            );
            finding.at(vm.at(*line)).at(pci.seen);
            if nodes.len() > 1 {
                finding.severity(Severity::Medium);
            }
            finding.fix(|| lay_out(vm, "make an expander bus for each root complex", false));
        }
        None => {
            out.pass(subject(vm), format_args!("{} root buses, each of one root complex", roots.len()))
                .at(vm.at(vm.domain.span.line))
                .at(pci.seen);
        }
    }
}

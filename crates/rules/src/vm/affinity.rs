//! `vm/affinity`.

use super::{NCCL_VIRTUAL, READS_HOST, each_with_host, lay_out, subject};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity};
use linerate_node::pci::{Distance, Kind};
use linerate_node::vms::Vm;

pub(super) static RULE: Rule = Rule {
    id: "vm/affinity",
    title: "A GPU and a NIC are as near in the guest as on the host",
    severity: Severities::up_to(Severity::Medium, Severity::High),
    roles: Roles::VM_HOST,
    effect: Effect::direction_only("NCCL gives a GPU a far NIC, or uses no GPUDirect RDMA: beyond PXB it does not by default"),
    sources: &[crate::numa::NCCL_PATHS, NCCL_VIRTUAL],
    reads: READS_HOST,
    docs: "\
## What it checks
For each pair of a passed GPU and a passed RDMA NIC: its distance on the host (PIX, PXB, PHB, SYS) and the one that the guest will show, by the domain's tree and the NUMA nodes of its expander buses.
High where a pair that is below one switch of the host is not in the guest, or the other way round; medium where only nodes differ.

## Why it matters
NCCL reads the guest's /sys and no other: what is near there gets the traffic.

## See it yourself
`nvidia-smi topo -m` on the host and in the guest.

## Fix
`linerate vm layout HOST --into DOMAIN.xml`. Where the provider decides the tree: `linerate vm nccl` writes a topology file for the guest (NCCL_TOPO_FILE).",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each_with_host(cx, out, judge);
}

fn judge(cx: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    let Some(placed) = super::placed(cx, vm, out) else { return };
    let pci = &cx.node.pci;
    let (mut same, mut unseen, mut differ) = (0_usize, 0_usize, Vec::new());
    for (gpu, g, a, line) in placed.functions.iter().filter(|(_, f, ..)| f.kind.is_gpu()) {
        for (nic, n, b, _) in placed.functions.iter().filter(|(_, f, ..)| f.kind == Kind::RdmaNic) {
            let (here, there) = (pci.path(*gpu, *nic).distance, placed.tree.distance(*a, *b));
            match (here, there) {
                (Distance::Unknown, _) | (_, Distance::Unknown) => unseen += 1,
                _ if here == there => same += 1,
                _ => differ.push((g.bdf, n.bdf, here, there, *line)),
            }
        }
    }
    let pairs = same + unseen + differ.len();
    if pairs == 0 {
        out.not_applicable_to(subject(vm), "no GPU together with an RDMA NIC").at(vm.at(vm.domain.span.line));
        return;
    }
    let Some((gpu, nic, here, there, line)) = differ.first() else {
        if unseen > 0 {
            out.unknown(
                subject(vm),
                format_args!("how near {unseen} of {pairs} pairs are on the host is not in this source"),
            )
            .at(pci.seen)
            .see("capture the host with `linerate collect` as root");
        } else {
            out.pass(subject(vm), format_args!("{pairs} pairs of GPU and NIC are as near as on the host"))
                .at(vm.at(vm.domain.span.line))
                .at(pci.seen);
        }
        return;
    };
    let of_switch = |d: Distance| matches!(d, Distance::Pix | Distance::Pxb);
    let is_switch = differ.iter().any(|d| of_switch(d.2) != of_switch(d.3));
    let finding = out.fail(subject(vm), || {
        format!("{} of {pairs} pairs of GPU and NIC are nearer or farther than on the host: {gpu} and {nic} are {here} on the host, {there} in the guest", differ.len())
    });
    finding.at(vm.at(*line)).at(pci.seen);
    if is_switch {
        finding.severity(Severity::High);
    }
    finding.fix(|| lay_out(vm, "give the guest the PCI tree of the host", false));
}

//! `vm/one-switch`.

use super::{NCCL_VIRTUAL, Placed, QEMU_PCIE, READS_HOST, each, lay_out, subject};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity};
use linerate_formats::libvirt::Model;
use linerate_node::pci::FnId;
use linerate_node::vms::Vm;
use linerate_vm::guest::{Guest, What};
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    id: "vm/one-switch",
    title: "No virtual switch holds devices that are below several switches of the host",
    severity: Severities::always(Severity::High),
    roles: Roles::VM_HOST,
    effect: Effect::measured("NCCL takes every GPU and NIC for neighbours of one switch: rails are mixed, and traffic crosses the host's sockets; a tenth of bare metal was seen on 8 GPUs and 8 NICs"),
    sources: &[NCCL_VIRTUAL, QEMU_PCIE],
    reads: READS_HOST,
    docs: "\
## What it checks
Devices of the host that are below one virtual upstream port in the guest: whether they are below one switch of the host, too.

## Why it matters
NCCL decides by the tree that the guest shows. Below one upstream port each pair of GPU and NIC is PIX: it uses GPUDirect RDMA with any NIC, also one of the other socket, and divides
one uplink, which does not exist, among all GPUs. The virtual switch itself carries no data.

## See it yourself
In the domain: `<controller model='pcie-switch-upstream-port'>`, and which downstream ports have its index as `bus`. In the guest `lspci -tv`: one branch that holds all.

## Fix
One upstream port for each switch of the host: `linerate vm layout HOST --into DOMAIN.xml`.",
    myths: &[Myth {
        claim: "One virtual upstream port for 16 devices is a bottleneck.",
        truth: "It carries no data. What is slow is what NCCL chooses because of it.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each(cx, out, judge);
}

/// The lowest virtual upstream port above a function of the guest.
fn upstream(tree: &Guest, of: usize) -> Option<usize> {
    tree.above(of).find(|p| tree.functions.get(*p).is_some_and(|f| f.what == What::Bridge(Model::UpstreamPort)))
}

fn judge(cx: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    let Placed { tree, functions, lost } = Placed::of(cx, vm);
    let mut ports: BTreeSet<usize> = BTreeSet::new();
    let mut worst: Option<(usize, usize, usize)> = None;
    let mut unseen: Option<usize> = None;
    for (at, f) in tree.functions.iter().enumerate() {
        if matches!(f.what, What::Host(_)) {
            ports.extend(upstream(&tree, at));
        }
    }
    for port in &ports {
        let below = functions.iter().filter(|(_, f, ..)| f.is_endpoint_of_path());
        let below: Vec<FnId> = below.filter(|(.., at, _)| upstream(&tree, *at) == Some(*port)).map(|f| f.0).collect();
        if cx.node.pci.seen.is_none() || below.iter().any(|id| !cx.node.pci.ancestors(*id).1) {
            unseen = unseen.or(Some(*port));
            continue;
        }
        // The port of the host that is two above a device is its switch's upstream port; without a switch, the device alone.
        let switches: BTreeSet<FnId> =
            below.iter().map(|id| *cx.node.pci.ancestors(*id).0.get(1).unwrap_or(id)).collect();
        if switches.len() > 1 && worst.is_none_or(|w| switches.len() > w.1) {
            worst = Some((*port, switches.len(), below.len()));
        }
    }
    let line = |port: usize| vm.at(tree.functions.get(port).map_or(vm.domain.span.line, |f| f.line));
    match (worst, unseen) {
        (Some((port, switches, devices)), _) => {
            out.fail(
                subject(vm),
                format_args!("{devices} GPUs and NICs are below one virtual upstream port; on the host they are below {switches} switches or root ports"),
            )
            .at(line(port))
            .at(cx.node.pci.seen)
            .fix(|| lay_out(vm, "make one virtual switch for each switch of the host", false));
        }
        (None, Some(port)) => {
            out.unknown(
                subject(vm),
                "devices share a virtual switch; whether they do on the host is not in this source",
            )
            .at(line(port))
            .see("linerate vm check DOMAIN.xml --host SNAPSHOT");
        }
        (None, None) if !lost.is_empty() => {
            super::unplaced(vm, &lost, out);
        }
        (None, None) => {
            out.pass(subject(vm), format_args!("{} virtual switches, each of one switch of the host", ports.len()))
                .at(vm.at(vm.domain.span.line));
        }
    }
}

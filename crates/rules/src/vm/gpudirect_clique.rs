//! `vm/gpudirect-clique`.

use super::{READS_HOST, each_with_host, edit, functions, subject};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Source};
use linerate_node::pci::{FnId, Kind};
use linerate_node::vms::Vm;
use linerate_vm::clique::{PROPERTY, unfit};

pub(super) static RULE: Rule = Rule {
    id: "vm/gpudirect-clique",
    title: "GPUs of a guest that may reach each other over PCIe are in one clique",
    severity: Severities::up_to(Severity::Low, Severity::Medium),
    roles: Roles::VM_HOST,
    effect: Effect::sourced("the driver in the guest offers no peer-to-peer copies between GPUs over PCIe: data takes a copy in host memory"),
    sources: &[Source {
        title: "QEMU hw/vfio/pci-quirks.c: NVIDIA GPUDirect clique capability",
        at: "https://gitlab.com/qemu-project/qemu/-/blob/master/hw/vfio/pci-quirks.c",
    }],
    reads: READS_HOST,
    docs: "\
## What it checks
Where a guest has two or more NVIDIA GPUs of the data centre (Turing, Ampere, Ada Lovelace, Hopper) and no NVSwitch: whether each has `x-nv-gpudirect-clique`. Medium where two of them share a PCIe switch of the host, low otherwise.
GPUDirect RDMA between GPU and NIC needs no clique.

## Why it matters
The guest's driver cannot see which GPUs of the host really reach each other. It offers peer-to-peer only within a clique that the hypervisor vouches for by a vendor-specific capability.

## See it yourself
In the guest `nvidia-smi topo -p2p r`: `CNS`, not supported by the chipset. In the domain: `<qemu:override>`.

## Fix
`<qemu:property name='x-nv-gpudirect-clique' type='unsigned' value='N'/>` for each GPU's alias, one number for GPUs that reach each other on the host.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each_with_host(cx, out, judge);
}

fn judge(cx: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    let pci = &cx.node.pci;
    let own = vm.at(vm.domain.span.line);
    if let Some((_, f)) = pci.of_kind(Kind::NvSwitch).next() {
        out.not_applicable_to(subject(vm), "NVSwitches of the host join its GPUs").at(f.class.place());
        return;
    }
    let gpus: Vec<(FnId, _, u32)> = functions(cx, vm)
        .filter(|(_, f, _)| f.kind == Kind::Gpu)
        .filter(|(id, ..)| unfit(cx.node, *id).is_none())
        .collect();
    if gpus.len() < 2 {
        out.not_applicable_to(subject(vm), format_args!("{} GPUs for which there are cliques", gpus.len())).at(own);
        return;
    }
    let by_argument = vm.domain.arguments.iter().find(|a| a.value.contains(PROPERTY));
    if let Some(argument) = by_argument {
        out.unknown(subject(vm), "cliques are set by an argument for QEMU, which is not read").at(vm.at(argument.line));
        return;
    }
    let set = |bdf| {
        let alias = vm.domain.hostdevs.iter().find(|h| h.source == Some(bdf))?.alias.as_deref()?;
        let of = vm.domain.overrides.iter().find(|o| o.alias == alias)?;
        of.properties.iter().find(|p| p.name == PROPERTY)
    };
    let without: Vec<_> = gpus.iter().filter(|(_, f, _)| set(f.bdf).is_none()).collect();
    if let Some((_, f, line)) = without.first() {
        let near =
            gpus.iter().enumerate().any(|(i, a)| gpus.iter().skip(i + 1).any(|b| pci.path(a.0, b.0).common.is_some()));
        let finding = out.fail(
            subject(vm),
            format_args!("{} of {} GPUs are in no clique, {} first", without.len(), gpus.len(), f.bdf),
        );
        finding.at(vm.at(*line)).at(f.class.place());
        if near {
            finding.severity(Severity::Medium);
        }
        finding.fix(|| {
            edit(
                "put GPUs that reach each other in one clique",
                "linerate vm layout HOST --clique --into DOMAIN.xml writes <qemu:override>",
            )
        });
    } else if vm.domain.hides_kvm {
        out.fail(
            subject(vm),
            "cliques are set, and <kvm><hidden state='on'/> hides the hypervisor from the driver that asks for them",
        )
        .at(own)
        .fix(|| {
            edit("do not hide KVM", "remove <hidden state='on'/> of <kvm>: drivers of data-centre GPUs need none of it")
        });
    } else {
        let places: Vec<_> = gpus.iter().filter_map(|(_, f, _)| set(f.bdf)).map(|p| vm.at(p.line)).take(4).collect();
        out.pass(subject(vm), format_args!("{} GPUs are in cliques", gpus.len())).at_all(places);
    }
}

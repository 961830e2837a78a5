//! `iommu/translated-domain`.

use crate::cmdline::words::asked_domain;
use crate::{Action, Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};
use linerate_node::iommu::DomainType;
use linerate_node::pci::PciFunction;
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "iommu/translated-domain",
    title: "DMA of GPUs and RDMA NICs is not translated by the IOMMU",
    severity: Severities::always(Severity::High),
    roles: Roles::BARE_METAL.or(Roles::VM_GUEST),
    effect: Effect::sourced("unsupported for GPUDirect RDMA: faults, hangs, corruption, or every peer-to-peer packet through the root complex"),
    sources: &[
        Source {
            title: "GPUDirect RDMA, Supported Systems, IOMMUs: must be disabled or configured for pass-through translation",
            at: "https://docs.nvidia.com/cuda/gpudirect-rdma/#supported-systems",
        },
        Source {
            title: "Linux ABI: /sys/kernel/iommu_groups/<grp_id>/type",
            at: "https://github.com/torvalds/linux/blob/master/Documentation/ABI/testing/sysfs-kernel-iommu_groups",
        },
    ],
    reads: &["sys/kernel/iommu_groups/*/type", "sys/bus/pci/devices/*/iommu_group"],
    docs: "\
## What it checks
The type of the default domain of the IOMMU group of each GPU and each RDMA NIC function that the host's own drivers use.
`identity`, or no group at all, is right; `DMA` (strict) and `DMA-FQ` (lazy) are translated. A node without a GPU is not judged: RDMA of
host memory works in translated domains, which are the kernel's default.

## Why it matters
GPUDirect RDMA relies on all devices seeing the same physical addresses. In a translated domain the NIC is either handed an
address that the IOMMU does not map (fault, hang, corruption), or an I/O virtual address that no PCIe switch can route to
the peer: each packet climbs to the root complex, through the IOTLB, and back down.

## See it yourself
`cat /sys/kernel/iommu_groups/$(basename $(readlink /sys/bus/pci/devices/BDF/iommu_group))/type`. The file exists since Linux 5.11.
A device bound to vfio-pci is not judged by it: the virtual machine has its own domain.

## Fix
`iommu=pt` (x86) or `iommu.passthrough=1` (any architecture) on the kernel command line, then reboot; read the type again.
It does not switch ACS redirection off: see acs/redirect-on-p2p-path. On a SEV-SNP host translation is required.",
    myths: &[
        Myth {
            claim: "`strict` is another word for translated, and costs 20–30 %.",
            truth: "Strict and lazy are flush policies of a translated domain. Translated at all is the problem; the number has no source.",
        },
        Myth {
            claim: "iommu=pt is mandatory for performance.",
            truth: "Only if an IOMMU is active. With none in use, GPUDirect RDMA works the same: the packets on the bus are identical.",
        },
    ],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let ends = || cx.node.pci.functions.iter().filter(|f| f.is_endpoint_of_path());
    if cx.no_subjects(ends().next().is_some(), "GPU or RDMA NIC", out) || cx.no_gpu(out) {
        return;
    }
    for f in ends() {
        judge(cx, f, out);
    }
}

fn judge<'o>(cx: &Cx<'_>, f: &PciFunction<'_>, out: &'o mut Findings) -> &'o mut Finding {
    if f.driven_by("vfio-pci") {
        return out
            .not_applicable_to(f.bdf, "bound to vfio-pci: the virtual machine has its own domain")
            .at(f.driver.place());
    }
    let group = match &f.iommu_group {
        Reading::Known(id, place) => (*id, *place),
        Reading::Absent(place) => {
            return out.pass(f.bdf, "in no IOMMU group: DMA is not translated").at_noting(*place, "no such link");
        }
        r @ Reading::Unreadable(..) => {
            return out.unreadable(f.bdf, "IOMMU group", r);
        }
    };
    let Some(found) = cx.node.iommu.group(group.0) else {
        return out
            .unknown(f.bdf, format_args!("type of IOMMU group {} is not in this source", group.0))
            .at(group.1)
            .see("cat /sys/kernel/iommu_groups/*/type, or capture with `linerate collect`");
    };
    match &found.domain {
        Reading::Known(domain, place) if domain.translated() => {
            let arg = if cx.node.cpu.is_x86() { "iommu=pt" } else { "iommu.passthrough=1" };
            out.fail(f.bdf, format_args!("group {} is translated ({domain})", group.0))
                .at(*place)
                .fix(|| remedy(cx, arg).prove(format!("sys/bus/pci/devices/{}/iommu_group/type", f.bdf)))
        }
        Reading::Known(DomainType::Identity, place) => {
            out.pass(f.bdf, format_args!("group {} is identity", group.0)).at(*place)
        }
        Reading::Known(domain, place) => out
            .unknown(f.bdf, format_args!("group {} is {domain}: its owner decides, not the host's drivers", group.0))
            .at(*place),
        r => out.unreadable(f.bdf, "type of the IOMMU group (exists since Linux 5.11)", r),
    }
}

fn remedy(cx: &Cx<'_>, arg: &'static str) -> Remedy {
    if super::ends::snp_wanted(cx).is_some() {
        let what = "SEV-SNP needs translation: pass GPU and NIC to guests instead, or give up SEV-SNP on this node";
        return Remedy::investigate(what, what).because("passthrough switches SEV-SNP off");
    }
    let asked = cx.node.kernel.cmdline.known().and_then(|c| asked_domain(cx, c));
    if asked.is_some_and(|a| a.identity) {
        let what = "passthrough is asked for already: iommu/domain-not-as-asked lists what overrides it";
        return Remedy::investigate(what, what);
    }
    // Of several words the last one holds (`iommu_setup`, `iommu_set_def_domain_type`): all that ask for translation go, wherever they stand.
    let line = cx.node.kernel.cmdline.known();
    let contrary = line.into_iter().flat_map(|c| crate::cmdline::words::asking(cx, c, false));
    let contrary = contrary.map(|p| crate::cmdline::words::short(&p.raw).into()).collect();
    Remedy::new(format!("boot with {arg}"), Action::KernelArgs { add: vec![arg.into()], remove: contrary })
        .because("host DMA is no longer confined by the IOMMU; SEV-SNP hosts need translation")
}

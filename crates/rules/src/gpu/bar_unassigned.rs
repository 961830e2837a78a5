//! `gpu/bar-unassigned`.

use super::GDR_DOC;
use crate::sources::linux;
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};
use linerate_formats::dmesg::Event;
use linerate_node::pci::{Bar, PciFunction};
use linerate_snapshot::Place;

pub(super) static RULE: Rule = Rule {
    id: "gpu/bar-unassigned",
    title: "Every memory region of GPUs and RDMA NICs has an address",
    severity: Severities::always(Severity::Critical),
    roles: Roles::ALL,
    effect: Effect::sourced("the driver does not start the device"),
    sources: &[
        linux!("drivers/pci/setup-res.c", "`can't assign; no space`"),
        Source {
            title: "open-gpu-kernel-modules, nv.c: `This PCI I/O region assigned to your NVIDIA device is invalid`",
            at: "https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/nvidia/nv.c",
        },
        GDR_DOC,
    ],
    reads: &["sys/bus/pci/devices/*/resource", "lspci -vv", "dmesg"],
    docs: "\
## What it checks
Memory regions of GPUs and RDMA NICs that have a size and no address, and the kernel's and the driver's lines about them.

## Why it matters
A GPU with a 128 GiB aperture needs that much 64-bit address space below each bridge. If firmware keeps everything below 4 GiB, or its window
is too small, the region stays without an address and the driver refuses the device.

## See it yourself
`dmesg | grep -E \"can't assign|no space|I/O region\"`; `lspci -vv -s BDF | grep Region`: `<unassigned>`.

## Fix
Firmware setup: Above 4G Decoding on, MMIO high base and size large (eight GPUs of 128 GiB: 2 TiB). In a VM: a larger 64-bit window and the
host's physical address bits.",
    myths: &[Myth {
        claim: "pci=realloc,assign-busses is needed for GPUDirect.",
        truth: "realloc is a workaround for windows that firmware made too small, worth a try only where assignment failed. assign-busses renumbers every bus and breaks whatever names devices by address.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let ends = || cx.node.pci.functions.iter().filter(|f| f.is_endpoint_of_path() && !f.is_vf() && f.silent.is_none());
    if cx.no_subjects(ends().next().is_some(), "GPU or RDMA NIC", out) {
        return;
    }
    let logged: Vec<(linerate_formats::pci::Bdf, Place)> = cx
        .node
        .kernel
        .events(|e| match e {
            Event::BarNotAssigned { bdf, .. } | Event::NvidiaBarInvalid { bdf } => *bdf,
            _ => None,
        })
        .collect();
    for f in ends() {
        let log = logged.iter().find(|(b, _)| *b == f.bdf).map(|(_, p)| *p);
        judge(f, log, out);
    }
}

fn judge(f: &PciFunction<'_>, log: Option<Place>, out: &mut Findings) {
    let lost: Option<&Bar> = f.bars.list.iter().find(|b| b.size > 0 && b.address.is_none());
    match (lost, f.bars.list.first()) {
        (Some(b), _) => {
            out.fail(f.bdf, format_args!("region {} of {} MiB has no address", b.index, b.size >> 20))
                .at(b.place)
                .fix(|| fix(f))
                .at(log);
        }
        (None, Some(b)) => {
            let finding = out.pass(f.bdf, format_args!("all {} memory regions have addresses", f.bars.list.len()));
            finding.at(b.place);
            if let Some(p) = log {
                finding.at_noting(p, "failed at first, assigned later");
            }
        }
        (None, None) => match log {
            Some(p) => {
                out.fail(f.bdf, "the kernel or the driver could not use a memory region").at(p).fix(|| fix(f));
            }
            None => {
                out.unknown(f.bdf, "memory regions are not in this source")
                    .at(f.express.place())
                    .see("`lspci -vv`, or capture with `linerate collect`");
            }
        },
    }
}

fn fix(f: &PciFunction<'_>) -> Remedy {
    Remedy::bios(
        "switch Above 4G Decoding on and enlarge the MMIO window in the firmware setup",
        "Above 4G Decoding, MMIO high base and size",
        "enabled, large enough for all GPUs",
    )
    .because("changes the memory map")
    .prove(format!("sys/bus/pci/devices/{}/resource", f.bdf))
}

//! `gpu/bar1-size`.

use super::GDR_DOC;
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Words};
use linerate_node::context::Role;
use linerate_node::pci::PciFunction;
use linerate_snapshot::{Place, Reading};

pub(super) static RULE: Rule = Rule {
    id: "gpu/bar1-size",
    title: "BAR1 of each GPU covers its whole memory",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("registering more GPU memory than BAR1 holds fails (ENOMEM)"),
    sources: &[
        GDR_DOC,
        Source {
            title: "open-gpu-kernel-modules, nv-reg.h: NVreg_EnableResizableBar",
            at: "https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/nvidia/nv-reg.h",
        },
    ],
    reads: &["nvidia-smi -q", "sys/bus/pci/devices/*/{resource,config}", "lspci -vv"],
    docs: "\
## What it checks
The aperture through which other devices reach GPU memory (NVIDIA's BAR1: the GPU's largest memory region) against the size of that memory
as nvidia-smi reports it. Without nvidia-smi: against the largest size of the Resizable BAR capability, and against 256 MiB, less than any
data-centre GPU holds.

## Why it matters
GPUDirect RDMA maps GPU memory through BAR1. With 256 MiB only small buffers can be registered; the rest fails or goes through host memory.

## See it yourself
`nvidia-smi -q -d MEMORY`: `BAR1 Memory Usage`, `Total`, against `FB Memory Usage`. `lspci -vv`: the region with the largest size. It is PCI
region 1 on older boards and region 2 where BAR0 is 64 bits wide (H100).

## Fix
Firmware setup: Above 4G Decoding, a large MMIO window, Resizable BAR. `NVreg_EnableResizableBar=1` lets the driver enlarge it. Workstation
boards have a display mode tool. In a VM: a larger 64-bit window (OVMF: `opt/ovmf/X-PciMmio64Mb`).",
    myths: &[Myth {
        claim: "BAR1 is PCI region 1.",
        truth: "BAR1 is NVIDIA's name for the memory aperture. Where BAR0 takes two registers, it is region 2.",
    }],
    check,
};

const MIB: u64 = 1 << 20;

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let gpus = || cx.node.pci.nvidia_gpus().filter(|(_, f)| f.silent.is_none() && !f.is_vf());
    if cx.no_subjects(gpus().next().is_some(), "GPU", out) {
        return;
    }
    for (id, f) in gpus() {
        // Peer memory is refused on these products whatever the size of the aperture.
        if super::gdr_capable::is_consumer(cx, f) {
            out.not_applicable_to(f.bdf, "the product does not support GPUDirect RDMA").at(f.class.place());
        } else {
            // Where no NIC is below the same switch, NCCL by default asks no NIC to reach this GPU.
            let alone = shows_no_near_nic(cx, id);
            let before = out.list.len();
            judge(cx, f, out);
            if alone {
                for finding in out.list.iter_mut().skip(before).filter(|f| f.status == crate::Status::Fail) {
                    finding.severity(crate::Severity::Info);
                }
            }
        }
    }
}

/// Whether the NICs are seen, and none is below a switch of the GPU's: by default NCCL does not use GPUDirect RDMA with it then.
fn shows_no_near_nic(cx: &Cx<'_>, gpu: linerate_node::pci::FnId) -> bool {
    let mut nics = cx.node.pci.nearest_nics(gpu).into_iter().peekable();
    nics.peek().is_some() && nics.all(|(_, path)| path.common.is_none())
}

/// Less than any GPU has as its aperture, and more than its registers (16 MiB and up) or the third region (32 MiB) take.
const SMALLEST: u64 = 64 * MIB;

/// What the source says of the aperture.
enum Aperture {
    /// MiB.
    Size(u64, Place),
    /// That there is no BAR1, in words.
    Missing(String, Place),
    Unseen,
}

/// The driver's word, else the largest region.
fn aperture(cx: &Cx<'_>, f: &PciFunction<'_>) -> Aperture {
    if let Some(Reading::Known(mib, p)) = cx.node.nvidia.gpu(f.bdf).map(|g| &g.bar1_mib) {
        return match mib {
            0 => Aperture::Missing("nvidia-smi reports no BAR1 (0 MiB)".to_owned(), *p),
            mib => Aperture::Size(*mib, *p),
        };
    }
    let bars = &f.bars.list;
    match bars.iter().max_by_key(|b| b.size) {
        Some(bar) if bar.size >= SMALLEST => Aperture::Size(bar.size / MIB, bar.place),
        Some(bar) if bars.iter().all(|b| b.size > 0) => {
            let size = if bar.size < MIB { format!("{} KiB", bar.size >> 10) } else { mib(bar.size / MIB) };
            Aperture::Missing(format!("BAR1 is not among its memory regions: the largest has {size}"), bar.place)
        }
        _ => Aperture::Unseen,
    }
}

fn judge(cx: &Cx<'_>, f: &PciFunction<'_>, out: &mut Findings) {
    let (bar1, at) = match aperture(cx, f) {
        Aperture::Size(mib, at) => (mib, at),
        Aperture::Missing(what, at) => {
            out.unknown(f.bdf, what).at(at).see(
                "`nvidia-smi -q -d MEMORY`; `lspci -vv` and the kernel log for a region without an address; a GPU that shares the processor's memory has no BAR1",
            );
            return;
        }
        Aperture::Unseen => {
            out.unknown(f.bdf, "size of BAR1 is not in this source")
                .at(f.express.place())
                .see("`nvidia-smi -q`, `lspci -vv`, or capture with `linerate collect`");
            return;
        }
    };
    let largest = f.rebar.known().and_then(|r| {
        let bars = r.bars.iter().flatten();
        // Those of virtual functions are another capability; the aperture is the largest entry.
        bars.filter(|b| b.supported_mib_log2 != 0)
            .map(|b| 1_u64 << (63 - b.supported_mib_log2.leading_zeros()).min(62))
            .max()
    });
    match cx.node.nvidia.gpu(f.bdf).map(|g| &g.fb_mib) {
        Some(Reading::Known(fb, fb_at)) if bar1 < *fb => {
            small(cx, f, || format!("BAR1 {} of {} of memory", mib(bar1), mib(*fb)), largest, out).at(at).at(*fb_at);
        }
        Some(Reading::Known(fb, fb_at)) => {
            out.pass(f.bdf, || format!("BAR1 {} covers {} of memory", mib(bar1), mib(*fb))).at(at).at(*fb_at);
        }
        _ if largest.is_some_and(|l| bar1 < l) => {
            let l = largest.unwrap_or_default();
            small(cx, f, || format!("BAR1 {}, which could be {}", mib(bar1), mib(l)), largest, out)
                .at(at)
                .at(f.rebar.place());
        }
        // Hypervisors hide Resizable BAR (QEMU's vfio_add_ext_cap): whether the board has no more, or the guest was given less, is not visible.
        _ if bar1 <= 256 && largest.is_none() && cx.node.context.role.value == Some(Role::VmGuest) => {
            out.unknown(f.bdf, || format!("BAR1 {}; whether this board has more is not visible in a guest", mib(bar1)))
                .at(at)
                .see("add the output of `nvidia-smi -q`, or `lspci -vv` of the host");
        }
        _ if bar1 <= 256 => {
            small(cx, f, || format!("BAR1 {}", mib(bar1)), largest, out).at(at);
        }
        _ if largest == Some(bar1) => {
            out.pass(f.bdf, || format!("BAR1 {}, the largest size that the GPU offers", mib(bar1)))
                .at(at)
                .at(f.rebar.place());
        }
        _ => {
            out.unknown(f.bdf, || format!("BAR1 {}; the size of the GPU's memory is not in this source", mib(bar1)))
                .at(at)
                .see("add the output of `nvidia-smi -q`");
        }
    }
}

fn small<'o>(
    cx: &Cx<'_>,
    f: &PciFunction<'_>,
    message: impl Words,
    largest: Option<u64>,
    out: &'o mut Findings,
) -> &'o mut crate::Finding {
    let what = || {
        match largest {
        Some(l) => format!("enlarge BAR1 to {}: Above 4G Decoding and Resizable BAR in the firmware setup", mib(l)),
        None => "Above 4G Decoding in the firmware setup; a board without Resizable BAR needs its display mode tool, if it has one".to_owned(),
    }
    };
    let finding = out.fail(f.bdf, message);
    let guest = cx.node.context.role.value == Some(Role::VmGuest);
    if !guest
        && f.rebar.is_absent()
        && !cx.node.pci.iter().any(|(_, o)| o.device.known() == f.device.known() && largest_bar(f) < largest_bar(o))
    {
        // A board whose aperture has one size, as the T4's 256 MiB: nothing can be enlarged.
        return finding.severity(Severity::Info);
    }
    if guest {
        return finding.fix(|| {
            Remedy::host_side(
                "give the guest a larger 64-bit window, or enlarge BAR1 on the host",
                "64-bit MMIO window of the guest's firmware (OVMF: opt/ovmf/X-PciMmio64Mb); BAR1 on the host",
            )
            .because("the guest restarts with another memory map")
            .prove(format!("sys/bus/pci/devices/{}/resource", f.bdf))
        });
    }
    finding.fix(|| {
        Remedy::bios(what(), "Above 4G Decoding, Resizable BAR, MMIO high size", "enabled")
            .because("changes the memory map")
            .prove(format!("sys/bus/pci/devices/{}/resource", f.bdf))
    })
}

fn mib(n: u64) -> String {
    if n >= 1024 && n.is_multiple_of(1024) { format!("{} GiB", n / 1024) } else { format!("{n} MiB") }
}

fn largest_bar(f: &PciFunction<'_>) -> u64 {
    f.bars.list.iter().map(|b| b.size).max().unwrap_or(0)
}

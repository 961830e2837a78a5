//! `pcie/ten-bit-tags`.

use super::{PCI_REGS, PHYSICAL, links};
use crate::{Cx, Effect, Finding, Findings, Rule, Severities, Severity, Source};
use linerate_node::pci::{ExpressRegister, Kind, PciFunction};

pub(super) static RULE: Rule = Rule {
    id: "pcie/ten-bit-tags",
    title: "RDMA NICs have enough tags for the reads that their link needs in flight",
    severity: Severities::always(Severity::Low),
    roles: PHYSICAL,
    effect: Effect::derived("reads in flight × read size bounds the sending rate: 256 × 512 bytes cover 2.1 µs of a 32 GT/s x16 link"),
    sources: &[
        PCI_REGS,
        Source {
            title: "PCI Express base specification 4.0, 10-bit tags (DevCap2 bits 16 and 17, DevCtl2 bit 12)",
            at: "https://pcisig.com/specifications",
        },
    ],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vv (pciutils 3.7 or later prints DevCtl2's 10BitTagReq)"],
    docs: "\
## What it checks
For RDMA NICs that can use 10-bit tags: whether they do, and if not, whether 256 tags times MaxReadReq cover 3 µs at the link's rate. 3 µs is
a loaded round trip to memory on the far socket, from experience.

## Why it matters
Bandwidth = bytes in flight / latency. At 63 GB/s and 2 µs 126 KB must be in flight. With 8-bit tags and 512-byte reads there are 128 KiB; with
4096-byte reads there is 1 MiB, and tags do not limit.

## See it yourself
`sudo lspci -vvv -s BDF | grep 10BitTagReq`: the first is DevCap2 (can), the second DevCtl2 (does). Old pciutils print only the first.

## Fix
Firmware sets it, where root port and switches complete 10-bit tags: look for `10-bit tag` in the firmware setup. Raising MaxReadReq to
4096 removes the need (pcie/max-read-request). Do not set the bit by hand: a path that cannot complete 10-bit tags loses completions.",
    myths: &[],
    check,
};

/// Loaded round trip that reads in flight should cover.
const COVER_US: f64 = 3.0;

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let nics: Vec<_> = links::ends(cx).into_iter().filter(|(_, f)| f.kind == Kind::RdmaNic).collect();
    if cx.no_subjects(!nics.is_empty(), "RDMA NIC", out) {
        return;
    }
    for (_, f) in nics {
        judge(cx, f, out);
    }
}

fn judge<'o>(cx: &Cx<'_>, f: &PciFunction<'_>, out: &'o mut Findings) -> &'o mut Finding {
    let Some(e) = f.express.known() else {
        return out.unreadable(f.bdf, "tags", &f.express);
    };
    let (can_at, at) = (f.express_place(ExpressRegister::DevCap2), f.express_place(ExpressRegister::DevCtl2));
    if e.ten_bit_tag_enabled == Some(true) {
        return out.pass(f.bdf, "10-bit tags enabled").at(at);
    }
    if e.ten_bit_tag_requester == Some(false) {
        return out.not_applicable_to(f.bdf, "the NIC has no 10-bit tags").at(can_at);
    }
    let (Some(read), Some(bandwidth)) = (e.max_read_request, links::now(f)) else {
        return out.unreadable(f.bdf, "10-bit tag enable", &f.express);
    };
    let microseconds = 256.0 * f64::from(read) / (bandwidth.0 * 1e3);
    let told = || format!("256 reads of {read} bytes cover {microseconds:.1} µs at {bandwidth}");
    if microseconds >= COVER_US {
        return out
            .pass(f.bdf, || told() + ": 10-bit tags are not needed")
            .at(f.express_place(ExpressRegister::Sizes))
            .at(f.link.speed.place());
    }
    match (e.ten_bit_tag_requester, e.ten_bit_tag_enabled) {
        (Some(true), Some(false)) => out
            .fail(f.bdf, || format!("10-bit tags are off; {}", told()))
            .severity(cx.serves_no_gpu(f).then_some(crate::Severity::Info))
            .at(at)
            .at(f.express_place(ExpressRegister::Sizes))
            .fix(|| {
                super::max_read_request::raise(
                    f,
                    "raise the largest read request to 4096 bytes, or switch 10-bit tags on in the firmware setup",
                )
            }),
        _ => out
            .unknown(f.bdf, || format!("whether 10-bit tags are enabled is not shown; {}", told()))
            .at(can_at)
            .see("lspci of pciutils 3.7 or later, or capture with `linerate collect` as root"),
    }
}

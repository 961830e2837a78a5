//! `pcie/extended-tags`.

use super::{PCI_REGS, PHYSICAL, links};
use crate::sources::linux;
use crate::{Cx, Effect, Finding, Findings, Remedy, Rule, Severities, Severity};
use linerate_node::pci::{ExpressRegister, PciFunction};

pub(super) static RULE: Rule = Rule {
    id: "pcie/extended-tags",
    title: "GPUs and RDMA NICs use 8-bit tags",
    severity: Severities::always(Severity::Low),
    roles: PHYSICAL,
    effect: Effect::derived("32 instead of 256 reads in flight: with 512-byte reads 16 KiB, which a 32 GT/s x16 link moves in 0.26 µs"),
    sources: &[
        linux!("drivers/pci/probe.c", "pci_configure_extended_tags enables them unless the host bridge forbids it"),
        PCI_REGS,
    ],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vv"],
    docs: "\
## What it checks
`ExtTag` in Device Control of each GPU and RDMA NIC that can use 8-bit tags (DevCap says so).

## Why it matters
Each read in flight needs a tag. With 5-bit tags there are 32: a device that reads 512 bytes each then covers 0.26 µs of latency on a
32 GT/s x16 link, and reads from memory take longer than that.

## See it yourself
`sudo lspci -vvv -s BDF | grep ExtTag`: first under DevCap (can), then under DevCtl (does).

## Fix
The kernel switches them on at boot. If they are off, something cleared them afterwards (a raw setpci), or the kernel knows that the
host bridge cannot handle them (it says so in its log: `disabling Extended Tags`). Reboot, and read again.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    links::judge_ends(cx, out, |_, _, f, out| judge(f, out));
}

fn judge<'o>(f: &PciFunction<'_>, out: &'o mut Findings) -> &'o mut Finding {
    let e = f.express.known();
    let (can, on) = (e.and_then(|e| e.extended_tag_supported), e.and_then(|e| e.extended_tag));
    let at = f.express_place(ExpressRegister::DevCtl);
    match (can, on) {
        (_, Some(true)) => out.pass(f.bdf, "enabled").at(at),
        (Some(false), Some(false)) => {
            out.not_applicable_to(f.bdf, "the device has 5-bit tags only").at(f.express_place(ExpressRegister::DevCap))
        }
        (Some(true), Some(false)) => {
            out.fail(f.bdf, "8-bit tags are supported and off: 32 reads in flight").at(at).fix(|| {
                Remedy::investigate(
                    "find what cleared the bit, or the kernel's reason in its log (`disabling Extended Tags`)",
                    "extended tags are off after boot",
                )
                .prove(format!("sys/bus/pci/devices/{}/config Device Control", f.bdf))
            })
        }
        _ => out.unreadable(f.bdf, "extended tag enable", &f.express),
    }
}

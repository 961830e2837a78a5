//! `pcie/max-payload`.

use super::{KERNEL_PARAMETERS, PCI_REGS, PHYSICAL, links};
use crate::{About, Cx, Effect, Finding, Findings, Remedy, Rule, Severities, Severity};
use linerate_node::pci::{ExpressRegister, FnId, PciFunction};

pub(super) static RULE: Rule = Rule {
    id: "pcie/max-payload",
    title: "GPUs, RDMA NICs and the bridges above them send packets of at least 256 bytes",
    severity: Severities::always(Severity::Medium),
    roles: PHYSICAL,
    effect: Effect::derived("128-byte packets carry 83 % of the raw rate, 256-byte packets 91 % (26 bytes of overhead each)"),
    sources: &[PCI_REGS, KERNEL_PARAMETERS],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vv"],
    docs: "\
## What it checks
MaxPayload in Device Control of each GPU and RDMA NIC and of every bridge above it: at least 256 bytes, where all of them can.

## Why it matters
Each packet has about 26 bytes of overhead. With 128 bytes of payload a write carries 128/154 of the link's rate; with 256, 256/282. The
smallest value on the way counts for the whole way.

## See it yourself
`sudo lspci -vvv -s BDF | grep MaxPayload`: the line under DevCap is what the device can, the line under DevCtl what is in use.

## Fix
Firmware setup: Max Payload 256 or 512. The kernel sets it at boot (`pci=pcie_bus_safe` raises it to the largest common value);
`pci=pcie_bus_peer2peer` forces 128. Never set MaxPayload on one device with setpci: a mismatch is a fatal error, see pcie/payload-mismatch.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    links::judge_ends(cx, out, judge);
}

fn judge<'o>(cx: &Cx<'_>, id: FnId, end: &PciFunction<'_>, out: &'o mut Findings) -> &'o mut Finding {
    let tree = &cx.node.pci;
    let (bridges, complete) = tree.ancestors(id);
    let mut least: Option<(u16, &PciFunction<'_>)> = None;
    let mut limited: Option<(u16, &PciFunction<'_>)> = None;
    for f in std::iter::once(end).chain(bridges.iter().map(|b| tree.get(*b))) {
        let Some(mps) = f.express.known().and_then(|e| e.max_payload) else {
            let what = format!("MaxPayload of {}", if f.bdf == end.bdf { "the device" } else { "a bridge above" });
            return out.unreadable(end.bdf, &what, &f.express);
        };
        if least.is_none_or(|(m, _)| mps < m) {
            least = Some((mps, f));
        }
        let can = f.express.known().and_then(|e| e.max_payload_supported);
        if let Some(can) = can.filter(|can| limited.is_none_or(|(m, _)| *can < m)) {
            limited = Some((can, f));
        }
    }
    let Some((mps, f)) = least else { return out.unreadable(end.bdf, "MaxPayload", &end.express) };
    let at = f.express_place(ExpressRegister::Sizes);
    if mps >= 256 {
        let whole = if complete { "to the root complex" } else { "as far as the bridges above are visible" };
        return out.pass(end.bdf, format_args!("{mps} bytes at least, {whole}")).at(at);
    }
    match limited.filter(|(can, _)| *can < 256) {
        Some((can, by)) => {
            out.fail(end.bdf, format_args!("{mps} bytes: {} can no more than {can}", by.bdf))
                .severity(Severity::Info)
                .at(at)
                .at(by.express_place(ExpressRegister::DevCap))
        }
        None => {
            out.fail(end.bdf, format_args!("{mps} bytes on {}, which could 256 like everything on the way", f.bdf)).at(at).follows("pcie/bus-peer2peer", About::Any).fix(|| {
                Remedy::bios(
                    "set Max Payload to 256 bytes or more in the firmware setup; remove pci=pcie_bus_peer2peer if it is on the command line",
                    "PCIe Max Payload Size",
                    "256 bytes or automatic",
                )
                .because("a value set on one device only causes Malformed TLP errors")
                .prove(format!("sys/bus/pci/devices/{}/config Device Control", f.bdf))
            })
        }
    }
}

//! `pcie/payload-mismatch`.

use super::{KERNEL_PARAMETERS, PCI_REGS, PHYSICAL, links};
use crate::sources::linux;
use crate::{Cx, Effect, Finding, Findings, Remedy, Rule, Severities, Severity};
use linerate_node::pci::{ExpressRegister, FnId, PciFunction};

pub(super) static RULE: Rule = Rule {
    id: "pcie/payload-mismatch",
    title: "No device sends packets larger than the bridges and peers accept",
    severity: Severities::always(Severity::Critical),
    roles: PHYSICAL,
    effect: Effect::sourced("Malformed TLP: a fatal error, the device is reset or the node goes down"),
    sources: &[
        linux!("drivers/pci/probe.c", "pcie_bus_configure_set, pcie_write_mps and the hot-plug remarks"),
        KERNEL_PARAMETERS,
        PCI_REGS,
    ],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vv"],
    docs: "\
## What it checks
MaxPayload of each GPU and RDMA NIC against every bridge above it: the device's must not be larger. And of each GPU and NIC below one
switch against each other: a peer's write arrives in packets of the sender's size.

## Why it matters
A receiver treats a packet larger than its own MaxPayload as malformed, which is fatal by default. It may take the first large write to
find out, and nothing but an AER line in the log says why.

## See it yourself
`sudo lspci -vvv | grep -E '^[0-9a-f]|MaxPayload'`: compare the DevCtl values along the chain.

## Fix
Let the firmware or the kernel set all of them: remove whatever writes Device Control raw (setpci of a whole word copied from another
device is the usual culprit), reboot. `pci=pcie_bus_safe` makes the kernel choose the largest common value.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let tree = &cx.node.pci;
    let Some(ends) = links::some_ends(cx, out) else { return };
    let chains: Vec<Vec<FnId>> = ends.iter().map(|(id, _)| tree.ancestors(*id).0).collect();
    for ((_, f), above) in ends.iter().zip(&chains) {
        let Some(own) = payload(f) else {
            out.unreadable(f.bdf, "MaxPayload", &f.express);
            continue;
        };
        let at = f.express_place(ExpressRegister::Sizes);
        let bridges = || above.iter().map(|b| tree.get(*b));
        if let Some((b, less)) = bridges().find_map(|b| Some((b, payload(b).filter(|p| *p < own)?))) {
            mismatch(f, format!("sends up to {own} bytes, the bridge {} above it accepts {less}", b.bdf), b, out);
            continue;
        }
        // A peer is a device of the other kind below a common bridge; what it accepts is its own setting.
        let peers =
            ends.iter().zip(&chains).filter(|((_, p), up)| p.kind != f.kind && up.iter().any(|b| above.contains(b)));
        let smaller = peers.into_iter().find_map(|((_, p), _)| Some((*p, payload(p).filter(|x| *x < own)?)));
        if let Some((p, less)) = smaller {
            mismatch(
                f,
                format!("sends up to {own} bytes, its peer {} below the same switch accepts {less}", p.bdf),
                p,
                out,
            );
            continue;
        }
        match bridges().find(|b| payload(b).is_none()) {
            Some(b) => out.unreadable(f.bdf, "MaxPayload of a bridge above", &b.express),
            None => out.pass(f.bdf, format_args!("{own} bytes, accepted by all {} bridges above", above.len())).at(at),
        };
    }
}

fn payload(f: &PciFunction<'_>) -> Option<u16> {
    f.express.known()?.max_payload
}

fn mismatch<'o>(
    f: &PciFunction<'_>,
    message: String,
    other: &PciFunction<'_>,
    out: &'o mut Findings,
) -> &'o mut Finding {
    out.fail(f.bdf, message)
        .at(f.express_place(ExpressRegister::Sizes))
        .at(other.express_place(ExpressRegister::Sizes))
        .fix(|| {
            Remedy::kernel_args(
                "remove what writes MaxPayload of single devices, and let firmware or kernel set one value for the tree at boot",
                &["pci=pcie_bus_safe"],
                &[],
            )
            .prove(format!("sys/bus/pci/devices/{}/config Device Control", f.bdf))
        })
}

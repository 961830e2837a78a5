//! `pcie/aspm`.

use super::{KERNEL_PARAMETERS, PCI_REGS, PHYSICAL, links};
use crate::{Cx, Effect, Finding, Findings, Remedy, Rule, Severities, Severity};
use linerate_node::pci::{ExpressRegister, FnId, PciFunction};

pub(super) static RULE: Rule = Rule {
    id: "pcie/aspm",
    title: "Links of GPUs and RDMA NICs do not sleep",
    severity: Severities::always(Severity::Low),
    roles: PHYSICAL,
    effect: Effect::sourced("leaving L1 takes the microseconds that LnkCap prints as exit latency, at the first packet after a pause"),
    sources: &[PCI_REGS, KERNEL_PARAMETERS],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vv"],
    docs: "\
## What it checks
Whether L1 of active-state power management is enabled on both ends of the link of each GPU and RDMA NIC. One end alone does nothing.

## Why it matters
A link in L1 needs microseconds to wake. Messages after a pause pay it: latency and its tail, not bandwidth.

## See it yourself
`sudo lspci -vvv -s BDF | grep LnkCtl:`: `ASPM Disabled` or `ASPM L1 Enabled`.

## Fix
`pcie_aspm.policy=performance` or `pcie_aspm=off` on the command line (off leaves what firmware configured), or ASPM in the firmware setup.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    links::judge_ends(cx, out, judge);
}

fn judge<'o>(cx: &Cx<'_>, id: FnId, f: &PciFunction<'_>, out: &'o mut Findings) -> &'o mut Finding {
    let l1 = |f: &PciFunction<'_>| f.express.known().and_then(|e| e.aspm_l1);
    let port = cx.node.pci.bridge_above(id).map(|p| cx.node.pci.get(p));
    let at = f.express_place(ExpressRegister::LnkCtl);
    match (l1(f), port.and_then(l1)) {
        (Some(false), _) => out.pass(f.bdf, "L1 disabled").at(at),
        (Some(true), Some(false)) => {
            let above = port.map(|p| p.express_place(ExpressRegister::LnkCtl));
            out.pass(f.bdf, "L1 disabled on the port above").at(above)
        }
        (Some(true), Some(true)) => out.fail(f.bdf, "L1 enabled on both ends of the link").at(at).fix(|| {
            Remedy::kernel_args("boot with pcie_aspm.policy=performance", &["pcie_aspm.policy=performance"], &[])
                .because("more idle power")
                .prove(format!("sys/bus/pci/devices/{}/config Link Control", f.bdf))
        }),
        (Some(true), None) => out
            .unknown(f.bdf, "L1 enabled here, and the port above is not visible: it sleeps only if both allow it")
            .at(at),
        (None, _) => out.unreadable(f.bdf, "Link Control", &f.express),
    }
}

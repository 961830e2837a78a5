//! `pcie/ari-forwarding`.

use super::{KERNEL_PARAMETERS, PHYSICAL};
use crate::sources::linux;
use crate::{Cx, Effect, Findings, Remedy, Rule, Severities, Severity};
use linerate_node::pci::{ExpressRegister, FnId, PciFunction};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "pcie/ari-forwarding",
    title: "Ports above NICs with virtual functions forward ARI",
    severity: Severities::always(Severity::Low),
    roles: PHYSICAL,
    effect: Effect::sourced("virtual functions beyond function 7 need bus numbers of their own, or do not appear"),
    sources: &[
        linux!("drivers/pci/pci.c", "pci_configure_ari"),
        KERNEL_PARAMETERS,
    ],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vv"],
    docs: "\
## What it checks
For each RDMA NIC with virtual functions switched on and the ARI capability: `ARIFwd` in Device Control 2 of the port above it.

## Why it matters
Without ARI a device has eight functions. A virtual function numbered beyond that is reached only through a port that forwards ARI, or
on a further bus number.

## See it yourself
`sudo lspci -vvv -s PORT | grep ARIFwd`: under DevCap2 (can), under DevCtl2 (does).

## Fix
The kernel switches it on unless `pci=noari` is on the command line. The firmware option is called `ARI Support` or `ARI Forwarding`.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let nics = || cx.node.pci.rdma_nics().filter(|(_, f)| f.silent.is_none() && !f.is_vf());
    if cx.no_subjects(nics().next().is_some(), "RDMA NIC", out) {
        return;
    }
    let mut blind = None;
    let mut seen = None;
    for (id, f) in nics() {
        match &f.sriov {
            Reading::Known(s, at) => {
                seen.get_or_insert(*at);
                match s.num_vfs {
                    Some(n) if n > 0 && s.enabled != Some(false) => judge(cx, id, f, n, out),
                    Some(_) => {}
                    None => blind = blind.or(Some(f)),
                }
            }
            Reading::Absent(at) => {
                seen.get_or_insert(*at);
            }
            Reading::Unreadable(..) => blind = blind.or(Some(f)),
        }
    }
    match (blind, seen) {
        (Some(f), _) => {
            out.unreadable(f.bdf, "SR-IOV capability", &f.sriov);
        }
        (None, Some(at)) if out.is_empty() => {
            out.not_applicable("no RDMA NIC has virtual functions switched on").at(at);
        }
        _ => {}
    }
}

fn judge(cx: &Cx<'_>, id: FnId, f: &PciFunction<'_>, vfs: u16, out: &mut Findings) {
    if let Reading::Absent(at) = &f.ari {
        out.not_applicable_to(f.bdf, "the NIC has no ARI capability").at(*at);
        return;
    }
    let Some(port) = cx.node.pci.bridge_above(id).map(|p| cx.node.pci.get(p)) else {
        out.unknown(f.bdf, "the port above the NIC is not in this source").at(f.sriov.place());
        return;
    };
    let Some(on) = port.express.known().and_then(|e| e.ari_forwarding) else {
        out.unreadable(f.bdf, "ARI forwarding of the port above", &port.express);
        return;
    };
    let at = port.express_place(ExpressRegister::DevCtl2);
    if on {
        out.pass(f.bdf, format_args!("{vfs} virtual functions; port {} forwards ARI", port.bdf)).at(at);
        return;
    }
    out.fail(f.bdf, format_args!("{vfs} virtual functions, and port {} does not forward ARI", port.bdf)).at(at).fix(
        || {
            Remedy::bios("boot without pci=noari, with ARI switched on in the firmware setup", "ARI Support", "enabled")
                .because("routing IDs of virtual functions change")
                .prove(format!("sys/bus/pci/devices/{}/config Device Control 2", port.bdf))
        },
    );
}

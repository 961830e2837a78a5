//! `nicfw/sriov`.

use super::{QUERY, cards, function, names, nic};
use crate::{Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::mlxconfig::Value;
use linerate_node::nicfw::NicFirmware;
use linerate_snapshot::Place;

pub(super) static RULE: Rule = Rule {
    id: "nicfw/sriov",
    title: "SR-IOV in the firmware agrees with itself, with the PCI capability, and with its use",
    severity: Severities::always(Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::direction_only("virtual functions cannot be made, or their BARs take address space that nothing uses"),
    sources: &[
        super::DATABASE,
        Source {
            title: "NVIDIA, single root I/O virtualization: SRIOV_EN, NUM_OF_VFS; too many VFs can stop a system from booting",
            at: "https://docs.nvidia.com/networking/display/mlnxofedv24070610/single+root+io+virtualization+(sr-iov)",
        },
        Source {
            title: "Linux PCI Express I/O Virtualization Howto: sriov_totalvfs, sriov_numvfs",
            at: "https://docs.kernel.org/PCI/pci-iov-howto.html",
        },
    ],
    reads: &["mlxconfig -d BDF -e q", "sys/bus/pci/devices/*/config"],
    docs: "\
## What it checks
Running SRIOV_EN and NUM_OF_VFS of each NIC against the SR-IOV capability that its PCI function shows: how many virtual functions it
can have (TotalVFs) and how many exist (NumVFs).

## Why it matters
NUM_OF_VFS without SRIOV_EN does nothing. With it, the BARs of all possible virtual functions are reserved at boot, used or not; a
BIOS without enough 64-bit space may then leave other devices without an address. A capability that disagrees with the firmware means
that the host was not rebooted after the change.

## See it yourself
`mlxconfig -d BDF -e query | grep -E 'SRIOV_EN|NUM_OF_VFS'`; `cat /sys/bus/pci/devices/BDF/sriov_{totalvfs,numvfs}`.

## Fix
Reboot where they disagree. Where no virtual functions are wanted and address space is short, set NUM_OF_VFS=0.",
    myths: &[Myth {
        claim: "GPUDirect needs one virtual function per GPU.",
        truth: "A NIC near each GPU is enough, physical or virtual. NCCL merges the virtual functions of one card.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let mut unused: Vec<(&NicFirmware, Place)> = Vec::new();
    for card in cards(cx, out) {
        if let Some(place) = judge(cx, card, out) {
            unused.push((card, place));
        }
    }
    if !unused.is_empty() {
        let who: Vec<&NicFirmware> = unused.iter().map(|(c, _)| *c).collect();
        let message = format!("resources for virtual functions are reserved, but none exists: {}", names(&who));
        let f = out.fail(Subject::Node, message);
        f.severity(Severity::Info);
        for (_, place) in unused.iter().take(4) {
            f.at(*place);
        }
    }
}

fn now<'a>(card: &'a NicFirmware, name: &str) -> Option<&'a Value> {
    card.config.param(name)?.current.as_ref()
}

/// Says what is so; room that nothing uses is returned, to be said once for all NICs.
fn judge(cx: &Cx<'_>, card: &NicFirmware, out: &mut Findings) -> Option<Place> {
    let Some(param) = card.config.param("SRIOV_EN") else {
        out.not_applicable_to(nic(card), "its query shows no SR-IOV setting").at(card.place);
        return None;
    };
    let place = card.at_param(param);
    let vfs = now(card, "NUM_OF_VFS").and_then(|v| v.number);
    if card.is_connectx3() {
        out.not_applicable_to(nic(card), "ConnectX-3 firmware shows the next boot's values only").at(place);
        return None;
    }
    let (Some(enabled), vfs) = (now(card, "SRIOV_EN").and_then(Value::as_bool), vfs) else {
        out.unknown(nic(card), "SRIOV_EN: only the next boot's value was shown").at(place).see(QUERY);
        return None;
    };
    if !enabled {
        let message = match vfs {
            Some(n) if n > 0 => format!("SRIOV_EN is False: NUM_OF_VFS {n} has no effect"),
            _ => "SRIOV_EN is False".to_owned(),
        };
        let shown = function(cx, card).and_then(|f| f.sriov.known()).and_then(|s| s.total_vfs).unwrap_or(0);
        if shown > 0 {
            disagrees(card, place, format!("{message}, but the PCI function offers {shown} virtual functions"), out);
        } else {
            out.pass(nic(card), message).at(place);
        }
        return None;
    }
    let Some(vfs) = vfs else {
        out.unknown(nic(card), "SRIOV_EN is True, and NUM_OF_VFS was not shown").at(place).see(QUERY);
        return None;
    };
    let Some(pci) = function(cx, card) else {
        out.unknown(
            nic(card),
            format_args!("SRIOV_EN is True, NUM_OF_VFS {vfs}; its PCI function is not in this source"),
        )
        .at(place);
        return None;
    };
    let seen = pci.sriov.known().and_then(|s| Some((i64::from(s.total_vfs?), s.num_vfs?)));
    match seen {
        Some((total, _)) if total != vfs => {
            disagrees(card, place, format!("the firmware has NUM_OF_VFS {vfs}, the PCI function offers {total}"), out)
        }
        Some((total, 0)) if total > 0 => return Some(pci.sriov.place()),
        Some((total, n)) => {
            out.pass(nic(card), format_args!("{n} of {total} virtual functions exist")).at(place).at(pci.sriov.place())
        }
        None if pci.sriov.is_absent() && vfs > 0 => disagrees(
            card,
            place,
            format!("the firmware has NUM_OF_VFS {vfs}, the PCI function has no SR-IOV capability"),
            out,
        ),
        None if pci.sriov.is_absent() => {
            out.pass(nic(card), "SRIOV_EN is True with 0 virtual functions: nothing is reserved").at(place)
        }
        None => out.unreadable(nic(card), "SR-IOV capability", &pci.sriov).at(place),
    };
    None
}

fn disagrees<'o>(card: &NicFirmware, place: Place, message: String, out: &'o mut Findings) -> &'o mut Finding {
    out.fail(nic(card), message).at(place).fix(|| {
        Remedy::investigate(
            "reboot the drained host, then compare again",
            "the host has not enumerated the card since its SR-IOV settings changed",
        )
        .because("a BIOS that lacks address space for the virtual functions may leave devices without BARs")
        .prove(format!("sys/bus/pci/devices/{}/sriov_totalvfs", card.name))
    })
}

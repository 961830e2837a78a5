//! `pcie/aer-errors`.

use super::{PCI_REGS, PHYSICAL, links};
use crate::grown;
use crate::{Cx, Effect, Finding, Findings, Myth, Remedy, Rule, Severities, Severity, Source};
use linerate_node::aer::{AerCount, AerFiles};
use linerate_node::counters::Owner;
use linerate_node::pci::PciFunction;
use linerate_snapshot::{Place, Reading};

pub(super) static RULE: Rule = Rule {
    id: "pcie/aer-errors",
    title: "No PCIe errors on the paths of GPUs and RDMA NICs",
    severity: Severities::always(Severity::High),
    roles: PHYSICAL,
    effect: Effect::sourced("uncorrectable errors lose packets or reset the device; correctable ones cost a replay each"),
    sources: &[
        Source {
            title: "Linux ABI: aer_dev_correctable, aer_dev_nonfatal, aer_dev_fatal",
            at: "https://github.com/torvalds/linux/blob/master/Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats",
        },
        Source {
            title: "Linux Documentation/PCI/pcieaer-howto.rst",
            at: "https://github.com/torvalds/linux/blob/master/Documentation/PCI/pcieaer-howto.rst",
        },
        PCI_REGS,
    ],
    reads: &["sys/bus/pci/devices/*/aer_dev_{correctable,nonfatal,fatal}", "sys/bus/pci/devices/*/config", "lspci -vv"],
    docs: "\
## What it checks
The kernel's error counters since boot of each GPU, RDMA NIC and every bridge above, and the sticky status bits of the AER capability.
Fatal and non-fatal errors are faults, except for requests that a device merely does not support: bus scans cause those.
Correctable errors are reported as information: one sample cannot tell old ones from a link that is failing now. With an earlier reading
(`audit --before`) what grew since is judged instead.

## Why it matters
A link with bad signals replays packets: it works, slower, until it does not.

## See it yourself
`linerate watch counters` while traffic runs, or `cat /sys/bus/pci/devices/BDF/aer_dev_*` twice: what grows is happening now. Growing BadTLP, BadDLLP, Rollover or Timeout
is signal integrity. Status bits (`CESta`, `UESta` in lspci) are sticky: many are left from link training at boot.

## Fix
Reseat card and riser, check retimer and switch firmware, swap the slot to see whether the error moves with the card. Malformed TLP: see
pcie/payload-mismatch. Completion timeout together with a translated domain: see iommu/translated-domain.",
    myths: &[Myth {
        claim: "RxErr+ in CESta shows a broken link.",
        truth: "The bit stays set since it first happened, often at link training. Clear it, or run `linerate watch counters`, before swapping hardware.",
    }],
    check,
};

/// Uncorrectable error status bits, as lspci and the kernel name them.
const UNCORRECTABLE: [(u8, &str); 13] = [
    (4, "DLP"),
    (5, "SDES"),
    (12, "TLP"),
    (13, "FCP"),
    (14, "CmpltTO"),
    (15, "CmpltAbrt"),
    (16, "UnxCmplt"),
    (17, "RxOF"),
    (18, "MalfTLP"),
    (19, "ECRC"),
    (21, "ACSViol"),
    (22, "UncorrIntErr"),
    (23, "BlockedTLP"),
];
/// Unsupported Request: what enumeration and probing of absent functions leave behind.
const UNSUPPORTED_REQUEST: u32 = 1 << 20;
/// Those of the link. Advisory non-fatal (bit 13) is the softened form of an unsupported request: nearly every NIC shows it after boot.
const CORRECTABLE: [(u8, &str); 5] = [(0, "RxErr"), (6, "BadTLP"), (7, "BadDLLP"), (8, "Rollover"), (12, "Timeout")];

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some(ends) = links::some_ends(cx, out) else { return };
    let mut files = AerFiles::of(cx.snapshot);
    for id in links::with_bridges(cx, &ends) {
        let f = cx.node.pci.get(id);
        let (owner, at) = (Owner::Function(f.bdf), Place::below(f.home, "aer_dev_correctable"));
        if !grown::judge(cx, &owner, |n| n.starts_with("aer_dev_"), f.bdf, at, out) {
            judge(cx, f, &mut files, out);
        }
    }
}

fn judge<'o>(cx: &Cx<'_>, f: &PciFunction<'_>, files: &mut AerFiles<'_>, out: &'o mut Findings) -> &'o mut Finding {
    let counters = files.counters(f);
    let status = f.aer.known();
    let register = f.aer.place();
    let counted =
        |r: &Reading<AerCount>| r.known().filter(|c| c.total > 0).map(|c| (told(c), only_unsupported(c), r.place()));
    let bits = status.and_then(|s| s.uncorrectable_status).unwrap_or(0);
    let named = names(bits, &UNCORRECTABLE);
    let hard: Option<(String, Place)> = match (counted(&counters.fatal), counted(&counters.nonfatal)) {
        (Some((t, false, p)), _) => Some((format!("fatal errors since boot: {t}"), p)),
        (_, Some((t, false, p))) => Some((format!("non-fatal errors since boot: {t}"), p)),
        _ if !named.is_empty() => Some((format!("uncorrectable error status, not cleared since: {named}"), register)),
        _ => None,
    };
    if let Some((message, at)) = hard {
        return out.fail(f.bdf, message).at(at).fix(|| {
            Remedy::investigate(
                "read the kernel log around the error; see what grows under load (linerate watch counters); reseat card and riser",
                format!("PCIe errors of {} {}", cx.node.name_of(f), f.bdf),
            )
            .prove(format!("sys/bus/pci/devices/{}/aer_dev_{{nonfatal,fatal}}", f.bdf))
        });
    }
    let soft: Option<(String, Place)> = match counted(&counters.correctable) {
        Some((t, _, p)) if !only_advisory(counters.correctable.known()) => {
            Some((format!("correctable errors since boot: {t}; `linerate watch counters` shows whether they grow"), p))
        }
        Some(_) => None,
        None => {
            let bits = names(status.and_then(|s| s.correctable_status).unwrap_or(0), &CORRECTABLE);
            (!bits.is_empty())
                .then(|| (format!("correctable error status set since an unknown time: {bits}"), register))
        }
    };
    let unsupported = match (counted(&counters.fatal), counted(&counters.nonfatal)) {
        (Some((t, _, p)), _) | (_, Some((t, _, p))) => {
            Some((format!("unsupported requests only, as bus scans cause them: {t}"), p))
        }
        _ if bits & UNSUPPORTED_REQUEST != 0 => {
            Some(("uncorrectable error status: unsupported request only, as bus scans cause it".to_owned(), register))
        }
        _ => None,
    };
    if let Some((message, at)) = soft.or(unsupported) {
        return out.fail(f.bdf, message).severity(Severity::Info).at(at);
    }
    match (&counters.nonfatal, &counters.fatal, status) {
        (Reading::Known(_, p), Reading::Known(..), _) => {
            out.pass(f.bdf, "no link errors and no uncorrectable ones counted since boot").at(*p)
        }
        (_, _, Some(s)) if s.uncorrectable_status.is_some() => {
            out.pass(f.bdf, "no uncorrectable and no link error bit set in the AER status").at(register)
        }
        (Reading::Absent(p), ..) if f.aer.is_absent() => {
            out.not_applicable_to(f.bdf, "has no Advanced Error Reporting").at(*p)
        }
        (r, ..) => out.unreadable(f.bdf, "error counters and AER status", r),
    }
}

fn told(c: &AerCount) -> String {
    if c.parts.is_empty() {
        return c.total.to_string();
    }
    c.parts.iter().map(|(n, v)| format!("{n} {v}")).collect::<Vec<_>>().join(", ")
}

fn only_unsupported(c: &AerCount) -> bool {
    !c.parts.is_empty() && c.parts.iter().all(|(n, _)| n == "UnsupReq")
}

fn only_advisory(c: Option<&AerCount>) -> bool {
    c.is_some_and(|c| {
        !c.parts.is_empty() && c.parts.iter().all(|(n, _)| n.starts_with("NonFatalErr") || n.starts_with("AdvNonFatal"))
    })
}

fn names(bits: u32, table: &[(u8, &str)]) -> String {
    let mut text = String::new();
    for (bit, name) in table {
        if bits & (1 << bit) != 0 {
            text.push_str(if text.is_empty() { "" } else { ", " });
            text.push_str(name);
        }
    }
    text
}

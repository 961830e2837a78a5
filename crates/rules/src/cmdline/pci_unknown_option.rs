//! `cmdline/pci-unknown-option`.

use super::words::{self, KPARAM, PCI_CORE, X86_PCI};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity};
use linerate_formats::dmesg::Event;

pub(super) static RULE: Rule = Rule {
    id: "cmdline/pci-unknown-option",
    title: "Every option of pci= exists",
    severity: Severities::always(Severity::Low),
    roles: Roles::ALL,
    effect: Effect::sourced("the option is ignored with one line in the boot log"),
    sources: &[PCI_CORE, X86_PCI, KPARAM],
    reads: &["proc/cmdline", "dmesg"],
    docs: "\
## What it checks
The options of all `pci=` parameters against those of mainline Linux (drivers/pci and x86), and the kernel's own complaint
`PCI: Unknown option`. Options that are parameters of their own elsewhere, such as `pcie_aspm`, are reported separately.

## Why it matters
A misspelt option does nothing. The kernel says so once, early, where few look.

## See it yourself
`cat /proc/cmdline; dmesg | grep 'PCI: Unknown option'`.

## Fix
Correct the spelling or remove the option. A vendor kernel may know options that mainline does not; then the kernel has not complained.",
    myths: &[],
    check,
};

/// Compared whole.
const WORDS: [&str; 40] = [
    "nomsi",
    "noats",
    "noaer",
    "earlydump",
    "realloc",
    "nodomains",
    "noari",
    "notph",
    "pcie_bus_tune_off",
    "pcie_bus_safe",
    "pcie_bus_perf",
    "pcie_bus_peer2peer",
    "pcie_scan_all",
    "off",
    "bfsort",
    "nobfsort",
    "bios",
    "nobios",
    "biosirq",
    "conf1",
    "conf2",
    "nommconf",
    "check_enable_amd_mmconf",
    "noacpi",
    "noearly",
    "usepirqmask",
    "rom",
    "norom",
    "nobar",
    "assign-busses",
    "use_crs",
    "nocrs",
    "use_e820",
    "no_e820",
    "big_root_window",
    "routeirq",
    "skip_isa_align",
    "noioapicquirk",
    "ioapicreroute",
    "noioapicreroute",
];

/// Followed by a value.
const KEYS: [&str; 14] = [
    "realloc",
    "cbiosize",
    "cbmemsize",
    "resource_alignment",
    "ecrc",
    "hpiosize",
    "hpmemsize",
    "hpmmiosize",
    "hpmmioprefsize",
    "hpbussize",
    "disable_acs_redir",
    "config_acs",
    "pirqaddr",
    "irqmask",
];

/// Has a rule of its own.
const TREATED: [&str; 6] = ["noacs", "no_acs", "disable_acs", "acs=off", "nopcie_acs", "acs_off"];

fn known(option: &str) -> bool {
    match option.split_once('=') {
        Some((key, _)) => KEYS.contains(&key) || key == "lastbus",
        None => WORDS.contains(&option),
    }
}

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    let complaints: Vec<_> = cx
        .node
        .kernel
        .events(|e| match e {
            Event::PciUnknownOption(o) => Some(o.as_str()),
            _ => None,
        })
        .collect();
    for (option, word) in c.options("pci").filter(|(o, _)| !TREATED.contains(o)) {
        let complaint = complaints.iter().find(|(o, _)| *o == option);
        // A piece of an ACS list that a comma cut off belongs to cmdline/config-acs-syntax.
        if (known(option) && complaint.is_none()) || super::config_acs_syntax::looks_like_entry(option) {
            continue;
        }
        let name = option.split('=').next().unwrap_or(option);
        let hint = if known(option) {
            "this kernel does not know it yet".to_owned()
        } else if matches!(name, "pcie_aspm" | "pcie_ports" | "pcie_port_pm" | "iommu" | "nomodeset") {
            format!("`{name}` is a parameter of its own, without `pci=`")
        } else {
            match words::nearest(name, WORDS.into_iter().chain(KEYS)) {
                Some(k) => format!("`{k}` exists"),
                None => "mainline has none of this name".to_owned(),
            }
        };
        let text = format!("pci={}", words::short(option));
        out.fail(crate::Subject::KernelArg(text.clone()), format_args!("unknown option, ignored; {hint}"))
            .at(place.line(word.line))
            .fix(|| words::remove(&[&text], ""))
            .at(complaint.map(|(_, p)| *p));
    }
    if out.is_empty() {
        words::none_of(out, "unknown option of pci=", (c, place));
    }
}

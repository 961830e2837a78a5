//! `nicfw/visible`.

use super::{cards, list, mellanox};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::context::Role;
use linerate_node::pci::PciFunction;

pub(super) static RULE: Rule = Rule {
    id: "nicfw/visible",
    title: "The firmware settings of every NVIDIA NIC can be seen",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::direction_only("none by itself: without the settings nothing can be said about ATS, SR-IOV, link type or a pending reset"),
    sources: &[
        super::PRINTING,
        Source { title: "mstflint: mstconfig", at: "https://github.com/Mellanox/mstflint/tree/master/mlxconfig" },
    ],
    reads: &["mlxconfig -d BDF -e q", "mstconfig -d BDF -e q"],
    docs: "\
## What it checks
Whether this source holds the settings of each NVIDIA/Mellanox NIC (vendor 15b3), as `mlxconfig` or `mstconfig` prints them.
One answer for all NICs; the other rules of this area do not repeat it.

## Why it matters
The settings live in the card's flash and not in /sys. A node can look perfect while a NIC waits for a reset, runs with ATS on
or has its link type set to the wrong fabric after the next boot.

## See it yourself
`sudo mstconfig -d BDF -e query` (package mstflint; `mlxconfig` in MFT). `-e` matters: without it only the next boot is shown.
Needs root and access to configuration space; under kernel lockdown that is refused.

## Fix
Install mstflint (on OpenShift and Talos: a privileged pod that has it) and capture again as root.",
    myths: &[Myth {
        claim: "A setting that `mlxconfig query` does not print is unset, so something is wrong.",
        truth: "Settings that the card does not have, or hides (ADVANCED_PCI_SETTINGS), are not printed. Missing is not zero.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let mut quiet = Findings::default();
    let seen = cards(cx, &mut quiet);
    let all = mellanox(cx);
    if all.is_empty() && seen.is_empty() {
        cx.no_subjects(false, "NVIDIA NIC", out);
        return;
    }
    let shown = |f: &&PciFunction<'_>| {
        let card = (f.bdf.domain, f.bdf.bus, f.bdf.device);
        seen.iter().any(|n| n.bdf.is_some_and(|b| (b.domain, b.bus, b.device) == card))
    };
    let without: Vec<&&PciFunction<'_>> = all.iter().filter(|f| !shown(f)).collect();
    // A query that names no PCI address belongs to one of the NICs, but nobody can tell to which.
    let anonymous = seen.iter().filter(|n| n.bdf.is_none()).count();
    if without.is_empty() || without.len() <= anonymous {
        out.pass(
            Subject::Node,
            format_args!("settings of {} were read", linerate_formats::counted(seen.len(), "NIC", "NICs")),
        )
        .at_all(seen.iter().map(|nic| nic.place));
        return;
    }
    let names: Vec<String> = without.iter().map(|f| f.bdf.to_string()).collect();
    let who = list(names.iter().map(String::as_str), names.len());
    if cx.node.context.role.value == Some(Role::VmGuest) {
        out.not_applicable(format_args!("in a virtual machine the NICs' settings belong to the host ({who})"))
            .at_all(cx.node.context.role.places());
        return;
    }
    let failed = cx.node.nic_firmware_errors.len();
    let why = if failed == 0 {
        String::new()
    } else {
        format!("; {} failed: see nicfw/query-failed", linerate_formats::counted(failed, "query", "queries"))
    };
    out.unknown(
        Subject::Node,
        format_args!(
            "no firmware settings of {} of {}: {who}{why}",
            without.len(),
            linerate_formats::counted(all.len(), "NIC", "NICs")
        ),
    )
    .see("install mstflint and capture as root, or add the output of `mstconfig -d BDF -e query` for each NIC")
    .at(cx.node.pci.seen);
}

//! `cmdline/repeated-pci`.

use super::words::{self, KPARAM, PCI_CORE};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity};

pub(super) static RULE: Rule = Rule {
    id: "cmdline/repeated-pci",
    title: "Options of pci= are in one word",
    severity: Severities::up_to(Severity::Info, Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::sourced("none, except for lists of devices: the last list replaces the others"),
    sources: &[PCI_CORE, KPARAM],
    reads: &["proc/cmdline"],
    docs: "\
## What it checks
More than one `pci=` parameter, and more than one `config_acs=` or `disable_acs_redir=` among them.

## Why it matters
Repeated `pci=` words work: the kernel parses each one. But each of the two ACS lists is kept in one variable, so a second list replaces the first.

## See it yourself
`cat /proc/cmdline`; `dmesg | grep -i 'command line'` shows the same.

## Fix
Nothing for `pci=a pci=b`; `pci=a,b` is the usual form. Put all devices of an ACS list into one, separated by `;`.",
    myths: &[Myth {
        claim: "With two pci= words only the last one counts.",
        truth: "Every occurrence is parsed. Only options that hold one value (the ACS lists, resource_alignment) keep the last.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    let mut lists = Vec::new();
    for key in ["config_acs=", "disable_acs_redir=", "resource_alignment="] {
        let n = c.options("pci").filter(|(o, _)| o.starts_with(key)).count();
        if n > 1 {
            lists.push((key.trim_end_matches('='), n));
        }
    }
    for (key, n) in &lists {
        out.fail(
            crate::Subject::KernelArg(format!("pci={key}")),
            format_args!("{n} lists: the last replaces the others"),
        )
        .severity(Severity::Medium)
        .at(place);
    }
    let count = c.get_all("pci").count();
    if !lists.is_empty() {
        return;
    }
    if count > 1 {
        out.fail(
            crate::Subject::KernelArg("pci=".into()),
            format_args!("{count} pci= words: works, each one is parsed"),
        )
        .at(place);
    } else {
        words::none_of(out, "repeated pci=", (c, place));
    }
}

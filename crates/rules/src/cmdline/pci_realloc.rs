//! `cmdline/pci-realloc`.

use super::words::{self, KPARAM, PCI_CORE};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity};
use linerate_formats::dmesg::Event;

pub(super) static RULE: Rule = Rule {
    id: "cmdline/pci-realloc",
    title: "pci=realloc is set only where firmware gives too little address space",
    severity: Severities::always(Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::sourced("the kernel may move or lose BARs"),
    sources: &[KPARAM, PCI_CORE],
    reads: &["proc/cmdline", "dmesg"],
    docs: "\
## What it checks
`pci=realloc`, together with messages about BARs that got no address.

## Why it matters
It lets the kernel assign bridge windows anew where the firmware's are too small: a workaround, for instance for virtual functions
on boards that reserve no space for them. It can move BARs, or fail and lose some. GPUDirect RDMA does not need it.

## See it yourself
`cat /proc/cmdline; dmesg | grep -E 'no space|failed to assign'`.

## Fix
With failures in the log: switch *Above 4G decoding* and a large MMIO window on in the firmware setup, then drop the option.
Without failures: nothing; if it was added as a recipe, try to boot without it.",
    myths: &[Myth {
        claim: "pci=realloc pci=assign-busses are required for GPUDirect RDMA.",
        truth: "Both are workarounds for firmware faults. The second renumbers buses and is dangerous.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    let on = c.options("pci").find(|(o, _)| *o == "realloc" || (o.starts_with("realloc=") && *o != "realloc=off"));
    let Some((option, word)) = on else {
        words::none_of(out, "pci=realloc", (c, place));
        return;
    };
    let place = place.line(word.line);
    let kernel = &cx.node.kernel;
    let lost: Vec<_> = kernel
        .events(|e| match e {
            Event::BarNotAssigned { bdf, .. } => Some(*bdf),
            _ => None,
        })
        .collect();
    let subject = words::subject("pci", option);
    if let Some((bdf, p)) = lost.first() {
        let who = bdf.map(|b| format!(", {b} first")).unwrap_or_default();
        out.fail(
            subject,
            format_args!(
                "is set, but {} got no address{who}",
                linerate_formats::counted(lost.len(), "resource", "resources")
            ),
        )
        .at(place)
        .at(*p)
        .fix(|| {
            words::remove(
                &["pci=realloc"],
                "windows become those of the firmware; first give it more MMIO space in the firmware setup",
            )
        });
    } else {
        let seen = if kernel.log.known().is_some() { "the log shows no lost BAR" } else { "the log is not visible" };
        out.fail(subject, format_args!("a workaround for small bridge windows; {seen}"))
            .severity(Severity::Info)
            .at(place);
    }
}

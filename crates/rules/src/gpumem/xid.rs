//! `gpumem/xid`.

use super::{count, no_log, silent_log, xids};
use crate::{
    Action, Cx, Effect, Findings, Myth, Persistence, Quality, Remedy, Risk, Roles, Rule, Severity, Source, Subject,
};
use linerate_formats::dmesg::Event;

pub(super) static RULE: Rule = Rule {
    id: "gpumem/xid",
    title: "The kernel log holds no Xid (GPU error) of hardware",
    severity: Severity::High,
    roles: Roles::ALL,
    effect: Effect { text: "from a failed program to a lost GPU, by number", quality: Quality::Sourced },
    sources: &[Source { title: "NVIDIA, XID errors", at: "https://docs.nvidia.com/deploy/xid-errors/index.html" }],
    reads: &["dmesg"],
    docs: "\
## What it checks
Lines `NVRM: Xid (PCI:…): N, …` of the kernel log, counted by GPU and number. Numbers that mostly come from programs (13, 31, 43, 45) are
information; those of memory, bus, NVLink and firmware are findings.

## Why it matters
The driver reports here what it could not hide: memory errors (48, 63, 64, 92, 94, 95), a GPU that left the bus (79), NVLink errors
(74, 144 to 150), firmware that does not answer (119, 120). A collective on such a GPU is slow, hangs, or dies.

## See it yourself
`dmesg -T | grep -i xid`. The log's buffer wraps, so old ones may be gone; a GPU may also have been reset since.

## Fix
By number: see NVIDIA's list. Drain the node before a reset or diagnostics.",
    myths: &[Myth {
        claim: "Any Xid means a broken GPU.",
        truth: "13, 31, 43 and 45 mostly come from the program that ran. 48, 64, 79 and 95 are hardware.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if no_log(cx, "Xid", out) {
        return;
    }
    let log = &cx.node.kernel.log;
    let groups = count(cx.node.kernel.events(|e| match e {
        Event::Xid { bdf, number } => Some((*bdf, *number)),
        _ => None,
    }));
    if groups.is_empty() {
        let any = cx.node.pci.gpus().next().is_some() || cx.node.nvidia.driver.flavour.known().is_some();
        if any || cx.node.pci.seen.is_none() {
            silent_log(cx, "no Xid", out);
        } else {
            out.not_applicable("no NVIDIA GPU").at(log.place());
        }
        return;
    }
    for ((bdf, number), count, place) in groups {
        let x = xids::meaning(number);
        let subject = bdf.map_or_else(|| Subject::Named("GPU".into()), Subject::Pci);
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
        let f = out.fail(subject, format_args!("Xid {number} ({}), {times}", x.what));
        f.severity(x.severity).at(place).fix(|| {
            Remedy::new(
                x.advice,
                Action::Investigate { what: format!("Xid {number}").into() },
                Persistence::Hardware,
                if x.severity == Severity::Info { Risk::None } else { Risk::Medium },
            )
            .because(if x.severity == Severity::Info { "" } else { "running jobs on the GPU end" })
            .prove("dmesg")
        });
    }
}

//! `gpumem/xid`.

use crate::log::{count, no_log, silent_log};
use crate::xid::{CATALOGUE, Judgement, NUMBERS, Seen, judge, named};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Subject};
use linerate_formats::dmesg::Event;
use linerate_formats::pci::Bdf;
use linerate_snapshot::Place;
use std::fmt;

pub(super) static RULE: Rule = Rule {
    id: "gpumem/xid",
    title: "The kernel log holds no Xid (GPU error) of hardware",
    severity: Severities::up_to(Severity::High, Severity::Critical),
    roles: Roles::ALL,
    effect: Effect::sourced("from a failed program to a lost GPU, by number"),
    sources: &[CATALOGUE, NUMBERS],
    reads: &["dmesg"],
    docs: "\
## What it checks
Lines `NVRM: Xid (PCI:…): N, …` of the kernel log, by GPU and number, and for 144 to 150 by unit and status; `SXid` lines of NVSwitches. Each is
judged by NVIDIA's Xid catalogue and its resolution buckets. A GPU that fell off the bus without an Xid: pcie/device-gone.
An Xid 45 that names another one, whose own line is not in the log, counts as that one. What the catalogue ignores (63, 92, 107, 121, 137 …) and errors of programs
(13, 31, 43, 45 …) are information. Xid 154 is judged by the action that it names. `linerate explain xid/N` shows the row of a number.

## Why it matters
The driver reports here what it could not hide: memory errors (48, 64, 94, 95), a GPU that left the bus (79), NVLink errors (74, 144 to 150),
firmware that does not answer (119, 120). A collective on such a GPU is slow, hangs, or dies.

## See it yourself
`dmesg -T | grep -i xid`. The log's buffer wraps, so old ones may be gone; a GPU may also have been reset since.
`nvidia-smi -q` shows the recovery action that the driver wants now.

## Fix
By number, as the catalogue says: restart the application, reset the GPU, restart the machine, or nothing. An Xid that the catalogue does not
have gets no advice.",
    myths: &[Myth {
        claim: "Any Xid means a broken GPU.",
        truth: "13, 31, 43 and 45 come from the program that ran. NVIDIA's catalogue ignores others, such as 63 and 92. 64, 79 and 95 need a reset or a restart.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if no_log(cx, "Xid", out) {
        return;
    }
    let log = &cx.node.kernel.log;
    let seen = || {
        cx.node.kernel.events(|e| match e {
            Event::Xid { bdf, number, detail } => Some(Seen { gpu: *bdf, number: *number, detail: *detail }),
            _ => None,
        })
    };
    let groups = count(seen());
    let switches = count(cx.node.kernel.events(|e| match e {
        Event::SXid { bdf, number, fatal } => Some((*bdf, *number, *fatal)),
        _ => None,
    }));
    if groups.is_empty() && switches.is_empty() {
        let any = cx.node.pci.nvidia_gpus().next().is_some() || cx.node.nvidia.driver.flavour.known().is_some();
        if any || cx.node.pci.seen.is_none() {
            silent_log(cx, "no Xid", out);
        } else {
            out.not_applicable("no NVIDIA GPU").at(log.place());
        }
        return;
    }
    let all: Vec<Seen> = seen().map(|(one, _)| one).collect();
    for (seen, n, place) in &groups {
        let own = named(*seen, &all);
        let j = judge(&own, &all);
        let said = if own.number == seen.number { "" } else { ": an Xid 45 names it, its own line is not in this log" };
        report(&j, own.gpu, *place, format_args!("{}{said}, {}", j.words, times(*n)), out);
    }
    for ((bdf, number, fatal), n, place) in switches {
        let subject = bdf.map_or_else(|| Subject::Named("NVSwitch".into()), Subject::Pci);
        let word = match fatal {
            Some(true) => "fatal",
            Some(false) => "non-fatal",
            None => "the line does not say whether it is fatal",
        };
        let f = out.fail(subject, format_args!("NVSwitch error SXid {number} ({word}), {}", times(n))).at(place);
        f.severity(crate::xid::switch_severity(fatal));
        if let Some(remedy) = crate::xid::switch_remedy(fatal) {
            f.fix(|| remedy);
        }
    }
}

fn report(j: &Judgement, gpu: Option<Bdf>, at: Place, words: fmt::Arguments<'_>, out: &mut Findings) {
    let subject = gpu.map_or_else(|| Subject::Named("GPU".into()), Subject::Pci);
    let f = out.fail(subject, words);
    f.severity(j.severity).at(at);
    if let Some(remedy) = j.remedy() {
        f.fix(|| remedy);
    }
}

fn times(n: u32) -> String {
    if n == 1 { "once".to_owned() } else { format!("{n} times") }
}

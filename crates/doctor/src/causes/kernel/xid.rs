//! `kernel/xid`.

use super::pcie_error;
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::answer::Note;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use crate::observe::groups::Group;
use crate::observe::names::Name;
use crate::observe::trouble::KernelTrouble;
use crate::ranges::some;
use linerate_formats::xid::{Class, Detail};
use linerate_rules::Severity;
use linerate_rules::xid::{CATALOGUE, Do, Judgement, NUMBERS, Seen, judge, named};
use std::collections::{BTreeSet, HashMap};

/// GPUs that are named.
const NAMED: usize = 4;

pub(super) static CAUSE: Cause = Cause {
    id: "kernel/xid",
    title: "The GPU driver reported an error (Xid)",
    what: "The GPU driver reported an error of a GPU or of a program on it (Xid). The rank on that GPU fails, all \
           others wait for it.",
    shows: &["`NVRM: Xid (PCI:0000:18:00): 79, …`"],
    why: "NVIDIA's catalogue says by number what to do: nothing (63, 92, 137), restart the application (13, 31, 94), \
          reset the GPU (64, 95, 119), restart the machine (79). 43 and 45 follow from the program or from another \
          error; 154 names the action that the driver wants.",
    confirm: &[
        "`linerate explain xid/N`: the catalogue's row of the number",
        "`nvidia-smi -q` on that node: GPU Recovery Action, remapped rows, NVLink errors",
    ],
    refute: &["13, 31 or 43: the program made the error; the GPU is fine"],
    remedy: Advice::Investigate(
        "Find the Xid in the kernel's log of that node (`dmesg | grep Xid`), and do what the catalogue says for its number: `linerate explain xid/N`",
    ),
    sources: &[CATALOGUE, NUMBERS],
    severity: Severity::Critical,
    rules: &["gpumem/xid", "gpumem/nvlink-fabric", "pcie/device-gone"],
    follows: &["kernel/pcie-error"],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let found: Vec<_> = judged(c).into_iter().filter(|(_, j, _)| is_cause(j) && !is_nvlink(j)).collect();
    // The worst counts; among equals the first, and what follows from others last.
    let (seen, j, g) = found
        .iter()
        .min_by_key(|(_, j, g)| (std::cmp::Reverse(j.severity), matches!(j.what_to_do, Do::Others), g.first))?;
    // Other GPUs with the same number, and as bad.
    let same = || found.iter().filter(|(s, o, _)| s.number == seen.number && o.severity == j.severity);
    let gpus: BTreeSet<String> = same().filter_map(|(s, ..)| s.gpu).map(|b| b.to_string()).collect();
    let whose = if gpus.is_empty() { String::new() } else { format!(" of {}", some(&Vec::from_iter(gpus), NAMED)) };
    let app = matches!(j.meaning.class, Class::App | Class::Engine);
    let sure = match j.what_to_do {
        Do::NotKnown | Do::Nothing | Do::Others => Possible,
        _ if app => Likely,
        _ => Certain,
    };
    let several = found.len() > 1 && app;
    let more = if several { "; of several Xids of programs it is the first" } else { "" };
    let words = format!("{}{whose}{more}", j.words);
    let why = "the driver's own report in the kernel's log, and NVIDIA's catalogue";
    let groups: Vec<&Group> =
        std::iter::once(*g).chain(same().map(|(_, _, g)| *g).filter(|o| !std::ptr::eq(*o, *g))).collect();
    // For the node an error of a program is no trouble; for the job it is what ended it.
    let severity = if app && j.what_to_do != Do::NotKnown { j.severity.max(Severity::Medium) } else { j.severity };
    let all = Found::new(sure, words, why).shown_by(c, &groups).severity(severity).fix(j.remedy());
    // What a program did wrong may be what the link did to it; a GPU's own error has its own cause.
    let errors = pcie_error::errors(c);
    let after_error = app && same().all(|(s, _, x)| pcie_error::came_before(&errors, s.gpu, x));
    Some(if after_error { all } else { all.apart_from("kernel/pcie-error") })
}

/// All Xids, each beside the others of its GPU: those of its host.
pub(crate) fn judged<'a>(c: &Case<'a>) -> Vec<(Seen, Judgement, &'a Group)> {
    let all = c.kernel(|k| matches!(k, KernelTrouble::Xid { .. }));
    let seen = |k: &KernelTrouble| match *k {
        KernelTrouble::Xid { number, gpu, detail } => Some(Seen { gpu, number, detail }),
        _ => None,
    };
    let mut by_host: HashMap<Option<Name>, Vec<Seen>> = HashMap::new();
    for (k, g) in &all {
        by_host.entry(g.host).or_default().extend(seen(k));
    }
    // What each log said last counts; where logs that name no host disagree about an address, the worst.
    let mut last = c.o.recoveries.clone();
    last.sort_by_key(|r| judge_rank(r.action));
    for r in last {
        let action = Seen { gpu: r.gpu, number: 154, detail: Detail::Recovery(r.action) };
        by_host.entry(r.host).or_default().push(action);
    }
    let judged = |(k, g): &(KernelTrouble, &'a Group)| {
        let known = by_host.get(&g.host)?;
        let seen = named(seen(k)?, known);
        Some((seen, judge(&seen, known), *g))
    };
    all.iter().filter_map(judged).collect()
}

fn judge_rank(action: linerate_formats::xid::Recovery) -> Severity {
    let one = Seen { gpu: None, number: 154, detail: Detail::Recovery(action) };
    judge(&one, &[one]).severity
}

/// Whether an Xid can be why a job failed: errors of programs and of hardware, not what the catalogue ignores.
fn is_cause(j: &Judgement) -> bool {
    j.what_to_do != Do::Nothing || j.meaning.class == Class::App
}

/// Whether gpu/nvlink reports it.
pub(crate) fn is_nvlink(j: &Judgement) -> bool {
    j.meaning.class == Class::Nvlink
}

/// Xids that the catalogue says to ignore.
pub(crate) fn harmless(c: &Case<'_>) -> Vec<Note> {
    let why = |j: &Judgement| match j.meaning.class {
        Class::Recovery => "the driver wants nothing to be done".to_owned(),
        _ => format!("NVIDIA's catalogue: {}", j.meaning.immediate.name()),
    };
    let quiet = judged(c).into_iter().filter(|(_, j, _)| !is_cause(j));
    quiet
        .map(|(_, j, g)| Note { what: j.words.clone(), why: why(&j), evidence: c.first_quote(g).into_iter().collect() })
        .collect()
}

//! The kernel's arguments, and what follows from them.

use super::{Sim, iommu, registers};
use crate::diff::follows::{ARGUMENTS, PCI, SAME};
use linerate_formats::cmdline::{self, Cmdline, same_name};
use linerate_rules::acs_asked_for;
use linerate_snapshot::OutputKind;

const FILE: &str = "proc/cmdline";

/// Words that the kernel's core reads for the IOMMU: what follows is in [`iommu`].
const TRANSLATION: [&str; 5] = ["iommu", "iommu.passthrough", "iommu.strict", "intel_iommu", "amd_iommu"];

/// The kernel was started with some words, and without others.
pub(super) fn booted_with(sim: &mut Sim<'_>, has: &[String], lacks: &[String]) {
    let Some(old) = sim.text(FILE).or_else(|| pasted(sim)) else {
        sim.cannot("the kernel's arguments: the source does not show those of today");
        return;
    };
    let before = cmdline::parse(old.as_bytes());
    let there = |w: &str| before.params.iter().any(|p| p.raw == w);
    let (added, removed): (Vec<&String>, Vec<&String>) =
        (has.iter().filter(|w| !there(w)).collect(), lacks.iter().filter(|w| there(w)).collect());
    let mut words: Vec<&str> = old.split_whitespace().filter(|w| !removed.iter().any(|r| r.as_str() == *w)).collect();
    words.extend(added.iter().map(|w| w.as_str()));
    let line = format!("{}\n", words.join(" "));
    write(sim, &line);
    let after = cmdline::parse(line.as_bytes());
    iommu::booted_with(sim, &before, &after);
    acs(sim, &before, &after);
    for word in added.iter().chain(&removed) {
        follow(sim, word, added.contains(word));
    }
}

fn pasted(sim: &Sim<'_>) -> Option<String> {
    let o = sim.s.outputs.iter().find(|o| o.kind == OutputKind::Cmdline)?;
    std::str::from_utf8(sim.s.data(o.entry)).ok().map(str::to_owned)
}

fn write(sim: &mut Sim<'_>, line: &str) {
    let all: Vec<String> =
        sim.s.outputs.iter().filter(|o| o.kind == OutputKind::Cmdline).map(|o| sim.s.path(o.entry)).collect();
    for path in all {
        sim.write(&path, line);
    }
    if sim.text(FILE).is_some() {
        sim.write(FILE, line);
    }
}

/// ACS parameters, for kernels that take them (`config_acs`: Linux 6.11, `disable_acs_redir`: 4.19; see rule acs/parameter-not-effective).
fn acs(sim: &mut Sim<'_>, before: &Cmdline, after: &Cmdline) {
    let options =
        |c: &Cmdline| c.options("pci").map(|(o, _)| o.to_owned()).filter(|o| is_acs(o)).collect::<Vec<String>>();
    let (old, new) = (options(before), options(after));
    if old == new {
        return;
    }
    if old.iter().any(|o| !new.contains(o)) {
        sim.cannot("the ACS bits that the kernel gives ports when its parameter is gone");
        return;
    }
    let release = sim.node.kernel.release.known();
    let takes = |o: &String| match o.starts_with("config_acs") {
        true => release.is_some_and(|v| v.at_least(6, 11)),
        false => release.is_some_and(|v| v.at_least(4, 19)),
    };
    if !new.iter().all(takes) {
        sim.cannot("ACS parameters: whether this kernel takes them is not known, or it does not");
        return;
    }
    for a in acs_asked_for(sim.node, after) {
        registers::write(sim, a.port, "ECAP_ACS+6.w", a.set, a.set | a.clear);
    }
}

fn is_acs(option: &str) -> bool {
    option.starts_with("config_acs=") || option.starts_with("disable_acs_redir=")
}

/// What else a word moves, by the table that differences of snapshots are explained by: where it is not simulated, that is said.
fn follow(sim: &mut Sim<'_>, word: &str, there: bool) {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    if TRANSLATION.iter().any(|t| same_name(t, name)) {
        return;
    }
    if let Some((module, option)) = name.split_once('.') {
        parameter(sim, module, option, there.then_some(value));
    }
    let verb = if there { "with" } else { "without" };
    let same = SAME.iter().find(|(w, _)| *w == name).map_or(name, |(_, s)| s);
    if ARGUMENTS.iter().any(|(start, ..)| *start == same || same.split('.').next() == Some(start)) {
        sim.cannot(format!("what the kernel sets {verb} {word}"));
    }
    for option in word.strip_prefix("pci=").into_iter().flat_map(|all| all.split(',')) {
        let option_name = option.split('=').next().unwrap_or(option);
        if !is_acs(option) && PCI.iter().any(|(n, ..)| *n == option_name) {
            sim.cannot(format!("what the kernel sets {verb} pci={option}"));
        }
    }
}

/// `MODULE.OPTION=VALUE`
fn parameter(sim: &mut Sim<'_>, module: &str, option: &str, value: Option<&str>) {
    let path = format!("sys/module/{}/parameters/{option}", module.replace('-', "_"));
    let Some(old) = sim.text(&path) else { return };
    match value {
        Some(value) => {
            let new = super::apply::chosen(old.trim(), value);
            sim.write(&path, &format!("{new}\n"));
        }
        None => sim.cannot(format!("the value that {option} of {module} has when nobody sets it")),
    }
}

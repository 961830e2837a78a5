//! Steps of what may be planned, in order.

use super::args::{Args, args, in_one_word, nothing_to_do};
use super::group::{self, Kind};
use super::wish::{Wish, distinct, rules, say_no};
use super::{Cx, KERNEL_ARGS, Parts, hand};
use crate::boot::{self, KernelArgs, Written};
use crate::change::{self, Refusal, Rendered};
use crate::model::{Condition, Disruption, Permanence, Proof, Risk, Step};
use crate::platform::Boot;

use std::collections::{BTreeMap, HashSet};

/// Fills in the steps: those that need no reboot first, then those that share the one.
pub(super) fn steps(cx: &Cx<'_, '_>, wishes: Vec<Wish>, out: &mut Parts) {
    let mut groups: BTreeMap<Kind, Vec<&Wish>> = BTreeMap::new();
    for w in &wishes {
        if let Some(kind) = group::kind(&w.remedy.action) {
            groups.entry(kind).or_default().push(w);
        }
    }
    let reset = cx.options.reset_devices;
    let before = reset.then(|| out.clone());
    let mut made = all(cx, &groups, reset, out);
    // The reboot that something else needs makes the settings of NICs current as well.
    if let Some(before) = before.filter(|_| made.iter().any(|(_, s)| s.disruption >= Disruption::DrainReboot)) {
        *out = before;
        made = all(cx, &groups, false, out);
    }
    made.sort_by(|(a, x), (b, y)| {
        (x.disruption >= Disruption::DrainReboot, a, &x.id).cmp(&(y.disruption >= Disruption::DrainReboot, b, &y.id))
    });
    for (_, mut step) in made {
        let name = step.id.clone();
        let mut n = 1;
        while out.steps.iter().any(|s| s.id == step.id) {
            n += 1;
            step.id = format!("{name}-{n}");
        }
        out.steps.push(step);
    }
}

/// The steps of each group. `reset`: NICs may be reset without a reboot.
fn all(cx: &Cx<'_, '_>, groups: &BTreeMap<Kind, Vec<&Wish>>, reset: bool, out: &mut Parts) -> Vec<(Kind, Step)> {
    let mut made = Vec::new();
    for (kind, of) in groups {
        let steps = match kind {
            Kind::KernelArgs => kernel_args(cx, of, out).into_iter().collect(),
            Kind::Bios(setting, value) => bios(cx, setting, value, of, out),
            _ => rendered(cx, kind, of, reset, out),
        };
        made.extend(steps.into_iter().map(|s| (kind.clone(), s)));
    }
    made
}

fn step(id: &str, of: &[&Wish]) -> Step {
    let about = |w: &&Wish| Proof::Rule { rule: w.rule.to_owned(), subject: w.subject.clone() };
    let mut seen = HashSet::new();
    let proof = of.iter().filter(|w| seen.insert((w.rule, &w.subject))).map(about).collect();
    Step {
        id: id.to_owned(),
        rules: rules(of.iter().copied()),
        summary: distinct(of.iter().map(|w| w.remedy.summary.to_string())).join("; "),
        why: distinct(of.iter().map(|w| w.message.clone())),
        precondition: vec![],
        trial: vec![],
        change: vec![],
        proof,
        risk: of.iter().map(|w| w.risk()).max().unwrap_or(Risk::None),
        risk_note: distinct(of.iter().map(|w| w.remedy.risk_note.to_string())).join("; "),
        persistence: Permanence::NextBoot,
        disruption: Disruption::DrainReboot,
        unsimulated: vec![],
    }
}

fn note(step: &mut Step, more: &str) {
    if more.is_empty() {
        return;
    }
    if !step.risk_note.is_empty() {
        step.risk_note.push_str("; ");
    }
    step.risk_note.push_str(more);
}

/// All kernel arguments: one step.
fn kernel_args(cx: &Cx<'_, '_>, of: &[&Wish], out: &mut Parts) -> Option<Step> {
    let running = cx.node.kernel.cmdline.known();
    let mut words = args(of, running);
    if let (Boot::Grubby, Some(running)) = (&cx.platform.boot, running) {
        in_one_word(&mut words, running);
    }
    let Args { add, remove } = words;
    if running.is_some_and(|r| nothing_to_do(&Args { add: add.clone(), remove: remove.clone() }, r)) {
        let why = boot::taken_and_ignored(cx.snapshot, &add);
        for w in of {
            say_no(
                &mut out.refused,
                w,
                format!("the running kernel has these arguments already, and they are not effective: {why}"),
                None,
            );
        }
        return None;
    }
    let mut step = step(KERNEL_ARGS, of);
    let with = (!add.is_empty()).then(|| format!(" with {}", add.join(" ")));
    let without = (!remove.is_empty()).then(|| format!(" without {}", remove.join(" ")));
    step.summary = format!("boot{}{}", with.unwrap_or_default(), without.unwrap_or_default());
    step.risk = step.risk.max(Risk::Medium);
    let asked = KernelArgs { step: KERNEL_ARGS, add: &add, remove: &remove, trial: cx.options.trial };
    let elsewhere = cx.options.export && matches!(cx.platform.boot, Boot::Talos | Boot::OpenShift | Boot::Unknown(_));
    let written = if elsewhere {
        Ok(Written { note: "for another system to make: nothing is run on this node".to_owned(), ..Written::default() })
    } else {
        boot::permanent(asked, cx.platform, cx.snapshot)
    };
    let Written { precondition, trial, change, note: more } = match written {
        Ok(w) => w,
        Err(refusal) => {
            of.iter().for_each(|w| refused(w, &refusal, out));
            return None;
        }
    };
    // What was running when the plan was made: else the node was changed since.
    if let Some(now) = running {
        let there = |w: &&String| nothing_to_do(&Args { add: vec![(*w).clone()], remove: vec![] }, now);
        let (has, _): (Vec<&String>, Vec<&String>) = remove.iter().partition(there);
        let (_, lacks): (Vec<&String>, Vec<&String>) = add.iter().partition(there);
        let own = |w: Vec<&String>| w.into_iter().cloned().collect();
        step.precondition.push(Condition::Cmdline { has: own(has), lacks: own(lacks) });
    }
    step.precondition.extend(precondition);
    step.trial = trial;
    step.change = change;
    step.proof.push(Proof::Cmdline { has: add, lacks: remove });
    note(&mut step, &more);
    Some(step)
}

/// A setting of the firmware, by what its BMC shows.
fn bios(cx: &Cx<'_, '_>, setting: &str, value: &str, of: &[&Wish], out: &mut Parts) -> Vec<Step> {
    let Some(setup) = &cx.options.redfish else { return Vec::new() };
    match change::bios::set(setting, value, setup) {
        Ok(r) => vec![finished(r, of)],
        Err(refusal) => {
            of.iter().for_each(|w| refused(w, &refusal, out));
            Vec::new()
        }
    }
}

/// Everything else. Where a group cannot be rendered, each wish is asked alone, so that one bad word does not take the others with it.
fn rendered(cx: &Cx<'_, '_>, kind: &Kind, of: &[&Wish], reset: bool, out: &mut Parts) -> Vec<Step> {
    // A NIC's firmware is nobody's configuration; files, units and values are what the other system writes.
    let firmware = matches!(kind, Kind::NicFirmware(..) | Kind::NicFirmwareReset(_));
    if let Some(refusal) = boot::of_another(cx.platform).filter(|_| !firmware && !cx.options.export) {
        let refusal = not_by_talos(cx, kind).unwrap_or(refusal);
        of.iter().for_each(|w| refused(w, &refusal, out));
        return Vec::new();
    }
    let render = |of: &[&Wish]| {
        let ask = group::ask(cx, kind, of, reset);
        ask.map(|a| change::render(&a, cx.platform, cx.node, cx.snapshot)).unwrap_or_default()
    };
    let results = render(of);
    if results.iter().all(Result::is_ok) {
        return results.into_iter().flatten().map(|r| finished(r, of)).collect();
    }
    let mut fine = Vec::new();
    for w in of {
        match render(&[w]).into_iter().find_map(Result::err) {
            Some(refusal) => refused(w, &refusal, out),
            None => fine.push(*w),
        }
    }
    if fine.is_empty() {
        return Vec::new();
    }
    let mut steps = Vec::new();
    for r in render(&fine) {
        match r {
            Ok(r) => steps.push(finished(r, &fine)),
            Err(refusal) => fine.iter().for_each(|w| refused(w, &refusal, out)),
        }
    }
    steps
}

/// What Talos' machine configuration has no form for: `--format talos` would leave it out, too.
fn not_by_talos(cx: &Cx<'_, '_>, kind: &Kind) -> Option<Refusal> {
    if cx.platform.boot != Boot::Talos {
        return None;
    }
    Some(Refusal::no(match kind {
        Kind::AcsControl => {
            "Talos runs no units: for ACS bits add pci=config_acs=…@ADDRESS (Linux 6.11 or later) to the kernel arguments of the node's schematic, or \
             run a privileged DaemonSet with setpci"
        }
        Kind::DeviceControl => "Talos runs no units: run a privileged DaemonSet that writes the register with setpci",
        Kind::Limit => {
            "Talos has no limits.d and no drop-ins of units: set the limit in the pod or in the container runtime's configuration"
        }
        _ => return None,
    }))
}

fn finished(r: Rendered, of: &[&Wish]) -> Step {
    let mut step = step(&r.id, of);
    if !r.summary.is_empty() {
        step.summary = r.summary;
    }
    step.precondition = r.precondition;
    step.change = r.change;
    step.persistence = r.persistence;
    step.disruption = r.disruption;
    let mut seen: HashSet<Proof> = step.proof.iter().cloned().collect();
    step.proof.extend(r.proof.into_iter().filter(|p| seen.insert(p.clone())));
    note(&mut step, &r.note);
    step
}

fn refused(w: &Wish, refusal: &Refusal, out: &mut Parts) {
    match refusal {
        Refusal::No { reason, unless } => say_no(&mut out.refused, w, reason.clone(), unless.clone()),
        Refusal::Already { reason } => say_no(&mut out.refused, w, format!("it is so already: {reason}"), None),
        Refusal::ByHand { how, reread } => hand::add(&mut out.by_hand, w, how.clone(), reread.clone()),
    }
}

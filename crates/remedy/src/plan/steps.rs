//! Steps of what may be planned, in order.

use super::wish::{Wish, distinct, rules, say_no};
use super::{Cx, Parts, hand};
use crate::boot;
use crate::change::{self, Change, Kind, Refusal, Through};
use crate::model::{Disruption, Proof, Step};
use crate::platform::Boot;
use crate::terms::{self, Terms};

use std::collections::{BTreeMap, HashSet};

/// The place of a kind among all, and what tells its steps apart.
type Key = (usize, String);
/// Wishes that have one step, unless their kind makes several of them.
type Groups<'w> = BTreeMap<Key, (&'static dyn Kind, Vec<&'w Wish>)>;

/// Fills in the steps: those that need no reboot first, then those that share the one.
pub(super) fn steps(cx: &Cx<'_, '_>, wishes: Vec<Wish>, out: &mut Parts) {
    let mut groups: Groups<'_> = BTreeMap::new();
    for w in &wishes {
        if let Some((place, own, kind)) = change::kind(&w.remedy.action) {
            groups.entry((place, own)).or_insert_with(|| (kind, Vec::new())).1.push(w);
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
fn all(cx: &Cx<'_, '_>, groups: &Groups<'_>, reset: bool, out: &mut Parts) -> Vec<(Key, Step)> {
    let mut made = Vec::new();
    for (key, (kind, of)) in groups {
        made.extend(changed(cx, *kind, of, reset, out).into_iter().map(|s| (key.clone(), s)));
    }
    made
}

fn step(id: &str, of: &[&Wish], terms: Terms) -> Step {
    let of_rule = |w: &Wish| Proof::Rule { rule: w.rule.clone(), subject: w.subject.clone() };
    let about = |w: &&Wish| w.proof.clone().unwrap_or_else(|| of_rule(w));
    let mut seen = HashSet::new();
    let proof = of.iter().filter(|w| seen.insert((&w.rule, &w.subject))).map(about).collect();
    Step {
        id: id.to_owned(),
        rules: rules(of.iter().copied()),
        summary: distinct(of.iter().map(|w| w.remedy.summary.to_string())).join("; "),
        why: distinct(of.iter().map(|w| w.message.clone())),
        precondition: vec![],
        trial: vec![],
        change: vec![],
        proof,
        risk: terms.risk,
        risk_note: distinct(of.iter().map(|w| w.remedy.risk_note.to_string())).join("; "),
        persistence: terms.persistence,
        disruption: terms.disruption,
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

/// The steps of a group. Where it cannot be changed whole, each wish is asked alone, so that one bad word does not take the others with it.
fn changed(cx: &Cx<'_, '_>, kind: &dyn Kind, of: &[&Wish], reset: bool, out: &mut Parts) -> Vec<Step> {
    let foreign = boot::of_another(cx.platform).filter(|_| kind.through() == Through::System && !cx.options.export);
    if let Some(refusal) = foreign {
        let on_talos = kind.on_talos().filter(|_| cx.platform.boot == Boot::Talos);
        let refusal = on_talos.map_or(refusal, Refusal::no);
        of.iter().for_each(|w| refused(w, &refusal, out));
        return Vec::new();
    }
    let setting = cx.setting(reset);
    let changes = |of: &[&Wish]| {
        let actions: Vec<_> = of.iter().map(|w| &w.remedy.action).collect();
        change::made(kind, &actions, &setting)
    };
    let finish = |c: Change, of: &[&Wish]| {
        let terms = terms::of(of.iter().map(|w| &w.remedy.action), &setting.on());
        terms.map(|t| finished(c, of, t))
    };
    let results = changes(of);
    if results.iter().all(Result::is_ok) {
        return results.into_iter().flatten().filter_map(|c| finish(c, of)).collect();
    }
    let mut fine = Vec::new();
    for w in of {
        match changes(&[w]).into_iter().find_map(Result::err) {
            Some(refusal) => refused(w, &refusal, out),
            None => fine.push(*w),
        }
    }
    if fine.is_empty() {
        return Vec::new();
    }
    let mut steps = Vec::new();
    for c in changes(&fine) {
        match c {
            Ok(c) => steps.extend(finish(c, &fine)),
            Err(refusal) => fine.iter().for_each(|w| refused(w, &refusal, out)),
        }
    }
    steps
}

fn finished(c: Change, of: &[&Wish], terms: Terms) -> Step {
    let mut step = step(&c.id, of, terms);
    if !c.summary.is_empty() {
        step.summary = c.summary;
    }
    step.precondition = c.precondition;
    step.trial = c.trial;
    step.change = c.acts;
    let mut seen: HashSet<Proof> = step.proof.iter().cloned().collect();
    step.proof.extend(c.proof.into_iter().filter(|p| seen.insert(p.clone())));
    note(&mut step, &c.note);
    step
}

fn refused(w: &Wish, refusal: &Refusal, out: &mut Parts) {
    match refusal {
        Refusal::No { reason, unless } => say_no(&mut out.refused, w, reason.clone(), unless.clone()),
        Refusal::Already { reason } => say_no(&mut out.refused, w, format!("already done: {reason}"), None),
        Refusal::ByHand { how, reread } => hand::add(&mut out.by_hand, w, how.clone(), reread.clone()),
    }
}

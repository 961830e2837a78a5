//! No plan makes a node worse: each is simulated before it is offered, and what harms is left out, or changed.

use super::wish::{Wish, say_no, wishes};
use super::{Cx, Parts, labels, node_id};
use crate::effect;
use crate::model::{Act, Changed, Disruption, Plan, SCHEMA, Simulation, Step};
use crate::simulate::{Judged, Simulated, simulate_from};
use linerate_formats::mlxconfig::Param;
use linerate_node::context::Basis;
use linerate_node::nicfw::NicFirmware;
use linerate_rules::{Action, Remedy};

/// The rule that speaks of settings that wait for a reset.
const PENDING: &str = "nicfw/pending-reset";

/// A setting of a NIC's firmware that waits for a reset.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pending {
    device: String,
    parameter: String,
    now: String,
    next: String,
    /// The value in force, as it is given to the tool.
    back: String,
}

/// What the simulation has shown not to do.
#[derive(Debug, Clone, Default)]
struct Held {
    /// Pending settings that are set back, and why.
    cancelled: Vec<(Pending, String)>,
    /// Rules whose fixes are left out, and why.
    left: Vec<(String, String)>,
}

/// The plan of all wishes that makes nothing worse.
pub(super) fn plan(cx: &Cx<'_, '_>) -> Plan {
    let wishes = wishes(cx);
    let mut held = Held::default();
    let mut plan = make(cx, &wishes, &held);
    if plan.steps.iter().all(|s| effect::of_step(s).is_empty()) {
        return plan;
    }
    let before = Judged::of(cx.snapshot, plan.role);
    let run = |plan: &Plan| simulate_from(&before, cx.snapshot, plan);
    let mut seen = run(&plan);
    // Each round cancels a setting or leaves a rule out, or ends.
    loop {
        let next = match seen.worse().next() {
            Some(_) => better(cx, &wishes, &held, &plan, &seen, &run),
            None => useful(&held, &plan, &seen),
        };
        let Some(next) = next else { break };
        held = next;
        plan = make(cx, &wishes, &held);
        seen = run(&plan);
    }
    if plan.steps.iter().any(|s| !effect::of_step(s).is_empty()) {
        show(&mut plan, seen);
    }
    plan
}

/// Puts what the simulation shows into the plan.
fn show(plan: &mut Plan, seen: Simulated) {
    let mut of_reboot = seen.unsimulated_of("");
    for step in &mut plan.steps {
        step.unsimulated = seen.unsimulated_of(&step.id);
        if step.disruption >= Disruption::DrainReboot {
            step.unsimulated.append(&mut of_reboot);
        }
    }
    let Simulated { verdicts, .. } = seen;
    plan.simulation = Some(verdicts);
}

/// What to hold back besides, so that fewer verdicts are worse: first pending settings that the plan would bring into force, then the rule whose
/// fixes do most of the harm. Where no single one does, rules are taken in one after the other, each where it harms nothing.
fn better(
    cx: &Cx<'_, '_>,
    wishes: &[Wish],
    held: &Held,
    plan: &Plan,
    seen: &Simulated,
    run: &impl Fn(&Plan) -> Simulated,
) -> Option<Held> {
    let now = seen.worse().count();
    let mut next = held.clone();
    for pending in pending(cx, plan).into_iter().filter(|p| !held.cancelled.iter().any(|(c, _)| c == p)) {
        let mut tried = held.clone();
        tried.cancelled.push((pending.clone(), String::new()));
        let other = run(&make(cx, wishes, &tried));
        if other.worse().count() < now {
            let why = reason(&gone(seen, &other));
            next.cancelled.push((pending, why));
        }
    }
    if next.cancelled.len() > held.cancelled.len() {
        return Some(next);
    }
    let rules = rules(plan);
    let without = |rule: &String| {
        let mut tried = held.clone();
        tried.left.push((rule.clone(), String::new()));
        let other = run(&make(cx, wishes, &tried));
        (other.worse().count(), other)
    };
    let best = rules.iter().map(|r| (r, without(r))).min_by_key(|(_, (n, _))| *n);
    if let Some((rule, (_, other))) = best.filter(|(_, (n, _))| *n < now) {
        next.left.push((rule.clone(), reason(&gone(seen, &other))));
        return Some(next);
    }
    // Several together harm, each alone would, too.
    let mut base = held.clone();
    base.left.extend(rules.iter().map(|r| (r.clone(), reason(&seen.worse().collect::<Vec<_>>()))));
    for rule in &rules {
        let mut tried = base.clone();
        tried.left.retain(|(r, _)| r != rule);
        if run(&make(cx, wishes, &tried)).worse().next().is_none() {
            base = tried;
        }
    }
    (base.left.len() > held.left.len()).then_some(base)
}

/// Without the rules whose steps the simulation made whole, and of which no verdict changed: what they change is not what is missing.
fn useful(held: &Held, plan: &Plan, seen: &Simulated) -> Option<Held> {
    let whole = |s: &Step| {
        let reboot = s.disruption >= Disruption::DrainReboot;
        let all = seen.unsimulated_of(&s.id).is_empty() && (!reboot || seen.unsimulated_of("").is_empty());
        all && !effect::of_step(s).is_empty()
    };
    let changed = |rule: &String| seen.verdicts.changed.iter().any(|c| c.rule == *rule);
    let idle = rules(plan)
        .into_iter()
        .filter(|rule| plan.steps.iter().filter(|s| s.rules.contains(rule)).all(whole) && !changed(rule));
    let mut next = held.clone();
    next.left.extend(idle.map(|rule| {
        let why = format!("in the simulation of the whole plan nothing of {rule} changes: something else is missing");
        (rule, why)
    }));
    (next.left.len() > held.left.len()).then_some(next)
}

/// Rules that the plan's steps are for.
fn rules(plan: &Plan) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for rule in plan.steps.iter().flat_map(|s| &s.rules) {
        if !out.contains(rule) {
            out.push(rule.clone());
        }
    }
    out
}

/// Verdicts that are worse in one simulation, and not in another.
fn gone<'a>(seen: &'a Simulated, other: &Simulated) -> Vec<&'a Changed> {
    let same = |a: &Changed, b: &Changed| a.rule == b.rule && a.subject == b.subject;
    let gone: Vec<&Changed> = seen.worse().filter(|c| !other.worse().any(|o| same(c, o))).collect();
    if gone.is_empty() { seen.worse().collect() } else { gone }
}

/// What would be worse, in words.
fn reason(worse: &[&Changed]) -> String {
    let Some(first) = worse.first() else { return String::new() };
    let mut others: Vec<&str> = worse.iter().map(|c| c.rule.as_str()).filter(|r| *r != first.rule).collect();
    others.sort_unstable();
    others.dedup();
    let more = if others.is_empty() { String::new() } else { format!("; worse, too: {}", others.join(", ")) };
    format!(
        "in the simulation {} becomes {} for {} (now {}): {}{more}",
        first.rule, first.after, first.subject, first.before, first.message
    )
}

/// A plan of all wishes but what is held back.
fn make(cx: &Cx<'_, '_>, wishes: &[Wish], held: &Held) -> Plan {
    let mut out = Parts::default();
    let mut kept = Vec::new();
    for w in wishes {
        match held.left.iter().find(|(rule, _)| rule == w.rule) {
            Some((_, why)) => say_no(&mut out.refused, w, why.clone(), None),
            None => kept.push(w.clone()),
        }
    }
    kept.extend(held.cancelled.iter().map(|(p, why)| cancel(p, why)));
    let set = settings(cx, &kept);
    let kept = kept.into_iter().filter_map(|w| unless_set(cx, w, &set)).collect();
    let own = |(device, parameter, _): &(String, String, String)| (device.clone(), parameter.clone());
    let cx = Cx { set: set.iter().map(own).collect(), ..cx.clone() };
    let mut parts = Parts::of(&cx, kept);
    parts.refused.splice(0..0, out.refused);
    let kubernetes = labels::add(&cx, &mut parts);
    Plan {
        schema: SCHEMA.to_owned(),
        hash: String::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        node: node_id(cx.snapshot),
        role: cx.node.context.role.value.filter(|_| cx.node.context.role.basis == Basis::Told),
        kubernetes,
        source: cx.snapshot.label.clone(),
        platform: cx.platform.words(),
        steps: parts.steps,
        by_hand: parts.by_hand,
        refused: parts.refused,
        simulation: None::<Simulation>,
    }
}

/// Settings that wait for a reset, and that wishes set anew: device, parameter, value.
fn settings(cx: &Cx<'_, '_>, wishes: &[Wish]) -> Vec<(String, String, String)> {
    let waits =
        |device: &str, parameter: &str| waiting(cx).any(|p| same_card(&p.device, device) && p.parameter == parameter);
    let set = wishes.iter().filter_map(|w| match &w.remedy.action {
        Action::NicFirmware { device, parameter, value } if waits(device, parameter) => {
            Some((device.to_string(), parameter.to_string(), value.to_string()))
        }
        _ => None,
    });
    set.collect()
}

/// A wish; a reset of a NIC of which all that waits is set anew has nothing left to bring into force: what sets it is its fix, too.
fn unless_set(cx: &Cx<'_, '_>, mut w: Wish, set: &[(String, String, String)]) -> Option<Wish> {
    let Action::NicFirmwareReset { device } = &w.remedy.action else { return Some(w) };
    let own: Vec<_> = set.iter().filter(|(d, ..)| same_card(d, device)).collect();
    let left = waiting(cx).any(|p| same_card(&p.device, device) && !own.iter().any(|(_, o, _)| *o == p.parameter));
    let Some((device, parameter, value)) = own.first().filter(|_| !left) else { return Some(w) };
    w.remedy.action = Action::NicFirmware {
        device: device.clone().into(),
        parameter: parameter.clone().into(),
        value: value.clone().into(),
    };
    Some(w)
}

/// That a setting keeps its value: the one for the next reset is set back.
fn cancel(p: &Pending, why: &str) -> Wish {
    let remedy = Remedy::new(
        format!("cancel {} {} → {} of {}, which waits for a reset", p.parameter, p.now, p.next, p.device),
        Action::NicFirmware {
            device: p.device.clone().into(),
            parameter: p.parameter.clone().into(),
            value: p.back.clone().into(),
        },
    )
    .because("somebody wanted this setting: it is cancelled because the node would be worse with it")
    .prove(format!("mlxconfig -d {} -e q", p.device));
    let message =
        format!("{} {} → {} waits for a reset, and a reboot brings it into force; {why}", p.parameter, p.now, p.next);
    Wish { rule: PENDING, subject: p.device.clone(), message, remedy }
}

/// Settings that wait, and that the plan neither makes nor cancels itself, where it brings them into force.
fn pending(cx: &Cx<'_, '_>, plan: &Plan) -> Vec<Pending> {
    let resets =
        plan.steps.iter().any(|s| effect::of_step(s).iter().any(|e| matches!(e, effect::Effect::NicReset { .. })));
    if !effect::reboots(plan) && !resets {
        return Vec::new();
    }
    let set = |s: &Step, p: &Pending| {
        s.change.iter().any(|a| matches!(a, Act::NicFirmware { device, parameter, .. } if same_card(device, &p.device) && *parameter == p.parameter))
    };
    waiting(cx).filter(|p| !plan.steps.iter().any(|s| set(s, p))).collect()
}

/// All settings that wait, of each card once.
fn waiting<'c>(cx: &'c Cx<'_, '_>) -> impl Iterator<Item = Pending> + 'c {
    let all = &cx.node.nic_firmware;
    let first = |n: &NicFirmware| all.iter().find(|o| o.same_card(n)).is_none_or(|o| o.name == n.name);
    all.iter().filter(move |n| first(n)).flat_map(|n| n.config.params.iter().filter_map(|p| waits(n, p)))
}

fn waits(n: &NicFirmware, p: &Param) -> Option<Pending> {
    let (now, next) = (p.current.as_ref()?, p.next.as_ref()?);
    let differs = now.raw != next.raw && (now.number.is_none() || now.number != next.number);
    (differs && !now.is_unavailable() && !next.is_unavailable()).then(|| Pending {
        device: n.name.clone(),
        parameter: p.name.to_string(),
        now: now.raw.to_string(),
        next: next.raw.to_string(),
        back: now.number.map_or_else(|| now.raw.to_string(), |n| n.to_string()),
    })
}

/// Functions of one card share its settings.
fn same_card(a: &str, b: &str) -> bool {
    let card = |d: &str| d.parse::<linerate_formats::pci::Bdf>().ok().map(|b| (b.domain, b.bus, b.device));
    a == b || card(a).is_some() && card(a) == card(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Counts, State};
    use crate::simulate::Unsimulated;
    use crate::verify::example::{plan, step};

    /// A step that was simulated whole and changes nothing of its rule is left out; what could not be simulated is not judged by that.
    #[test]
    fn a_step_without_effect_is_left_out() {
        let value = |rule: &str| Step {
            rules: vec![rule.into()],
            disruption: Disruption::None,
            change: vec![Act::Value { path: "/sys/a".into(), before: "0".into(), after: "1".into() }],
            ..step(rule)
        };
        let plan = plan(vec![value("a/idle"), value("a/useful"), value("a/open")]);
        let state = |status: &str| State { status: status.into(), severity: None };
        let changed = Changed {
            rule: "a/useful".into(),
            subject: "node".into(),
            before: State { severity: Some("high".into()), ..state("fail") },
            after: state("pass"),
            message: String::new(),
            worse: false,
        };
        let seen = Simulated {
            snapshot: linerate_snapshot::Snapshot::new("x"),
            verdicts: Simulation { before: Counts::default(), after: Counts::default(), changed: vec![changed] },
            unsimulated: vec![Unsimulated { step: "a/open".into(), what: "it".into() }],
        };
        let held = useful(&Held::default(), &plan, &seen).expect("one is idle");
        assert_eq!(held.left.iter().map(|(rule, _)| rule.as_str()).collect::<Vec<_>>(), ["a/idle"]);
    }
}

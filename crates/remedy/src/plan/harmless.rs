//! No plan makes a node worse: each is simulated before it is offered, and what harms is left out, or changed.

use super::pending::{Pending, Waiting, cancel};
use super::wish::{self, Wish, say_no, wishes};
use super::{Cx, Parts, labels, node_id};
use crate::effect;
use crate::model::{Changed, Disruption, Plan, Refused, SCHEMA, Simulation, Step};
use crate::simulate::{Judged, Simulated, simulate_from};
use linerate_formats::bounds::{FIXES, SIMULATED_BYTES, SIMULATED_ENTRIES, SIMULATIONS};
use linerate_node::context::Basis;
use linerate_snapshot::Snapshot;
use std::cell::Cell;

/// Pending settings that are tried one by one. Of more, halves are tried first.
const EACH: usize = 32;

/// What the simulation has shown not to do.
#[derive(Debug, Clone, Default)]
struct Held {
    /// Pending settings that are set back, and why.
    cancelled: Vec<(Pending, String)>,
    /// Rules whose fixes are left out, and why.
    left: Vec<(String, String)>,
}

/// What every plan is made of.
struct All<'a, 'c, 's> {
    cx: &'a Cx<'c, 's>,
    wishes: Vec<Wish>,
    waiting: Waiting,
    trials: Trials<'a>,
}

/// Simulations, as many as one plan may take.
struct Trials<'a> {
    before: Judged,
    snapshot: &'a Snapshot,
    left: Cell<usize>,
}

impl Trials<'_> {
    /// What a plan does. `None`: there were too many.
    fn run(&self, plan: &Plan) -> Option<Simulated> {
        self.left.set(self.left.get().checked_sub(1)?);
        Some(simulate_from(&self.before, self.snapshot, plan))
    }
}

/// Why a search for a plan ended before one was found.
struct TooMany;

/// The plan of all wishes that makes nothing worse.
pub(super) fn plan(cx: &Cx<'_, '_>) -> Plan {
    let wishes = wishes(cx);
    let waiting = Waiting::of(cx.node);
    let first = make(cx, &wishes, &waiting, &Held::default());
    if first.steps.iter().all(|s| effect::of_step(s).is_empty()) {
        return first;
    }
    // The larger a node, the fewer: each reads and judges all of it.
    let by_size = (SIMULATED_ENTRIES / cx.snapshot.len().max(1)).min(SIMULATED_BYTES / cx.snapshot.size().max(1));
    let most = SIMULATIONS.min(by_size).max(LEAST);
    let before = Judged::of(cx.snapshot, first.role);
    let trials = Trials { before, snapshot: cx.snapshot, left: Cell::new(most) };
    let all = All { cx, wishes, waiting, trials };
    all.search(first).unwrap_or_else(|TooMany| all.nothing(most))
}

/// Simulations that a plan may take on the largest of nodes.
const LEAST: usize = 4;

impl All<'_, '_, '_> {
    fn make(&self, held: &Held) -> Plan {
        make(self.cx, &self.wishes, &self.waiting, held)
    }

    fn run(&self, plan: &Plan) -> Result<Simulated, TooMany> {
        self.trials.run(plan).ok_or(TooMany)
    }

    /// From the plan of all wishes to one that makes nothing worse.
    fn search(&self, mut plan: Plan) -> Result<Plan, TooMany> {
        let mut held = Held::default();
        let mut seen = self.run(&plan)?;
        // Each round cancels settings or leaves rules out, or ends.
        loop {
            let next = match seen.worse().next() {
                Some(_) => self.better(&held, &plan, &seen)?,
                None => useful(&held, &plan, &seen),
            };
            let Some(next) = next else { break };
            held = next;
            plan = self.make(&held);
            seen = self.run(&plan)?;
        }
        if plan.steps.iter().any(|s| !effect::of_step(s).is_empty()) {
            show(&mut plan, seen);
        }
        Ok(plan)
    }

    /// No fix at all: that one does no harm has to be seen.
    fn nothing(&self, most: usize) -> Plan {
        let why = format!(
            "{most} simulations of this node found no plan that makes nothing worse: plan fewer rules at a time, with --fix RULE"
        );
        let left = self.wishes.iter().map(|w| (w.rule.clone(), why.clone())).collect();
        self.make(&Held { cancelled: Vec::new(), left })
    }

    /// What to hold back besides, so that fewer verdicts are worse: first pending settings that the plan would bring into force, then the rule whose
    /// fixes do most of the harm. Where no single one does, rules are taken in one after the other, each where it harms nothing.
    fn better(&self, held: &Held, plan: &Plan, seen: &Simulated) -> Result<Option<Held>, TooMany> {
        let now = seen.worse().count();
        let mut next = held.clone();
        let pending: Vec<&Pending> =
            self.waiting.in_force_by(plan).filter(|p| !held.cancelled.iter().any(|(c, _)| c == *p)).collect();
        self.harmful(&pending, held, seen, &mut next)?;
        if next.cancelled.len() > held.cancelled.len() {
            return Ok(Some(next));
        }
        let rules = rules(plan);
        let mut best: Option<(usize, &String, Simulated)> = None;
        for rule in &rules {
            let mut tried = held.clone();
            tried.left.push((rule.clone(), String::new()));
            let other = self.run(&self.make(&tried))?;
            let worse = other.worse().count();
            if best.as_ref().is_none_or(|(least, ..)| worse < *least) {
                best = Some((worse, rule, other));
            }
        }
        if let Some((_, rule, other)) = best.filter(|(worse, ..)| *worse < now) {
            next.left.push((rule.clone(), reason(&gone(seen, &other))));
            return Ok(Some(next));
        }
        // Several together harm, each alone would, too.
        let mut base = held.clone();
        base.left.extend(rules.iter().map(|r| (r.clone(), reason(&seen.worse().collect::<Vec<_>>()))));
        for rule in &rules {
            let mut tried = base.clone();
            tried.left.retain(|(r, _)| r != rule);
            if self.run(&self.make(&tried))?.worse().next().is_none() {
                base = tried;
            }
        }
        Ok((base.left.len() > held.left.len()).then_some(base))
    }

    /// Those of some pending settings without which fewer verdicts are worse.
    fn harmful(&self, of: &[&Pending], held: &Held, seen: &Simulated, next: &mut Held) -> Result<(), TooMany> {
        let without = |some: &[&Pending]| {
            let mut tried = held.clone();
            tried.cancelled.extend(some.iter().map(|p| ((*p).clone(), String::new())));
            let other = self.run(&self.make(&tried))?;
            Ok((other.worse().count() < seen.worse().count()).then_some(other))
        };
        if of.len() > EACH {
            // Most nodes have few that wait, and of many most do no harm.
            if without(of)?.is_some() {
                let (a, b) = of.split_at(of.len() / 2);
                self.harmful(a, held, seen, next)?;
                self.harmful(b, held, seen, next)?;
            }
            return Ok(());
        }
        for p in of {
            if let Some(other) = without(&[p])? {
                next.cancelled.push(((*p).clone(), reason(&gone(seen, &other))));
            }
        }
        Ok(())
    }
}

/// Without the rules whose steps the simulation made whole, and of which no verdict changed: what they change is not what is missing.
fn useful(held: &Held, plan: &Plan, seen: &Simulated) -> Option<Held> {
    let whole = |s: &Step| {
        let reboot = s.disruption >= Disruption::DrainReboot;
        seen.is_whole(&s.id) && (!reboot || seen.is_whole("")) && !effect::of_step(s).is_empty()
    };
    let changed = |rule: &String| seen.verdicts.changed.iter().any(|c| c.rule == *rule);
    let idle = rules(plan)
        .into_iter()
        .filter(|rule| plan.steps.iter().filter(|s| s.rules.contains(rule)).all(whole) && !changed(rule));
    let mut next = held.clone();
    next.left.extend(idle.map(|rule| {
        let why = format!("in the simulation of the whole plan no answer of {rule} changes: something else is missing");
        (rule, why)
    }));
    (next.left.len() > held.left.len()).then_some(next)
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
    let more = if others.is_empty() { String::new() } else { format!("; also worse: {}", others.join(", ")) };
    format!(
        "in the simulation {} becomes {} for {} (now {}): {}{more}",
        first.rule, first.after, first.subject, first.before, first.message
    )
}

/// A plan of all wishes but what is held back.
fn make(cx: &Cx<'_, '_>, wishes: &[Wish], waiting: &Waiting, held: &Held) -> Plan {
    let mut out = Parts::default();
    let mut kept = Vec::new();
    let (wishes, more) = wishes.split_at(wishes.len().min(FIXES));
    if !more.is_empty() {
        out.refused.push(Refused {
            rules: wish::rules(more),
            summary: format!("{} more fixes", more.len()),
            reason: format!("one plan has at most {FIXES} fixes: apply it, and make another plan"),
            unless: None,
        });
    }
    for w in wishes {
        match held.left.iter().find(|(rule, _)| *rule == w.rule) {
            Some((_, why)) => say_no(&mut out.refused, w, why.clone(), None),
            None => kept.push(w.clone()),
        }
    }
    kept.extend(held.cancelled.iter().map(|(p, why)| cancel(p, why)));
    let set = waiting.set_by(&kept);
    let kept = kept.into_iter().map(|w| waiting.unless_set(w, &set)).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Act, Counts, State, ValueAct};
    use crate::plan::{Options, Platform};
    use crate::simulate::Unsimulated;
    use crate::verify::example::{plan, step};
    use linerate_node::Node;
    use linerate_rules::{Action, Audit, Remedy};

    /// The planner's view of a node of which nothing is known.
    fn with_cx(f: impl FnOnce(&Cx<'_, '_>)) {
        let snapshot = Snapshot::new("test");
        let (node, audit, options) = (Node::decode(&snapshot), Audit::default(), Options::default());
        let platform = Platform::detect(&snapshot, &node);
        f(&Cx {
            snapshot: &snapshot,
            node: &node,
            audit: &audit,
            options: &options,
            platform: &platform,
            set: Vec::new(),
        });
    }

    fn wish(rule: &'static str) -> Wish {
        let action = Action::Sysfs { path: "/sys/a".into(), value: "1".into() };
        let remedy = Remedy::new("fix it", action);
        Wish { rule: rule.into(), subject: "node".into(), message: "it is wrong".into(), remedy, proof: None }
    }

    /// A search that takes too many simulations plans nothing, and says what to do.
    #[test]
    fn a_search_that_takes_too_long_plans_nothing() {
        with_cx(|cx| {
            let trials = Trials { before: Judged::default(), snapshot: cx.snapshot, left: Cell::new(0) };
            let all = All { cx, wishes: vec![wish("a/one")], waiting: Waiting::of(cx.node), trials };
            assert!(all.search(plan(Vec::new())).is_err());
            let none = all.nothing(7);
            assert!(none.steps.is_empty(), "{:?}", none.steps);
            let [refused] = none.refused.as_slice() else { panic!("{:?}", none.refused) };
            assert!(refused.reason.contains("7 simulations") && refused.reason.contains("--fix"), "{refused:?}");
        });
    }

    /// A plan has a limited number of fixes; those beyond are named by their rules.
    #[test]
    fn a_plan_has_so_many_fixes_and_names_the_rules_of_the_rest() {
        with_cx(|cx| {
            let mut wishes = vec![wish("a/one"); FIXES];
            wishes.extend(vec![wish("b/two"); 3]);
            let plan = make(cx, &wishes, &Waiting::of(cx.node), &Held::default());
            let rest = plan.refused.iter().find(|r| r.summary == "3 more fixes").expect("the rest");
            assert_eq!(rest.rules, ["b/two"]);
        });
    }

    /// A step that was simulated whole and changes nothing of its rule is left out; what could not be simulated is not judged by that.
    #[test]
    fn a_step_without_effect_is_left_out() {
        let value = |rule: &str| Step {
            rules: vec![rule.into()],
            disruption: Disruption::None,
            change: vec![Act::Value(ValueAct { path: "/sys/a".into(), before: "0".into(), after: "1".into() })],
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

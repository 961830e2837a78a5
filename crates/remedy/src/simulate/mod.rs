//! A plan, made on a node as it is known: the effects of its steps ([`crate::effect`]) are written into a copy of the snapshot, and all rules judge
//! the result. Decoder and rules are those of every other node, so that a step is never judged by other words than a node that was changed.
//!
//! What cannot be written (a BIOS attribute, memory windows that firmware would deal out anew) is said on its step: then the verdicts after are
//! those without it.

mod apply;
mod cmdline;
mod domain;
mod firmware;
mod iommu;
mod judge;
mod module;
mod network;
mod registers;

pub use judge::Judged;

use crate::effect::{self, Effect};
use crate::model::{Changed, Plan, Simulation};
use crate::wished;
use linerate_formats::bounds::KEPT;
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_rules::{audit, rules};
use linerate_snapshot::Snapshot;
use std::collections::HashSet;

/// A node after a plan.
#[derive(Debug, Clone)]
pub struct Simulated {
    /// The node as it would be.
    pub snapshot: Snapshot,
    /// Verdicts before and after.
    pub verdicts: Simulation,
    /// What could not be simulated, by step.
    pub unsimulated: Vec<Unsimulated>,
}

/// An effect that could not be simulated.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Unsimulated {
    /// Name of the step; empty: the reboot of the plan.
    pub step: String,
    /// What, and why.
    pub what: String,
}

impl Simulated {
    /// Verdicts that are worse than before.
    pub fn worse(&self) -> impl Iterator<Item = &Changed> {
        self.verdicts.changed.iter().filter(|c| c.worse)
    }

    /// What of a step could not be simulated.
    #[must_use]
    pub fn unsimulated_of(&self, step: &str) -> Vec<String> {
        self.unsimulated.iter().filter(|u| u.step == step).map(|u| u.what.clone()).collect()
    }

    /// Whether all of a step could be simulated.
    #[must_use]
    pub fn is_whole(&self, step: &str) -> bool {
        self.unsimulated.iter().all(|u| u.step != step)
    }
}

/// What a node would show after a plan, all steps made and the reboot done. Pure: the snapshot is not touched.
#[must_use]
pub fn simulate(snapshot: &Snapshot, plan: &Plan) -> Simulated {
    let before = Judged::of(snapshot, plan.role);
    simulate_from(&before, snapshot, plan)
}

/// As [`simulate`], of a node that was judged already: by the same role, with all rules.
#[must_use]
pub fn simulate_from(before: &Judged, snapshot: &Snapshot, plan: &Plan) -> Simulated {
    let node = Node::decode_as(snapshot, plan.role);
    let mut sim = Sim {
        before: snapshot,
        node: &node,
        s: snapshot.clone(),
        step: String::new(),
        unsimulated: Vec::new(),
        said: HashSet::new(),
        cards: None,
        reserved: 0,
    };
    let reboots = effect::reboots(plan);
    let steps: Vec<(&str, Vec<Effect>)> = plan.steps.iter().map(|s| (s.id.as_str(), effect::of_step(s))).collect();
    // What is written first, and what the reboot brings; then what the steps promise to prove, which is so by then, or was not understood.
    for (id, effects) in &steps {
        sim.step = (*id).to_owned();
        effects.iter().for_each(|e| apply::written(&mut sim, e, reboots));
    }
    if reboots {
        sim.step.clear();
        firmware::start(&mut sim);
    }
    for (id, effects) in &steps {
        sim.step = (*id).to_owned();
        effects.iter().for_each(|e| apply::after_reboot(&mut sim, e));
    }
    firmware::settle(&mut sim);
    // A file that says so, and a unit that does so again: in whatever order they are written, the last word is the register's.
    let Sim { s, unsimulated, .. } = sim;
    let changed = Node::decode_as(&s, plan.role);
    let after = Judged::from_audit(&audit(&changed, &s, rules()));
    let mut verdicts = before.compare(&after);
    // What a policy wishes is read as rules are.
    verdicts.changed.extend(wished::changed(plan, &node, &changed));
    drop(changed);
    Simulated { verdicts, snapshot: s, unsimulated }
}

/// A simulation that goes on.
struct Sim<'a> {
    before: &'a Snapshot,
    /// The node before.
    node: &'a Node<'a>,
    /// The node as it would be.
    s: Snapshot,
    /// The step whose effects are written.
    step: String,
    unsimulated: Vec<Unsimulated>,
    /// The same, to say each once.
    said: HashSet<Unsimulated>,
    /// Settings of NICs, from the first step on that asks for them.
    cards: Option<firmware::Cards>,
    /// Bytes that will be written at the end.
    reserved: usize,
}

impl Sim<'_> {
    /// Says that something cannot be simulated; the same once.
    fn cannot(&mut self, what: impl Into<String>) {
        let one = Unsimulated { step: self.step.clone(), what: what.into() };
        if self.said.insert(one.clone()) {
            self.unsimulated.push(one);
        }
    }

    /// Text of a file as it would be.
    fn text(&self, path: &str) -> Option<String> {
        crate::see::text(&self.s, path).map(str::to_owned)
    }

    /// Whether so many bytes may be written into the copy. It keeps what it was as well as what it is, so that a long text with many
    /// settings would fill the memory.
    fn has_room(&mut self, bytes: usize) -> bool {
        let room = self.s.size() + self.reserved + bytes <= self.before.size() + KEPT;
        if !room {
            self.cannot(format!("more than {} MiB would be written into the copy of the node", KEPT >> 20));
        }
        room
    }

    /// Whether there will be room for so many bytes at the end: then it is kept for them.
    fn reserve(&mut self, bytes: usize) -> bool {
        let room = self.has_room(bytes);
        self.reserved += if room { bytes } else { 0 };
        room
    }

    fn write(&mut self, path: &str, text: &str) -> bool {
        self.has_room(text.len()) && self.s.set_file(path.trim_start_matches('/'), text.as_bytes()).is_some()
    }
}

impl Judged {
    /// Judges a snapshot by all rules.
    #[must_use]
    pub fn of(snapshot: &Snapshot, role: Option<Role>) -> Judged {
        let node = Node::decode_as(snapshot, role);
        Judged::from_audit(&audit(&node, snapshot, rules()))
    }
}

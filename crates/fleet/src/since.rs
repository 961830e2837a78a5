//! A fleet beside its own past: what changed on each node, the same change of several nodes once.

use crate::diff::{Diff, Group, Said, Shown, diff, groups};
use crate::{Profile, Record, Row, Seen, Whose};
use linerate_facts::Unit;
use linerate_facts::position::folded;
use linerate_rules::{Severity, Status};
use std::collections::BTreeMap;

/// What changed of a node, by what is kept of two of its times: the same from snapshots and from an index.
#[must_use]
pub fn between(then: &Record, now: &Record) -> Diff {
    let is_same = |(a, b): (&Row, &Row)| a.id == b.id && a.owner == b.owner && a.part == b.part && a.seen == b.seen;
    if then.layout == now.layout
        && facts(then).count() == facts(now).count()
        && facts(then).zip(facts(now)).all(is_same)
    {
        let compared = facts(now).filter(|r| r.seen != Seen::Unreadable).count();
        return Diff { compared, ..Diff::default() };
    }
    diff(&Profile::from(then), &Profile::from(now))
}

fn facts(of: &Record) -> impl Iterator<Item = &Row> {
    of.rows.iter().filter(|r| !r.is_answer())
}

/// Nodes of a fleet before and after a time.
#[derive(Debug)]
pub struct Pairs<T> {
    /// The newest snapshot that is not younger than the time, and the newest.
    pub both: Vec<(T, T)>,
    /// Names of nodes of which there is only what is younger.
    pub new: Vec<String>,
    /// Names of nodes of which there is only what is not.
    pub old: Vec<String>,
}

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Pairs { both: Vec::new(), new: Vec::new(), old: Vec::new() }
    }
}

impl<T: Clone> Pairs<T> {
    /// Of snapshots, each with the directory of its node and the time that its name says.
    pub fn of<'s>(all: impl Iterator<Item = (&'s str, u64, T)>, time: u64, label: impl Fn(&T) -> &str) -> Self {
        let mut nodes: BTreeMap<&str, Vec<(u64, T)>> = BTreeMap::new();
        all.for_each(|(node, at, one)| nodes.entry(node).or_default().push((at, one)));
        let mut out = Pairs::default();
        for times in nodes.values_mut() {
            times.sort_by_key(|(at, _)| *at);
            let before = times.iter().rev().find(|(at, _)| *at <= time);
            match (before, times.last()) {
                (Some((then, before)), Some((at, now))) if then < at => out.both.push((before.clone(), now.clone())),
                (Some(_), Some((_, now))) => out.old.push(label(now).to_owned()),
                (None, Some((_, now))) => out.new.push(label(now).to_owned()),
                (_, None) => {}
            }
        }
        out
    }

    /// Those of another directory behind these.
    pub fn append(&mut self, mut other: Self) {
        self.both.append(&mut other.both);
        self.new.append(&mut other.new);
        self.old.append(&mut other.old);
    }
}

/// A change, and the nodes that it happened to.
#[derive(Debug, Clone)]
pub struct Change {
    /// Whose: `rail 0-3 NIC`; empty for the node itself.
    pub at: String,
    /// Id of the fact; where a thing came or went, what the ids of its facts begin with.
    pub fact: &'static str,
    /// Which of the owner's.
    pub part: String,
    /// The fact in words; empty for a thing.
    pub what: &'static str,
    /// Unit of numbers.
    pub unit: Unit,
    /// Before, and now.
    pub sides: [Shown; 2],
    /// How bad the worst of what fails before or now is.
    pub severity: Option<Severity>,
    /// What fails before, and what now, each rule once.
    pub failing: [Vec<&'static str>; 2],
    /// Names of the nodes, in the order in which they came.
    pub nodes: Vec<String>,
}

/// What changed on many nodes.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    by: BTreeMap<(String, &'static str, String, [Shown; 2]), Change>,
    /// Nodes that were compared.
    pub nodes: usize,
    /// Nodes on which nothing changed.
    pub same: usize,
    /// Nodes of which nothing could be compared.
    pub blind: Vec<String>,
}

impl Changes {
    /// Takes in what changed on a node.
    pub fn node(&mut self, name: &str, diff: &Diff) {
        self.nodes += 1;
        if diff.compared == 0 {
            self.blind.push(name.to_owned());
        }
        let all = groups(&diff.differences);
        self.same += usize::from(all.is_empty() && diff.compared > 0);
        for g in all {
            let change = change(&g);
            let key = (change.at.clone(), change.fact, change.part.clone(), change.sides.clone());
            let known = self.by.entry(key).or_insert(change);
            known.severity = known.severity.max(g.first.severity());
            known.nodes.push(name.to_owned());
        }
    }

    /// The changes, the worst first, then those of most nodes.
    #[must_use]
    pub fn sorted(&self) -> Vec<&Change> {
        let mut out: Vec<&Change> = self.by.values().collect();
        out.sort_by_key(|c| std::cmp::Reverse((c.severity, c.nodes.len())));
        out
    }
}

fn change(g: &Group<'_>) -> Change {
    use crate::diff::What;
    let d = g.first;
    let (what, unit) = match d.what {
        What::Fact(def) => (def.what, def.unit),
        What::Thing(_) => ("", Unit::None),
    };
    let at = match &d.whose {
        Whose::Named(name) => name.clone(),
        _ if g.roles.is_empty() => String::new(),
        _ => folded(&g.roles),
    };
    let failing = |side: &[Said]| {
        let mut rules: Vec<&'static str> = side.iter().filter(|s| s.status == Status::Fail).map(|s| s.rule).collect();
        rules.dedup();
        rules
    };
    Change {
        at,
        fact: d.what.id(),
        part: d.part.clone(),
        what,
        unit,
        sides: d.sides.clone(),
        severity: d.severity(),
        failing: [failing(&d.truth.sides[0]), failing(&d.truth.sides[1])],
        nodes: Vec::new(),
    }
}

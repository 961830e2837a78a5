//! A fleet beside its own past: what changed on each node, the same change of several nodes once.

use crate::Whose;
use crate::diff::{Diff, Group, Said, Shown, groups};
use linerate_facts::Unit;
use linerate_facts::position::folded;
use linerate_rules::{Severity, Status};
use std::collections::BTreeMap;

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

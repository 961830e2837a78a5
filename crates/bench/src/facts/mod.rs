//! What a node was when it was measured: the facts that can move a benchmark, few enough to be stored with every run, and compared
//! later without the snapshot.

mod read;

use crate::compare::{Confound, Weight};
use linerate_node::Node;
use linerate_rules::{Severity, Status};
use linerate_snapshot::Snapshot;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Facts of one node at one time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Facts {
    /// Host name; empty where the snapshot does not tell.
    pub host: String,
    /// By what they are about.
    pub list: BTreeMap<String, Fact>,
}

/// One fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// In words; the same words mean the same on every node.
    pub value: String,
    /// How much a difference can matter.
    pub weight: Weight,
    /// Why.
    pub why: String,
    /// Id of the rule that judges it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

impl Facts {
    /// Of a snapshot.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Facts {
        let node = Node::decode(snapshot);
        let mut facts = Facts { host: snapshot.manifest.host.clone(), ..Facts::default() };
        read::facts(&node, &mut facts);
        facts.rules(&node, snapshot);
        facts
    }

    fn add(&mut self, what: impl Into<String>, weight: Weight, why: &'static str, value: Option<impl ToString>) {
        if let Some(value) = value {
            let fact = Fact { value: value.to_string(), weight, why: why.to_owned(), rule: None };
            self.list.insert(what.into(), fact);
        }
    }

    /// What the catalogue says: a rule that fails on one side and passes on the other is a difference that is known to matter.
    fn rules(&mut self, node: &Node<'_>, snapshot: &Snapshot) {
        struct Seen {
            wrong: BTreeSet<String>,
            right: usize,
            worst: Severity,
        }
        let audit = linerate_rules::audit(node, snapshot, linerate_rules::rules());
        let mut rules: BTreeMap<&str, (Seen, &'static linerate_rules::Rule)> = BTreeMap::new();
        for v in &audit.verdicts {
            let new = || (Seen { wrong: BTreeSet::new(), right: 0, worst: Severity::Info }, v.rule);
            let (seen, _) = rules.entry(v.rule.id).or_insert_with(new);
            match v.finding.status {
                Status::Fail if v.severity() > Severity::Info => {
                    seen.wrong.insert(v.finding.message.to_string());
                    seen.worst = seen.worst.max(v.severity());
                }
                Status::Pass => seen.right += 1,
                _ => {}
            }
        }
        for (id, (seen, rule)) in rules {
            let value = match seen.wrong.first() {
                Some(first) if seen.wrong.len() > 1 => format!("wrong: {first} (and {} more)", seen.wrong.len() - 1),
                Some(first) => format!("wrong: {first}"),
                None if seen.right > 0 => "right".to_owned(),
                // Not seen is no fact.
                None => continue,
            };
            // Where it is right, the weight is the one that it would have where it is not.
            let severity = if seen.wrong.is_empty() { rule.severity.usual } else { seen.worst };
            let weight = match severity {
                Severity::Critical | Severity::High => Weight::Strong,
                Severity::Medium => Weight::Possible,
                Severity::Low | Severity::Info => Weight::Slight,
            };
            let fact = Fact { value, weight, why: rule.title.to_owned(), rule: Some(id.to_owned()) };
            self.list.insert(format!("rule {id}"), fact);
        }
    }
}

/// Many of the same: each value with its count, so that sixteen equal ports are one fact.
fn counted(values: impl IntoIterator<Item = String>) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let all: Vec<String> = counts.into_iter().map(|(v, n)| if n > 1 { format!("{n} × {v}") } else { v }).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// What differs between the nodes of two sides, worst first. A fact that one side does not show is no difference; those are counted
/// in the second value.
#[must_use]
pub fn differences(a: &[Facts], b: &[Facts]) -> (Vec<Confound>, usize) {
    let values = |side: &[Facts], what: &str| -> BTreeSet<String> {
        side.iter().filter_map(|f| f.list.get(what)).map(|f| f.value.clone()).collect()
    };
    let mut found: BTreeMap<&str, &Fact> = BTreeMap::new();
    for (what, fact) in a.iter().chain(b).flat_map(|f| &f.list) {
        let slot = found.entry(what).or_insert(fact);
        // The worse of the two sides' weights.
        if fact.weight < slot.weight {
            *slot = fact;
        }
    }
    let mut one_sided = 0;
    let mut list = Vec::new();
    for (what, fact) in found {
        let (va, vb) = (values(a, what), values(b, what));
        if va.is_empty() || vb.is_empty() {
            one_sided += 1;
        } else if va != vb {
            let words = |v: BTreeSet<String>| v.into_iter().collect::<Vec<_>>().join(" | ");
            list.push(Confound {
                weight: fact.weight,
                what: what.to_owned(),
                a: words(va),
                b: words(vb),
                why: fact.why.clone(),
                rule: fact.rule.as_deref().map(Into::into),
            });
        }
    }
    list.sort_by(|x, y| {
        x.weight.cmp(&y.weight).then(x.rule.is_none().cmp(&y.rule.is_none())).then(x.what.cmp(&y.what))
    });
    (list, one_sided)
}

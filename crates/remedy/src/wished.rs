//! What a policy wishes of a node: a fact, read by its id and not judged by a rule.
//!
//! A wish is planned as a rule's remedy is. It differs in its proof: no rule passes, the fact is read again ([`Proof::Fact`]).

use crate::model::{Changed, Plan, Proof, State};
use linerate_facts::{Fact, Holds, Reading, Value, Want, each};
use linerate_node::Node;
use linerate_rules::Remedy;
use linerate_snapshot::Place;
use std::collections::BTreeMap;

/// A wish of a policy that does not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Wished {
    /// Id of the expectation: `policy/h100.rail-nic.net.mtu`.
    pub id: String,
    /// One fact of the node, with the keys of its subject: `net[eth2].mtu`. Empty: no fact alone shows it (a number of devices, a condition).
    pub fact: String,
    /// Which word of a list; empty: the fact's value.
    pub part: String,
    /// What is wanted of it.
    pub wants: Vec<Want>,
    /// What is so now, in words.
    pub message: String,
    /// What would bring it about.
    pub remedy: Remedy,
}

impl Wished {
    /// What shows that it holds.
    pub(crate) fn proof(&self) -> Proof {
        let Wished { id, fact, part, wants, .. } = self.clone();
        Proof::Fact { expectation: id, fact, part, wants }
    }
}

/// What a node shows of a fact.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shown {
    /// Its value, and where.
    Value(String, Place),
    /// It is certainly not there.
    Absent(Place),
    /// It could not be seen, and why.
    Unseen(String),
}

/// What a node shows of some facts, each by its id with the keys of its subject, and a word of it.
pub(crate) fn look<'a>(node: &Node<'_>, wanted: &[(&'a str, &'a str)]) -> BTreeMap<(&'a str, &'a str), Shown> {
    let mut out = BTreeMap::new();
    if wanted.is_empty() {
        return out;
    }
    each(node, &mut |fact| {
        let of = |f: &&(&str, &str)| f.0.len() >= fact.def.id.len() && f.0 == fact.to_string();
        for key in wanted.iter().filter(of) {
            out.entry(*key).or_insert_with(|| shown(fact, key.1));
        }
    });
    out
}

fn shown(fact: &Fact<'_>, part: &str) -> Shown {
    let (value, place) = match &fact.reading {
        Reading::Known(v, place) => (v, *place),
        Reading::Absent(place) => return Shown::Absent(*place),
        Reading::Unreadable(_, why) => return Shown::Unseen(why.to_string()),
    };
    let word = match value {
        _ if part.is_empty() => Some(value.to_string()),
        Value::Texts(all) => all.iter().find(|w| *w == part).cloned(),
        Value::Arguments(all) => {
            let of = all.params.iter().map(|p| &p.raw).filter(|raw| raw.split('=').next() == Some(part));
            let all: Vec<&str> = of.map(|r| r.as_str()).collect();
            (!all.is_empty()).then(|| all.join(" "))
        }
        other => Some(other.to_string()),
    };
    word.map_or(Shown::Absent(place), |w| Shown::Value(w, place))
}

/// Whether what was shown is as wanted.
pub(crate) fn holds(fact: &str, wants: &[Want], shown: &Shown) -> Holds {
    let Some(def) = linerate_facts::defs().find(|d| d.id == without_keys(fact)) else { return Holds::Unclear };
    match shown {
        Shown::Value(v, _) => Want::all(wants, def, Some(v)),
        Shown::Absent(_) => Want::all(wants, def, None),
        Shown::Unseen(_) => Holds::Unclear,
    }
}

/// `net[eth2].mtu` as `net.mtu`. A key may hold a dot, and no bracket.
fn without_keys(fact: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in fact.chars() {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    out
}

/// How the facts that a plan's proofs name differ between two nodes, as verdicts do.
pub(crate) fn changed(plan: &Plan, before: &Node<'_>, after: &Node<'_>) -> Vec<Changed> {
    let mut wanted: Vec<(&str, &str, &str, &[Want])> = Vec::new();
    for proof in plan.steps.iter().flat_map(|s| &s.proof) {
        if let Proof::Fact { expectation, fact, part, wants } = proof {
            wanted.push((expectation, fact, part, wants));
        }
    }
    let keys: Vec<(&str, &str)> = wanted.iter().map(|(_, fact, part, _)| (*fact, *part)).collect();
    let (old, new) = (look(before, &keys), look(after, &keys));
    let state = |fact: &str, wants: &[Want], shown: Option<&Shown>| {
        let status = match shown.map(|s| holds(fact, wants, s)) {
            Some(Holds::Yes) => "pass",
            Some(Holds::No) => "fail",
            Some(Holds::Unclear) | None => "unknown",
        };
        State { status: status.to_owned(), severity: None }
    };
    let mut out = Vec::new();
    for (id, fact, part, wants) in wanted {
        let (before, now) = (old.get(&(fact, part)), new.get(&(fact, part)));
        let (b, a) = (state(fact, wants, before), state(fact, wants, now));
        if a != b {
            let message = format!("{fact} is {}", words(now));
            let (rule, subject) = (id.to_owned(), about(fact, part));
            out.push(Changed { rule, subject, worse: b.status == "pass", before: b, after: a, message });
        }
    }
    out
}

/// A fact and its part, as verdicts name subjects.
pub(crate) fn about(fact: &str, part: &str) -> String {
    if part.is_empty() { fact.to_owned() } else { format!("{fact} {part}") }
}

/// What was shown, in words.
pub(crate) fn words(shown: Option<&Shown>) -> String {
    match shown {
        Some(Shown::Value(v, _)) => v.clone(),
        Some(Shown::Absent(_)) => "not there".to_owned(),
        Some(Shown::Unseen(why)) => why.clone(),
        None => "not shown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_no_part_of_an_id() {
        assert_eq!(without_keys("net[eth2.100].mtu"), "net.mtu");
        assert_eq!(
            without_keys("nic_firmware[0000:3d:00.0].settings[PCI_WR_ORDERING].current"),
            "nic_firmware.settings.current"
        );
        assert_eq!(without_keys("kernel.cmdline"), "kernel.cmdline");
    }
}

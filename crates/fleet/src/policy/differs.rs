//! What differs between two policies.

use super::{Class, Kind, Policy};
use std::collections::BTreeMap;

/// A difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Class of hardware.
    pub class: String,
    /// Whose: `rail * NIC`; empty for the node, or for the class itself.
    pub at: String,
    /// The fact or the condition; empty: the class itself.
    pub fact: String,
    /// What each of the two wants; `None`: nothing.
    pub sides: [Option<String>; 2],
}

/// What differs, by class and expectation.
#[must_use]
pub fn diff(a: &Policy, b: &Policy) -> Vec<Change> {
    let mut out = Vec::new();
    let by_name = |p: &'_ Policy, name: &str| p.classes.iter().position(|c| c.name == name);
    let mut names: Vec<&str> = a.classes.iter().chain(&b.classes).map(|c| c.name.as_str()).collect();
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|n| seen.insert(*n));
    for name in names {
        let (x, y) = (by_name(a, name).and_then(|i| a.classes.get(i)), by_name(b, name).and_then(|i| b.classes.get(i)));
        let hardware = |c: &Class| {
            let parts = c.matches.parts();
            parts.iter().filter(|(_, p)| !p.is_empty()).map(|(n, p)| format!("{n} {p}")).collect::<Vec<_>>().join(", ")
        };
        let sides = [x.map(hardware), y.map(hardware)];
        if sides[0] != sides[1] {
            out.push(Change { class: name.to_owned(), at: String::new(), fact: String::new(), sides });
        }
        let (x, y) = (wants(x), wants(y));
        let mut keys: Vec<_> = x.keys().chain(y.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let sides = [x.get(key).cloned(), y.get(key).cloned()];
            if sides[0] != sides[1] {
                out.push(Change { class: name.to_owned(), at: key.0.clone(), fact: key.1.clone(), sides });
            }
        }
    }
    out
}

/// What a class wants, by whose and what.
fn wants(class: Option<&Class>) -> BTreeMap<(String, String), String> {
    let mut out = BTreeMap::new();
    for kind in class.into_iter().flat_map(Class::all) {
        let about = kind.about();
        let fact = match kind {
            Kind::Condition(_) | Kind::Claim(_) => about.id.clone(),
            other => other.subject(),
        };
        let fact = match kind {
            Kind::Row(r) if matches!(r.wants.as_slice(), [linerate_facts::Want::NoOther(_)]) => {
                format!("{fact} (others)")
            }
            _ => fact,
        };
        let wanted = match kind {
            Kind::Condition(c) => c.cel.source().to_owned(),
            Kind::Claim(_) => format!("{}: {}", kind.subject(), kind.wanted()),
            other => other.wanted(),
        };
        let mut text = format!("{wanted} ({})", about.severity);
        for (word, what) in [("owner", &about.owner), ("because", &about.reason)] {
            if !what.is_empty() {
                text.push_str(&format!(", {word} {what}"));
            }
        }
        out.insert((kind.whose().to_owned(), fact), text);
    }
    for (label, value) in class.into_iter().flat_map(|c| &c.labels) {
        let value = value.clone().unwrap_or_else(|| "absent".to_owned());
        out.insert((String::new(), format!("label {label}")), value);
    }
    out
}

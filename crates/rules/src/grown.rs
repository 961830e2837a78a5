//! What error counters grew by since an earlier reading of the node, for rules that can only tell totals otherwise.

use crate::{Cx, Findings, Remedy, Severity, Subject};
use linerate_node::counters::known::Kind;
use linerate_node::counters::{Grown, Owner};
use linerate_snapshot::Place;

/// How to see growth.
pub(crate) const HOW: &str = "linerate watch counters";

/// Answers by what grew of an owner, of the counters that `is_of` names; `at` is where one of them was read. Whether it answered: not
/// without an earlier reading of it, nor where a counter stands at its maximum and can show no growth.
pub(crate) fn judge(
    cx: &Cx<'_>,
    owner: &Owner,
    is_of: impl Fn(&str) -> bool,
    subject: impl Into<Subject>,
    at: Place,
    out: &mut Findings,
) -> bool {
    let Some((growth, bad)) = cx.node.growth.as_ref().and_then(|g| Some((g, g.bad_of(owner)?))) else { return false };
    if growth.stuck.iter().any(|s| s.owner == *owner && is_of(&s.name)) {
        return false;
    }
    let grown: Vec<&Grown> = bad.into_iter().filter(|g| is_of(&g.name)).collect();
    let time = growth.seconds.map_or_else(|| "since the earlier reading".to_owned(), |s| format!("in {s:.0} s"));
    if grown.is_empty() {
        out.pass(subject, format_args!("no counter of faults or losses grew {time}")).at(at);
        return true;
    }
    let least = |g: &Grown| if g.at_least { "at least " } else { "" };
    let list: Vec<String> = grown.iter().map(|g| format!("{} {}+{}", g.name, least(g), g.by)).collect();
    let worst = grown.iter().any(|g| g.known.is_some_and(|k| k.kind == Kind::Fault));
    let finding = out.fail(subject, format_args!("grew {time}: {}", list.join(", "))).severity(if worst {
        Severity::High
    } else {
        Severity::Medium
    });
    for g in &grown {
        finding.at(g.place.unwrap_or(at));
    }
    let then = grown.iter().find_map(|g| g.known).map_or("look up what the growing counters mean", |k| k.then);
    finding.fix(|| Remedy::investigate(then, "growth of the error counters under load").prove(HOW));
    true
}

//! No wish contradicts another.

use super::wish::{Wish, distinct, say_no};
use crate::change;
use crate::model::Refused;
use linerate_rules::Action;
use std::collections::BTreeMap;

/// What a wish fixes to which value.
fn claims(action: &Action) -> Vec<(String, String)> {
    change::kind(action).map(|(.., kind)| kind.claims(action)).unwrap_or_default()
}

/// Takes out wishes of which one undoes another: neither is planned.
pub(super) fn without_contradictions(wishes: Vec<Wish>, refused: &mut Vec<Refused>) -> Vec<Wish> {
    let mut claimed: BTreeMap<String, BTreeMap<String, Vec<&str>>> = BTreeMap::new();
    for w in &wishes {
        for (k, v) in claims(&w.remedy.action) {
            claimed.entry(k).or_default().entry(v).or_default().push(&w.rule);
        }
    }
    claimed.retain(|_, values| values.len() > 1);
    let against = |w: &Wish| claims(&w.remedy.action).into_iter().find_map(|(k, _)| Some((claimed.get(&k)?, k)));
    let why = |w: &Wish| {
        let (values, key) = against(w)?;
        let sides = values
            .iter()
            .map(|(v, rules)| format!("{v} ({})", distinct(rules.iter().map(|r| (*r).to_owned())).join(", ")));
        Some(format!("two findings want different things of {key}: {}", sides.collect::<Vec<_>>().join(" and ")))
    };
    let mut out = Vec::new();
    for w in &wishes {
        match why(w) {
            Some(reason) => say_no(refused, w, reason, Some(format!("--fix {}", w.rule))),
            None => out.push(w.clone()),
        }
    }
    out
}

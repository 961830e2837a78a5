//! What is left to people.

use super::wish::{Wish, distinct};
use super::{Cx, bios};
use crate::change;
use crate::model::ByHand;
use linerate_rules::Action;

/// Wishes that can be planned, and what is left to people.
pub(super) fn split(cx: &Cx<'_, '_>, wishes: Vec<Wish>) -> (Vec<Wish>, Vec<ByHand>) {
    let (mut doable, mut by_hand) = (Vec::new(), Vec::new());
    for w in wishes {
        let kind = change::kind(&w.remedy.action);
        let open = kind.as_ref().and_then(|(.., k)| k.open(&w.remedy.action, &cx.setting(false)));
        let bios = matches!(w.remedy.action, Action::Bios { .. }) && cx.options.redfish.is_none();
        if kind.is_some() && !bios && open.is_none() {
            doable.push(w);
            continue;
        }
        let mut how = how(cx, &w.remedy.action);
        how.extend(open);
        add(&mut by_hand, &w, how, vec![]);
    }
    (doable, by_hand)
}

/// Adds one; the same thing is said once.
pub(super) fn add(by_hand: &mut Vec<ByHand>, w: &Wish, how: Vec<String>, reread: Vec<String>) {
    let summary = w.remedy.summary.to_string();
    let reread = distinct(w.remedy.reread.iter().map(ToString::to_string).chain(reread));
    if let Some(same) = by_hand.iter_mut().find(|b| b.summary == summary) {
        same.rules = distinct(same.rules.drain(..).chain([w.rule.clone()]));
        same.how = distinct(same.how.drain(..).chain(how));
        same.reread = distinct(same.reread.drain(..).chain(reread));
        return;
    }
    by_hand.push(ByHand { rules: vec![w.rule.clone()], summary, how: distinct(how), reread });
}

fn how(cx: &Cx<'_, '_>, action: &Action) -> Vec<String> {
    match action {
        Action::Bios { setting, value } => bios::menus(cx.snapshot, setting, value),
        Action::Environment { set, unset } => {
            let set = (!set.is_empty()).then(|| format!("in the environment of the job: {}", set.join(" ")));
            let unset = (!unset.is_empty()).then(|| format!("not in the environment of the job: {}", unset.join(" ")));
            set.into_iter().chain(unset).collect()
        }
        Action::Software { what } => vec![format!("install or change: {what}")],
        Action::Physical { what } => vec![format!("at the machine: {what}")],
        Action::HostSide { what } => vec![format!("on the VM host: {what}")],
        Action::Investigate { what } => vec![format!("look at: {what}")],
        _ => vec![],
    }
}

//! What a finding asks for.

use super::Cx;
use crate::model::Refused;
use linerate_rules::{Remedy, Severity, Status};
use std::collections::HashSet;

/// A failing verdict's remedy.
#[derive(Debug, Clone)]
pub(super) struct Wish {
    pub(super) rule: &'static str,
    pub(super) subject: String,
    /// What the verdict says.
    pub(super) message: String,
    pub(super) remedy: Remedy,
}

/// All wishes, the worst findings first.
pub(super) fn wishes(cx: &Cx<'_, '_>) -> Vec<Wish> {
    let fix = &cx.options.fix;
    cx.audit
        .with(Status::Fail)
        .filter(|v| if fix.is_empty() { v.severity() > Severity::Info } else { fix.iter().any(|f| f == v.rule.id) })
        .filter_map(|v| {
            Some(Wish {
                rule: v.rule.id,
                subject: v.finding.subject.to_string(),
                message: v.finding.message.to_string(),
                remedy: (**v.finding.remedy.as_ref()?).clone(),
            })
        })
        .collect()
}

/// Their rules, each once, in order.
pub(super) fn rules<'w>(wishes: impl IntoIterator<Item = &'w Wish>) -> Vec<String> {
    distinct(wishes.into_iter().map(|w| w.rule.to_owned()))
}

pub(super) fn distinct(words: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    words.into_iter().filter(|w| !w.is_empty() && seen.insert(w.clone())).collect()
}

/// Says no. The same no to several wishes is said once.
pub(super) fn say_no(refused: &mut Vec<Refused>, wish: &Wish, reason: String, unless: Option<String>) {
    let summary = wish.remedy.summary.to_string();
    if let Some(same) = refused.iter_mut().find(|r| r.reason == reason && r.unless == unless && r.summary == summary) {
        if !same.rules.iter().any(|r| r == wish.rule) {
            same.rules.push(wish.rule.to_owned());
        }
        return;
    }
    refused.push(Refused { rules: vec![wish.rule.to_owned()], summary, reason, unless });
}

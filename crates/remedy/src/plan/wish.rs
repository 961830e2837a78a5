//! What a finding asks for.

use super::Cx;
use crate::model::{Proof, Refused};
use crate::wished;
use linerate_rules::{Remedy, Severity, Status, Verdict};
use std::collections::HashSet;

/// A failing verdict's remedy.
#[derive(Debug, Clone)]
pub(super) struct Wish {
    /// Id of the rule, or of the expectation of a policy.
    pub(super) rule: String,
    pub(super) subject: String,
    /// What the verdict says.
    pub(super) message: String,
    pub(super) remedy: Remedy,
    /// What shows that it is so, where no rule does.
    pub(super) proof: Option<Proof>,
}

/// All wishes, the worst findings first.
pub(super) fn wishes(cx: &Cx<'_, '_>) -> Vec<Wish> {
    let fix = &cx.options.fix;
    let policy = cx.options.policy.as_ref();
    let all = |v: &Verdict| policy.is_none() && v.severity() > Severity::Info;
    let of_rules = cx
        .audit
        .with(Status::Fail)
        .filter(|v| if fix.is_empty() { all(v) } else { fix.iter().any(|f| f == v.rule.id) })
        .filter_map(|v| {
            Some(Wish {
                rule: v.rule.id.to_owned(),
                subject: v.finding.subject.to_string(),
                message: v.finding.message.to_string(),
                remedy: (**v.finding.remedy.as_ref()?).clone(),
                proof: None,
            })
        });
    let of_policy = policy.into_iter().flatten().map(|w| Wish {
        rule: w.id.clone(),
        subject: wished::about(&w.fact, &w.part),
        message: w.message.clone(),
        remedy: w.remedy.clone(),
        proof: Some(w.proof()),
    });
    of_rules.chain(of_policy).collect()
}

/// Their rules, each once, in order.
pub(super) fn rules<'w>(wishes: impl IntoIterator<Item = &'w Wish>) -> Vec<String> {
    distinct(wishes.into_iter().map(|w| w.rule.clone()))
}

pub(super) fn distinct(words: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    words.into_iter().filter(|w| !w.is_empty() && seen.insert(w.clone())).collect()
}

/// Says no. The same no to several wishes is said once.
pub(super) fn say_no(refused: &mut Vec<Refused>, wish: &Wish, reason: String, unless: Option<String>) {
    let summary = wish.remedy.summary.to_string();
    if let Some(same) = refused.iter_mut().find(|r| r.reason == reason && r.unless == unless && r.summary == summary) {
        if !same.rules.contains(&wish.rule) {
            same.rules.push(wish.rule.clone());
        }
        return;
    }
    refused.push(Refused { rules: vec![wish.rule.clone()], summary, reason, unless });
}

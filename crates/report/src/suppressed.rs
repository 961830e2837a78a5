//! What is not counted, and why, for all forms: a suppressed answer is shown with its reason.

use crate::Counts;
use crate::group::{Group, group};
use linerate_rules::{Audit, Rule, Severity, Suppression, Terms, Usage, Verdict, terms};
use serde::Serialize;
use std::sync::Arc;

/// Suppressed answers that one suppression took.
pub(crate) struct Taken<'a> {
    /// By what.
    pub(crate) by: &'a Suppression,
    /// What says the same about several subjects is one.
    pub(crate) groups: Vec<Group<'a>>,
}

/// In the order in which the suppressions are written.
pub(crate) fn taken(audit: &Audit) -> Vec<Taken<'_>> {
    let of = |s: &'_ Arc<Suppression>| -> Vec<&Verdict> {
        audit.suppressed.iter().filter(|(_, by)| Arc::ptr_eq(by, s)).map(|(v, _)| v).collect()
    };
    let all = audit.terms.suppressions.iter().map(|s| (&**s, of(s)));
    all.filter(|(_, v)| !v.is_empty()).map(|(by, verdicts)| Taken { by, groups: group(verdicts.into_iter()) }).collect()
}

/// `NCCL's owner, until 2027-03-01: the host passes devices to guests (linerate.toml:12)`.
pub(crate) fn why(s: &Suppression) -> String {
    let who: Vec<String> = s.by.iter().cloned().chain(s.until.iter().map(|u| format!("until {u}"))).collect();
    match (who.join(", "), &s.reason) {
        (who, Some(reason)) if who.is_empty() => format!("{reason} ({})", s.place),
        (who, Some(reason)) => format!("{who}: {reason} ({})", s.place),
        (_, None) => s.place.clone(),
    }
}

/// Which rules were asked, where not all were: `only acs/*: 9 of 215`.
pub(crate) fn filter(terms: &Terms) -> Option<String> {
    let names = |r: &Rule| terms.only.iter().any(|p| terms::names(p, r));
    let all = linerate_rules::rules();
    let asked = all.iter().filter(|r| names(r)).count();
    (!terms.only.is_empty()).then(|| format!("only {}: {asked} of {}", terms.only.join(", "), all.len()))
}

/// What to do about suppressions that are of no use any more.
pub(crate) fn remarks(usage: &Usage) -> Vec<String> {
    let line = |s: &Suppression, what: &str| {
        let until = s.until.as_deref().filter(|_| s.expired).unwrap_or_default();
        format!("{}: the suppression of {} {what}{until}", s.place, s.what())
    };
    let expired = usage.expired().map(|s| line(s, "is counted again: it held until "));
    expired.chain(usage.unused().map(|s| line(s, "matches no answer: remove it"))).collect()
}

/// `; 3 suppressed`, or nothing.
pub(crate) fn count(suppressed: u64) -> String {
    if suppressed == 0 { String::new() } else { format!("; {suppressed} suppressed") }
}

/// What is wrong and does not fail the audit, where the terms say another severity than low.
pub(crate) fn below(counts: &Counts, terms: &Terms) -> Option<String> {
    let bad: Vec<String> = counts.worst_first().map(|(s, n)| format!("{n} {}", s.name())).collect();
    let least = match terms.fail_on {
        Some(Severity::Low | Severity::Info) => return None,
        Some(least) => format!("none of them is {least} or above"),
        None => "no finding fails the audit".to_owned(),
    };
    (!bad.is_empty()).then(|| format!("{}; {least} (--fail-on)", bad.join(", ")))
}

/// A suppression in JSON.
#[derive(Debug, Serialize)]
pub(crate) struct SuppressionOut<'a> {
    rule: &'a str,
    subject: Option<&'a str>,
    reason: Option<&'a str>,
    by: Option<&'a str>,
    until: Option<&'a str>,
    place: &'a str,
}

impl<'a> SuppressionOut<'a> {
    pub(crate) fn of(s: &'a Suppression) -> Self {
        SuppressionOut {
            rule: &s.rule,
            subject: s.subject.as_deref(),
            reason: s.reason.as_deref(),
            by: s.by.as_deref(),
            until: s.until.as_deref(),
            place: &s.place,
        }
    }
}

/// How `--fail-on` writes it.
pub(crate) fn fail_on(terms: &Terms) -> &'static str {
    terms.fail_on.map_or("never", Severity::name)
}

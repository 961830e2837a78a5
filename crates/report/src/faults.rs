//! Findings that are one fault: a cause, and what follows from it.

use crate::Report;
use crate::group::{Group, bundle};
use linerate_rules::{Causes, Severity, Status, Verdict};
use std::collections::HashMap;

/// A fault.
pub(crate) struct Fault<'a> {
    /// Findings of one rule that follow from no other.
    pub(crate) cause: Vec<Group<'a>>,
    /// Findings of other rules that follow from these.
    pub(crate) after: Vec<Vec<Group<'a>>>,
}

/// The findings of a report, what is or causes the worst first; and what is worth knowing, and follows from none of them.
pub(crate) fn faults<'a>(report: &Report<'a>) -> (Vec<Fault<'a>>, Vec<&'a Verdict>) {
    let causes = report.audit.causes();
    let (mut first, mut notes, mut after) = (Vec::new(), Vec::new(), Vec::new());
    let findings = report.findings().map(|v| (v, true));
    for (v, is_finding) in findings.chain(report.notes().map(|v| (v, false))) {
        match root(&causes, v) {
            Some(cause) => after.push((v, cause)),
            None if is_finding => first.push(v),
            None => notes.push(v),
        }
    }
    let mut faults: Vec<Fault<'a>> =
        bundle(first.into_iter()).into_iter().map(|cause| Fault { cause, after: Vec::new() }).collect();
    let mut place: HashMap<*const Verdict, usize> = HashMap::new();
    for (i, fault) in faults.iter().enumerate() {
        place.extend(fault.cause.iter().flat_map(|g| &g.verdicts).map(|v| (std::ptr::from_ref(*v), i)));
    }
    let mut here: Vec<Vec<&'a Verdict>> = faults.iter().map(|_| Vec::new()).collect();
    for (v, cause) in after {
        let at = place.get(&std::ptr::from_ref(cause)).and_then(|i| here.get_mut(*i));
        at.into_iter().for_each(|list| list.push(v));
    }
    for (fault, list) in faults.iter_mut().zip(here) {
        fault.after = bundle(list.into_iter());
    }
    faults.sort_by_key(|f| std::cmp::Reverse(f.worst()));
    (faults, notes)
}

impl Fault<'_> {
    fn worst(&self) -> Option<Severity> {
        let all = self.cause.iter().chain(self.after.iter().flatten());
        all.flat_map(|g| &g.verdicts).map(|v| v.severity()).max()
    }
}

/// The finding at the end of the causes of one.
fn root<'a>(causes: &Causes<'a>, of: &'a Verdict) -> Option<&'a Verdict> {
    let is_finding = |v: &Verdict| v.finding.status == Status::Fail && v.severity() > Severity::Info;
    let mut at = of;
    // Causes are some four deep; more would be a ring.
    for _ in 0..8 {
        match causes.of(at) {
            Some(cause) if is_finding(cause) => at = cause,
            _ => return (!std::ptr::eq(at, of)).then_some(at),
        }
    }
    None
}

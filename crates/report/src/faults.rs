//! Findings that are one fault: a cause, and what follows from it.

use crate::Report;
use crate::group::{Group, bundle};
use linerate_rules::Verdict;

/// A fault.
pub(crate) struct Fault<'a> {
    /// Findings of one rule that follow from no other.
    pub(crate) cause: Vec<Group<'a>>,
    /// Findings of other rules that follow from these.
    pub(crate) after: Vec<Vec<Group<'a>>>,
}

/// The findings of a report, what is or causes the worst first.
pub(crate) fn faults<'a>(report: &Report<'a>) -> Vec<Fault<'a>> {
    let (mut first, mut after) = (Vec::new(), Vec::new());
    for v in report.findings() {
        match root(report, v) {
            Some(cause) => after.push((v, cause)),
            None => first.push(v),
        }
    }
    after.extend(report.notes().filter_map(|v| Some((v, root(report, v)?))));
    let mut faults: Vec<Fault<'a>> =
        bundle(first.into_iter()).into_iter().map(|cause| Fault { cause, after: Vec::new() }).collect();
    if after.is_empty() {
        return faults;
    }
    for fault in &mut faults {
        let is_here = |c: &Verdict| fault.cause.iter().flat_map(|g| &g.verdicts).any(|v| std::ptr::eq(*v, c));
        let here: Vec<&'a Verdict> = after.iter().filter(|(_, c)| is_here(c)).map(|(v, _)| *v).collect();
        fault.after = bundle(here.into_iter());
    }
    faults.sort_by_key(|f| std::cmp::Reverse(f.worst()));
    faults
}

impl Fault<'_> {
    fn worst(&self) -> Option<linerate_rules::Severity> {
        let all = self.cause.iter().chain(self.after.iter().flatten());
        all.flat_map(|g| &g.verdicts).map(|v| v.severity()).max()
    }
}

/// What is worth knowing, and follows from no finding.
pub(crate) fn notes<'a>(report: &Report<'a>) -> impl Iterator<Item = &'a Verdict> {
    report.notes().filter(|v| root(report, v).is_none())
}

/// The finding at the end of the causes of one.
fn root<'a>(report: &Report<'a>, of: &'a Verdict) -> Option<&'a Verdict> {
    let mut at = of;
    // Causes are some four deep; more would be a ring.
    for _ in 0..8 {
        match report.audit.cause_of(at) {
            Some(cause) if report.findings().any(|f| std::ptr::eq(f, cause)) => at = cause,
            _ => break,
        }
    }
    (!std::ptr::eq(at, of)).then_some(at)
}

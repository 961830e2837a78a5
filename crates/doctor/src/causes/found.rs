//! What a check answers.

use crate::answer::{Confidence, Evidence};
use crate::case::Case;
use crate::observe::groups::Group;
use linerate_rules::{Remedy, Severity};

/// What a check found.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) confidence: Confidence,
    /// Why that sure.
    pub(crate) because: String,
    /// What it is here.
    pub(crate) summary: String,
    pub(crate) scope: String,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) severity: Option<Severity>,
    /// Of what fails on a node: the cause is not less severe than that.
    pub(crate) at_least: Option<Severity>,
    /// What to do here, where that differs from what the cause says in general; `Some(None)`: nothing.
    pub(crate) remedy: Option<Option<Remedy>>,
    /// Causes from which it may follow in general, and does not here.
    pub(crate) apart_from: Vec<&'static str>,
}

impl Found {
    pub(crate) fn new(confidence: Confidence, summary: impl Into<String>, because: impl Into<String>) -> Self {
        let (summary, because) = (summary.into(), because.into());
        Found {
            confidence,
            because,
            summary,
            scope: String::new(),
            evidence: Vec::new(),
            severity: None,
            at_least: None,
            remedy: None,
            apart_from: Vec::new(),
        }
    }

    pub(crate) fn scope(mut self, scope: String) -> Self {
        self.scope = scope;
        self
    }

    pub(crate) fn with(mut self, evidence: impl IntoIterator<Item = Evidence>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    /// What happened shows it: its lines are evidence, its processes or the logs' hosts the scope.
    pub(crate) fn shown<'a>(self, case: &Case<'a>, g: &'a Group) -> Self {
        self.shown_by(case, &case.alike(g))
    }

    /// [`shown`](Found::shown), of several.
    pub(crate) fn shown_by(self, case: &Case<'_>, groups: &[&Group]) -> Self {
        self.with(case.quotes_of(groups)).scope(case.scope_of(groups))
    }

    pub(crate) fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// How severe it is here: as the check says, else as its cause says in general, and as what fails on a node.
    pub(crate) fn severity_of(&self, general: Severity) -> Severity {
        let own = self.severity.unwrap_or(general);
        self.at_least.map_or(own, |least| own.max(least))
    }

    /// What to do in this case.
    pub(crate) fn fix(mut self, remedy: Option<Remedy>) -> Self {
        self.remedy = Some(remedy);
        self
    }

    /// Does not follow from that cause here: it came first, or is of another device.
    pub(crate) fn apart_from(mut self, cause: &'static str) -> Self {
        self.apart_from.push(cause);
        self
    }

    /// Adds what fails on the nodes that were given: it makes a likely cause certain.
    pub(crate) fn join(mut self, case: &Case<'_>, rules: &[&str]) -> Self {
        let failing = case.failing(rules);
        if let Some(worst) = failing.first() {
            self.because = format!("{}; on the node, {} fails: {}", self.because, worst.rule, worst.message);
            self.confidence = Confidence::Certain;
            self.at_least = self.at_least.max(Some(worst.severity));
        }
        self.evidence.extend(
            failing.into_iter().take(3).map(|f| Evidence { at: f.at, text: format!("{}: {}", f.rule, f.message) }),
        );
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Confidence::Likely;
    use linerate_rules::Severity::{Critical, High, Low};

    #[test]
    fn what_fails_on_a_node_makes_nothing_milder() {
        let found = || Found::new(Likely, "", "");
        let with = |least| Found { at_least: Some(least), ..found() };
        for (f, general, want) in [
            (found(), Critical, Critical),
            (with(Low), Critical, Critical),
            (with(Critical), High, Critical),
            (with(Low).severity(High), Critical, High),
            (with(High).severity(Low), Critical, High),
        ] {
            assert_eq!(f.severity_of(general), want, "{f:?}");
        }
    }
}

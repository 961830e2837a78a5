//! On which terms a node is audited: which answers a site accepts, and from which severity on a finding fails the audit.
//!
//! A suppressed answer is set aside with its reason. It is shown, it is not counted, and it never becomes a pass.

use crate::finding::{Finding, Status};
use crate::rule::{Rule, Severity};
use linerate_formats::wildcard;
use linerate_snapshot::Snapshot;
use std::fmt;
use std::sync::Arc;

/// Whether a node of this name is meant.
pub type Names = dyn Fn(&str) -> bool + Send + Sync;

/// Answers that a site accepts: findings, and what a rule cannot see.
pub struct Suppression {
    /// Id of a rule, an area, or a pattern with `*`.
    pub rule: String,
    /// Pattern with `*` for what the answer is about, as reports write it; `None`: anything.
    pub subject: Option<String>,
    /// The nodes; `None`: all.
    pub nodes: Option<Box<Names>>,
    /// Why; `None`: on the command line.
    pub reason: Option<String>,
    /// Who accepts it.
    pub by: Option<String>,
    /// The last day on which it holds, `YYYY-MM-DD`.
    pub until: Option<String>,
    /// That day is over: it holds no longer.
    pub expired: bool,
    /// Where it is written: a file with its line, or the option.
    pub place: String,
}

impl fmt::Debug for Suppression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Suppression({} at {})", self.what(), self.place)
    }
}

impl Suppression {
    /// Whether it names a rule: by id, area or pattern.
    #[must_use]
    pub fn names(&self, rule: &Rule) -> bool {
        names(&self.rule, rule)
    }

    /// Rule and subject, as they are written on a command line.
    #[must_use]
    pub fn what(&self) -> String {
        match &self.subject {
            Some(subject) => format!("{}:{subject}", self.rule),
            None => self.rule.clone(),
        }
    }

    /// Whether an answer is meant.
    fn takes(&self, rule: &Rule, finding: &Finding) -> bool {
        let of_subject = |p: &String| wildcard::star(p.as_bytes(), finding.subject.to_string().as_bytes());
        matches!(finding.status, Status::Fail | Status::Unknown)
            && self.names(rule)
            && self.subject.as_ref().is_none_or(of_subject)
    }

    fn is_on(&self, names: &[&str]) -> bool {
        self.nodes.as_ref().is_none_or(|is| names.iter().any(|n| is(n)))
    }
}

/// Whether a pattern (an id, an area, or one with `*`) names a rule.
#[must_use]
pub fn names(pattern: &str, rule: &Rule) -> bool {
    pattern == rule.area() || wildcard::star(pattern.as_bytes(), rule.id.as_bytes())
}

/// The terms of an audit of any number of nodes.
#[derive(Debug, Clone)]
pub struct Terms {
    /// The least severity that fails the audit; `None`: nothing does.
    pub fail_on: Option<Severity>,
    /// In the order in which they are written.
    pub suppressions: Vec<Arc<Suppression>>,
    /// Patterns of the only rules that are asked; empty: all are.
    pub only: Vec<String>,
}

impl Default for Terms {
    fn default() -> Self {
        Terms { fail_on: Some(Severity::Low), suppressions: Vec::new(), only: Vec::new() }
    }
}

impl Terms {
    /// Those that hold for a node. Suppressions may mean it by the name that reports have for it, by that without the directory and the ending of its
    /// file, or by its own.
    #[must_use]
    pub fn of(&self, label: &str, snapshot: &Snapshot) -> Terms {
        self.on(&[label, linerate_snapshot::node_name(label, false), &snapshot.manifest.host])
    }

    /// Those that hold for a node that has these names.
    #[must_use]
    pub fn on(&self, names: &[&str]) -> Terms {
        let suppressions = self.suppressions.iter().filter(|s| s.is_on(names)).cloned().collect();
        Terms { fail_on: self.fail_on, suppressions, only: self.only.clone() }
    }

    /// What takes an answer out of the count.
    #[must_use]
    pub fn takes(&self, rule: &Rule, finding: &Finding) -> Option<&Arc<Suppression>> {
        self.suppressions.iter().find(|s| !s.expired && s.takes(rule, finding))
    }

    /// Whether a finding of this severity fails the audit.
    #[must_use]
    pub fn fails(&self, severity: Severity) -> bool {
        self.fail_on.is_some_and(|least| severity >= least)
    }

    /// Whether what a rule cannot see may be a finding that fails the audit.
    #[must_use]
    pub fn may_fail(&self, rule: &Rule) -> bool {
        self.fail_on.is_some_and(|least| least <= Severity::Low || rule.severity.worst >= least)
    }
}

/// What became of the suppressions on the nodes that were audited.
#[derive(Debug, Clone, Default)]
pub struct Usage {
    seen: Vec<(Arc<Suppression>, Use)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Use {
    /// Answers that it took.
    took: u64,
    /// A rule that it names was asked.
    asked: bool,
    /// A rule that it names could not see: whether there is something to suppress is not known.
    doubt: bool,
}

impl Usage {
    /// Takes in what was answered on a node under its terms.
    pub fn add<'a>(
        &mut self,
        terms: &Terms,
        took: impl Iterator<Item = &'a Arc<Suppression>>,
        answers: impl Iterator<Item = (&'static Rule, Status)> + Clone,
    ) {
        let mut rules: Vec<(&'static Rule, bool)> = Vec::new();
        if !terms.suppressions.is_empty() {
            for (rule, status) in answers {
                let unknown = status == Status::Unknown;
                match rules.last_mut() {
                    Some((last, doubt)) if std::ptr::eq(*last, rule) => *doubt |= unknown,
                    _ => rules.push((rule, unknown)),
                }
            }
        }
        for s in &terms.suppressions {
            let used = self.of(s);
            for (_, doubt) in rules.iter().filter(|(r, _)| s.names(r)) {
                used.asked = true;
                used.doubt |= *doubt;
            }
        }
        took.for_each(|s| self.of(s).took += 1);
    }

    /// Takes in what became of them on other nodes.
    pub fn and(&mut self, other: Usage) {
        for (s, theirs) in other.seen {
            let used = self.of(&s);
            used.took += theirs.took;
            used.asked |= theirs.asked;
            used.doubt |= theirs.doubt;
        }
    }

    fn of(&mut self, s: &Arc<Suppression>) -> &mut Use {
        let at = self.seen.iter().position(|(known, _)| Arc::ptr_eq(known, s)).unwrap_or_else(|| {
            self.seen.push((Arc::clone(s), Use::default()));
            self.seen.len() - 1
        });
        &mut self.seen[at].1
    }

    /// Answers that were suppressed.
    #[must_use]
    pub fn took(&self) -> u64 {
        self.seen.iter().map(|(_, u)| u.took).sum()
    }

    /// Those that took answers, and how many.
    pub fn used(&self) -> impl Iterator<Item = (&Suppression, u64)> {
        self.seen.iter().filter(|(_, u)| u.took > 0).map(|(s, u)| (&**s, u.took))
    }

    /// Those whose last day is over.
    pub fn expired(&self) -> impl Iterator<Item = &Suppression> {
        self.seen.iter().map(|(s, _)| &**s).filter(|s| s.expired)
    }

    /// Those that took nothing, although their rules were asked and saw all that they need.
    pub fn unused(&self) -> impl Iterator<Item = &Suppression> {
        self.seen.iter().filter(|(s, u)| !s.expired && u.took == 0 && u.asked && !u.doubt).map(|(s, _)| &**s)
    }
}

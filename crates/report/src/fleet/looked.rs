//! What of a node is kept for those who write: made where the node is, in any thread.

use super::Format;
use crate::{Report, json};
use linerate_fleet::audit::{At, Places, Spot};
use linerate_node::Node;
use linerate_rules::{Rule, Severity, Status, Survey, Terms, Usage};
use linerate_snapshot::Snapshot;

/// Looks at nodes as a form needs it.
#[derive(Debug, Clone, Copy)]
pub struct Looker<'r> {
    pub(super) format: Format,
    pub(super) rules: &'r [&'static Rule],
    pub(super) terms: &'r Terms,
}

/// What was seen of a node.
#[derive(Debug)]
pub struct Looked(pub(super) Seen);

#[derive(Debug)]
pub(super) enum Seen {
    /// For the summary: who fails where.
    Counted { survey: Box<Survey>, spots: Vec<Spot>, told: Vec<Told> },
    /// What is written of it alone.
    Written { text: Vec<u8>, exit_code: u8, usage: Usage },
}

/// A finding in words.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) rule: &'static str,
    pub(super) severity: Severity,
    pub(super) at: At,
    pub(super) subject: String,
    pub(super) kind: &'static str,
    pub(super) message: String,
}

impl Looker<'_> {
    /// Judges a node.
    #[must_use]
    pub fn look(&self, label: &str, node: &Node<'_>, snapshot: &Snapshot) -> Looked {
        let (doubts, words) = match self.format {
            Format::Text(style) => (style.verbose, false),
            Format::JsonLines => (true, true),
            Format::Markdown => (true, false),
            Format::Sarif => return self.written(label, node, snapshot, crate::sarif::results),
            Format::Junit => return self.written(label, node, snapshot, crate::junit::suite),
        };
        let terms = self.terms.of(label, snapshot);
        let survey = linerate_rules::survey(node, snapshot, self.rules, terms);
        let places = Places::of(node);
        let spots = survey.telling().filter(|(a, _)| doubts || a.status == Status::Fail);
        let spots = spots.map(|(a, subject)| Spot {
            rule: a.rule,
            status: a.status,
            severity: a.severity,
            at: places.at(subject),
        });
        let spots = spots.collect();
        let mut told = Vec::new();
        if words {
            told.extend(survey.findings(node, snapshot).into_iter().map(|v| Told {
                rule: v.rule.id,
                severity: v.severity(),
                at: places.at(&v.finding.subject),
                subject: v.finding.subject.to_string(),
                kind: json::kind_of(&v.finding.subject),
                message: v.finding.message.into_owned(),
            }));
        }
        Looked(Seen::Counted { survey: Box::new(survey), spots, told })
    }

    fn written(
        &self,
        label: &str,
        node: &Node<'_>,
        snapshot: &Snapshot,
        write: impl FnOnce(&Member<'_>, &mut Vec<u8>),
    ) -> Looked {
        let terms = self.terms.of(label, snapshot);
        let audit = linerate_rules::audit(node, snapshot, self.rules).on(terms);
        let report = Report { audit: &audit, node, snapshot };
        let mut text = Vec::new();
        write(&Member { label, report, places: &Places::of(node), rules: self.rules }, &mut text);
        Looked(Seen::Written { text, exit_code: audit.exit_code(), usage: audit.usage() })
    }
}

/// A node among many.
pub(crate) struct Member<'a> {
    pub(crate) label: &'a str,
    pub(crate) report: Report<'a>,
    pub(crate) places: &'a Places<'a>,
    /// Those that all nodes are judged by.
    pub(crate) rules: &'a [&'static Rule],
}

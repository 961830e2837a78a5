//! A fix as every form shows it: what the rule wants, and what the planner says of it.

use linerate_remedy::terms::by_hand;
use linerate_remedy::{Disruption, On, Permanence, Risk, terms};
use linerate_rules::{Action, Remedy};
use serde::Serialize;

/// A remedy with its terms. Those that people carry out have none.
#[derive(Serialize)]
pub(crate) struct Fix<'a> {
    summary: &'a str,
    action: &'a Action,
    persistence: Option<Permanence>,
    disruption: Option<Disruption>,
    risk: Option<Risk>,
    risk_note: &'a str,
    reread: &'a [linerate_rules::remedy::Text],
}

impl<'a> Fix<'a> {
    /// A remedy on a node.
    pub(crate) fn of(remedy: &'a Remedy, on: &On<'_>) -> Fix<'a> {
        let terms = terms(&remedy.action, on);
        Fix {
            summary: &remedy.summary,
            action: &remedy.action,
            persistence: terms.map(|t| t.persistence),
            disruption: terms.map(|t| t.disruption),
            risk: terms.map(|t| t.risk),
            risk_note: &remedy.risk_note,
            reread: &remedy.reread,
        }
    }

    /// When it holds, what it disturbs and what it can break, or who does it. `escape` makes the rule's own words safe for the form.
    pub(crate) fn words(&self, escape: impl Fn(&str) -> String) -> String {
        let why = if self.risk_note.is_empty() { String::new() } else { format!(": {}", escape(self.risk_note)) };
        match (self.persistence, self.disruption, self.risk) {
            (Some(lasts), Some(disturbs), Some(risk)) => {
                format!("lasts: {}; disturbs: {}; risk: {}{why}", lasts.words(), disturbs.words(), risk.words())
            }
            _ => format!("{}{why}", by_hand(self.action)),
        }
    }
}

//! Remedies of the kinds that causes have.

use linerate_rules::{Action, Remedy};

/// Unsets variables, or sets them otherwise.
pub(crate) fn environment(summary: &'static str, set: &[&'static str], unset: &[&'static str]) -> Remedy {
    let action = Action::Environment {
        set: set.iter().map(|s| (*s).into()).collect(),
        unset: unset.iter().map(|s| (*s).into()).collect(),
    };
    Remedy::new(summary, action).prove("the next job's log")
}

/// A person has to look.
pub(crate) fn investigate(summary: &'static str) -> Remedy {
    Remedy::new(summary, Action::Investigate { what: summary.into() })
}

pub(crate) fn software(summary: &'static str) -> Remedy {
    Remedy::new(summary, Action::Software { what: summary.into() }).prove("the next job's log")
}

pub(crate) fn hands(summary: &'static str) -> Remedy {
    Remedy::new(summary, Action::Physical { what: summary.into() })
}

//! What a cause advises.

use linerate_rules::{Action, Remedy};

/// The fix of a cause in general: what to do, in one sentence.
#[derive(Debug, Clone, Copy)]
pub enum Advice {
    /// A person has to look.
    Investigate(&'static str),
    /// Software to install or to change.
    Software(&'static str),
    /// Hands on hardware.
    Hands(&'static str),
    /// Variables to set, and to unset.
    Environment(&'static str, &'static [&'static str], &'static [&'static str]),
}

impl Advice {
    /// As a desired state.
    #[must_use]
    pub fn remedy(self) -> Remedy {
        match self {
            Advice::Investigate(what) => Remedy::investigate(what, what),
            Advice::Software(what) => Remedy::software(what, what).prove("the next job's log"),
            Advice::Hands(what) => Remedy::physical(what, what),
            Advice::Environment(what, set, unset) => {
                let texts = |words: &[&'static str]| words.iter().map(|w| (*w).into()).collect();
                let action = Action::Environment { set: texts(set), unset: texts(unset) };
                Remedy::new(what, action).prove("the next job's log")
            }
        }
    }
}

//! Ids that shells complete: of rules, symptoms, causes. Any other word is taken too, for patterns, and so that an error can say what is near.

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use linerate_doctor::{causes, symptoms};
use std::ffi::OsStr;

/// A word, with ids to complete it from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ids {
    /// Rules and areas.
    Rules,
    /// All that `explain` knows, but variables: those are in the thousands of letters.
    Explained,
}

impl TypedValueParser for Ids {
    type Value = String;

    fn parse_ref(&self, cmd: &clap::Command, arg: Option<&clap::Arg>, value: &OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(cmd, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let areas = linerate_rules::areas().iter().map(|(id, ..)| *id);
        let rules = linerate_rules::rules().iter().map(|r| r.id);
        let more = symptoms().iter().map(|s| s.id).chain(causes().map(|c| c.id));
        let mut all: Vec<&'static str> = match self {
            Ids::Rules => areas.chain(rules).collect(),
            Ids::Explained => rules.chain(more).chain(["symptom", "cause"]).collect(),
        };
        all.sort_unstable();
        all.dedup();
        Some(Box::new(all.into_iter().map(PossibleValue::new)))
    }
}

//! What the parsers of benchmarks say of text that is no measurement, and of how a run ended.

use crate::bounds::REFUSALS;
use crate::error::{ParseError, Why};
use serde::Serialize;

/// Refused pieces of a run: the first ones, and the number of the others.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Refusals {
    /// At most as many as are worth showing.
    pub kept: Vec<ParseError>,
    /// Those beyond.
    pub not_kept: u64,
}

impl Refusals {
    pub(crate) fn push(&mut self, line: u32, why: Why) {
        if self.kept.len() < REFUSALS {
            self.kept.push(ParseError { line, why });
        } else {
            self.not_kept += 1;
        }
    }

    /// Adds those of another part of the same run.
    pub(crate) fn extend(&mut self, more: Refusals) {
        more.kept.into_iter().for_each(|r| self.push(r.line, r.why));
        self.not_kept += more.not_kept;
    }

    /// Nothing was refused.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

/// A line that the tool said, and that is worth keeping: a remark or a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    /// 1-based line.
    pub line: u32,
    /// The line, at most some hundred characters.
    pub text: String,
}

impl Said {
    pub(crate) fn new(line: u32, text: &str) -> Self {
        Said { line, text: text.trim().chars().take(300).collect() }
    }
}

/// How a run ended, as far as its output shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Nothing says that it ended: the text stops in the middle, or another run begins.
    #[default]
    Cut,
    /// The tool came to its end.
    Finished,
    /// A signal, or the peer, stopped it before its time.
    Interrupted,
    /// The tool gave up.
    Failed,
}

//! What the parsers of benchmarks say of text that is no measurement, and of how a run ended.

use serde::Serialize;

/// Refusals that a run keeps: with more, the first tell the cause.
const MAX_KEPT: usize = 32;

/// Something that looks like a measurement and is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// 1-based line.
    pub line: u32,
    /// What was wrong.
    pub why: String,
}

/// Refused pieces of a run: the first ones, and the number of the others.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Refusals {
    /// At most as many as are worth showing.
    pub kept: Vec<Refused>,
    /// Those beyond.
    pub not_kept: u64,
}

impl Refusals {
    pub(crate) fn push(&mut self, line: u32, why: impl Into<String>) {
        if self.kept.len() < MAX_KEPT {
            self.kept.push(Refused { line, why: why.into() });
        } else {
            self.not_kept += 1;
        }
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

/// Adds to a list that hostile text must not fill.
pub(crate) fn keep<T>(list: &mut Vec<T>, item: T, most: usize, not_kept: &mut u64) {
    if list.len() < most {
        list.push(item);
    } else {
        *not_kept += 1;
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

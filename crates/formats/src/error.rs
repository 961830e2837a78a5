//! The one error of the text parsers.

/// Why a text is not what the parser expects. Parsers of line-oriented output never fail as a whole: they skip what they do not
/// know. Only formats with a grammar (XML, JSON) or without any usable line return this.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ParseError {
    /// 1-based line of the input; 0 where the input as a whole is meant.
    pub line: u32,
    /// What was wrong and what was expected.
    pub what: String,
}

impl ParseError {
    /// An error at `line` (1-based, 0 for the whole input).
    pub fn new(line: u32, what: impl Into<String>) -> Self {
        ParseError { line, what: what.into() }
    }
}

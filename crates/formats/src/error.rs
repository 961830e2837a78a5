//! The one error of the parsers: a line, and a reason of a closed set.

use serde::{Serialize, Serializer};
use smol_str::SmolStr;

/// Characters of a word that a reason shows.
pub(crate) const SHOWN: usize = 24;

/// Why a text, or a piece of it, is not what the parser expects. Parsers of line-oriented output never fail as a whole: they skip
/// what they do not know, and keep what they refused with its reason ([`crate::refusal`]). Only formats with a grammar (XML, JSON) or
/// without any usable line return this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct ParseError {
    /// 1-based line of the input; 0 where the input as a whole is meant.
    pub line: u32,
    /// What was wrong and what was expected.
    pub why: Why,
}

impl ParseError {
    /// An error at `line` (1-based, 0 for the whole input).
    pub fn new(line: u32, why: Why) -> Self {
        ParseError { line, why }
    }

    /// A document that its grammar's reader refused; `what` is said before the reader's own words.
    pub(crate) fn syntax(line: u32, what: &'static str, error: &impl std::error::Error) -> Self {
        ParseError::new(line, Why::Syntax { what, error: error.to_string() })
    }
}

/// What is wrong with a text. The variant is the kind, for programs; `Display` is the sentence, for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// The text ends too early, or lacks a part that the value needs.
    #[error("{0}")]
    Missing(&'static str),
    /// What a value means does not follow from the text: no unit, no header.
    #[error("{0}")]
    Unclear(&'static str),
    /// Values that contradict each other, or that no measurement can have.
    #[error("{0}")]
    Impossible(&'static str),
    /// Text of another format or program.
    #[error("{0}")]
    Foreign(&'static str),
    /// A form of the right format that is not read.
    #[error("{0}")]
    Unsupported(&'static str),
    /// A word in the place of something else.
    #[error("`{word}` is {is}")]
    Word {
        /// The word, cut and escaped.
        word: String,
        /// What it is, or is not: `not a number`.
        is: &'static str,
    },
    /// A word that is no value of a named field.
    #[error("`{word}` is not a value of `{field}`")]
    Value {
        /// The word, cut and escaped.
        word: String,
        /// The field.
        field: SmolStr,
    },
    /// A named field without a value.
    #[error("`{0}` has no value: the line is cut")]
    NoValue(SmolStr),
    /// A number with a comma that can mean two things.
    #[error("`{word}` may be {whole}{decimals} or {whole}.{decimals}")]
    Comma {
        /// The word, cut and escaped.
        word: String,
        /// Digits before the comma.
        whole: String,
        /// Digits behind it.
        decimals: String,
    },
    /// A row that does not fit the table.
    #[error("the row has {has} {cells}, and there are {columns} columns")]
    Columns {
        /// Cells of the row.
        has: usize,
        /// What they are called: cells, fields.
        cells: &'static str,
        /// Columns of the table.
        columns: usize,
    },
    /// A point of a sweep with a measurement that is no number.
    #[error("size {size}, {place}: a time, bandwidth or number of errors is not a number")]
    Point {
        /// Size of the message in bytes.
        size: u64,
        /// Which of the two measurements: out of place, in place.
        place: &'static str,
    },
    /// A document beyond the limit.
    #[error("a document of more than {mib} MiB (limit BENCH_JSON)")]
    TooLarge {
        /// The limit.
        mib: usize,
    },
    /// A document that breaks its grammar.
    #[error("{what}{}{error}", if what.is_empty() { "" } else { ": " })]
    Syntax {
        /// Which document; may be empty.
        what: &'static str,
        /// In the words of the grammar's reader.
        error: String,
    },
}

impl Why {
    /// A document without its end.
    pub(crate) const RUN_ENDED: Why = Why::Missing("the document ends in the middle: the run was ended");

    /// A word in the place of something else; `is` says what it is, or is not.
    pub(crate) fn word(word: &str, is: &'static str) -> Why {
        Why::Word { word: shown(word, SHOWN), is }
    }
}

/// The beginning of a word, at most so many characters, without control characters.
pub(crate) fn shown(word: &str, most: usize) -> String {
    word.chars().take(most).collect::<String>().escape_debug().to_string()
}

impl Serialize for Why {
    /// The sentence.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

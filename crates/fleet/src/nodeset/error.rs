//! Why a text is no set of nodes.

use linerate_formats::bounds::{NODESET_GROUP_DEPTH, NODESET_NODES, NODESET_TEXT};

/// A text that is no set of nodes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{part:?} is not a set of nodes: {why}")]
pub struct NodeSetError {
    /// The part that is wrong, of a long one its beginning.
    pub part: String,
    /// What is wrong.
    pub why: Why,
}

/// What is wrong with a set of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// Nothing stands before or behind an operator.
    #[error("a name is missing beside the operator {0:?}")]
    Operand(char),
    /// A bracket is not closed, or not opened, or two follow each other.
    #[error("its brackets do not match")]
    Bracket,
    /// A bracket with nothing in it, or between two commas.
    #[error("a range is empty")]
    EmptyRange,
    /// What is in a bracket is no number, or one with more than 18 digits. Negative numbers are not taken: ClusterShell takes `a[-1]` and `a-1` for two names.
    #[error("a bracket holds numbers, ranges (1-9) and ranges with a step (1-9/2)")]
    Number,
    /// The end of a range comes before its beginning, or the step is 0 or beside a single number.
    #[error("a range goes from a smaller number to a larger one, with a step above 0: 1-9, 1-9/2")]
    Range,
    /// Both ends have zeros in front and different lengths.
    #[error("both ends of a range with leading zeros have the same number of digits")]
    Padding,
    /// Digits before a bracket whose numbers differ in length. ClusterShell 1.9 makes `a[19-110]` of `a1[9-10]`: 92 names of two.
    #[error("digits before a bracket need numbers of one length in it: write them inside")]
    Digits,
    /// A step in a bracket, and digits behind it.
    #[error("digits behind a bracket and a step in it do not go together: write the digits inside")]
    Step,
    /// White space, a control character, a quote or a backslash in a name.
    #[error("a name has no white space, quotes, backslashes or control characters: names are separated by commas")]
    Character,
    /// A group that no source has.
    #[error("no such group")]
    Group,
    /// Groups that name groups, one in the other.
    #[error("groups are nested more than {NODESET_GROUP_DEPTH} deep, or in a circle")]
    Circle,
    /// The text is too long.
    #[error("it is longer than {NODESET_TEXT} bytes")]
    Long,
    /// Too many names.
    #[error("it expands to more than {NODESET_NODES} names, before any is removed")]
    Many,
    /// `@@source`: a list of groups is no set of nodes.
    #[error("names of groups are not nodes")]
    GroupNames,
}

impl NodeSetError {
    pub(super) fn new(part: &str, why: Why) -> Self {
        NodeSetError { part: part.chars().take(80).collect(), why }
    }
}

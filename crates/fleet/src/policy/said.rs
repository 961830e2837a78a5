//! What is wrong with a policy, and where.

use linerate_facts::Form;

/// A mistake of a policy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("line {line}: {wrong}")]
pub struct Mistake {
    /// Line, from 1.
    pub line: u32,
    /// What is wrong.
    pub wrong: Wrong,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Wrong {
    /// No TOML.
    #[error("{0}")]
    Toml(String),
    /// Too much of something.
    #[error("more than {most} {what}: the limit {limit} is reached; split the policy")]
    TooMuch {
        /// What.
        what: &'static str,
        /// How much is read.
        most: usize,
        /// Name of the limit.
        limit: &'static str,
    },
    /// Another format, or another version of it.
    #[error("the first line must be: schema = \"linerate.policy/1\"{}", if .0.is_empty() { String::new() } else { format!("; here it is {:?}", .0) })]
    Schema(String),
    /// A key that has no meaning here.
    #[error("`{key}` has no meaning here{}", meant(.like))]
    Key {
        /// The key.
        key: String,
        /// What it may be a misspelling of.
        like: Option<String>,
    },
    /// A value of another type.
    #[error("`{key}` must be {wanted}")]
    Type {
        /// The key.
        key: String,
        /// What it must be.
        wanted: &'static str,
    },
    /// No fact has this id.
    #[error("no fact has the id `{id}`{}; docs/facts.md lists them", meant(.like))]
    Fact {
        /// The id.
        id: String,
        /// What it may be a misspelling of.
        like: Option<String>,
    },
    /// The fact is never the same on two nodes.
    #[error("a policy cannot use `{id}`: {why}")]
    NotCompared {
        /// The fact.
        id: &'static str,
        /// Why not.
        why: &'static str,
    },
    /// No device has this role.
    #[error("unknown role `{role}`{}; roles are node, GPU *, rail * NIC, NIC *, bridge 1 above GPU *, NUMA node *, …", meant(.like))]
    Role {
        /// The role.
        role: String,
        /// What it may be a misspelling of.
        like: Option<String>,
    },
    /// A fact of something else.
    #[error("`{id}` is a fact of {of}, not of `{role}`")]
    Whose {
        /// The fact.
        id: &'static str,
        /// Whose it is.
        of: &'static str,
        /// Whose it is said to be.
        role: String,
    },
    /// A fact of which there are several, without saying which.
    #[error("`{id}` needs to know which {what}: write \"{id} {example}\"")]
    Which {
        /// The fact.
        id: &'static str,
        /// What there are several of.
        what: &'static str,
        /// For example.
        example: &'static str,
    },
    /// A value that the fact cannot have.
    #[error("`{value}` is not valid for `{id}`: expected {}", can_be(.form, .unit))]
    Value {
        /// The fact.
        id: &'static str,
        /// What it can be.
        form: Form,
        /// In which unit.
        unit: &'static str,
        /// The value.
        value: String,
    },
    /// An operator that the fact has no order for.
    #[error("`{operator}` compares numbers: `{id}` or the value is not a number")]
    Operator {
        /// The fact.
        id: &'static str,
        /// The operator.
        operator: &'static str,
    },
    /// Nothing is expected.
    #[error(
        "`{0}` has no operator: write equals, one_of, at_least, at_most, version_at_least, matches, contains, present or absent"
    )]
    Nothing(String),
    /// A share that is none.
    #[error("`tolerance` must be a percentage such as \"2 %\", and needs a number")]
    Tolerance,
    /// No set of nodes.
    #[error("`nodes`: {0}")]
    Nodes(crate::nodeset::NodeSetError),
    /// No severity.
    #[error("`{0}` is not a severity: use critical, high, medium, low or info")]
    Severity(String),
    /// Two of one name.
    #[error("two expectations have the name `{0}`: rename one of them")]
    Twice(String),
    /// A name that cannot be one.
    #[error("`{0}` is not a valid name: use letters, digits, `.`, `_` and `-`, at most 200 characters")]
    Name(String),
    /// A condition that cannot be evaluated.
    #[error("the condition cannot be read: {0}")]
    Condition(super::condition::Refused),
    /// A claim that says too little.
    #[error("the claim {0}")]
    Claim(String),
    /// What is claimed is no condition on a fact.
    #[error("`when` cannot be read: {0}")]
    When(crate::condition::NotACondition),
    /// No fix.
    #[error("`fix` is not valid: {0}")]
    Fix(String),
    /// A test that names nothing that is there.
    #[error("no expectation has the id `{id}`{}", meant(.like))]
    Unknown {
        /// The name.
        id: String,
        /// What it may be a misspelling of.
        like: Option<String>,
    },
    /// More mistakes than are shown.
    #[error("and {0} more mistakes")]
    More(usize),
}

fn meant(like: &Option<String>) -> String {
    like.as_ref().map_or_else(String::new, |l| format!(": did you mean `{l}`?"))
}

fn can_be(form: &Form, unit: &str) -> String {
    let text = match form {
        Form::Flag => "true or false",
        Form::Number => "a number that is not negative",
        Form::Signed | Form::Real => "a number",
        Form::Hex => "a hexadecimal number, in quotes",
        Form::Speed => "the speed of a link, such as \"32 GT/s\"",
        Form::Limit => "a number of bytes, such as \"64 GiB\", or \"unlimited\"",
        Form::There => "{ present = true } or { absent = true }",
        _ => "a text",
    };
    if unit.is_empty() { text.to_owned() } else { format!("{text} ({unit})") }
}

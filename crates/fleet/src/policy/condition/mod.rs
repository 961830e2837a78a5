//! Conditions in CEL over the published facts of a node: the member `node` of `linerate.audit/2`.
//!
//! The interpreter has no limit of its own on time, so that a condition is measured before it is evaluated: its length, depth, loops, and how often each part of
//! it runs on this node. What is beyond is refused. Every fact that it reads is looked at first: where one could not be read, the answer is
//! unknown, whatever the condition makes of that.

mod cost;
mod grammar;

use cel::objects::{Key, Map};
use cel::parser::{Expression, PrattParser};
use cel::{Context, ExecutionError, Value};
use linerate_formats::bounds::{CONDITION_BYTES, CONDITION_DEPTH, CONDITION_STEPS};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::sync::Arc;

/// A condition that can be evaluated.
#[derive(Debug, Clone)]
pub struct Program {
    source: String,
    expression: Arc<Expression>,
}

impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

/// Why a text is no condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Longer than [`CONDITION_BYTES`].
    #[error("it is longer than {CONDITION_BYTES} bytes (the limit CONDITION_BYTES): make several conditions of it")]
    Long,
    /// Nested deeper than [`CONDITION_DEPTH`].
    #[error("it is nested deeper than {CONDITION_DEPTH} (the limit CONDITION_DEPTH): make several conditions of it")]
    Deep,
    /// Too many loops, or too many within each other.
    #[error("it has more than {0} (a limit on time): make several conditions of it")]
    Loops(&'static str),
    /// A loop over something that is computed.
    #[error("a loop must run over a list of the node, such as node.pci.known, or a part of a loop's variable")]
    Range,
    /// No CEL.
    #[error("{0}")]
    Syntax(String),
    /// A function that there is not.
    #[error("unknown function `{name}`{}", meant(.like))]
    Function {
        /// Its name.
        name: String,
        /// What it may be a misspelling of.
        like: Option<String>,
    },
    /// A name that is neither `node` nor a loop's variable.
    #[error("`{0}` is not known: facts begin with `node`")]
    Name(String),
    /// No fact has this path.
    #[error("no fact is at `{path}`{}; `.known` follows the id of a fact", meant(.like))]
    Fact {
        /// The path.
        path: String,
        /// What it may be a misspelling of.
        like: Option<String>,
    },
}

fn meant(like: &Option<String>) -> String {
    like.as_ref().map_or_else(String::new, |l| format!(": did you mean `{l}`?"))
}

/// What a condition says of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is true.
    True,
    /// It is false; with the first facts that it read.
    False(Vec<String>),
    /// It cannot be decided, and why.
    Unknown(String),
}

/// The published facts of one node, for conditions.
pub struct Facts {
    json: Json,
    value: Value,
}

impl Facts {
    /// Of the member `node` of `linerate.audit/2`.
    #[must_use]
    pub fn new(json: Json) -> Self {
        let value = value_of(&json);
        Facts { json, value }
    }
}

impl Program {
    /// Reads a condition.
    ///
    /// # Errors
    /// It is no CEL, costs too much, or reads what no node has.
    pub fn of(source: &str) -> Result<Self, Refused> {
        if source.len() > CONDITION_BYTES {
            return Err(Refused::Long);
        }
        let parser =
            PrattParser::new().max_recursion_depth(CONDITION_DEPTH).max_expression_node_count(CONDITION_BYTES * 8);
        let expression = parser.parse(source).map_err(|e| Refused::Syntax(first_line(&e.to_string())))?;
        grammar::check(&expression)?;
        Ok(Program { source: source.to_owned(), expression: Arc::new(expression) })
    }

    /// As it is written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What it says of a node.
    #[must_use]
    pub fn holds(&self, facts: &Facts) -> Outcome {
        let read = cost::measure(&self.expression, &facts.json);
        if read.steps > CONDITION_STEPS {
            return Outcome::Unknown(format!(
                "it takes more than {CONDITION_STEPS} steps on this node (the limit CONDITION_STEPS): read fewer devices, or one after the other"
            ));
        }
        if let Some((path, why)) = read.unseen.first() {
            let more = read.unseen.len() - 1;
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            return Outcome::Unknown(format!("{path} could not be read: {why}{more}"));
        }
        let mut context = Context::default();
        context.add_variable_from_value("node", facts.value.clone());
        match Value::resolve(&self.expression, &context) {
            Ok(Value::Bool(true)) => Outcome::True,
            Ok(Value::Bool(false)) => Outcome::False(read.seen),
            Ok(_) => Outcome::Unknown("its result is neither true nor false".to_owned()),
            Err(ExecutionError::NoSuchKey(key)) if key.as_str() == "known" => {
                Outcome::Unknown("a fact that it reads is absent: test it first with has(… .known)".to_owned())
            }
            Err(e) => Outcome::Unknown(first_line(&e.to_string())),
        }
    }
}

/// The first line of a text, at most 200 characters.
fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim_start_matches("ERROR: <input>:").chars().take(200).collect()
}

/// Numbers are signed where they fit, as literals of CEL are. A node is at most ten deep.
fn value_of(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(n) => match (n.as_i64(), n.as_u64()) {
            (Some(i), _) => Value::Int(i),
            (_, Some(u)) => Value::UInt(u),
            _ => Value::Float(n.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(s) => Value::String(Arc::new(s.clone())),
        Json::Array(all) => Value::List(Arc::new(all.iter().map(value_of).collect())),
        Json::Object(all) => {
            let map: HashMap<Key, Value> =
                all.iter().map(|(k, v)| (Key::String(Arc::new(k.clone())), value_of(v))).collect();
            Value::Map(Map { map: Arc::new(map) })
        }
    }
}

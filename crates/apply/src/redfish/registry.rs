//! What the service says about its attributes.

use super::client::{answer, text};
use super::error::short;
use super::{Attributes, Error};
use serde_json::Value;
use std::collections::BTreeMap;

const MOST: usize = 16_384;

/// An attribute registry.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Registry {
    /// Descriptions by attribute.
    pub entries: BTreeMap<String, Entry>,
}

/// What is said of one attribute.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Entry {
    /// `DisplayName`: its name in the setup.
    pub display: Option<String>,
    /// `Type`: `Enumeration`, `String`, `Integer`, `Boolean`, `Password`.
    pub kind: Option<String>,
    /// Cannot be set (`ReadOnly` or `Immutable`).
    pub read_only: bool,
    /// Values of an enumeration.
    pub values: Vec<String>,
    /// Least number.
    pub least: Option<i64>,
    /// Largest number.
    pub most: Option<i64>,
    /// Whether a start through POST is needed; `None`: not said.
    pub reset_required: Option<bool>,
}

impl Registry {
    pub(super) fn parse(path: &str, document: &Value) -> Result<Registry, Error> {
        let listed = document.pointer("/RegistryEntries/Attributes").and_then(Value::as_array);
        let listed = listed.ok_or_else(|| answer(path, "an attribute registry without entries"))?;
        let flag = |v: &Value, k: &str| v.get(k).and_then(Value::as_bool);
        let number = |v: &Value, k: &str| v.get(k).and_then(Value::as_i64);
        let entries = listed.iter().take(MOST).filter_map(|e| {
            let values = e.get("Value").and_then(Value::as_array).into_iter().flatten();
            let entry = Entry {
                display: text(e, "DisplayName").map(|d| short(&d)).filter(|d| !d.is_empty()),
                kind: text(e, "Type"),
                read_only: flag(e, "ReadOnly") == Some(true) || flag(e, "Immutable") == Some(true),
                values: values.take(1024).filter_map(|v| text(v, "ValueName")).collect(),
                least: number(e, "LowerBound"),
                most: number(e, "UpperBound"),
                reset_required: flag(e, "ResetRequired"),
            };
            Some((text(e, "AttributeName")?, entry))
        });
        Ok(Registry { entries: entries.collect() })
    }

    /// Whether these values can be set. An attribute that is not described is not judged.
    ///
    /// # Errors
    /// The first that cannot, and why.
    pub fn check(&self, wanted: &Attributes) -> Result<(), Error> {
        for (name, value) in wanted {
            if let Some(why) = self.entries.get(name).and_then(|e| e.refuses(value)) {
                return Err(Error::Refused { attribute: name.clone(), why });
            }
        }
        Ok(())
    }
}

impl Entry {
    fn refuses(&self, value: &Value) -> Option<String> {
        if self.read_only {
            return Some("its registry says that it is read-only".to_owned());
        }
        let kind = self.kind.as_deref().unwrap_or_default();
        let said = || short(&value.to_string());
        match (kind, value) {
            ("Password", _) => Some("passwords are not set".to_owned()),
            ("Enumeration", Value::String(word)) if !self.values.is_empty() && !self.values.contains(word) => {
                Some(format!("{} is not one of: {}", said(), short(&self.values.join(", "))))
            }
            ("Integer", Value::Number(_)) => {
                let n = value.as_i64();
                let fits = n.is_some_and(|n| self.least.is_none_or(|l| n >= l) && self.most.is_none_or(|m| n <= m));
                (!fits).then(|| format!("{} is outside {:?} to {:?}", said(), self.least, self.most))
            }
            ("Integer", _) => Some(format!("{} is not a number", said())),
            ("Boolean", v) if !v.is_boolean() => Some(format!("{} is neither true nor false", said())),
            ("Enumeration" | "String", v) if !v.is_string() => Some(format!("{} is not text", said())),
            _ => None,
        }
    }
}

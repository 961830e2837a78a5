//! Documents against `docs/schema`. Used by the tests of the command, too.
#![allow(dead_code, unreachable_pub)] // each test file uses its part
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use jsonschema::Validator;
use serde_json::Value;
use std::path::Path;

/// What docs/schema uses of JSON Schema: a misspelt keyword would check nothing.
const KEYWORDS: &[&str] = &[
    "$defs",
    "$id",
    "$ref",
    "$schema",
    "additionalProperties",
    "anyOf",
    "const",
    "description",
    "enum",
    "items",
    "maxProperties",
    "minProperties",
    "minimum",
    "properties",
    "required",
    "title",
    "type",
];

/// A file of docs/schema, stricter: a member that it does not name is an error.
pub struct Schema(Validator);

impl Schema {
    /// By its name: `audit-2`.
    pub fn of(name: &str) -> Schema {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema").join(format!("{name}.json"));
        let mut schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let (stem, version) = name.rsplit_once('-').unwrap();
        assert_eq!(schema["$id"], format!("linerate.{stem}/{version}"));
        strict(&mut schema, "");
        // `linerate.audit/2` is a name and no place to look for references.
        schema.as_object_mut().unwrap().remove("$id");
        Schema(jsonschema::validator_for(&schema).unwrap())
    }

    /// What is wrong with the document, with the place of each mistake.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let wrong: Vec<String> = self.0.iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    }

    /// The document, which must match.
    pub fn valid(&self, text: &str) -> Value {
        let value = serde_json::from_str(text).unwrap();
        self.check(&value).unwrap();
        value
    }

    /// Mistakes, each of which must be found: pointer, and the wrong value there.
    pub fn rejects(&self, good: &Value, wrong: &[(&str, Value)]) {
        for (pointer, wrong) in wrong {
            let mut bad = good.clone();
            *bad.pointer_mut(pointer).unwrap() = wrong.clone();
            assert!(self.check(&bad).is_err(), "{pointer}");
        }
        let mut more = good.clone();
        more["not_in_the_schema"] = true.into();
        assert!(self.check(&more).is_err(), "a member more");
    }
}

/// `additionalProperties: false` in each object that names its members. `at`: the name of the member that the schema is of.
fn strict(schema: &mut Value, at: &str) {
    let all = schema.as_object_mut().unwrap();
    for (keyword, arg) in all.iter_mut() {
        assert!(KEYWORDS.contains(&keyword.as_str()), "{at}: {keyword}");
        match keyword.as_str() {
            "properties" | "$defs" => arg.as_object_mut().unwrap().iter_mut().for_each(|(name, s)| strict(s, name)),
            "anyOf" => arg.as_array_mut().unwrap().iter_mut().for_each(|s| strict(s, at)),
            "items" => strict(arg, at),
            _ => {}
        }
    }
    // The members of an action depend on its kind.
    if all.contains_key("properties") && at != "action" {
        all.insert("additionalProperties".to_owned(), false.into());
    }
}

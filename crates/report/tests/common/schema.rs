//! A checker of JSON documents against `docs/schema`. Used by the tests of the command, too.
#![allow(dead_code, unreachable_pub)] // each test file uses its part
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use serde_json::Value;
use std::path::Path;

/// As much of JSON Schema as docs/schema uses. Strict: a member that the schema does not name is an error, and so is a keyword
/// that this checker does not know.
pub fn check(value: &Value, schema: &Value, root: &Value, at: &str) -> Result<(), String> {
    for (keyword, arg) in schema.as_object().ok_or(format!("{at}: schema is not an object"))? {
        match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let pointer = arg.as_str().and_then(|r| r.strip_prefix('#')).ok_or("odd $ref")?;
                check(value, root.pointer(pointer).ok_or(format!("{at}: no {pointer}"))?, root, at)?;
            }
            "type" => {
                let names = arg.as_array().cloned().unwrap_or_else(|| vec![arg.clone()]);
                if !names.iter().any(|n| is(value, n.as_str().unwrap_or_default())) {
                    return Err(format!("{at}: {value} is not {arg}"));
                }
            }
            "const" if value != arg => return Err(format!("{at}: {value} is not {arg}")),
            "enum" if !arg.as_array().is_some_and(|a| a.contains(value)) => {
                return Err(format!("{at}: {value} is none of {arg}"));
            }
            "const" | "enum" => {}
            "minimum" => {
                if value.as_f64().zip(arg.as_f64()).is_some_and(|(v, min)| v < min) {
                    return Err(format!("{at}: {value} < {arg}"));
                }
            }
            "anyOf" => {
                let errors: Vec<String> =
                    arg.as_array().into_iter().flatten().map_while(|s| check(value, s, root, at).err()).collect();
                if arg.as_array().is_some_and(|a| a.len() == errors.len()) {
                    return Err(errors.join(" and "));
                }
            }
            "items" => {
                for (i, v) in value.as_array().into_iter().flatten().enumerate() {
                    check(v, arg, root, &format!("{at}[{i}]"))?;
                }
            }
            "required" => {
                for name in arg.as_array().into_iter().flatten().filter_map(Value::as_str) {
                    if value.as_object().is_some_and(|o| !o.contains_key(name)) {
                        return Err(format!("{at}: {name} is missing"));
                    }
                }
            }
            "properties" => {
                for (name, v) in value.as_object().into_iter().flatten() {
                    match arg.get(name) {
                        Some(s) => check(v, s, root, &format!("{at}.{name}"))?,
                        // The members of an action depend on its kind.
                        None if at.ends_with(".remedy.action") => {}
                        None => return Err(format!("{at}: {name} is not in the schema")),
                    }
                }
            }
            other => return Err(format!("{at}: this checker does not know {other}")),
        }
    }
    Ok(())
}

fn is(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

/// The schema of audits.
pub fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/audit-1.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The document, which must match the schema.
pub fn valid(text: &str) -> Value {
    let (value, schema) = (serde_json::from_str::<Value>(text).unwrap(), schema());
    check(&value, &schema, &schema, "$").unwrap();
    value
}

//! The part of docs/schema/audit-2.json that follows from the list of facts: `node`, and a fact of each form. The rest of the file, with
//! the types of values, is by hand.

use linerate_facts::{Def, Form};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::json;

pub(super) const FILE: &str = "docs/schema/audit-2.json";
/// What is generated begins with this line and goes on to the end.
const FROM: &str = "\n    \"node\": {";

/// The file, with its generated part made anew; `None`: it has no such part.
pub(super) fn again(old: &str) -> Option<String> {
    let by_hand = old.get(..old.rfind(FROM)?)?;
    let all: Vec<&Def> = linerate_facts::defs().collect();
    let mut types = vec![("node".to_owned(), object(&all, 0, false))];
    for form in all.iter().map(|d| d.form) {
        let name = format!("{}_fact", name_of(form));
        if !matches!(form, Form::There | Form::Members) && types.iter().all(|(n, _)| *n != name) {
            types.push((name, fact(reference(&name_of(form)), None)));
        }
    }
    let text = serde_json::to_string_pretty(&Schema::Object(types)).ok()?;
    let text = text.trim_start_matches('{').trim_end_matches('}').trim_end().replace('\n', "\n  ");
    Some(format!("{by_hand}{text}\n  }}\n}}\n"))
}

/// JSON whose members keep their order.
enum Schema {
    Object(Vec<(String, Schema)>),
    Value(serde_json::Value),
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Schema::Value(v) => v.serialize(s),
            Schema::Object(all) => {
                let mut map = s.serialize_map(Some(all.len()))?;
                all.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
                map.end()
            }
        }
    }
}

fn members<const N: usize>(all: [(&str, Schema); N]) -> Schema {
    Schema::Object(all.map(|(name, value)| (name.to_owned(), value)).into())
}

fn value(v: serde_json::Value) -> Schema {
    Schema::Value(v)
}

fn reference(name: &str) -> Schema {
    value(json!({ "$ref": format!("#/$defs/{name}") }))
}

fn name_of(form: Form) -> String {
    json!(form).as_str().unwrap_or_default().to_owned()
}

/// Exactly one of known, absent and unreadable.
fn fact(known: Schema, what: Option<&Def>) -> Schema {
    let says = members([
        ("known", known),
        ("absent", value(json!({ "const": true }))),
        ("unreadable", reference("unreadable")),
    ]);
    let mut all = vec![("type".to_owned(), value("object".into()))];
    all.extend(what.map(|d| ("description".to_owned(), value(described(d).into()))));
    all.extend([("minProperties", json!(1)), ("maxProperties", json!(1))].map(|(k, v)| (k.to_owned(), value(v))));
    all.push(("properties".to_owned(), says));
    all.push(("additionalProperties".to_owned(), value(false.into())));
    Schema::Object(all)
}

/// What a fact is, with its unit.
fn described(d: &Def) -> String {
    match d.unit.symbol() {
        "" => d.what.to_owned(),
        unit => format!("{} ({unit})", d.what),
    }
}

/// An object of facts whose ids are the same before `at`. The first fact of a member of a list names it.
fn object(defs: &[&Def], at: usize, member: bool) -> Schema {
    let name = |d: &Def| d.id.get(at..).and_then(|rest| rest.split('.').next()).unwrap_or_default();
    let mut names: Vec<&str> = Vec::new();
    for d in defs {
        if !names.contains(&name(d)) {
            names.push(name(d));
        }
    }
    let field = |(i, n): (usize, &&str)| {
        let these: Vec<&Def> = defs.iter().copied().filter(|d| name(d) == *n).collect();
        ((*n).to_owned(), field(&these, at + n.len(), member && i == 0))
    };
    members([
        ("type", value("object".into())),
        ("required", value(names.clone().into())),
        ("properties", Schema::Object(names.iter().enumerate().map(field).collect())),
    ])
}

/// Facts whose ids are the same up to a name's end: a fact, with what is below it, or a group.
fn field(defs: &[&Def], end: usize, plain: bool) -> Schema {
    match defs.split_first() {
        Some((d, below)) if d.id.len() == end => match d.form {
            Form::There if below.is_empty() => fact(value(json!({ "const": true })), Some(d)),
            Form::There => fact(object(below, end + 1, false), Some(d)),
            Form::Members => {
                let items = object(below, end + 1, true);
                fact(members([("type", value("array".into())), ("items", items)]), Some(d))
            }
            form => {
                let kind = if plain { name_of(form) } else { format!("{}_fact", name_of(form)) };
                value(json!({ "$ref": format!("#/$defs/{kind}"), "description": described(d) }))
            }
        },
        _ => object(defs, end + 1, false),
    }
}

//! A policy as TOML, as [`super::read()`] reads it.

use super::read::{is_words, row_id};
use super::{About, Claim, Class, Kind, Policy, Row, SCHEMA, class_word};
use crate::NodeSet;
use crate::names::folded;
use crate::nodeset::names_of;
use linerate_facts::{Form, Want};
use linerate_rules::{Action, Severity};
use std::fmt::Write;

/// The text of a policy.
#[must_use]
pub fn write(policy: &Policy) -> String {
    let mut out = format!("schema = {}\nname = {}\n", quoted(SCHEMA), quoted(&policy.name));
    for class in &policy.classes {
        one_class(class, &mut out);
    }
    for test in &policy.tests {
        let _ = writeln!(out, "\n[[test]]\nsource = {}", quoted(&test.source));
        if !test.fails.is_empty() {
            let _ = writeln!(out, "fails = {}", list(&test.fails));
        }
        if let Some(unknown) = &test.unknown {
            let _ = writeln!(out, "unknown = {}", list(unknown));
        }
    }
    out
}

fn one_class(class: &Class, out: &mut String) {
    let name = &class.name;
    let _ = writeln!(out, "\n[class.{}]", key(name));
    let parts: Vec<String> = class
        .matches
        .parts()
        .iter()
        .filter(|(_, p)| !p.is_empty())
        .map(|(n, p)| format!("{n} = {}", quoted(p)))
        .collect();
    if !parts.is_empty() {
        let _ = writeln!(out, "match = {{ {} }}", parts.join(", "));
    }
    if !class.learnt_from.is_empty() {
        let _ = writeln!(out, "learnt_from = {}", nodes(&class.learnt_from));
    }
    if !class.seats.is_empty() {
        let _ = writeln!(out, "\n[class.{}.seats]", key(name));
    }
    for (role, path) in &class.seats {
        let _ = writeln!(out, "{} = {}", key(&role.to_string()), quoted(&path.to_string()));
    }
    if !class.devices.is_empty() {
        let _ = writeln!(out, "\n[class.{}.devices]", key(name));
    }
    for c in &class.devices {
        let mut fields = Vec::new();
        if c.least > 0 {
            fields.push(format!("at_least = {}", c.least));
        }
        if c.most < u64::MAX {
            fields.push(format!("at_most = {}", c.most));
        }
        about(&c.about, name, "", &mut fields);
        let plain = fields.len() == 2 && c.least == c.most;
        let value = if plain { c.least.to_string() } else { format!("{{ {} }}", fields.join(", ")) };
        let _ = writeln!(out, "{} = {value}", key(class_word(c.device)));
    }
    if !class.labels.is_empty() {
        let _ = writeln!(out, "\n[class.{}.labels]", key(name));
    }
    for (label, value) in &class.labels {
        let value = value.as_ref().map_or("false".to_owned(), |v| quoted(v));
        let _ = writeln!(out, "{} = {value}", key(label));
    }
    let mut roles: Vec<&str> = Vec::new();
    for row in &class.rows {
        if !roles.contains(&row.roles.text()) {
            roles.push(row.roles.text());
        }
    }
    for role in roles {
        let _ = writeln!(out, "\n[class.{}.on.{}]", key(name), key(role));
        let rows: Vec<&Row> = class.rows.iter().filter(|r| r.roles.text() == role).collect();
        let mut lists: Vec<&str> = Vec::new();
        for row in &rows {
            match list_of(row, &rows, name) {
                Some(head) if in_list(row, head, name) => {
                    if !lists.contains(&row.def.id) {
                        lists.push(row.def.id);
                        words(head, &rows, name, out);
                    }
                }
                _ => one_row(row, name, out),
            }
        }
    }
    for c in &class.conditions {
        let id = c.about.id.strip_prefix(&format!("policy/{name}.")).unwrap_or(&c.about.id);
        let _ = writeln!(
            out,
            "\n[[class.{}.condition]]\nname = {}\nholds = {}",
            key(name),
            quoted(id),
            quoted(c.cel.source())
        );
        let mut fields = Vec::new();
        about(&c.about, name, "", &mut fields);
        fields.extend(fix(c.fix.as_ref()));
        fields.iter().for_each(|f| {
            let _ = writeln!(out, "{f}");
        });
    }
    class.claims.iter().for_each(|c| one_claim(c, name, out));
}

fn one_claim(c: &Claim, class: &str, out: &mut String) {
    let id = c.about.id.strip_prefix(&format!("policy/{class}.")).unwrap_or(&c.about.id);
    let when: Vec<String> = c.when.iter().map(|(_, text)| text.clone()).collect();
    let mut fields = vec![format!("name = {}", quoted(id))];
    fields.push(match when.as_slice() {
        [one] => format!("when = {}", quoted(one)),
        all => format!("when = {}", list(all)),
    });
    fields.extend(c.cel.iter().map(|p| format!("holds = {}", quoted(p.source()))));
    if !c.passes.is_empty() {
        let ids: Vec<String> = c.passes.iter().map(|r| r.id.to_owned()).collect();
        fields.push(format!("passes = {}", list(&ids)));
    }
    about(&c.about, class, "", &mut fields);
    fields.extend(fix(c.fix.as_ref()));
    let _ = writeln!(out, "\n[[class.{}.claim]]\n{}", key(class), fields.join("\n"));
    let mut role = "";
    for row in &c.rows {
        if row.roles.text() != role {
            role = row.roles.text();
            let _ = writeln!(out, "\n[class.{}.claim.on.{}]", key(class), key(role));
        }
        // What holds for the claim holds for what it stands for.
        let mut row = row.clone();
        (row.about.severity, row.about.reason, row.about.owner) = (Severity::Medium, String::new(), String::new());
        one_row(&row, class, out);
    }
}

/// The row by which the list of a fact's words is written: that of all others, where there is one.
fn list_of<'r>(row: &Row, rows: &[&'r Row], class: &str) -> Option<&'r Row> {
    let mut of = rows.iter().copied().filter(|r| r.def.id == row.def.id && is_word(r, class));
    let first = of.clone().next();
    of.find(|r| r.part.is_empty()).or(first)
}

/// Whether a row is written as a word of a list whose other words are said the same of.
fn in_list(row: &Row, head: &Row, class: &str) -> bool {
    let (a, b) = (&row.about, &head.about);
    is_word(row, class) && (a.severity, &a.reason, &a.owner) == (b.severity, &b.reason, &b.owner)
}

/// Whether a row is one of those that a list of words is read as.
fn is_word(row: &Row, class: &str) -> bool {
    let own = row_id(class, &row.roles, row.def, &row.part);
    let fits = match row.wants.as_slice() {
        [Want::Equals(v)] => row.about.id == own && is_whole(row, v),
        [Want::NoOther(_)] => row.about.id == format!("{own}.others"),
        _ => false,
    };
    is_words(row.def) && row.fix.is_none() && row.shown_by.is_none() && fits
}

/// Whether the words of a value are all of its name, as a list is read.
fn is_whole(row: &Row, value: &str) -> bool {
    let name =
        |w: &str| if row.def.id == "kernel.cmdline" { w.split('=').next() == Some(&row.part) } else { w == row.part };
    !row.part.is_empty() && value.split(' ').all(name)
}

fn words(head: &Row, rows: &[&Row], class: &str, out: &mut String) {
    let of = rows.iter().filter(|r| r.def.id == head.def.id && in_list(r, head, class));
    let mut only = false;
    let mut all: Vec<String> = Vec::new();
    for row in of {
        match row.wants.as_slice() {
            [Want::Equals(v)] => all.extend(v.split(' ').map(str::to_owned)),
            _ => only = true,
        }
    }
    let operator = if only { "exactly" } else { "contains" };
    let _ = writeln!(out, "{} = {{ {operator} = [", quoted(head.def.id));
    for word in all {
        let _ = writeln!(out, "    {},", quoted(&word));
    }
    let mut fields = Vec::new();
    about(&head.about, class, &head.about.id, &mut fields);
    let more: String = fields.iter().map(|f| format!(", {f}")).collect();
    let _ = writeln!(out, "]{more} }}");
}

fn one_row(row: &Row, class: &str, out: &mut String) {
    let own = row_id(class, &row.roles, row.def, &row.part);
    let mut fields: Vec<String> = row.wants.iter().flat_map(|w| want(row, w)).collect();
    about(&row.about, class, &own, &mut fields);
    if let Some(n) = row.shown_by {
        fields.push(format!("shown_by = {n}"));
    }
    fields.extend(fix(row.fix.as_ref()));
    let name = Kind::Row(row).subject();
    let value = match (row.wants.as_slice(), fields.len()) {
        ([Want::Equals(v)], 1) => plain(row, v),
        _ => format!("{{ {} }}", fields.join(", ")),
    };
    let _ = writeln!(out, "{} = {value}", key(&name));
}

fn want(row: &Row, want: &Want) -> Vec<String> {
    let one = |name: &str, v: &str| vec![format!("{name} = {}", plain(row, v))];
    match want {
        Want::Equals(v) => one("equals", v),
        Want::Near(v, millionths) => {
            vec![format!("equals = {}", plain(row, v)), format!("tolerance = \"{} %\"", f64::from(*millionths) / 1e4)]
        }
        Want::OneOf(all) => {
            vec![format!("one_of = [{}]", all.iter().map(|v| plain(row, v)).collect::<Vec<_>>().join(", "))]
        }
        Want::AtLeast(v) => one("at_least", v),
        Want::AtMost(v) => one("at_most", v),
        Want::VersionAtLeast(v) => vec![format!("version_at_least = {}", quoted(v))],
        Want::Matches(p) => vec![format!("matches = {}", quoted(p))],
        Want::Contains(t) => vec![format!("contains = {}", quoted(t))],
        Want::Present => vec!["present = true".to_owned()],
        Want::Absent => vec!["absent = true".to_owned()],
        Want::NoOther(all) => vec![format!("exactly = {}", list(all))],
    }
}

/// What is said of an expectation beyond what holds anyway.
fn about(a: &About, class: &str, own: &str, fields: &mut Vec<String>) {
    if !own.is_empty() && a.id != own {
        let name = a.id.strip_prefix(&format!("policy/{class}.")).unwrap_or(&a.id);
        fields.push(format!("name = {}", quoted(name)));
    }
    if a.severity != Severity::Medium {
        fields.push(format!("severity = {}", quoted(a.severity.name())));
    }
    for (name, text) in [("reason", &a.reason), ("owner", &a.owner)] {
        if !text.is_empty() {
            fields.push(format!("{name} = {}", quoted(text)));
        }
    }
}

fn fix(action: Option<&Action>) -> Option<String> {
    let (name, what, value) = match action? {
        Action::Sysfs { path, value } => ("sysfs", path.to_string(), Some(value.to_string())),
        Action::ModuleOption { module, option, value } => {
            ("module_option", format!("{module} {option}"), value.as_ref().map(ToString::to_string))
        }
        Action::LoadModule { module } => ("load_module", module.to_string(), None),
        Action::Bios { setting, value } => ("bios", setting.to_string(), Some(value.to_string())),
        Action::Service { service } => ("service", service.to_string(), None),
        Action::Investigate { what } => ("by_hand", what.to_string(), None),
        _ => return None,
    };
    let value = value.map_or_else(String::new, |v| format!(", value = {}", quoted(&v)));
    Some(format!("fix = {{ {name} = {}{value} }}", quoted(&what)))
}

/// Numbers and truth values without quotes.
fn plain(row: &Row, value: &str) -> String {
    let bare = match row.def.form {
        Form::Flag => matches!(value, "true" | "false"),
        Form::Number | Form::Signed => value.parse::<i64>().is_ok_and(|n| n.to_string() == value),
        _ => false,
    };
    if bare { value.to_owned() } else { quoted(value) }
}

fn list(all: &[String]) -> String {
    format!("[{}]", all.iter().map(|v| quoted(v)).collect::<Vec<_>>().join(", "))
}

/// Nodes as one set, where the set has the same names, else as a list.
fn nodes(all: &[String]) -> String {
    let text = folded(all.iter().map(String::as_str));
    let set: NodeSet = all.iter().map(String::as_str).collect();
    if names_of(&text).is_ok_and(|read| read == set) { quoted(&text) } else { list(all) }
}

/// A key, in quotes where it needs them.
fn key(word: &str) -> String {
    let bare = !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if bare { word.to_owned() } else { quoted(word) }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

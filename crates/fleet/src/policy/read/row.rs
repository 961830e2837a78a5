//! Expected facts of a role.

use super::toml::{Item, shown};
use super::{Default, is_name};
use crate::policy::Row;
use crate::policy::roles::{Roles, slug};
use crate::policy::said::Wrong;
use linerate_facts::{Compared, Def, Form, Want, compared, defs, number};
use linerate_formats::near;
use linerate_rules::Action;
use toml::de::DeValue;

const OPERATORS: [&str; 12] = [
    "equals",
    "one_of",
    "at_least",
    "at_most",
    "version_at_least",
    "matches",
    "contains",
    "present",
    "absent",
    "exactly",
    "tolerance",
    "shown_by",
];

/// Whose a fact is: what the ids of that one's facts begin with; empty for the node.
pub(in crate::policy) fn prefix(id: &str) -> &'static str {
    linerate_facts::list_of(id).unwrap_or_default()
}

/// Whether a fact is a list whose words are compared one by one.
pub(in crate::policy) fn is_words(def: &Def) -> bool {
    def.form == Form::Texts && prefix(def.id).is_empty()
}

/// The rows of one role.
pub(super) fn rows(item: &Item<'_, '_>, class: &str, by: &Default, out: &mut Vec<Row>) {
    let roles = match Roles::of(item.key) {
        Ok(r) => r,
        Err(like) => return item.wrong(Wrong::Role { role: item.key.to_owned(), like }),
    };
    let mut by = by.clone();
    for m in item.table().unwrap_or_default().iter().filter(|m| !by.takes(m)).collect::<Vec<_>>() {
        row(m, class, &by, &roles, out);
    }
}

fn row(item: &Item<'_, '_>, class: &str, by: &Default, roles: &Roles, out: &mut Vec<Row>) {
    let (id, part) = item.key.split_once(' ').unwrap_or((item.key, ""));
    let Some(def) = defs().find(|d| d.id == id) else {
        let like = near::nearest(id, defs().map(|d| d.id)).map(str::to_owned);
        return item.wrong(Wrong::Fact { id: id.to_owned(), like });
    };
    if let Compared::Not(why) = compared(def.id) {
        return item.wrong(Wrong::NotCompared { id: def.id, why });
    }
    if !roles.whose().has(prefix(def.id)) {
        let of = match prefix(def.id) {
            "" => "the node",
            "numa" => "a NUMA node",
            "cpu.idle_states" => "an idle state",
            _ => "a device",
        };
        return item.wrong(Wrong::Whose { id: def.id, of, role: roles.text().to_owned() });
    }
    let which = match prefix(def.id) {
        "nic_firmware.settings" => Some(("setting", "PCI_WR_ORDERING")),
        "rdma.ports" => Some(("port", "port 1")),
        "rdma.ports.gids" => Some(("GID", "port 1 GID 3")),
        "pci.bars" | "pci.resizable_bars" => Some(("BAR", "BAR 0")),
        "kubernetes.labels" => Some(("label", "example.com/iommu")),
        "kubernetes.annotations" => Some(("annotation", "example.com/checked")),
        "kubernetes.taints" => Some(("taint", "nvidia.com/gpu")),
        "kubernetes.resources" => Some(("resource", "nvidia.com/gpu")),
        "kubernetes.conditions" => Some(("condition", "Ready")),
        "slurm.gres" => Some(("resource", "gpu:h100")),
        "sysctl" => Some(("setting", "vm.zone_reclaim_mode")),
        _ => None,
    };
    if let (Some((what, example)), true) = (which, part.is_empty()) {
        return item.wrong(Wrong::Which { id: def.id, what, example });
    }
    let mut row = Row {
        about: by.about(String::new(), item.line()),
        roles: roles.clone(),
        def,
        part: part.to_owned(),
        wants: Vec::new(),
        fix: None,
        shown_by: None,
    };
    let mut given = None;
    let mut words: Option<(Vec<String>, bool)> = None;
    match item.value {
        DeValue::Table(_) => {
            let mut by = by.clone();
            let mut tolerance = None;
            for m in item.table().unwrap_or_default() {
                match m.key {
                    "tolerance" => tolerance = share(&m),
                    "name" => given = name(&m),
                    "fix" => row.fix = fix(&m),
                    "shown_by" => row.shown_by = m.number().and_then(|n| n.try_into().ok()),
                    "contains" | "exactly" if is_words(def) && part.is_empty() => {
                        words = m.strings().map(|all| (all, m.key == "exactly"));
                    }
                    _ if by.takes(&m) => {}
                    operator => match want(&m, operator, def) {
                        Some(w) => row.wants.push(w),
                        None if OPERATORS.contains(&operator) => {}
                        None => {
                            m.no_meaning(&[&OPERATORS[..], &["name", "severity", "reason", "owner", "fix"]].concat())
                        }
                    },
                }
            }
            if let Some(millionths) = tolerance {
                let near = |w: &mut Want| match w {
                    Want::Equals(v) if number(def, v).is_some() => {
                        *w = Want::Near(std::mem::take(v), millionths);
                        true
                    }
                    _ => false,
                };
                if !row.wants.iter_mut().any(near) {
                    item.wrong(Wrong::Tolerance);
                }
            }
            row.about = by.about(String::new(), item.line());
        }
        DeValue::Array(all) => {
            let values: Option<Vec<String>> = all.iter().map(|v| shown(v.get_ref())).collect();
            match values {
                Some(all) => {
                    row.wants.extend(all.iter().map(|v| value(item, def, v)).collect::<Option<_>>().map(Want::OneOf))
                }
                None => item.must_be::<()>("a list of plain values").unwrap_or_default(),
            }
        }
        _ => match item.shown() {
            Some(v) => row.wants.extend(value(item, def, &v).map(Want::Equals)),
            None => item.must_be::<()>("a plain value, a list of them, or a table").unwrap_or_default(),
        },
    }
    let own = |part: &str| self::id(class, roles, def, part);
    if let Some((all, only)) = words {
        if let Some(key) = [("name", given.is_some()), ("fix", row.fix.is_some())].iter().find(|(_, there)| *there) {
            // A list is many expectations: each word that needs one has a row of its own.
            return item.wrong(Wrong::Key { key: key.0.to_owned(), like: None });
        }
        row.shown_by = None;
        expand(&row, &all, only, &own, out);
        return;
    }
    if row.wants.is_empty() {
        // What is wrong with its value was said.
        if matches!(item.value, DeValue::Table(t) if !t.keys().any(|k| OPERATORS.contains(&k.get_ref().as_ref()))) {
            item.wrong(Wrong::Nothing(item.key.to_owned()));
        }
        return;
    }
    let is_plain = |w: &Want| !matches!(w, Want::Present | Want::Absent);
    if is_words(def) && part.is_empty() && row.wants.iter().any(is_plain) {
        return item.wrong(Wrong::Which { id: def.id, what: "word", example: "iommu" });
    }
    row.about.id = given.map_or_else(|| own(part), |n| format!("policy/{class}.{n}"));
    out.push(row);
}

/// The id of a row that has no name.
pub(in crate::policy) fn id(class: &str, roles: &Roles, def: &Def, part: &str) -> String {
    format!("policy/{class}.{}.{}{}", roles.slug(), def.id, slug_of(part))
}

fn slug_of(part: &str) -> String {
    if part.is_empty() {
        return String::new();
    }
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    if part.bytes().all(plain) { format!(".{part}") } else { format!(".{}", slug(part)) }
}

/// A list of words: each is a row of its own, and one for all others.
fn expand(row: &Row, words: &[String], only: bool, own: &dyn Fn(&str) -> String, out: &mut Vec<Row>) {
    // Words of one name are one thing: `console=tty0 console=ttyS0`.
    let mut by_name: Vec<(String, Vec<&str>)> = Vec::new();
    for w in words {
        let name = match row.def.id {
            "kernel.cmdline" => w.split('=').next().unwrap_or_default(),
            _ => w.as_str(),
        };
        match by_name.iter_mut().find(|(n, _)| n == name) {
            Some((_, all)) => all.push(w),
            None => by_name.push((name.to_owned(), vec![w])),
        }
    }
    let names: Vec<String> = by_name.iter().map(|(n, _)| n.clone()).collect();
    for (name, all) in by_name {
        let mut one = Row { part: name.clone(), wants: vec![Want::Equals(all.join(" "))], ..row.clone() };
        one.about.id = own(&name);
        out.push(one);
    }
    if only {
        let mut rest = Row { part: String::new(), wants: vec![Want::NoOther(names)], ..row.clone() };
        rest.about.id = format!("{}.others", own(""));
        out.push(rest);
    }
}

fn want(m: &Item<'_, '_>, operator: &str, def: &'static Def) -> Option<Want> {
    let plain = || match m.shown() {
        Some(v) => Some(v),
        None => m.must_be("a plain value"),
    };
    let ordered = |operator: &'static str| {
        let v = plain()?;
        let orders =
            matches!(def.form, Form::Number | Form::Signed | Form::Real | Form::Speed | Form::Limit | Form::Text);
        if !orders || number(def, &v).is_none() {
            m.wrong(Wrong::Operator { id: def.id, operator });
            return None;
        }
        Some(v)
    };
    let yes = |want: Want| match m.bool() {
        Some(true) => Some(want),
        Some(false) => m.must_be("true; its opposite is written present or absent"),
        None => None,
    };
    match operator {
        "equals" => value(m, def, &plain()?).map(Want::Equals),
        "one_of" => match m.value {
            DeValue::Array(all) => {
                let all: Option<Vec<String>> = all.iter().map(|v| shown(v.get_ref())).collect();
                match all {
                    Some(all) => all.iter().map(|v| value(m, def, v)).collect::<Option<_>>().map(Want::OneOf),
                    None => m.must_be("a list of plain values"),
                }
            }
            _ => m.must_be("a list"),
        },
        "at_least" => ordered("at_least").map(Want::AtLeast),
        "at_most" => ordered("at_most").map(Want::AtMost),
        "version_at_least" => {
            let v = plain()?;
            if v.bytes().any(|b| b.is_ascii_digit()) { Some(Want::VersionAtLeast(v)) } else { m.must_be("a version") }
        }
        "matches" => m.str().map(Want::Matches),
        "contains" => m.str().map(Want::Contains),
        "present" => yes(Want::Present),
        "absent" => yes(Want::Absent),
        _ => None,
    }
}

/// A value that the fact can have, as it shows it.
fn value(item: &Item<'_, '_>, def: &'static Def, text: &str) -> Option<String> {
    let fits = match def.form {
        Form::Flag => matches!(text, "true" | "false"),
        Form::Number => number(def, text).is_some_and(|n| n >= 0.0),
        Form::Signed | Form::Real | Form::Speed | Form::Limit => number(def, text).is_some(),
        Form::Hex => u32::from_str_radix(text.trim_start_matches("0x"), 16).is_ok(),
        Form::There | Form::Members => false,
        _ => true,
    };
    if !fits {
        let (form, unit) = (def.form, def.unit.symbol());
        item.wrong(Wrong::Value { id: def.id, form, unit, value: text.to_owned() });
        return None;
    }
    Some(text.to_owned())
}

/// `2 %` as millionths.
fn share(m: &Item<'_, '_>) -> Option<u32> {
    let number = m.shown().and_then(|t| t.strip_suffix('%').map(str::trim).and_then(|n| n.parse::<f64>().ok()));
    match number {
        Some(n) if (0.0..=100.0).contains(&n) => Some((n * 1e4).round() as u32),
        _ => {
            m.wrong(Wrong::Tolerance);
            None
        }
    }
}

pub(super) fn name(m: &Item<'_, '_>) -> Option<String> {
    let word = m.str()?;
    if is_name(&word) {
        return Some(word);
    }
    m.wrong(Wrong::Name(word));
    None
}

/// What would bring about what is wanted.
pub(super) fn fix(m: &Item<'_, '_>) -> Option<Action> {
    let items = m.table()?;
    let text = |key: &str| items.iter().find(|i| i.key == key).and_then(Item::str);
    let known = ["sysfs", "sysctl", "module_option", "load_module", "bios", "service", "by_hand", "value"];
    if let Some(bad) = items.iter().find(|i| !known.contains(&i.key)) {
        bad.no_meaning(&known);
        return None;
    }
    let wrong = |why: &str| {
        m.wrong(Wrong::Fix(why.to_owned()));
        None
    };
    let Some(what) = items.iter().find(|i| i.key != "value") else {
        return wrong("write it as { sysctl = \"kernel.numa_balancing\", value = \"0\" }");
    };
    let name = what.str()?;
    let value = || {
        let v = text("value");
        if v.is_none() {
            m.wrong(Wrong::Fix("its `value` is missing".to_owned()));
        }
        v
    };
    Some(match what.key {
        "sysfs" => Action::Sysfs { path: name.into(), value: value()?.into() },
        "sysctl" => {
            let path = if name.contains('/') { name } else { name.replace('.', "/") };
            Action::Sysfs { path: format!("/proc/sys/{path}").into(), value: value()?.into() }
        }
        "module_option" => match name.split_once(' ') {
            Some((module, option)) => {
                let (module, option) = (module.to_owned().into(), option.to_owned().into());
                Action::ModuleOption { module, option, value: Some(value()?.into()) }
            }
            None => return wrong("module_option is a module and its option: \"nvidia NVreg_X\""),
        },
        "load_module" => Action::LoadModule { module: name.into() },
        "bios" => Action::Bios { setting: name.into(), value: value()?.into() },
        "service" => Action::Service { service: name.into() },
        _ => Action::Investigate { what: name.into() },
    })
}

//! Facts of devices one by one, as rows of roles.

use super::{Group, Innocent, Key, Left, Owner, Seen, Why};
use crate::policy::read::{is_words, row_id};
use crate::policy::{About, Roles, Row};
use linerate_facts::position::Role;
use linerate_facts::{Compared, Def, Form, Want, compared};
use linerate_formats::ranges::ranges;
use std::collections::{BTreeMap, BTreeSet};

/// A role without its number: what is before and behind it.
type Template = (String, String);
/// What rows that can be one have in common.
type Alike = (Template, &'static str, String);

/// The rows of a class, and what is not among them.
pub(super) fn rows(class: &str, group: &Group) -> (Vec<Row>, Vec<Left>) {
    let mut left = Vec::new();
    let mut learnt: BTreeMap<Alike, BTreeMap<u16, (Want, u32)>> = BTreeMap::new();
    let mut numbers: BTreeMap<Template, BTreeSet<u16>> = BTreeMap::new();
    let mut alone: Vec<Row> = Vec::new();
    let words = Words::of(class, group, &mut left);
    for (key, seen) in &group.facts {
        let (template, number) = template(&key.owner);
        if let Some(n) = number {
            numbers.entry(template.clone()).or_default().insert(n);
        }
        if is_words(seen.def) {
            continue;
        }
        let Some((want, shown)) = wanted(class, group, key, seen, &mut left) else { continue };
        match number {
            Some(n) => {
                learnt.entry((template, key.id, key.part.clone())).or_default().insert(n, (want, shown));
            }
            None => alone.extend(row(class, group, &template.0, seen.def, &key.part, want, shown)),
        }
    }
    let mut out = alone;
    for ((template, id, part), by_number) in learnt {
        let Some(def) = linerate_facts::defs().find(|d| d.id == id) else { continue };
        let all = numbers.get(&template);
        let mut by_want: BTreeMap<(Want, u32), BTreeSet<u16>> = BTreeMap::new();
        for (n, want) in by_number {
            by_want.entry(want).or_default().insert(n);
        }
        for ((want, shown), some) in by_want {
            let set = if Some(&some) == all { "*".to_owned() } else { ranges(some) };
            let role = format!("{}{set}{}", template.0, template.1);
            out.extend(row(class, group, &role, def, &part, want, shown));
        }
    }
    out.extend(words.rows(class));
    out.sort_by(|a, b| {
        (order(&a.roles), a.roles.text(), a.def.id, &a.part).cmp(&(order(&b.roles), b.roles.text(), b.def.id, &b.part))
    });
    unique(&mut out);
    left.sort_by(|a, b| (&a.at, &a.fact).cmp(&(&b.at, &b.fact)));
    (out, left)
}

/// What is wanted of a fact, and how many nodes show it; `None`: it is left out, and said.
fn wanted(class: &str, group: &Group, key: &Key, seen: &Seen, left: &mut Vec<Left>) -> Option<(Want, u32)> {
    let mut leave = |why| {
        let fact = if key.part.is_empty() { key.id.to_owned() } else { format!("{} {}", key.id, key.part) };
        left.push(Left { class: class.to_owned(), at: owner_text(&key.owner), fact, why });
        None
    };
    let guilty = |rule: &&'static str| {
        let of = |value: &String| Innocent {
            kind: kind(&key.owner),
            id: key.id,
            part: key.part.clone(),
            value: value.clone(),
            rule,
        };
        !seen.values.keys().flatten().all(|v| group.innocent.contains(&of(v)))
    };
    let wrong = seen.wrong.iter().filter(|(rule, _)| guilty(rule));
    if let Some((rule, (severity, nodes))) = wrong.max_by_key(|(_, (s, _))| *s) {
        return leave(Why::Wrong { rule, severity: *severity, nodes: group.labels(nodes) });
    }
    let shown: usize = seen.values.values().map(Vec::len).sum();
    if shown + seen.unreadable.len() < group.nodes.len() {
        let mut all: Vec<usize> = seen.values.values().flatten().chain(&seen.unreadable).copied().collect();
        all.sort_unstable();
        return leave(Why::NotOnAll(group.labels(&all)));
    }
    // What is below a fact that is not there is not there for the same reason.
    if seen.is_absent() && above(key).any(|k| group.facts.get(&k).is_some_and(Seen::is_absent)) {
        return None;
    }
    let mut values = seen.values.iter();
    match (values.next(), values.next()) {
        (None, _) => leave(Why::Unseen),
        (Some((value, _)), None) => Some((want(seen.def, value.as_deref()), u32::try_from(shown).unwrap_or(u32::MAX))),
        _ => leave(Why::Differ(by_frequency(group, seen))),
    }
}

/// Facts of the same thing whose ids this one's begins with.
fn above(key: &Key) -> impl Iterator<Item = Key> {
    let ends = key.id.match_indices('.').map(|(at, _)| at);
    ends.filter_map(|at| Some(Key { id: key.id.get(..at)?, ..key.clone() }))
}

fn by_frequency(group: &Group, seen: &Seen) -> Vec<(String, Vec<String>)> {
    let mut all: Vec<_> = seen.values.iter().collect();
    all.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    all.into_iter().map(|(v, n)| (v.clone().unwrap_or_else(|| "absent".to_owned()), group.labels(n))).collect()
}

fn want(def: &Def, value: Option<&str>) -> Want {
    match (value, compared(def.id)) {
        (None, _) => Want::Absent,
        (Some(_), _) if def.form == Form::There => Want::Present,
        (Some(v), Compared::Within(share)) => Want::Near(v.to_owned(), (share * 1e6).round() as u32),
        (Some(v), _) => Want::Equals(v.to_owned()),
    }
}

fn row(class: &str, group: &Group, role: &str, def: &'static Def, part: &str, want: Want, shown: u32) -> Option<Row> {
    let roles = Roles::of(role).ok()?;
    let about = About::learnt(row_id(class, &roles, def, part));
    let shown_by = (shown as usize != group.nodes.len()).then_some(shown);
    Some(Row { about, roles, def, part: part.to_owned(), wants: vec![want], fix: None, shown_by })
}

/// Two rows of one name: `rail 1,2 NIC` and `rail 1-2 NIC` cannot both be there, words with the same letters can.
fn unique(rows: &mut [Row]) {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for row in rows {
        let n = seen.entry(row.about.id.clone()).or_default();
        *n += 1;
        if *n > 1 {
            row.about.id = format!("{}-{n}", row.about.id);
        }
    }
}

/// Lists of words of the node: each is one thing, so that a word more is seen.
struct Words(Vec<List>);

/// A fact, its words by name, and whether there are no others.
type List = (&'static Def, Vec<(String, String)>, bool);

impl Words {
    fn of(class: &str, group: &Group, left: &mut Vec<Left>) -> Self {
        let mut by: BTreeMap<&'static str, Vec<(&Key, &Seen)>> = BTreeMap::new();
        for (key, seen) in group.facts.iter().filter(|(_, s)| is_words(s.def)) {
            by.entry(key.id).or_default().push((key, seen));
        }
        let mut out = Vec::new();
        for (id, all) in by {
            let Some((_, first)) = all.first() else { continue };
            let mut leave = |fact: String, why| {
                left.push(Left { class: class.to_owned(), at: String::new(), fact, why });
            };
            // Modules come and go with what is used: those that all have are wanted, others are not forbidden.
            let only = id != "kernel.modules";
            let list = all.iter().find(|(k, _)| k.part.is_empty()).map(|(_, s)| s);
            let unread = list.map_or(0, |s| s.unreadable.len() + s.values.get(&None).map_or(0, Vec::len));
            let readers = group.nodes.len().saturating_sub(unread);
            if readers == 0 {
                leave(id.to_owned(), Why::Unseen);
                continue;
            }
            let wrong = all.iter().flat_map(|(_, s)| &s.wrong).max_by_key(|(_, (s, _))| *s);
            if let (Some((rule, (severity, nodes))), true) = (wrong, only) {
                leave(id.to_owned(), Why::Wrong { rule, severity: *severity, nodes: group.labels(nodes) });
                continue;
            }
            let mut words = Vec::new();
            let mut same = true;
            for (key, seen) in all.iter().filter(|(k, _)| !k.part.is_empty()) {
                let fact = || format!("{id} {}", key.part);
                let mut values = seen.values.iter();
                match (values.next(), values.next()) {
                    (Some((Some(value), nodes)), None) if nodes.len() == readers && is_plain(id, &key.part, value) => {
                        match seen.wrong.iter().next() {
                            Some((rule, (severity, nodes))) => {
                                leave(fact(), Why::Wrong { rule, severity: *severity, nodes: group.labels(nodes) });
                            }
                            None => words.push((key.part.clone(), value.clone())),
                        }
                    }
                    (Some((_, nodes)), None) => {
                        same = false;
                        leave(fact(), Why::NotOnAll(group.labels(nodes)));
                    }
                    _ => {
                        same = false;
                        leave(fact(), Why::Differ(by_frequency(group, seen)));
                    }
                }
            }
            out.push((first.def, words, only && same));
        }
        Words(out)
    }

    fn rows(self, class: &str) -> Vec<Row> {
        let mut out = Vec::new();
        for (def, words, only) in self.0 {
            let roles = Roles::node();
            let one = |part: &str, id: String, want| Row {
                about: About::learnt(id),
                roles: roles.clone(),
                def,
                part: part.to_owned(),
                wants: vec![want],
                fix: None,
                shown_by: None,
            };
            let names: Vec<String> = words.iter().map(|(n, _)| n.clone()).collect();
            for (name, value) in words {
                out.push(one(&name, row_id(class, &roles, def, &name), Want::Equals(value)));
            }
            if only {
                let id = format!("{}.others", row_id(class, &roles, def, ""));
                out.push(one("", id, Want::NoOther(names)));
            }
        }
        out
    }
}

/// Whether a word is written as it is read: a value with a blank in quotes is not.
fn is_plain(id: &str, name: &str, value: &str) -> bool {
    let of = |w: &str| if id == "kernel.cmdline" { w.split('=').next() == Some(name) } else { w == name };
    value.split(' ').all(of)
}

fn template(owner: &Owner) -> (Template, Option<u16>) {
    let of = |text: String, n: u16, last: bool| {
        let digits = n.to_string();
        let at = if last { text.rfind(&digits) } else { text.find(&digits) };
        match at {
            Some(at) => {
                let (head, tail) =
                    (text.get(..at).unwrap_or_default(), text.get(at + digits.len()..).unwrap_or_default());
                ((head.to_owned(), tail.to_owned()), Some(n))
            }
            None => ((text.clone(), String::new()), None),
        }
    };
    match owner {
        Owner::Node => (("node".to_owned(), String::new()), None),
        Owner::Device(role) => match role {
            Role::Device(_, n) | Role::Function(_, n, _) => of(role.to_string(), *n, false),
            // The bridge's level comes first: `bridge 1 above GPU 1`.
            Role::Above(_, n, _) => of(role.to_string(), *n, true),
            Role::Virtual(..) | Role::Bridge(_) => ((role.to_string(), String::new()), None),
        },
        Owner::Named(name) => match name.strip_prefix("NUMA node ").and_then(|n| n.parse().ok()) {
            Some(n) => (("NUMA node ".to_owned(), String::new()), Some(n)),
            None => ((name.clone(), String::new()), None),
        },
    }
}

/// The role of a thing without its number.
pub(super) fn kind(owner: &Owner) -> String {
    let ((head, tail), _) = template(owner);
    format!("{head}*{tail}")
}

fn owner_text(owner: &Owner) -> String {
    match owner {
        Owner::Node => String::new(),
        Owner::Device(role) => role.to_string(),
        Owner::Named(name) => name.clone(),
    }
}

/// The node first, then devices as people look for them.
fn order(roles: &Roles) -> usize {
    let heads = ["node", "GPU ", "rail ", "NIC ", "NVSwitch ", "NVMe ", "bridge ", "NUMA ", "idle ", "interface "];
    heads.iter().position(|h| roles.text().starts_with(h)).unwrap_or(heads.len())
}

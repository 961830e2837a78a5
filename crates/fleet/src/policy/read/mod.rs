//! A policy from TOML. What is wrong is said with its line, all of it at once.

mod claim;
mod row;
pub(super) use row::{id as row_id, is_words, prefix as prefix_of};
mod toml;

use super::class::ROLES;
use super::condition::Program;
use super::said::{Mistake, Wrong};
use super::{About, Class, Condition, Count, DEVICES, Match, Policy, SCHEMA, Test};
use crate::nodeset::{Budget, Groups, NoGroups, NodeSet, parse_within};
use ::toml::de::{DeTable, DeValue};
use linerate_facts::position::{Path, Role};
use linerate_formats::bounds::{
    NODESET_NODES, NODESET_WORK, POLICY_BYTES, POLICY_CLASSES, POLICY_CONDITIONS, POLICY_ROWS, POLICY_TESTS, SEATS,
};
use linerate_formats::near;
use linerate_rules::Severity;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use toml::{Item, Text};

/// What holds for all expectations below it that say nothing else.
#[derive(Clone)]
struct Default {
    severity: Severity,
    owner: String,
    reason: String,
}

/// Reads a policy.
///
/// # Errors
/// What is wrong with it, line by line.
pub fn read(text: &str) -> Result<Policy, Vec<Mistake>> {
    if text.len() > POLICY_BYTES {
        let wrong = Wrong::TooMuch { what: "bytes", most: POLICY_BYTES, limit: "POLICY_BYTES" };
        return Err(vec![Mistake { line: 1, wrong }]);
    }
    let source = Text::new(text);
    let document = match DeTable::parse(text) {
        Ok(d) => d,
        Err(e) => {
            let line = source.line(e.span().map_or(0, |s| s.start));
            return Err(vec![Mistake { line, wrong: Wrong::Toml(e.message().to_owned()) }]);
        }
    };
    let policy = policy(&source, &source.items(document.get_ref()));
    let mistakes = source.mistakes();
    if mistakes.is_empty() { Ok(policy) } else { Err(mistakes) }
}

fn policy(text: &Text<'_>, items: &[Item<'_, '_>]) -> Policy {
    const KEYS: [&str; 7] = ["schema", "name", "owner", "severity", "reason", "class", "test"];
    let mut out = Policy { name: String::new(), classes: Vec::new(), tests: Vec::new() };
    let mut schema = String::new();
    let mut by = Default { severity: Severity::Medium, owner: String::new(), reason: String::new() };
    for item in items.iter().filter(|i| i.key != "class") {
        match item.key {
            "schema" => schema = item.shown().unwrap_or_default(),
            "name" => out.name = item.str().unwrap_or_default(),
            "test" => out.tests = tests(item),
            _ if by.takes(item) => {}
            _ => item.no_meaning(&KEYS),
        }
    }
    if schema != SCHEMA {
        text.wrong(0, Wrong::Schema(schema));
        return out;
    }
    let mut rows = 0;
    let mut nodes = Budget { names: NODESET_NODES, work: NODESET_WORK };
    for item in items.iter().filter(|i| i.key == "class") {
        for class in item.table().unwrap_or_default() {
            if out.classes.len() >= POLICY_CLASSES {
                class.wrong(Wrong::TooMuch { what: "classes", most: POLICY_CLASSES, limit: "POLICY_CLASSES" });
                break;
            }
            out.classes.extend(one_class(&class, &by, &mut rows, &mut nodes));
        }
    }
    names(text, &out);
    out
}

impl Default {
    /// Whether an item says something of this.
    fn takes(&mut self, item: &Item<'_, '_>) -> bool {
        match item.key {
            "owner" => self.owner = item.str().unwrap_or_default(),
            "reason" => self.reason = item.str().unwrap_or_default(),
            "severity" => {
                let word = item.str().unwrap_or_default();
                match Severity::ALL.iter().find(|s| s.name() == word) {
                    Some(s) => self.severity = *s,
                    None => item.wrong(Wrong::Severity(word)),
                }
            }
            _ => return false,
        }
        true
    }

    fn about(&self, id: String, line: u32) -> About {
        About { id, severity: self.severity, reason: self.reason.clone(), owner: self.owner.clone(), line }
    }
}

/// Names of nodes: one text is a set, if it can be read as one within what is left of the budget; a list has a name in each text.
fn learnt_from(all: Vec<String>, nodes: &mut Budget) -> Vec<String> {
    match all.as_slice() {
        [one] => parse_within(one, &NoGroups, nodes).map_or(all.clone(), |set| set.iter().collect()),
        _ => all,
    }
}

fn one_class(item: &Item<'_, '_>, by: &Default, rows: &mut usize, nodes: &mut Budget) -> Option<Class> {
    const KEYS: [&str; 11] = [
        "match",
        "seats",
        "owner",
        "severity",
        "reason",
        "devices",
        "on",
        "condition",
        "claim",
        "labels",
        "learnt_from",
    ];
    if !is_name(item.key) {
        item.wrong(Wrong::Name(item.key.to_owned()));
    }
    let mut out = Class {
        name: item.key.to_owned(),
        matches: Match::default(),
        seats: BTreeMap::new(),
        rows: Vec::new(),
        devices: Vec::new(),
        conditions: Vec::new(),
        claims: Vec::new(),
        labels: BTreeMap::new(),
        learnt_from: Vec::new(),
    };
    let mut by = by.clone();
    let members = item.table()?;
    let rest: Vec<_> = members.iter().filter(|m| !by.takes(m)).collect();
    for m in rest {
        match m.key {
            "match" => out.matches = matches(m, nodes),
            "devices" => out.devices = m.table()?.iter().filter_map(|d| count(d, item.key, &by)).collect(),
            "seats" => {
                let all = m.table()?;
                if all.len() > SEATS {
                    m.wrong(Wrong::TooMuch { what: "seats", most: SEATS, limit: "SEATS" });
                }
                out.seats = all.iter().take(SEATS).filter_map(seat).collect();
            }
            "labels" => out.labels = m.table()?.iter().filter_map(label).collect(),
            "learnt_from" => out.learnt_from = m.strings().map(|all| learnt_from(all, nodes)).unwrap_or_default(),
            "condition" => {
                let all = m.tables().unwrap_or_default();
                if all.len() > POLICY_CONDITIONS {
                    m.wrong(Wrong::TooMuch {
                        what: "conditions of a class",
                        most: POLICY_CONDITIONS,
                        limit: "POLICY_CONDITIONS",
                    });
                }
                let all = all.iter().take(POLICY_CONDITIONS);
                out.conditions = all.filter_map(|(at, c)| condition(m.text, *at, c, item.key, &by)).collect();
            }
            "claim" => {
                let all = m.tables().unwrap_or_default();
                if all.len() > POLICY_CONDITIONS {
                    let what = "claims of a class";
                    m.wrong(Wrong::TooMuch { what, most: POLICY_CONDITIONS, limit: "POLICY_CONDITIONS" });
                }
                let all = all.iter().take(POLICY_CONDITIONS);
                out.claims = all.filter_map(|(at, c)| claim::claim(m.text, *at, c, item.key, &by)).collect();
            }
            "on" => {
                for role in m.table()? {
                    row::rows(&role, item.key, &by, &mut out.rows);
                    if *rows + out.rows.len() > POLICY_ROWS {
                        role.wrong(Wrong::TooMuch { what: "expectations", most: POLICY_ROWS, limit: "POLICY_ROWS" });
                        out.rows.clear();
                        return None;
                    }
                }
            }
            _ => m.no_meaning(&KEYS),
        }
    }
    *rows += out.rows.len() + out.claims.iter().map(|c| c.rows.len()).sum::<usize>();
    if *rows > POLICY_ROWS {
        item.wrong(Wrong::TooMuch { what: "expectations", most: POLICY_ROWS, limit: "POLICY_ROWS" });
        return None;
    }
    Some(out)
}

/// Groups that nobody knows yet: whether a set asks for any.
#[derive(Default)]
struct Asked(Cell<bool>);

impl Groups for Asked {
    fn group(&self, _: Option<&str>, _: &str) -> Option<Vec<String>> {
        self.0.set(true);
        Some(Vec::new())
    }

    fn all(&self, _: Option<&str>) -> Option<Vec<String>> {
        self.0.set(true);
        Some(Vec::new())
    }
}

/// The nodes of a class: their names, where no group has a part in it.
fn members(item: &Item<'_, '_>, text: &str, nodes: &mut Budget) -> Option<NodeSet> {
    let asked = Asked::default();
    match parse_within(text, &asked, nodes) {
        Err(e) => item.wrong(Wrong::Nodes(e)),
        Ok(_) if asked.0.get() => {}
        Ok(set) if set.is_empty() => _ = item.must_be::<()>("a set of nodes, as gpu[001-064] or @rack7"),
        Ok(set) => return Some(set),
    }
    None
}

fn matches(item: &Item<'_, '_>, nodes: &mut Budget) -> Match {
    const KEYS: [&str; 6] = ["board", "cpu", "gpus", "nics", "role", "nodes"];
    let mut out = Match::default();
    for m in item.table().unwrap_or_default() {
        let text = m.str().unwrap_or_default();
        match m.key {
            "board" => out.board = text,
            "cpu" => out.cpu = text,
            "gpus" => out.gpus = text,
            "nics" => out.nics = text,
            "nodes" => {
                out.members = members(&m, &text, nodes);
                out.nodes = text;
            }
            "role" => match ROLES.iter().find(|(word, _)| *word == text) {
                Some((_, role)) => out.role = Some(*role),
                None => _ = m.must_be::<()>("bare-metal, vm-host or vm-guest"),
            },
            _ => m.no_meaning(&KEYS),
        }
    }
    out
}

fn count(item: &Item<'_, '_>, class: &str, by: &Default) -> Option<Count> {
    let Some((word, device)) = DEVICES.iter().find(|(w, _)| *w == item.key) else {
        item.no_meaning(&DEVICES.map(|(w, _)| w));
        return None;
    };
    let mut by = by.clone();
    let (mut least, mut most) = (0, u64::MAX);
    match item.value {
        DeValue::Table(_) => {
            for m in item.table()? {
                match m.key {
                    "at_least" => least = m.number()?,
                    "at_most" => most = m.number()?,
                    _ if by.takes(&m) => {}
                    _ => m.no_meaning(&["at_least", "at_most", "severity", "reason", "owner"]),
                }
            }
        }
        _ => {
            least = item.number()?;
            most = least;
        }
    }
    let id = format!("policy/{class}.{}.number", super::roles::slug(word));
    Some(Count { about: by.about(id, item.line()), device: *device, least, most })
}

/// A device, and where it is.
fn seat(item: &Item<'_, '_>) -> Option<(Role, Path)> {
    let Some(role @ Role::Device(..)) = item.key.parse().ok() else {
        return item.must_be("where a device is, as `\"GPU 0\" = \"0/01.0/00.0\"`");
    };
    match item.str()?.parse() {
        Ok(path) => Some((role, path)),
        Err(_) => {
            item.must_be("a way from a root bus: its number, then device and function of each step, as 0/01.0/00.0")
        }
    }
}

fn label(item: &Item<'_, '_>) -> Option<(String, Option<String>)> {
    match item.value {
        DeValue::Boolean(false) => Some((item.key.to_owned(), None)),
        DeValue::String(s) => Some((item.key.to_owned(), Some(s.to_string()))),
        _ => item.must_be("a text, or false where the label must be absent"),
    }
}

fn condition(text: &Text<'_>, at: usize, items: &[Item<'_, '_>], class: &str, by: &Default) -> Option<Condition> {
    let mut by = by.clone();
    let (mut name, mut cel, mut fix) = (None, None, None);
    for m in items {
        match m.key {
            "name" => name = row::name(m),
            "holds" => match Program::of(&m.str()?) {
                Ok(p) => cel = Some(p),
                Err(e) => m.wrong(Wrong::Condition(e)),
            },
            "fix" => fix = row::fix(m),
            _ if by.takes(m) => {}
            _ => m.no_meaning(&["name", "holds", "severity", "reason", "owner", "fix"]),
        }
    }
    let Some(name) = name else {
        text.wrong(at, Wrong::Nothing(format!("a condition of {class} without a name")));
        return None;
    };
    let Some(cel) = cel else {
        if !items.iter().any(|i| i.key == "holds") {
            text.wrong(at, Wrong::Nothing(format!("{name}, a condition without `holds`")));
        }
        return None;
    };
    Some(Condition { about: by.about(format!("policy/{class}.{name}"), text.line(at)), cel, fix })
}

/// Tests of a policy.
fn tests(item: &Item<'_, '_>) -> Vec<Test> {
    let all = item.tables().unwrap_or_default();
    if all.len() > POLICY_TESTS {
        item.wrong(Wrong::TooMuch { what: "tests", most: POLICY_TESTS, limit: "POLICY_TESTS" });
    }
    let mut out = Vec::new();
    for (at, members) in all.iter().take(POLICY_TESTS) {
        let mut test = Test { source: String::new(), fails: Vec::new(), unknown: None, line: item.text.line(*at) };
        for m in members {
            match m.key {
                "source" => test.source = m.str().unwrap_or_default(),
                "fails" => test.fails = m.strings().unwrap_or_default(),
                "unknown" => test.unknown = m.strings(),
                _ => m.no_meaning(&["source", "fails", "unknown"]),
            }
        }
        if test.source.is_empty() {
            item.text.wrong(*at, Wrong::Nothing("a test without `source`".to_owned()));
        }
        out.push(test);
    }
    out
}

/// Names that are there twice, and tests of expectations that are not there.
fn names(text: &Text<'_>, policy: &Policy) {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for (_, kind) in policy.all() {
        let about = kind.about();
        if !seen.insert(&about.id) {
            text.wrong_in(about.line, Wrong::Twice(about.id.clone()));
        }
    }
    for test in &policy.tests {
        for id in test.fails.iter().chain(test.unknown.iter().flatten()).filter(|id| !seen.contains(id.as_str())) {
            let like = near::nearest(id, seen.iter().copied().take(2_000)).map(str::to_owned);
            text.wrong_in(test.line, Wrong::Unknown { id: id.clone(), like });
        }
    }
}

/// Whether a word can be a part of an id.
fn is_name(word: &str) -> bool {
    let good = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    (1..=200).contains(&word.len()) && word.bytes().all(good)
}

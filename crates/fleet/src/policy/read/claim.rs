//! Claims: `[[class.NAME.claim]]`.

use super::row;
use super::toml::{Item, Text};
use super::{Default, Wrong};
use crate::condition::Condition;
use crate::policy::Claim;
use crate::policy::condition::Program;
use linerate_formats::near;

const KEYS: [&str; 9] = ["name", "when", "on", "holds", "passes", "severity", "reason", "owner", "fix"];

/// A claim at a place of the text.
pub(super) fn claim(text: &Text<'_>, at: usize, items: &[Item<'_, '_>], class: &str, by: &Default) -> Option<Claim> {
    let mut by = by.clone();
    let rest: Vec<_> = items.iter().filter(|m| !by.takes(m)).collect();
    let mut name = None;
    let mut out = Claim {
        about: by.about(String::new(), text.line(at)),
        when: Vec::new(),
        rows: Vec::new(),
        cel: None,
        passes: Vec::new(),
        fix: None,
    };
    for m in &rest {
        match m.key {
            "name" => name = row::name(m),
            "when" => out.when = m.strings().unwrap_or_default().into_iter().filter_map(|t| when(m, t)).collect(),
            "holds" => match Program::of(&m.str()?) {
                Ok(p) => out.cel = Some(p),
                Err(e) => m.wrong(Wrong::Condition(e)),
            },
            "passes" => out.passes = m.strings().unwrap_or_default().iter().filter_map(|id| rule(m, id)).collect(),
            "fix" => out.fix = row::fix(m),
            "on" => {
                for role in m.table().unwrap_or_default() {
                    row::rows(&role, class, &by, &mut out.rows);
                }
            }
            _ => m.no_meaning(&KEYS),
        }
    }
    let Some(name) = name else {
        text.wrong(at, Wrong::Nothing(format!("a claim of {class} without a name")));
        return None;
    };
    let given = |key: &str| rest.iter().any(|i| i.key == key);
    if !given("when") {
        text.wrong(at, Wrong::Claim(format!("{name} needs `when`: the fact that claims something")));
    }
    if !given("on") && !given("holds") && !given("passes") {
        text.wrong(at, Wrong::Claim(format!("{name} needs `on`, `holds` or `passes`: what it claims")));
    }
    out.about.id = format!("policy/{class}.{name}");
    Some(out)
}

/// What is claimed: a condition on a fact.
fn when(m: &Item<'_, '_>, text: String) -> Option<(Condition, String)> {
    match Condition::parse(&text) {
        Ok(c) if c.is_rule() => {
            m.wrong(Wrong::Claim(format!("`{text}` is a rule: `when` names a fact, `passes` names rules")));
            None
        }
        Ok(c) => Some((c, text)),
        Err(e) => {
            m.wrong(Wrong::When(e));
            None
        }
    }
}

fn rule(m: &Item<'_, '_>, id: &str) -> Option<&'static linerate_rules::Rule> {
    let found = linerate_rules::find(id);
    if found.is_none() {
        let like = near::nearest(id, linerate_rules::rules().iter().map(|r| r.id)).map(str::to_owned);
        m.wrong(Wrong::Unknown { id: id.to_owned(), like });
    }
    found
}

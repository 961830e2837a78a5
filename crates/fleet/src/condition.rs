//! A condition on nodes, as `linerate where` takes it: what a rule says, or what a fact is. What was not seen fulfils none.

use crate::{Said, Seen, Status, id};
use linerate_facts::{Form, defs};
use linerate_formats::{near, wildcard};
use std::cmp::Ordering;

/// A rule with an answer, or a fact with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    id: &'static str,
    /// Of which part: a port, a setting, an argument; `*` stands for any characters.
    part: Option<String>,
    wanted: Wanted,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    /// The worst answer of a rule on a node.
    Answer(Status),
    /// The fact is there.
    There,
    /// The fact is certainly not there.
    Absent,
    /// A value, compared.
    Value(Compare, String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compare {
    Equal,
    Unequal,
    Like,
    AtLeast,
    AtMost,
    Above,
    Below,
}

/// Operators, those first that others begin with.
const OPERATORS: [(&str, Compare); 7] = [
    ("!=", Compare::Unequal),
    (">=", Compare::AtLeast),
    ("<=", Compare::AtMost),
    ("=", Compare::Equal),
    ("~", Compare::Like),
    (">", Compare::Above),
    ("<", Compare::Below),
];

/// Why a text is no condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotACondition {
    /// Nothing is called so.
    #[error("no rule or fact has the name `{name}`{}", .near.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default())]
    Unknown {
        /// What was asked for.
        name: String,
        /// What may have been meant.
        near: Option<&'static str>,
    },
    /// The fact exists, but says nothing about many nodes: it is a counter, or names a place.
    #[error("`{id}` is not kept of many nodes: {why}")]
    NotKept {
        /// The fact.
        id: &'static str,
        /// Why.
        why: &'static str,
    },
    /// A rule has other answers.
    #[error("a rule answers fail, pass, unknown or not-applicable, not `{0}`")]
    Answer(String),
    /// A rule was compared as a number is.
    #[error("`{0}` is a rule: write its name alone (nodes on which it fails), or RULE=ANSWER")]
    Rule(&'static str),
    /// A number is needed.
    #[error("`{0}` is neither a number nor a version: it cannot be compared by < or >")]
    Number(String),
}

/// What rows of a node say about a condition, together. The default: no row says anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Found(u8);

impl Found {
    const YES: Found = Found(1);
    const NO: Found = Found(2);
    const BLIND: Found = Found(4);

    fn answer(status: Status) -> Found {
        Found(match status {
            Status::Fail => 8,
            Status::Unknown => 16,
            Status::Pass => 32,
            Status::NotApplicable => 64,
        })
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Found) -> Found {
        Found(self.0 | other.0)
    }

    fn has(self, other: Found) -> bool {
        self.0 & other.0 != 0
    }
}

/// Whether a node fulfils a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// It does not.
    No,
    /// It was not seen well enough.
    CannotTell,
    /// It does.
    Yes,
}

impl Condition {
    /// From a text: `acs/redirect-on-p2p-path`, `RULE=unknown`, `net.mtu!=9000`, `net.mtu>=9000`, `kernel.cmdline~iommu=*`,
    /// `nic_firmware.settings.value[ADVANCED_PCI_SETTINGS]=True`, `pci.link.max_speed>=32`, `FACT` (it is there), `FACT=absent`.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(text: &str) -> Result<Self, NotACondition> {
        let text = text.trim();
        // A part may hold what else is an operator.
        let open = text.find('[').zip(text.find(']')).filter(|(open, close)| open < close);
        let from = open.filter(|(o, _)| !text.get(..*o).unwrap_or(text).contains(['=', '<', '>', '~', '!']));
        let after = from.map_or(0, |(_, close)| close + 1);
        let rest = text.get(after..).unwrap_or_default();
        let found = rest.char_indices().find_map(|(i, _)| {
            let here = rest.get(i..)?;
            OPERATORS.iter().find(|(o, _)| here.starts_with(o)).map(|(o, c)| (after + i, o.len(), *c))
        });
        let (name, operator) = match found {
            Some((at, size, compare)) => {
                (text.get(..at).unwrap_or(text), Some((compare, text.get(at + size..).unwrap_or_default().trim())))
            }
            None => (text, None),
        };
        let (name, part) = match from {
            Some((open, close)) => (text.get(..open).unwrap_or(name), text.get(open + 1..close).map(str::to_owned)),
            None => (name, None),
        };
        let name = name.trim();
        let Some(id) = id(name) else {
            let facts = defs().map(|d| d.id);
            let rules = linerate_rules::rules().iter().map(|r| r.id);
            return Err(NotACondition::Unknown { name: name.to_owned(), near: near::alike(name, facts.chain(rules)) });
        };
        let wanted = if id.contains('/') { answer(id, operator)? } else { value(id, operator)? };
        Ok(Condition { id, part, wanted })
    }

    /// The fact or rule that is looked at.
    #[must_use]
    pub fn id(&self) -> &'static str {
        self.id
    }

    /// Whether it asks for a rule's answer.
    #[must_use]
    pub fn is_rule(&self) -> bool {
        self.id.contains('/')
    }

    /// What a row of the fact or rule says. Of a list the row with no part says that the list was read.
    #[must_use]
    pub fn look(&self, part: &str, seen: &Seen, said: Option<Said>) -> Found {
        let head = self.is_list() && part.is_empty();
        if let Some(pattern) = self.part.as_deref().filter(|_| !head)
            && !wildcard::star(pattern.as_bytes(), part.as_bytes())
        {
            return Found::default();
        }
        let found = |yes: bool| if yes { Found::YES } else { Found::NO };
        match (&self.wanted, seen) {
            (Wanted::Answer(_), _) => said.map_or(Found::BLIND, |s| Found::answer(s.status)),
            (_, Seen::Unreadable) => Found::BLIND,
            (Wanted::There, seen) => found(matches!(seen, Seen::Known(_)) && !(head && self.part.is_some())),
            (Wanted::Absent, seen) => found(*seen == Seen::Absent),
            (Wanted::Value(..), Seen::Known(_)) if head => Found::NO,
            (Wanted::Value(Compare::Unequal, _), Seen::Absent) if !self.is_list() => Found::YES,
            (Wanted::Value(..), Seen::Absent) => Found::NO,
            (Wanted::Value(compare, wanted), Seen::Known(value)) => match compare {
                Compare::Equal => found(value == wanted),
                // Of a list: none of its words is it.
                Compare::Unequal => found((value == wanted) == self.is_list()),
                Compare::Like => found(wildcard::star(wanted.as_bytes(), value.as_bytes())),
                _ => match (compare, order(value, wanted)) {
                    (_, None) => Found::BLIND,
                    (Compare::AtLeast, Some(o)) => found(o != Ordering::Less),
                    (Compare::AtMost, Some(o)) => found(o != Ordering::Greater),
                    (Compare::Above, Some(o)) => found(o == Ordering::Greater),
                    (_, Some(o)) => found(o == Ordering::Less),
                },
            },
        }
    }

    /// What all rows of a node together say. No row: it cannot be told.
    #[must_use]
    pub fn decide(&self, found: Found) -> Answer {
        if let Wanted::Answer(wanted) = self.wanted {
            let worst = [Status::Fail, Status::Unknown, Status::Pass, Status::NotApplicable];
            return match worst.into_iter().find(|s| found.has(Found::answer(*s))) {
                Some(status) if status == wanted => Answer::Yes,
                None | Some(Status::Unknown) => Answer::CannotTell,
                Some(_) => Answer::No,
            };
        }
        let turned = self.is_list() && matches!(self.wanted, Wanted::Value(Compare::Unequal, _));
        match (found.has(Found::YES), found.has(Found::BLIND), found.has(Found::NO)) {
            (true, _, _) if turned => Answer::No,
            (true, ..) => Answer::Yes,
            (false, true, _) | (false, false, false) => Answer::CannotTell,
            (false, false, true) if turned => Answer::Yes,
            (false, false, true) => Answer::No,
        }
    }

    /// Whether a row is why a node fulfils the condition.
    #[must_use]
    pub fn is_reason(&self, found: Found) -> bool {
        match self.wanted {
            Wanted::Answer(status) => found.has(Found::answer(status)),
            Wanted::Value(Compare::Unequal, _) if self.is_list() => false,
            _ => found.has(Found::YES),
        }
    }

    fn is_list(&self) -> bool {
        defs().any(|d| d.id == self.id && d.form == Form::Texts)
    }
}

fn answer(id: &'static str, operator: Option<(Compare, &str)>) -> Result<Wanted, NotACondition> {
    match operator {
        None => Ok(Wanted::Answer(Status::Fail)),
        Some((Compare::Equal, word)) => {
            let status = Status::ALL.iter().find(|s| s.name() == word);
            status.map(|s| Wanted::Answer(*s)).ok_or_else(|| NotACondition::Answer(word.to_owned()))
        }
        Some(_) => Err(NotACondition::Rule(id)),
    }
}

fn value(id: &'static str, operator: Option<(Compare, &str)>) -> Result<Wanted, NotACondition> {
    use linerate_facts::{Compared, compared};
    if let Compared::Not(why) = compared(id) {
        return Err(NotACondition::NotKept { id, why });
    }
    match operator {
        None => Ok(Wanted::There),
        Some((Compare::Equal, "absent")) => Ok(Wanted::Absent),
        Some((compare @ (Compare::Equal | Compare::Unequal | Compare::Like), v)) => {
            Ok(Wanted::Value(compare, v.to_owned()))
        }
        Some((_, v)) if number(v).is_none() && version(v).is_none() => Err(NotACondition::Number(v.to_owned())),
        Some((compare, v)) => Ok(Wanted::Value(compare, v.to_owned())),
    }
}

/// Which of two values is more: numbers with whatever stands behind them (`32.0 GT/s`), or versions part by part. `None`: neither.
fn order(a: &str, b: &str) -> Option<Ordering> {
    match (version(a), version(b)) {
        // `28.39` is a number, and a version beside `28.39.1002`.
        (Some(a), Some(b)) if a.len().max(b.len()) > 2 => Some(a.cmp(&b)),
        _ => number(a)?.partial_cmp(&number(b)?),
    }
}

fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').unwrap_or(text.len());
    text.get(..end)?.trim_end_matches('.').parse().ok()
}

/// Numbers with dots or dashes between, and nothing else of weight behind them: `28.39.1002`, `6.8.0-51-generic`, `550.54.15`.
fn version(text: &str) -> Option<Vec<u64>> {
    let word = text.trim().trim_start_matches('v');
    if word.contains(' ') || !word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let parts: Vec<u64> = word.split(['.', '-', '_', '+']).map_while(|p| p.parse().ok()).collect();
    (!parts.is_empty()).then_some(parts)
}

#[cfg(test)]
mod tests;

//! TOML whose every value knows its line, and what a table must hold.

use crate::policy::said::{Mistake, Wrong};
use linerate_formats::near;
use std::cell::RefCell;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Mistakes that are collected; more are counted.
const SHOWN: usize = 20;

/// The text of a policy, and what is wrong with it.
pub(super) struct Text<'t> {
    /// Where each line ends.
    ends: Vec<usize>,
    wrong: RefCell<(Vec<Mistake>, usize)>,
    _text: &'t str,
}

/// A value with its key and its place.
#[derive(Clone, Copy)]
pub(super) struct Item<'d, 't> {
    pub(super) text: &'d Text<'t>,
    pub(super) key: &'d str,
    pub(super) value: &'d DeValue<'t>,
    pub(super) at: usize,
}

impl<'t> Text<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let ends = text.match_indices('\n').map(|(i, _)| i).collect();
        Text { ends, wrong: RefCell::default(), _text: text }
    }

    /// Line of a byte, from 1.
    pub(super) fn line(&self, at: usize) -> u32 {
        self.ends.partition_point(|e| *e < at) as u32 + 1
    }

    pub(super) fn wrong(&self, at: usize, wrong: Wrong) {
        let line = self.line(at);
        self.wrong_in(line, wrong);
    }

    pub(super) fn wrong_in(&self, line: u32, wrong: Wrong) {
        let mut all = self.wrong.borrow_mut();
        if all.0.len() < SHOWN { all.0.push(Mistake { line, wrong }) } else { all.1 += 1 }
    }

    /// All mistakes, in the order of their lines.
    pub(super) fn mistakes(self) -> Vec<Mistake> {
        let (mut all, more) = self.wrong.into_inner();
        all.sort_by_key(|m| m.line);
        if more > 0 {
            let line = all.last().map_or(1, |m| m.line);
            all.push(Mistake { line, wrong: Wrong::More(more) });
        }
        all
    }

    /// The members of a table in the order of the text.
    pub(super) fn items<'d>(&'d self, table: &'d DeTable<'t>) -> Vec<Item<'d, 't>> {
        let item = |(key, value): (&'d Spanned<toml::de::DeString<'t>>, &'d Spanned<DeValue<'t>>)| Item {
            text: self,
            key: key.get_ref().as_ref(),
            value: value.get_ref(),
            at: key.span().start,
        };
        let mut all: Vec<_> = table.iter().map(item).collect();
        all.sort_by_key(|i| i.at);
        all
    }
}

impl<'d, 't> Item<'d, 't> {
    pub(super) fn line(&self) -> u32 {
        self.text.line(self.at)
    }

    pub(super) fn wrong(&self, wrong: Wrong) {
        self.text.wrong(self.at, wrong);
    }

    /// It is of another type.
    pub(super) fn must_be<T>(&self, wanted: &'static str) -> Option<T> {
        self.wrong(Wrong::Type { key: self.key.to_owned(), wanted });
        None
    }

    /// It has no meaning here.
    pub(super) fn no_meaning(&self, known: &[&str]) {
        let like = near::nearest(self.key, known.iter().copied()).map(str::to_owned);
        self.wrong(Wrong::Key { key: self.key.to_owned(), like });
    }

    pub(super) fn table(&self) -> Option<Vec<Item<'d, 't>>> {
        match self.value {
            DeValue::Table(t) => Some(self.text.items(t)),
            _ => self.must_be("a table"),
        }
    }

    pub(super) fn str(&self) -> Option<String> {
        match self.value {
            DeValue::String(s) => Some(s.to_string()),
            _ => self.must_be("a text in quotes"),
        }
    }

    pub(super) fn bool(&self) -> Option<bool> {
        match self.value {
            DeValue::Boolean(b) => Some(*b),
            _ => self.must_be("true or false"),
        }
    }

    pub(super) fn number(&self) -> Option<u64> {
        match self.value {
            DeValue::Integer(i) => match u64::from_str_radix(i.as_str(), i.radix()) {
                Ok(n) => Some(n),
                Err(_) => self.must_be("a number that is not negative"),
            },
            _ => self.must_be("a number that is not negative"),
        }
    }

    /// A list of texts, or one text.
    pub(super) fn strings(&self) -> Option<Vec<String>> {
        match self.value {
            DeValue::String(s) => Some(vec![s.to_string()]),
            DeValue::Array(all) => {
                let text = |v: &Spanned<DeValue<'t>>| match v.get_ref() {
                    DeValue::String(s) => Some(s.to_string()),
                    _ => None,
                };
                match all.iter().map(text).collect::<Option<Vec<_>>>() {
                    Some(all) => Some(all),
                    None => self.must_be("a list of texts"),
                }
            }
            _ => self.must_be("a text, or a list of texts"),
        }
    }

    /// A list of tables.
    pub(super) fn tables(&self) -> Option<Vec<(usize, Vec<Item<'d, 't>>)>> {
        let DeValue::Array(all) = self.value else { return self.must_be("a list of tables") };
        let table = |v: &'d Spanned<DeValue<'t>>| match v.get_ref() {
            DeValue::Table(t) => Some((v.span().start, self.text.items(t))),
            _ => None,
        };
        match all.iter().map(table).collect::<Option<Vec<_>>>() {
            Some(all) => Some(all),
            None => self.must_be("a list of tables"),
        }
    }

    /// A value as a fact shows it.
    pub(super) fn shown(&self) -> Option<String> {
        shown(self.value)
    }
}

/// A plain value as text; `None`: it is a list, a table or a date.
pub(super) fn shown(value: &DeValue<'_>) -> Option<String> {
    Some(match value {
        DeValue::String(s) => s.to_string(),
        DeValue::Integer(i) => i128::from_str_radix(i.as_str(), i.radix()).ok()?.to_string(),
        DeValue::Float(f) => f.as_str().to_owned(),
        DeValue::Boolean(b) => b.to_string(),
        DeValue::Array(_) | DeValue::Table(_) | DeValue::Datetime(_) => return None,
    })
}

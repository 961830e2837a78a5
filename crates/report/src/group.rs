//! Groups answers that say the same about many subjects.

use crate::compact;
use linerate_formats::pci::Bdf;
use linerate_rules::{Severity, Status, Verdict};
use std::collections::HashMap;
use std::hash::Hash;

/// Members written in braces before the rest becomes a number.
const SET: usize = 8;

/// Answers of one rule that differ in their subject and in at most one word of the message.
pub(crate) struct Group<'a> {
    pub(crate) verdicts: Vec<&'a Verdict>,
    words: Vec<&'a str>,
    /// The word that differs, and its values.
    differs: Option<(usize, Vec<&'a str>)>,
}

/// Rule, status, severity and shape of the message: what members of a group share at least.
type Key<'a> = (&'static str, Status, Severity, Vec<&'a str>);

impl<'a> Group<'a> {
    fn of(v: &'a Verdict, words: Vec<&'a str>) -> Self {
        Group { verdicts: vec![v], words, differs: None }
    }

    /// Takes the answer in, if it differs in no second word.
    fn admit(&mut self, v: &'a Verdict, words: &[&'a str]) -> bool {
        let mut found = None;
        for (i, (mine, other)) in self.words.iter().zip(words).enumerate() {
            if mine != other && found.replace(i).is_some() {
                return false;
            }
        }
        match (found, &mut self.differs) {
            (None, None) => {}
            (None, Some((at, values))) => values.extend(words.get(*at)),
            (Some(i), Some((at, values))) if i == *at => values.extend(words.get(i)),
            (Some(_), Some(_)) => return false,
            (Some(i), none) => *none = Some((i, self.words.get(i).into_iter().chain(words.get(i)).copied().collect())),
        }
        self.verdicts.push(v);
        true
    }

    pub(crate) fn first(&self) -> &'a Verdict {
        // Built from one answer, never emptied.
        self.verdicts[0]
    }

    /// The message, the word that differs as a set.
    pub(crate) fn message(&self) -> String {
        let Some((at, values)) = &self.differs else { return self.first().finding.message.clone().into_owned() };
        let set = set(values);
        self.words
            .iter()
            .enumerate()
            .map(|(i, w)| if i == *at { set.as_str() } else { w })
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Subjects in short.
    pub(crate) fn subjects(&self, max: usize) -> String {
        compact::subjects(self.verdicts.iter().map(|v| &v.finding.subject), max)
    }

    /// `8 × 0000:{…}:00.0`, or the one subject; empty for the node as a whole.
    pub(crate) fn about(&self, max: usize) -> String {
        match self.verdicts.as_slice() {
            [one] if one.finding.subject == linerate_rules::Subject::Node => String::new(),
            [one] => one.finding.subject.to_string(),
            all => format!("{} × {}", all.len(), self.subjects(max)),
        }
    }
}

/// The values in short; punctuation that all of them end with stays outside.
fn set(values: &[&str]) -> String {
    let last = values.first().and_then(|v| v.chars().last()).filter(|c| matches!(c, ':' | ',' | ';' | ')' | '.'));
    if let Some(c) = last {
        let bare: Vec<&str> = values.iter().filter_map(|v| v.strip_suffix(c)).collect();
        if bare.len() == values.len() && bare.iter().all(|v| !v.is_empty()) {
            return set(&bare) + c.encode_utf8(&mut [0; 4]);
        }
    }
    let addresses: Vec<Bdf> = values.iter().filter_map(|v| v.parse().ok()).collect();
    if addresses.len() == values.len() {
        return compact::bdfs(addresses, SET);
    }
    compact::names(values.iter().map(|v| (*v).to_owned()).collect(), SET)
}

/// Groups, in the order of their first members.
pub(crate) fn group<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut by_key: HashMap<Key<'a>, Vec<usize>> = HashMap::new();
    for v in verdicts {
        let words: Vec<&str> = v.finding.message.split(' ').collect();
        // Only words with a digit may differ: a number, an address, a name with a number.
        let shape = words.iter().map(|w| if w.bytes().any(|b| b.is_ascii_digit()) { "#" } else { w }).collect();
        let key = (v.rule.id, v.finding.status, v.severity(), shape);
        let same = by_key.entry(key).or_default();
        if !same.iter().any(|g| groups.get_mut(*g).is_some_and(|g| g.admit(v, &words))) {
            same.push(groups.len());
            groups.push(Group::of(v, words));
        }
    }
    groups
}

/// Groups of one rule and severity: one entry of a report, whatever the messages.
pub(crate) fn bundle<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> Vec<Vec<Group<'a>>> {
    let keyed = group(verdicts).into_iter().map(|g| ((g.first().rule.id, g.first().severity()), g));
    alike(keyed).into_iter().map(|(_, groups)| groups).collect()
}

/// Members by what they have in common, in the order of their first members.
pub(crate) fn alike<K: Clone + Eq + Hash, T>(keyed: impl IntoIterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    for (key, member) in keyed {
        let place = *places.entry(key).or_insert_with_key(|key| {
            groups.push((key.clone(), Vec::new()));
            groups.len() - 1
        });
        if let Some((_, members)) = groups.get_mut(place) {
            members.push(member);
        }
    }
    groups
}

//! Secrets stay out of runs: every text that a reader took from a tool's output passes the net before the run has a name. A name made of
//! content that held one would change when the secret is removed.

use super::Imported;
use crate::model::{Label, Param, Run, Unit};
use linerate_snapshot::{setting, without_secrets, without_secrets_named as named};
use smol_str::SmolStr;
use std::borrow::Cow;
use std::collections::HashMap;

/// Parameters with this prefix are variables of the environment.
const ENVIRONMENT: &str = "env.";

/// Removes the secrets of everything that was found.
pub(super) fn clean(found: &mut Imported) {
    found.runs.iter_mut().for_each(remove_secrets);
    for r in &mut found.refused {
        text(&mut r.source);
        text(&mut r.why);
    }
}

/// Removes the secrets of a run: of its program, parameters, hosts, metrics, labels, faults, notes and source. What was removed before
/// is left as it is. Values that differ stay different: the second secret of a run is `[redacted]-2`.
pub fn remove_secrets(run: &mut Run) {
    let mut seen = Seen::default();
    for word in [&mut run.tool, &mut run.version].into_iter().flatten() {
        seen.word(word);
    }
    run.hosts.iter_mut().for_each(|h| seen.word(h));
    if run.params.iter().any(|(k, v)| param(k, v).is_some() || !is_plain(k) && without_secrets(k) != k.as_str()) {
        let all = std::mem::take(&mut run.params);
        run.params.extend(all.into_iter().map(|(mut key, value)| {
            let value = param(&key, &value).map_or(value, |new| Param::Text(new.into()));
            seen.word(&mut key);
            (key, value)
        }));
    }
    for s in &mut run.series {
        seen.word(&mut s.metric.name);
        if let Unit::Other(name) = &mut s.metric.unit {
            seen.word(name);
        }
        s.labels.iter_mut().for_each(|l| seen.label(l));
    }
    run.faults.iter_mut().for_each(|f| text(&mut f.what));
    run.notes.iter_mut().for_each(|n| text(&mut n.what));
    text(&mut run.source.name);
}

/// What a parameter's value becomes; `None` if it stays.
fn param(key: &str, value: &Param) -> Option<String> {
    let (Param::Text(_) | Param::Int(_)) = value else { return None };
    let old = value.to_string();
    let new = match key.strip_prefix(ENVIRONMENT) {
        Some(variable) => Cow::Borrowed(setting(variable, &old)),
        None => named(key, &old),
    };
    (new != old.as_str()).then(|| new.into_owned())
}

fn text(text: &mut String) {
    if let Cow::Owned(new) = without_secrets(text) {
        *text = new;
    }
}

/// Whether it is too short, or too plain, for the net to find anything: most words of a run are.
fn is_plain(word: &str) -> bool {
    word.len() < 8
        || word.len() < 20 && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
}

/// What was hidden, by what it became.
#[derive(Default)]
struct Seen(HashMap<String, HashMap<SmolStr, usize>>);

impl Seen {
    fn word(&mut self, word: &mut SmolStr) {
        if !is_plain(word)
            && let Cow::Owned(new) = without_secrets(word)
        {
            *word = self.numbered(word, new);
        }
    }

    fn label(&mut self, label: &mut Label) {
        let new = match named(&label.key, &label.value) {
            new if new == label.value.as_str() => None,
            new => Some(new.into_owned()),
        };
        if let Some(new) = new {
            label.value = self.numbered(&label.value, new);
        }
        self.word(&mut label.key);
    }

    /// What replaces a word, with a number where other words became the same.
    fn numbered(&mut self, old: &SmolStr, new: String) -> SmolStr {
        let all = self.0.entry(new.clone()).or_default();
        let next = all.len() + 1;
        match *all.entry(old.clone()).or_insert(next) {
            1 => new.into(),
            n => format!("{new}-{n}").into(),
        }
    }
}

//! What of two answers differs: JSON by its members, without numbers of places; other text by its lines.

use super::Answer;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Members by which an element of a list is known; others are known by their place in it.
const KEYS: &[&str] = &["id", "rule", "subject", "name", "fact", "cause"];
/// A sample is cut after so many characters.
const WIDE: usize = 160;

/// How often each place differed, and of which inputs.
#[derive(Debug, Default)]
pub(super) struct Changes(BTreeMap<String, Vec<String>>);

impl Changes {
    /// Adds what two answers on one input differ in.
    pub(super) fn add(&mut self, input: &str, json: bool, old: &Answer, new: &Answer) {
        let mut add = |place: String, what: String| self.0.entry(place).or_default().push(format!("{input}: {what}"));
        if old.0 != new.0 {
            let name = |code: Option<i32>| code.map_or_else(|| "killed".to_owned(), |c| c.to_string());
            add(format!("exit code {} -> {}", name(old.0), name(new.0)), first(&new.2));
        }
        if old.2 != new.2 {
            add("standard error".to_owned(), format!("{} -> {}", first(&old.2), first(&new.2)));
        }
        if old.1 == new.1 {
            return;
        }
        let parse = |text: &str| serde_json::from_str::<Value>(text).ok().filter(|_| json);
        let Some((a, b)) = parse(&old.1).zip(parse(&new.1)) else {
            let (a, b) = (counted(old.1.lines()), counted(new.1.lines()));
            let gone = a.iter().find(|(line, n)| b.get(*line) != Some(n)).map_or("", |x| x.0);
            let come = b.iter().find(|(line, n)| a.get(*line) != Some(n)).map_or("", |x| x.0);
            add("text".to_owned(), format!("{gone} -> {come}"));
            return;
        };
        let (mut was, mut is) = (BTreeMap::new(), BTreeMap::new());
        flat(&a, String::new(), String::new(), &mut was);
        flat(&b, String::new(), String::new(), &mut is);
        if was == is {
            add("order of members".to_owned(), String::new());
        }
        for (at, (place, value)) in &was {
            match is.get(at) {
                None => add(format!("- {place}"), value.clone()),
                Some((_, now)) if now != value => add(format!("~ {place}"), format!("{at}: {value} -> {now}")),
                Some(_) => {}
            }
        }
        for (place, value) in is.iter().filter(|(at, _)| !was.contains_key(*at)).map(|x| x.1) {
            add(format!("+ {place}"), value.clone());
        }
    }

    /// Each place with its count, the most frequent first, and samples.
    pub(super) fn shown(&self, samples: usize) -> String {
        let mut places: Vec<_> = self.0.iter().collect();
        places.sort_by_key(|(_, all)| std::cmp::Reverse(all.len()));
        let mut out = String::new();
        for (place, all) in places {
            let _ = writeln!(out, "{:>8}  {place}", all.len());
            for sample in all.iter().step_by((all.len() / samples.max(1)).max(1)).take(samples) {
                let _ = writeln!(out, "            {}", sample.chars().take(WIDE).collect::<String>());
            }
        }
        out
    }
}

fn first(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

fn counted<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut out = BTreeMap::new();
    for line in lines {
        *out.entry(line).or_default() += 1;
    }
    out
}

/// Every value by its whole path, with the path that has no places of lists and, for verdicts, no subjects.
fn flat(value: &Value, at: String, place: String, to: &mut BTreeMap<String, (String, String)>) {
    match value {
        Value::Object(members) => {
            for (name, v) in members {
                flat(v, format!("{at}.{name}"), format!("{place}.{name}"), to);
            }
        }
        Value::Array(items) => {
            let mut seen: BTreeMap<String, usize> = BTreeMap::new();
            for item in items {
                let words = |key: &&str| item.get(*key).and_then(Value::as_str);
                let key = KEYS.iter().filter_map(words).collect::<Vec<_>>().join(" ");
                let n = seen.entry(key.clone()).or_default();
                flat(item, format!("{at}[{key}#{n}]"), format!("{place}[]"), to);
                *n += 1;
            }
        }
        leaf => {
            to.insert(at, (place, leaf.to_string()));
        }
    }
}

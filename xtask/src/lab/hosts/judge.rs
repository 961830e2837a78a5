//! What the tool said, beside what was done to the hosts.

use super::super::Result;
use super::faults::Sick;
use super::fleet::Host;
use serde_json::Value;
use std::collections::BTreeSet;

fn list<'v>(of: &'v Value, key: &str) -> Result<&'v [Value]> {
    of.get(key).and_then(Value::as_array).map(Vec::as_slice).ok_or_else(|| format!("no list {key:?} in {of}"))
}

fn text<'v>(of: &'v Value, key: &str) -> &'v str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The names of a folded set: `gpu005`, `gpu[001-003,007]`, `a,b[1-2]`. The hosts' names have three digits.
fn unfolded(set: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let (mut depth, mut parts, mut part) = (false, Vec::new(), String::new());
    for c in set.chars() {
        match c {
            '[' => depth = true,
            ']' => depth = false,
            ',' if !depth => parts.push(std::mem::take(&mut part)),
            _ => {}
        }
        if c != ',' || depth {
            part.push(c);
        }
    }
    parts.push(part);
    for part in parts.iter().filter(|p| !p.is_empty()) {
        let Some((prefix, ranges)) = part.split_once('[') else {
            out.insert(part.clone());
            continue;
        };
        for range in ranges.trim_end_matches(']').split(',') {
            let (from, to) = range.split_once('-').unwrap_or((range, range));
            let width = from.len();
            for n in from.parse::<u32>().unwrap_or(1)..=to.parse().unwrap_or(0) {
                out.insert(format!("{prefix}{n:0width$}"));
            }
        }
    }
    out
}

/// Every host, as root.
pub(super) fn collected(said: &Value, hosts: &[Host]) -> Result<()> {
    let nodes = list(said, "nodes")?;
    let got = nodes.iter().filter(|n| n.get("root").and_then(Value::as_bool) == Some(true)).count();
    if got == hosts.len() {
        Ok(())
    } else {
        Err(format!("{got} of {} hosts were collected as root: {said:#}", hosts.len()))
    }
}

/// What differs: who, which fact, its value.
type Difference = (String, String, String);

/// What `drift` says of whom.
pub(in super::super) fn differences(said: &Value) -> Result<BTreeSet<Difference>> {
    let mut found: BTreeSet<Difference> = BTreeSet::new();
    for class in list(said, "classes")? {
        for fact in list(class, "facts")? {
            // The first value is the norm's.
            for value in list(fact, "values")?.iter().skip(1) {
                let shown = value.get("value").and_then(Value::as_str).unwrap_or_else(|| text(value, "state"));
                for node in unfolded(text(value, "nodes")) {
                    found.insert((node, text(fact, "fact").to_owned(), shown.to_owned()));
                }
            }
        }
    }
    Ok(found)
}

/// Of the sick hosts all that was done to them, and of nobody else anything.
pub(super) fn drift(said: &Value, sick: &[Sick]) -> Result<()> {
    compare("drift", &differences(said)?, sick)
}

/// Expectations fail on the sick hosts for what was done to them, and on nobody else.
pub(super) fn policy(said: &Value, hosts: &[Host], sick: &[Sick]) -> Result<()> {
    let nodes = list(said, "nodes")?;
    if nodes.len() != hosts.len() {
        return Err(format!("policy check has {} nodes of {}", nodes.len(), hosts.len()));
    }
    let mut found: BTreeSet<Difference> = BTreeSet::new();
    for group in list(said, "failing")? {
        for node in list(group, "nodes")? {
            let node = node.as_str().unwrap_or_else(|| text(node, "node"));
            found.insert((node.to_owned(), text(group, "fact").to_owned(), text(group, "seen").to_owned()));
        }
    }
    compare("policy check", &found, sick)
}

fn compare(who: &str, found: &BTreeSet<Difference>, sick: &[Sick]) -> Result<()> {
    let of = |s: &Sick| {
        let all = std::iter::once((s.fact.clone(), s.value.clone())).chain(s.follows.clone());
        all.map(|(fact, value)| (s.host.clone(), fact, value)).collect::<Vec<_>>()
    };
    let done: BTreeSet<Difference> = sick.iter().flat_map(of).collect();
    let missed: Vec<_> = done.difference(found).collect();
    let wrong: Vec<_> = found.difference(&done).collect();
    if missed.is_empty() && wrong.is_empty() {
        let said = if found.is_empty() {
            "no difference".to_owned()
        } else {
            format!("{} differences, those that were made and no others", found.len())
        };
        println!("  {who}: {said}");
        return Ok(());
    }
    Err(format!("{who} does not say {missed:?}, and says {wrong:?}, which was not done"))
}

/// Every step is effective, nothing is the worse for it, and nothing else changed.
pub(super) fn proven(said: &Value, host: &str) -> Result<()> {
    let steps = list(said, "steps")?;
    let effective = steps.iter().filter(|s| text(s, "outcome") == "effective").count();
    let beside = list(said, "outside")?.len() + list(said, "regressed")?.len();
    if said.get("proven").and_then(Value::as_bool) != Some(true)
        || steps.is_empty()
        || effective != steps.len()
        || beside != 0
    {
        return Err(format!(
            "{host} is not proven: {effective} of {} steps effective, {beside} changes beside: {said:#}",
            steps.len()
        ));
    }
    println!("  {host}: {effective} steps, each effective when read again, and nothing else changed");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_unfolded() {
        let names = |set: &str| unfolded(set).into_iter().collect::<Vec<_>>();
        assert_eq!(names("gpu005"), ["gpu005"]);
        assert_eq!(names("gpu[001-003,007]"), ["gpu001", "gpu002", "gpu003", "gpu007"]);
        assert_eq!(names("a,gpu[09-10]"), ["a", "gpu09", "gpu10"]);
        assert!(names("").is_empty());
    }
}

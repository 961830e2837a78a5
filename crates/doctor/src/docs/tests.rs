//! What the texts name exists.

use super::symptoms;
use crate::causes::causes;
use std::collections::BTreeSet;

fn ids_of_causes() -> BTreeSet<&'static str> {
    causes().map(|c| c.id).collect()
}

/// Words that look like `area/slug`.
fn ids(text: &str) -> impl Iterator<Item = &str> {
    let part = |p: &str| !p.is_empty() && p.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    text.split(|c: char| c.is_whitespace() || "`',;:()".contains(c))
        .map(|w| w.trim_end_matches('.'))
        .filter(move |w| w.split_once('/').is_some_and(|(area, slug)| part(area) && part(slug)))
}

#[test]
fn rules_causes_and_symptoms_that_are_named_exist() {
    let (causes, known) = (ids_of_causes(), symptoms().iter().map(|s| s.id).collect::<BTreeSet<_>>());
    let mut named = BTreeSet::new();
    for s in symptoms() {
        for id in ids(s.docs) {
            let rule = linerate_rules::find(id).is_some();
            assert!(rule || causes.contains(id) || known.contains(id), "{}: {id}", s.id);
            named.insert(id);
        }
        // Each leads to a command, and to something that it is not.
        assert!(s.docs.contains("`linerate doctor ") && s.docs.contains("linerate audit --rule "), "{}", s.id);
        assert!(s.docs.contains("## What you see\n") && s.docs.contains("## What it is not\n"), "{}", s.id);
    }
    assert!(named.len() > 60, "{}", named.len());
}

#[test]
fn patterns_of_rules_match_some() {
    for s in symptoms() {
        let flat = s.docs.split_whitespace().collect::<Vec<_>>().join(" ");
        for after in flat.split("--rule ").skip(1) {
            let pattern = after.split([' ', '`']).next().unwrap_or_default().trim_matches('\'');
            let some = linerate_rules::rules().iter().any(|r| match pattern.strip_suffix('*') {
                Some(head) => r.id.starts_with(head),
                None => r.id == pattern,
            });
            assert!(some, "{}: {pattern}", s.id);
        }
    }
}

#[test]
fn ids_are_of_one_thing_each() {
    let mut all = BTreeSet::new();
    let rules = linerate_rules::rules().iter().map(|r| r.id);
    for id in rules.chain(ids_of_causes()).chain(symptoms().iter().map(|s| s.id)) {
        assert!(all.insert(id), "{id} is two things");
    }
}

#[test]
fn causes_name_rules_that_exist() {
    for c in causes() {
        for r in c.rules {
            assert!(linerate_rules::find(r).is_some(), "{}: {r}", c.id);
        }
    }
}

#[test]
fn pages_of_causes_are_whole() {
    let known = ids_of_causes();
    for c in causes() {
        for text in [c.what, c.why] {
            assert!(text.ends_with('.') && !text.contains("  "), "{}: {text}", c.id);
        }
        for list in [c.shows, c.confirm] {
            assert!(!list.is_empty() && list.iter().all(|l| !l.is_empty() && !l.contains("  ")), "{}: {list:?}", c.id);
        }
        assert!(!c.sources.is_empty() && !c.remedy.remedy().summary.is_empty(), "{}", c.id);
        for id in c.follows {
            assert!(known.contains(id) && *id != c.id, "{} follows {id}", c.id);
        }
    }
    // Each area is in one piece, so that its list is its folder's.
    let mut areas: Vec<&str> = causes().map(|c| c.area()).collect();
    areas.dedup();
    assert_eq!(areas.len(), areas.iter().collect::<BTreeSet<_>>().len(), "{areas:?}");
    assert_eq!(known.len(), causes().count());
}

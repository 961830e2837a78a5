//! The form of the catalogue.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use linerate_rules::{areas, rules};
use std::collections::BTreeSet;

const SECTIONS: [&str; 4] = ["## What it checks", "## Why it matters", "## See it yourself", "## Fix"];

#[test]
fn ids_are_unique_and_name_their_area() {
    let mut seen = BTreeSet::new();
    for (area, _, list) in areas() {
        for r in *list {
            assert!(seen.insert(r.id), "{} twice", r.id);
            let (own, slug) = r.id.split_once('/').unwrap_or_else(|| panic!("{} has no area", r.id));
            assert_eq!(own, *area, "{}", r.id);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(!slug.is_empty() && slug.chars().all(plain), "{}", r.id);
            assert_eq!(r.area(), *area);
        }
    }
    assert_eq!(seen.len(), rules().len());
}

#[test]
fn every_rule_is_documented_and_sourced() {
    for r in rules() {
        let mut at = 0;
        for section in SECTIONS {
            let found = r.docs.find(section).unwrap_or_else(|| panic!("{}: no section {section}", r.id));
            assert!(found >= at, "{}: {section} is out of order", r.id);
            at = found + section.len();
            let body = r.docs.get(at..).unwrap_or_default().split("\n## ").next().unwrap_or_default();
            assert!(!body.trim().is_empty(), "{}: {section} is empty", r.id);
        }
        assert!(!r.sources.is_empty(), "{}: no source", r.id);
        for s in r.sources {
            assert!(!s.title.is_empty() && s.at.contains('/'), "{}: {s:?}", r.id);
        }
        assert!(!r.reads.is_empty(), "{}: reads nothing", r.id);
        assert!(!r.title.is_empty() && !r.title.ends_with('.'), "{}: {}", r.id, r.title);
        assert!(!r.effect.text.is_empty(), "{}", r.id);
        for m in r.myths {
            assert!(!m.claim.is_empty() && !m.truth.is_empty(), "{}", r.id);
        }
    }
}

/// The documentation generator and `linerate explain` find the file of a rule by its id.
#[test]
fn every_rule_has_a_file_of_its_name() {
    let src = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for r in rules() {
        let path = src.join(format!("{}.rs", r.id.replace('-', "_")));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(text.contains(&format!("id: \"{}\"", r.id)), "{} does not hold {}", path.display(), r.id);
    }
}

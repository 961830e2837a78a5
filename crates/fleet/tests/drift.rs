//! Many nodes: what was changed on some is found on these, and nothing else.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, outside of test functions

use crate::common;
#[path = "common/inject.rs"]
mod inject;
use crate::losses as lost;

/// Each change of the table once. `cargo run --release -p linerate-fleet --example inject` makes them on many nodes.
#[test]
fn what_was_changed_is_found_and_nothing_else() {
    let cases = inject::cases();
    let odd = u32::try_from(cases.len()).unwrap();
    let done = inject::inject(odd + 8, odd);
    assert!(done.wrong.is_empty(), "{} of {}: {:#?}", done.wrong.len(), done.changes, done.wrong);
    assert_eq!(done.changes + done.moved, cases.len());
    assert!(done.facts.len() >= 100, "{} {:?}", done.facts.len(), done.facts);
}

/// A rate is drift where a rule judges it. Rules also name the rates of ports that are right, as on a node whose NIC has too few lanes for its port:
/// that one is not wrong in its rate.
#[test]
fn what_is_wrong_elsewhere_hides_nothing() {
    let case = |words: &str| inject::cases().into_iter().find(|c| c.patch.contains(words)).unwrap();
    let plan = [None, None, None, Some((case("link_width = 8"), 3)), Some((case("200 Gb/sec"), 3))];
    let done = inject::made(&plan);
    assert!(done.wrong.is_empty(), "{:#?}", done.wrong);
}

//! Many nodes: what was changed on some is found on these, and nothing else.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, outside of test functions

#[path = "../../rules/tests/common/mod.rs"]
mod common;
#[path = "common/inject.rs"]
mod inject;
#[path = "common/lost.rs"]
mod lost;

/// Each change of the table once. `cargo run --profile lab -p linerate-fleet --example inject` makes them on many nodes.
#[test]
fn what_was_changed_is_found_and_nothing_else() {
    let odd = u32::try_from(inject::TABLE.len()).unwrap();
    let done = inject::inject(odd + odd / 4, odd);
    assert!(done.wrong.is_empty(), "{} of {}: {:#?}", done.wrong.len(), done.changes, done.wrong);
    assert_eq!(done.changes, inject::TABLE.len());
    assert!(done.facts.len() >= 24, "{:?}", done.facts);
}

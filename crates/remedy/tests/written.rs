//! Plans that were written before are read, and mean what they meant.
#![allow(clippy::expect_used)]

mod common;

use linerate_remedy::Plan;

/// A plan of version 0.1.0 with acts of all kinds, on one line.
const WRITTEN: &[u8] = include_bytes!("fixtures/plan-0.1.0.json");

#[test]
fn a_plan_that_was_written_before_has_its_digest() {
    let plan = Plan::read(WRITTEN).expect("a plan");
    assert_eq!(plan, common::plan().sealed());
    assert_eq!(serde_json::to_vec(&plan).expect("JSON"), WRITTEN.trim_ascii_end());
}

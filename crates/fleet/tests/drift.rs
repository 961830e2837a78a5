//! Many nodes: what was changed on some is found on these, and nothing else.

#[path = "common/inject.rs"]
mod inject;

/// A few of the changes that `cargo run --profile lab -p linerate-fleet --example inject` makes.
#[test]
fn what_was_changed_is_found_and_nothing_else() {
    let done = inject::inject(40, 8, 3);
    assert!(
        done.wrong.is_empty(),
        "{} of {}: {:#?}",
        done.wrong.len(),
        done.changes,
        &done.wrong[..done.wrong.len().min(20)]
    );
    assert!(
        done.changes >= 20 && done.facts >= 10,
        "{} changes of {} facts, none of {:?}",
        done.changes,
        done.facts,
        done.untouched
    );
}

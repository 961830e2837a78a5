//! Which node the others of a class are compared with.

#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use linerate_fleet::drift::{Head, Members, Options, Reference, Table, drift};
use linerate_fleet::{Identity, Owner, Seen, Traits};

/// Four nodes of one class, of which the first differs; what the reference is, and whose value comes first.
fn compared(references: Vec<Reference>) -> (Option<u32>, Vec<u32>) {
    let mut table = Table::new();
    let group = table.group(&Traits::from("b | c | g | n"), "");
    for n in 0..4 {
        let head = Head { label: format!("n{n}"), identity: Identity::default(), time: 0, incomplete: false };
        let node = table.node(head, group);
        let seen = Seen::Known(if n == 0 { "6.1" } else { "6.8" }.to_owned());
        let cell = table.cell(group, &Owner::Node, "", linerate_fleet::id("kernel.release").unwrap(), &seen);
        table.add(cell, node, None);
    }
    let found = drift(&table, &Options { references });
    let class = &found.classes[0];
    (class.reference, class.facts[0].values[0].members.iter().collect())
}

#[test]
fn one_that_is_right_for_all_of_a_class() {
    let of = |node, nodes: &[u32]| Reference { node, of: Some(nodes.iter().copied().collect::<Members>()) };
    let all = |node| Reference { node, of: None };
    let (first, most) = (vec![0], vec![1, 2, 3]);
    assert_eq!(compared(vec![]), (None, most.clone()));
    assert_eq!(compared(vec![all(0)]), (Some(0), first.clone()));
    // A group's counts where all are in it, and before that of all.
    assert_eq!(compared(vec![of(0, &[0, 1, 2, 3])]), (Some(0), first.clone()));
    assert_eq!(compared(vec![all(1), of(0, &[0, 1, 2, 3])]), (Some(0), first.clone()));
    assert_eq!(compared(vec![of(0, &[0, 1])]), (None, most.clone()));
    assert_eq!(compared(vec![all(1), of(0, &[0, 1])]), (Some(1), most.clone()));
    // Of two of a kind none is right; one that is named twice is one.
    assert_eq!(compared(vec![all(0), all(1)]), (None, most.clone()));
    assert_eq!(compared(vec![of(0, &[0, 1, 2, 3]), of(1, &[0, 1, 2, 3])]), (None, most));
    assert_eq!(compared(vec![all(0), all(0)]), (Some(0), first));
}

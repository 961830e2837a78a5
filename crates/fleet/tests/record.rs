//! Records: what is kept of a snapshot, and that a layout read back aligns as the node itself.

#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use linerate_facts::position::{Positions, align};
use linerate_fleet::class::{Traits, classes};
use linerate_fleet::identity::{Identity, Remark, Sighting, newest, remarks};
use linerate_fleet::{Addresses, Others, Owner, Profile, Record, Seen};
use linerate_node::Node;
use std::path::Path;

fn example(name: &str) -> (Profile, Record) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let bytes = std::fs::read(path).unwrap();
    let snapshot = linerate_snapshot::load_bytes(&bytes, name).unwrap();
    let node = Node::decode(&snapshot);
    let profile = Profile::of(name, &node, &snapshot, linerate_rules::rules());
    let record = Record::of(profile.clone(), &node, &snapshot);
    (profile, record)
}

#[test]
fn a_layout_read_back_is_the_same_machine() {
    for name in ["healthy-8gpu.tar.zst", "sick-8gpu.tar.zst"] {
        let (profile, record) = example(name);
        let back = Positions::from_layout(&record.layout).unwrap();
        assert!(back.seats.len() > 30, "{}", back.seats.len());
        assert_eq!(back.layout(|_| true), record.layout);
        // Each kept seat is paired with itself, by its way.
        let alignment = align(&back, &profile.positions);
        for (seat, to) in back.seats.iter().zip(&alignment.pairs) {
            assert_eq!(seat.role, profile.positions.seats[to.unwrap()].role);
        }
        assert!(!alignment.by_number);
    }
}

#[test]
fn rows_have_owners_of_the_layout_and_answers_of_the_rules_that_read_them() {
    let (profile, record) = example("sick-8gpu.tar.zst");
    let back = Positions::from_layout(&record.layout).unwrap();
    let roles: Vec<String> = back.seats.iter().map(|s| s.role.to_string()).collect();
    for row in &record.rows {
        assert_eq!(Owner::from(row.owner.to_string().as_str()), row.owner);
        if let Owner::Device(role) = &row.owner {
            assert!(roles.iter().any(|r| **r == **role), "{role}");
        }
    }
    let keys: std::collections::BTreeSet<_> =
        record.rows.iter().filter(|r| !r.is_answer()).map(|r| (&r.owner, &r.part, r.id)).collect();
    assert_eq!(keys.len(), record.rows.iter().filter(|r| !r.is_answer()).count(), "each fact once");
    let read = record.rows.iter().filter(|r| !r.is_answer() && r.verdict.is_some()).count();
    let failing = |r: &&linerate_fleet::Row| r.verdict.and_then(|s| s.failing()).is_some();
    let wrong = record.rows.iter().filter(|r| !r.is_answer()).filter(failing).count();
    assert!(read > 100 && wrong > 10, "{read} {wrong} of {}", record.rows.len());
    assert!(
        record
            .rows
            .iter()
            .any(|r| r.id == "kernel.cmdline" && r.part.is_empty() && r.seen == Seen::Known(String::new()))
    );
    assert!(record.rows.len() < 12_000 && record.rows.len() > 2_000, "{}", record.rows.len());
    assert!(profile.things.len() > record.layout.lines().count());
}

#[test]
fn facts_alone_are_the_facts_of_the_whole_record() {
    for name in ["healthy-8gpu.tar.zst", "sick-8gpu.tar.zst"] {
        let (_, whole) = example(name);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
        let snapshot = linerate_snapshot::load_bytes(&std::fs::read(path).unwrap(), name).unwrap();
        assert_eq!(Record::read(name, &snapshot), whole, "the way by a profile");
        let rows = whole.rows.iter().filter(|r| !r.is_answer()).cloned().collect();
        assert_eq!(Record::facts(name, &snapshot), Record { rows, ..whole });
    }
}

fn traits(text: &str) -> Traits {
    Traits::from(text)
}

#[test]
fn a_node_of_which_less_is_known_joins_the_one_class_that_agrees() {
    let cases: &[(&[&str], &[usize])] = &[
        (&["A | c | g | n", "A | c | g | n", "A | c | ? | n"], &[0, 0, 0]),
        (&["A | c | ? | n", "A | c | g | n", "A | c | h | n"], &[0, 1, 2]),
        (&["A | c | g | n", "B | c | g | n", "? | ? | ? | ?"], &[0, 1, 2]),
        (&["? | ? | ? | ?", "? | ? | ? | ?"], &[0, 0]),
        (&["? | ? | g | ?", "? | c | g | ?", "A | c | g | n"], &[2, 2, 2]),
    ];
    for (texts, expected) in cases {
        let all: Vec<Traits> = texts.iter().map(|t| traits(t)).collect();
        let found = classes(&all.iter().collect::<Vec<_>>());
        assert_eq!(found, *expected, "{texts:?}");
        all.iter().zip(*texts).for_each(|(t, text)| assert_eq!(t.to_string(), *text));
    }
}

#[test]
fn names_and_identities_are_told_apart() {
    type Case<'a> = (&'a [(&'a str, &'a str, u64)], &'a [Remark]);
    let cases: &[Case<'_>] = &[
        (&[("a", "m1+s1", 1), ("a", "m1+s1", 2), ("b", "m2+s2", 1)], &[]),
        (&[("a", "?+?", 1), ("b", "?+?", 2)], &[]),
        (
            &[("a", "m1+s1", 1), ("b", "m1+s1", 2)],
            &[Remark::SeveralNames { names: vec!["a".into(), "b".into()], at_once: false }],
        ),
        (
            &[("a", "m1+s1", 1), ("b", "m1+s1", 1)],
            &[Remark::SeveralNames { names: vec!["a".into(), "b".into()], at_once: true }],
        ),
        (
            &[("a", "m1+s1", 1), ("b", "m1+s1", 2), ("a", "m1+s1", 3)],
            &[Remark::SeveralNames { names: vec!["a".into(), "b".into()], at_once: true }],
        ),
        (&[("a", "m1+?", 1), ("b", "m1+?", 2), ("a", "?+s1", 1)], &[]),
        (&[("a", "m1+s1", 1), ("b", "m1+s2", 2)], &[Remark::CopiedMachineId { names: vec!["a".into(), "b".into()] }]),
        (
            &[("a", "m1+s1", 1), ("a", "m2+s1", 2)],
            &[Remark::SeveralInstalls { names: vec!["a".into()], at_once: false }],
        ),
        (
            &[("a", "m1+s1", 1), ("b", "m2+s1", 2), ("a", "m1+s1", 3)],
            &[Remark::SeveralInstalls { names: vec!["a".into(), "b".into()], at_once: true }],
        ),
        (&[("a", "m1+s1", 1), ("a", "m2+s2", 1)], &[Remark::SharedName { name: "a".into(), nodes: 2 }]),
    ];
    for (seen, expected) in cases {
        let ids: Vec<Identity> = seen.iter().map(|(_, id, _)| Identity::from(*id)).collect();
        let none = Addresses::default();
        let all: Vec<Sighting<'_>> = seen
            .iter()
            .zip(&ids)
            .map(|((label, _, time), identity)| Sighting {
                label,
                identity,
                addresses: &none,
                time: *time,
                snapshot: "",
            })
            .collect();
        assert_eq!(remarks(&all), *expected, "{seen:?}");
    }
}

#[test]
fn a_node_with_other_addresses_is_said_where_both_ids_are_known() {
    /// Name, identity, addresses and time of each snapshot, and the name that is said.
    type Case<'a> = (&'a [(&'a str, &'a str, &'a str, u64)], Option<(&'a str, bool)>);
    let cases: &[Case<'_>] = &[
        (&[("a", "m1+s1", "eth0=1", 1), ("a", "m1+s1", "eth0=1", 2)], None),
        (&[("a", "m1+s1", "eth0=1", 2), ("a", "m1+s1", "eth0=2", 1)], Some(("a", false))),
        (&[("a", "m1+s1", "eth0=1", 1), ("b", "m1+s1", "eth0=2", 2)], Some(("b", false))),
        (&[("a", "m1+s1", "eth0=1", 1), ("a", "m1+s1", "eth0=2", 2), ("a", "m1+s1", "eth0=1", 3)], Some(("a", true))),
        // Another machine, half an identity, and nothing shown.
        (&[("a", "m1+s1", "eth0=1", 1), ("a", "m2+s2", "eth0=2", 2)], None),
        (&[("a", "m1+?", "eth0=1", 1), ("a", "m1+?", "eth0=2", 2)], None),
        (&[("a", "m1+s1", "eth0=1", 1), ("a", "m1+s1", "", 2)], None),
    ];
    for (seen, expected) in cases {
        let ids: Vec<(Identity, Addresses)> =
            seen.iter().map(|(_, id, at, _)| (Identity::from(*id), Addresses::from(*at))).collect();
        let all: Vec<Sighting<'_>> = seen
            .iter()
            .zip(&ids)
            .map(|((label, .., time), (identity, addresses))| Sighting {
                label,
                identity,
                addresses,
                time: *time,
                snapshot: "",
            })
            .collect();
        let said = remarks(&all).into_iter().find(|r| matches!(r, Remark::OtherAddresses { .. }));
        let of = Others { hardware: ["eth0".to_owned()].into(), ..Others::default() };
        let expected =
            expected.map(|(name, came_back)| Remark::OtherAddresses { name: name.to_owned(), of, came_back });
        assert_eq!(said, expected, "{seen:?}");
    }
}

#[test]
fn each_node_counts_once() {
    /// Name, identity and time of each snapshot, and the places of those that count.
    type Case<'a> = (&'a [(&'a str, &'a str, u64)], &'a [usize]);
    let cases: &[Case<'_>] = &[
        // A copied image: half an identity tells nothing apart.
        (&[("a", "m1+?", 1), ("b", "m1+?", 2), ("c", "?+s1", 1), ("d", "?+s1", 2)], &[0, 1, 2, 3]),
        // Installed anew, whatever is known.
        (&[("a", "m1+?", 1), ("a", "m2+?", 2)], &[1]),
        (&[("a", "m1+s1", 2), ("a", "m2+s1", 1)], &[0]),
        (&[("a", "?+?", 1), ("a", "m2+s1", 2), ("a", "?+?", 3)], &[2]),
        // Renamed, and another node that has the name now.
        (&[("a", "m1+s1", 1), ("b", "m1+s1", 2)], &[1]),
        (&[("a", "m1+s1", 1), ("b", "m1+s1", 2), ("a", "m2+s2", 3)], &[1, 2]),
        // Two nodes that changed their names.
        (&[("a", "m1+s1", 1), ("b", "m2+s2", 1), ("a", "m2+s2", 2), ("b", "m1+s1", 2)], &[2, 3]),
        // Of one time the later path counts.
        (&[("a", "m1+s1", 1), ("a", "m1+s1", 1)], &[1]),
    ];
    for (seen, expected) in cases {
        let ids: Vec<Identity> = seen.iter().map(|(_, id, _)| Identity::from(*id)).collect();
        let none = Addresses::default();
        let paths: Vec<String> = (0..seen.len()).map(|n| n.to_string()).collect();
        let all: Vec<Sighting<'_>> = seen
            .iter()
            .zip(ids.iter().zip(&paths))
            .map(|((label, _, time), (identity, snapshot))| Sighting {
                label,
                identity,
                addresses: &none,
                time: *time,
                snapshot,
            })
            .collect();
        assert_eq!(newest(&all).into_iter().collect::<Vec<_>>(), *expected, "{seen:?}");
    }
}

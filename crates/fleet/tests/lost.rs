//! A node that lacks a device: one difference, which says so, and ranks before what is merely set otherwise.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // helpers of tests, outside of test functions

use crate::common;
use crate::losses as lost;

use linerate_fleet::diff::diff;
use linerate_fleet::drift::{Drift, Options, Reference, Table, drift};
use linerate_fleet::policy::{self, Lessons, Policy};
use linerate_fleet::{Profile, Record, Status, Traits};
use linerate_node::Node;
use linerate_snapshot::Snapshot;

type Layout = &'static [(&'static str, &'static str)];

fn snapshot(seed: u32, layout: Layout, patch: &str, without: &[&str]) -> Snapshot {
    let mut tree = lost::tree_of(seed, layout, patch);
    without.iter().for_each(|address| lost::lose(&mut tree, address));
    common::snapshot(&tree, &format!("n{seed}"))
}

fn profile(s: &Snapshot) -> Profile {
    Profile::of(&s.label, &Node::decode(s), s, linerate_rules::rules())
}

/// What differs, as `severity | at | part | fact`.
fn rows(d: &Drift) -> Vec<String> {
    let at = |o: &linerate_fleet::Owner| o.to_string();
    let row = |o: &linerate_fleet::drift::Odd| format!("{:?} | {} | {} | {}", o.severity, at(&o.owner), o.part, o.id);
    d.classes.iter().flat_map(|c| &c.facts).map(row).collect()
}

fn drifted(good: &[Record], odd: &Record, by_odd: bool) -> Drift {
    let mut table = Table::new();
    good.iter().chain([odd]).for_each(|r| table.record(r));
    let references = by_odd.then_some(Reference { node: good.len() as u32, of: None });
    drift(&table, &Options { references: references.into_iter().collect() })
}

fn records(layout: Layout) -> Vec<Record> {
    (1..4).map(|seed| snapshot(seed, layout, "", &[])).map(|s| Record::read(&s.label, &s)).collect()
}

/// One NIC for each two GPUs, so that these are nearest to another one's NIC where theirs is lost; and groups of all that is below a root port.
const FEW_NICS: Layout = &[("nics_per_switch = 2", "nics_per_switch = 1"), ("\"per-function\"", "\"per-root-port\"")];

fn lost_one_by_one(layout: Layout, nics: usize, cases: &[(&[&str], &[&str])]) {
    let (tree, good) = (lost::tree_of(1, layout, ""), records(layout));
    let kinds = [("0x10de", "0x2330", "gpu", 8), ("0x15b3", "0x1021", "nic", nics), ("0x10de", "0x22a3", "switch", 4)];
    let mut named = std::collections::BTreeMap::new();
    for (vendor, device, name, number) in kinds {
        let all = lost::addresses(&tree, vendor, device);
        assert_eq!(all.len(), number, "{name}");
        named.extend(all.into_iter().enumerate().map(|(i, address)| (format!("{name}{i}"), address)));
    }
    let whole = profile(&common::snapshot(&tree, "whole"));
    for (without, wanted) in cases {
        let addresses: Vec<&str> = without.iter().map(|name| named[*name].as_str()).collect();
        let odd = snapshot(9, layout, "", &addresses);
        let record = Record::read("odd", &odd);
        for by_odd in [false, true] {
            let found = drifted(&good, &record, by_odd);
            assert_eq!(found.classes.len(), 1);
            let (first, severity) = if by_odd { ("NotListed", "None") } else { ("Present", "Some(High)") };
            let wanted: Vec<String> = wanted.iter().map(|role| format!("{severity} | {role} |  | pci")).collect();
            assert_eq!(rows(&found), wanted, "{without:?} {by_odd}");
            assert_eq!(format!("{:?}", found.classes[0].facts[0].values[0].value), first);
        }
        let odd = profile(&odd);
        for (a, b) in [(&whole, &odd), (&odd, &whole)] {
            let row = |d: &linerate_fleet::diff::Difference| {
                let role = d.role.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{:?} | {role} | {} | {}", d.severity(), d.part, d.what.id())
            };
            let wanted: Vec<String> = wanted.iter().map(|role| format!("Some(High) | {role} |  | pci")).collect();
            assert_eq!(diff(a, b).differences.iter().map(row).collect::<Vec<_>>(), wanted, "{without:?}");
        }
    }
}

#[test]
fn one_lost_device_is_one_difference() {
    lost_one_by_one(
        &[],
        8,
        &[
            (&["gpu3"], &["GPU 3"]),
            (&["nic0"], &["rail 0 NIC"]),
            (&["switch1"], &["NVSwitch 1"]),
            (&["gpu0", "nic1"], &["GPU 0", "rail 1 NIC"]),
        ],
    );
}

#[test]
fn a_gpu_that_is_nearest_to_another_nic_now_is_no_difference() {
    lost_one_by_one(
        FEW_NICS,
        4,
        &[(&["nic0"], &["rail 0 NIC"]), (&["nic2"], &["rail 2 NIC"]), (&["gpu1"], &["GPU 1"])],
    );
}

/// What differs beside a lost device is still found, by the names that most nodes have, and ranks behind it.
#[test]
fn what_else_differs_is_found_beside_a_lost_device() {
    let nics = lost::addresses(&lost::tree(1, ""), "0x15b3", "0x1021");
    let odd = snapshot(9, &[], "[pci.nic3]\nmrrs = 512\n[net.ib2]\nmtu = 2044", &[&nics[0]]);
    let found = drifted(&records(&[]), &Record::read("odd", &odd), false);
    let rows = rows(&found);
    assert_eq!(rows.len(), 3, "{rows:#?}");
    assert_eq!(rows[0], "Some(High) | rail 0 NIC |  | pci");
    for wanted in ["| rail 3 NIC |  | pci.express.max_read_request", "| rail 2 NIC |  | net.mtu"] {
        assert!(rows.iter().any(|r| r.ends_with(wanted)), "{rows:#?}");
    }
}

/// A node without a device, held to what nodes with all of them taught: what fails, by id, and what cannot be told.
fn held(policy: &Policy, odd: &Snapshot) -> (Vec<String>, Vec<String>) {
    let node = Node::decode(odd);
    let profile = Profile::of("odd", &node, odd, &[]);
    let checked = policy::check(policy, &profile, &Traits::of(&node), None);
    let of = |status| {
        let all = checked.answers.iter().filter(move |a| a.status == status);
        all.map(|a| {
            let id = a.kind.about().id.split_once('.').map_or("", |(_, rest)| rest);
            format!("{} {id}: {:?}", a.kind.about().severity, a.seen)
        })
        .collect()
    };
    (of(Status::Fail), of(Status::Unknown))
}

#[test]
fn a_policy_finds_a_lost_device_once_and_does_not_blame_the_others() {
    for layout in [&[][..], FEW_NICS] {
        let mut lessons = Lessons::default();
        for s in [snapshot(1, layout, "", &[]), snapshot(2, layout, "", &[])] {
            lessons.add(&s.label, &profile(&s), &Traits::of(&Node::decode(&s)));
        }
        let learnt = lessons.learn("test").policy;
        let text = policy::write(&learnt);
        assert!(text.contains(".seats]\n\"GPU 0\" = \""));
        let learnt = policy::read(&text).unwrap_or_else(|m| panic!("{m:?}"));
        let mut placeless = learnt.clone();
        placeless.classes.iter_mut().for_each(|c| c.seats.clear());
        let tree = lost::tree_of(1, layout, "");
        let (gpus, nics) = (lost::addresses(&tree, "0x10de", "0x2330"), lost::addresses(&tree, "0x15b3", "0x1021"));
        for (address, number, role, rest) in
            [(&nics[0], "rail-nic", "rail 0 NIC", nics.len() - 1), (&gpus[3], "gpu", "GPU 3", 7)]
        {
            let odd = snapshot(9, layout, "", &[address]);
            let (fails, unknown) = held(&learnt, &odd);
            assert_eq!(fails, [format!("high {number}.number: Value(\"{rest} (missing: {role})\")")]);
            assert!(
                unknown.iter().all(|u| u.contains(role) && u.contains("missing") || u.contains("a NIC is missing")),
                "{unknown:#?}"
            );
            assert!(unknown.len() <= 6, "{unknown:#?}");
            // Without places: which one it is cannot be told, and nothing is said of the others by their numbers.
            let (fails, unknown) = held(&placeless, &odd);
            assert_eq!(fails, [format!("high {number}.number: Value(\"{rest}\")")]);
            assert!(unknown.iter().all(|u| u.contains("is missing")) && !unknown.is_empty(), "{unknown:#?}");
        }
        // Something else that is wrong is found where it is, by the policy's names.
        let odd = snapshot(9, layout, "[pci.nic3]\nnuma_node = 0\nmrrs = 512", &[&nics[0]]);
        let node = Node::decode(&odd);
        let checked = policy::check(&learnt, &Profile::of("odd", &node, &odd, &[]), &Traits::of(&node), None);
        let mrrs =
            |a: &&policy::Answer<'_>| a.status == Status::Fail && a.kind.subject() == "pci.express.max_read_request";
        let owners: Vec<_> = checked.answers.iter().filter(mrrs).map(|a| format!("{:?}", a.owner)).collect();
        assert!(owners.len() == 1 && owners[0].contains("Device(RailNic, 3)"), "{owners:?}");
    }
}

/// Without a number of devices in the policy, one that it names and that is not there is a finding still.
#[test]
fn a_device_that_is_named_and_not_there_fails() {
    let policy = policy::read(
        "schema = \"linerate.policy/1\"\n[class.a.on.\"rail 7 NIC\"]\n\"net.mtu\" = 4092\n[class.a.on.\"GPU *\"]\n\"pci.driver\" = \"nvidia\"\n",
    )
    .unwrap_or_else(|m| panic!("{m:?}"));
    let nics = lost::addresses(&lost::tree(1, ""), "0x15b3", "0x1021");
    let (fails, unknown) = held(&policy, &snapshot(9, &[], "", &[&nics[0]]));
    assert_eq!((fails, unknown), (vec!["medium rail-7-nic.net.mtu: NoDevice".to_owned()], Vec::new()));
}

//! Drift of composed nodes with known changes, from an index: what it says is what the records say, and what was changed.

#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

#[path = "../../rules/tests/common/mod.rs"]
mod common;
#[path = "../../fleet/tests/common/inject.rs"]
mod inject;
#[path = "../../fleet/tests/common/lost.rs"]
mod lost;

use linerate_fleet::drift::{Options, Table, drift};
use linerate_gather::index::{FileId, Index, NAME, When, Writer};

/// One change in four of the table.
const STEP: usize = 4;

/// All that `drift` says, with the labels of the nodes: an index has them in an order of its own.
fn said(table: &Table) -> Vec<String> {
    let labels: Vec<&str> = table.heads().map(|h| h.label.as_str()).collect();
    let mut out = Vec::new();
    for class in drift(table, &Options::default()).classes {
        out.push(format!("{} {} {} {:?}", class.traits, class.compared, class.moved, class.own));
        for odd in class.facts {
            let shown = odd.values.iter().map(|v| {
                let mut members: Vec<&str> = v.members.iter().filter_map(|n| labels.get(n as usize).copied()).collect();
                members.sort_unstable();
                format!("{:?} {:?} {members:?}", v.value, v.verdict)
            });
            let (owner, shown) = (odd.owner.to_string(), shown.collect::<Vec<_>>());
            out.push(format!("{owner} | {} | {} {:?} {} {shown:?}", odd.part, odd.id, odd.severity, odd.has_norm));
        }
    }
    out
}

#[test]
fn an_index_and_the_records_say_the_same_drift() {
    let cases = inject::cases();
    let changes = cases.iter().step_by(STEP).zip(0..).map(|(case, n)| Some((*case, n % 8)));
    let plan: Vec<_> = changes.flat_map(|c| [c, None]).take(60).collect();
    let dir = tempfile::tempdir().unwrap();
    let mut out = Writer::begin(&dir.path().join(NAME)).unwrap();
    let mut table = Table::new();
    for (change, seed) in plan.iter().zip(1..) {
        let record = inject::node(seed, *change);
        out.add(&format!("n{seed:04}/1.tar.zst"), FileId::default(), &record).unwrap();
        table.record(&record);
    }
    out.finish().unwrap();
    let of_index = Index::open(dir.path()).unwrap().table(When::Newest, None).unwrap().table;
    assert_eq!(said(&of_index), said(&table));
    let done = inject::judge(&plan, &of_index);
    assert!(done.wrong.is_empty() && done.changes >= 25, "{} {:#?}", done.changes, done.wrong);
}

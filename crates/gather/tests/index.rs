//! The index: records read back are those that were written, by whole groups and by copies of groups.

#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use linerate_fleet::{Addresses, Identity, Owner, Record, Row, Said, Seen, Severity, Status, Traits, sort};
use linerate_gather::index::{FileId, Head, Index, IndexError, LATEST, NAME, Wanted, Writer};
use proptest::prelude::*;
use std::path::Path;

type Kept = (String, FileId, Record);

fn example(name: &str) -> Record {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let bytes = std::fs::read(path).unwrap();
    Record::read(name, &linerate_snapshot::load_bytes(&bytes, name).unwrap())
}

fn write(path: &Path, all: &[Kept]) {
    let mut out = Writer::begin(path).unwrap();
    all.iter().for_each(|(name, file, record)| out.add(name, *file, record).unwrap());
    out.finish().unwrap();
}

/// By the path of the snapshot.
fn read(index: &Index) -> Vec<Kept> {
    let groups = (0..index.groups()).flat_map(|g| index.records(g).unwrap());
    let mut all: Vec<_> = groups.map(|(h, r)| (h.snapshot, h.file, r)).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[test]
fn whole_nodes_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(NAME);
    let of = |n: u64, name: &str| {
        let mut record = example(name);
        record.label = format!("gpu{n:03}");
        (format!("gpu{n:03}/1.tar.zst"), FileId { bytes: n, modified: n * 1000 }, record)
    };
    let examples = ["sick-8gpu.tar.zst", "healthy-8gpu.tar.zst", "healthy-8gpu.tar.zst"];
    let all: Vec<Kept> = (0..9).map(|n| of(n, examples[n as usize % 3])).collect();
    write(&path, &all);
    let index = Index::open(dir.path()).unwrap();
    assert!(index.is_current());
    assert_eq!(index.groups(), 1);
    assert!(read(&index) == all);

    // The same, with one group more and without decoding the old one.
    let again = dir.path().join("again.parquet");
    let mut out = Writer::begin(&again).unwrap();
    out.copy(&index, 0).unwrap();
    let more = of(9, "sick-8gpu.tar.zst");
    out.add(&more.0, more.1, &more.2).unwrap();
    out.finish().unwrap();
    let index = Index::open(&again).unwrap();
    assert_eq!(index.groups(), 2);
    assert!(read(&index) == all.into_iter().chain([more]).collect::<Vec<_>>());
}

#[test]
fn cells_are_those_that_are_wanted_with_their_snapshots() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(NAME);
    let record = example("sick-8gpu.tar.zst");
    let all: Vec<Kept> = (0..5).map(|n| (format!("n{n}.tar.zst"), FileId::default(), record.clone())).collect();
    write(&path, &all);
    let index = Index::open(&path).unwrap();
    let ids = ["pci.kind", "memory.total_kib", "no.such"];
    let expected: usize = record.rows.iter().filter(|r| ids.contains(&r.id)).count();
    let mut seen = 0;
    index
        .cells(0, Wanted::These(&ids), |cell, holders| {
            assert!(ids.contains(&cell.id));
            assert_eq!(holders, [0, 1, 2, 3, 4]);
            seen += 1;
        })
        .unwrap();
    assert_eq!(seen, expected);
    assert!(expected > 10);
    let mut facts = 0;
    index.cells(0, Wanted::Facts, |_, holders| facts += holders.len()).unwrap();
    assert_eq!(facts, 5 * record.rows.iter().filter(|r| !r.is_answer()).count());
}

const IDS: [&str; 5] =
    ["pci.link.speed", "kernel.cmdline", "memory.total_kib", "acs/redirect-on-p2p-path", "rdma.ports.state"];

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-c]{1,2}", "\\PC{0,12}", Just("mtu 4096".to_owned())]
}

fn said() -> impl Strategy<Value = Option<Said>> {
    let rules = prop::sample::select(linerate_rules::rules().iter().map(|r| r.id).take(3).collect::<Vec<_>>());
    let one = (prop::sample::select(Status::ALL), prop::sample::select(Severity::ALL), rules)
        .prop_map(|(status, severity, rule)| Said { status, severity, rule });
    prop::option::of(one)
}

fn row() -> impl Strategy<Value = Row> {
    let owner = prop_oneof![
        Just(Owner::Node),
        (0..4).prop_map(|n| Owner::Device(format!("rail {n} NIC").into())),
        (0..3).prop_map(|n| Owner::Named(format!("NUMA node {n}").into()))
    ];
    let seen = prop_oneof![3 => texts().prop_map(Seen::Known), 1 => Just(Seen::Absent), 1 => Just(Seen::Unreadable)];
    (owner, texts(), prop::sample::select(&IDS[..]), seen, said()).prop_map(|(owner, part, id, seen, verdict)| Row {
        owner,
        part,
        id: linerate_fleet::id(id).unwrap_or("memory.total_kib"),
        seen,
        verdict,
    })
}

fn record() -> impl Strategy<Value = Record> {
    let word = || prop::option::of("[a-z]{1,4}");
    let identity = (word(), word()).prop_map(|(machine, system)| Identity { machine, system });
    let traits =
        (word(), word(), word(), word()).prop_map(|(board, cpu, gpus, nics)| Traits { board, cpu, gpus, nics });
    let who = (identity, texts().prop_map(|t| Addresses::from(t.as_str())), prop::option::of(texts()));
    (who, texts(), 0..=LATEST, traits, texts(), any::<bool>(), prop::collection::vec(row(), 0..40)).prop_map(
        |((identity, addresses, redact_key), label, time, traits, layout, incomplete, mut rows)| {
            sort(&mut rows);
            Record { identity, addresses, redact_key, label, time, traits, layout, incomplete, rows }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_records_come_back(records in prop::collection::vec((record(), any::<u64>(), any::<u64>()), 0..60)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        let named = |(n, (record, bytes, modified)): (usize, (Record, u64, u64))| {
            (format!("{n:04}"), FileId { bytes, modified }, record)
        };
        let all: Vec<Kept> = records.into_iter().enumerate().map(named).collect();
        write(&path, &all);
        let index = Index::open(dir.path()).unwrap();
        prop_assert_eq!(read(&index), all);
    }

    /// Damaged anywhere: an error or other answers, never more than the bounds, and no panic.
    #[test]
    fn a_damaged_index_is_refused_or_read(
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in prop::option::of(any::<prop::sample::Index>()),
        records in prop::collection::vec(record(), 1..6),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        let named = |(n, r): (usize, Record)| (format!("{n:04}"), FileId::default(), r);
        write(&path, &records.into_iter().enumerate().map(named).collect::<Vec<_>>());
        let mut bytes = std::fs::read(&path).unwrap();
        let place = at.index(bytes.len());
        bytes[place] = byte;
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len() + 1));
        }
        std::fs::write(&path, bytes).unwrap();
        if let Ok(index) = Index::open(&path) {
            for group in 0..index.groups() {
                let _: Result<Vec<(Head, Record)>, IndexError> = index.records(group).map(Iterator::collect);
            }
        }
    }
}

#[test]
fn what_is_no_index_is_said() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(Index::open(dir.path()), Err(IndexError::None { .. })));
    let path = dir.path().join(NAME);
    for text in ["", "PAR1", "PAR1PAR1PAR1PAR1", "PAR1aaaaaaaaaaaaaaaa\x04\0\0\0PAR1"] {
        std::fs::write(&path, text).unwrap();
        let found = Index::open(&path);
        assert!(matches!(found, Err(IndexError::Foreign { .. } | IndexError::Damaged { .. })), "{text:?} {found:?}");
    }
}

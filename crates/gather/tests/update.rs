//! The index of a directory: made from snapshots, brought up to date, made again; and that it answers as the records do.

#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use linerate_fleet::condition::{Answer, Condition, Found};
use linerate_fleet::drift::{Options, Table, drift};
use linerate_fleet::identity::Remark;
use linerate_fleet::{Identity, Record, Seen};
use linerate_gather::index::{FileId, Index, NAME, Question, Stale, Update, Updated, When, Writer, update};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn bring(dir: &Path, rebuild: bool) -> Updated {
    update(dir, &Update { rebuild, ..Update::default() }, &mut |_, _| {}).unwrap()
}

/// A fleet of links to the examples, as `collect` names files, and by hand.
fn fleet(dir: &Path) {
    for (at, from) in [("gpu1/20260101T000000Z.tar.zst", true), ("gpu2/20260101T000000Z.tar.zst", false)] {
        put(dir, at, from);
    }
    put(dir, "loose.tar.zst", true);
    std::fs::write(dir.join("garbage.tar.zst"), b"\x28\xb5\x2f\xfdnothing").unwrap();
    std::fs::write(dir.join("linerate.toml"), "# no snapshot").unwrap();
}

fn put(dir: &Path, at: &str, healthy: bool) {
    let to = dir.join(at);
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    let name = if healthy { "healthy-8gpu.tar.zst" } else { "sick-8gpu.tar.zst" };
    std::fs::copy(example(name), to).unwrap();
}

fn labels(index: &Index) -> BTreeSet<(String, String)> {
    let heads = (0..index.groups()).flat_map(|g| index.heads(g).unwrap());
    heads.map(|h| (h.snapshot, h.label)).collect()
}

#[test]
fn a_directory_and_its_changes() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fleet(dir);
    let first = bring(dir, false);
    assert_eq!((first.snapshots, first.read, first.gone), (4, 4, 0));
    assert_eq!(first.unreadable.len(), 1);
    assert_eq!(first.unreadable[0].0, "garbage.tar.zst");
    let index = Index::open(dir).unwrap();
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let all = BTreeSet::from([
        pair("garbage.tar.zst", "garbage"),
        pair("gpu1/20260101T000000Z.tar.zst", "gpu1"),
        pair("gpu2/20260101T000000Z.tar.zst", "gpu2"),
        pair("loose.tar.zst", "loose"),
    ]);
    assert_eq!(labels(&index), all);
    assert_eq!(index.stale(dir).unwrap(), Stale::default());

    // Nothing new: the file is left as it is.
    let written = std::fs::metadata(dir.join(NAME)).unwrap().modified().unwrap();
    let second = bring(dir, false);
    assert_eq!((second.snapshots, second.read, second.gone), (4, 0, 0));
    assert_eq!(std::fs::metadata(dir.join(NAME)).unwrap().modified().unwrap(), written);

    // One more, one gone, one that changed.
    put(dir, "gpu1/20260102T000000Z.tar.zst", false);
    std::fs::remove_file(dir.join("loose.tar.zst")).unwrap();
    std::fs::write(dir.join("garbage.tar.zst"), b"something else").unwrap();
    assert_eq!(index.stale(dir).unwrap(), Stale { new: 2, gone: 1 });
    let third = bring(dir, false);
    assert_eq!((third.snapshots, third.read, third.gone), (4, 2, 1));
    let index = Index::open(dir).unwrap();
    assert_eq!(index.stale(dir).unwrap(), Stale::default());
    let changed = labels(&index);
    assert!(changed.contains(&pair("gpu1/20260102T000000Z.tar.zst", "gpu1")));
    assert!(!changed.contains(&pair("loose.tar.zst", "loose")));

    // Damaged or foreign: said, and made again.
    let records = |index: &Index| -> Vec<_> {
        let mut all: Vec<_> = (0..index.groups()).flat_map(|g| index.records(g).unwrap()).collect();
        all.sort_by(|a, b| a.0.snapshot.cmp(&b.0.snapshot));
        all
    };
    let before = records(&index);
    std::fs::write(dir.join(NAME), "no Parquet").unwrap();
    let fourth = bring(dir, false);
    assert!(fourth.rebuilt.is_some());
    assert!(records(&Index::open(dir).unwrap()) == before);
    assert_eq!(bring(dir, true).read, 4);
    assert!(records(&Index::open(dir).unwrap()) == before);
}

#[test]
fn many_small_groups_become_one() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for n in 0..12 {
        put(dir, &format!("gpu{n:02}.tar.zst"), n % 2 == 0);
        bring(dir, false);
    }
    let index = Index::open(dir).unwrap();
    assert!(index.groups() < 10, "{}", index.groups());
    assert_eq!(labels(&index).len(), 12);
}

#[test]
fn writers_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::thread::scope(|scope| {
        for n in 0..4 {
            scope.spawn(move || {
                put(dir, &format!("gpu{n}.tar.zst"), n % 2 == 0);
                bring(dir, false);
            });
        }
    });
    assert_eq!(labels(&Index::open(dir).unwrap()).len(), 4);
    let left = std::fs::read_dir(dir).unwrap().flatten().filter(|e| e.file_name().to_string_lossy().ends_with(".part"));
    assert_eq!(left.count(), 0);
}

/// Nodes that differ in a fact each, some of which was not seen on some.
fn nodes() -> Vec<Record> {
    let read = |name| {
        Record::read(name, &linerate_snapshot::load_bytes(&std::fs::read(example(name)).unwrap(), name).unwrap())
    };
    let both = [read("healthy-8gpu.tar.zst"), read("sick-8gpu.tar.zst")];
    let make = |n: usize| {
        let mut record = both[usize::from(n.is_multiple_of(3))].clone();
        record.label = format!("gpu{n:02}");
        let facts = record.rows.iter().filter(|r| !r.is_answer()).count();
        for (i, seen) in [Seen::Unreadable, Seen::Absent, Seen::Known(format!("odd {}", n % 4))].into_iter().enumerate()
        {
            record.rows[(n * 977 + i * 331) % facts].seen = seen;
        }
        record
    };
    (0..24).map(make).collect()
}

fn written(dir: &Path, nodes: &[Record]) -> Index {
    let path = dir.join(NAME);
    let mut out = Writer::begin(&path).unwrap();
    for (n, record) in nodes.iter().enumerate() {
        out.add(&format!("{}/{}.tar.zst", record.label, record.time), FileId { bytes: n as u64, modified: 0 }, record)
            .unwrap();
    }
    out.finish().unwrap();
    Index::open(&path).unwrap()
}

#[test]
fn the_index_answers_as_the_records_do() {
    let dir = tempfile::tempdir().unwrap();
    let nodes = nodes();
    let index = written(dir.path(), &nodes);
    let mut asked: Vec<String> = linerate_rules::rules().iter().map(|r| r.id.to_owned()).step_by(2).collect();
    for record in nodes.iter().step_by(5) {
        for row in record.rows.iter().filter(|r| !r.is_answer()).step_by(331) {
            if let Seen::Known(value) = &row.seen {
                asked.extend(["=", "!=", ">=", "<"].map(|o| format!("{}{o}{value}", row.id)));
            }
        }
    }
    let (mut some, mut blind) = (0, 0);
    for text in &asked {
        let Ok(condition) = Condition::parse(text) else { continue };
        let by_record = |wanted: Answer| -> Vec<&str> {
            let answer = |r: &&Record| {
                let rows = r.rows.iter().filter(|row| row.id == condition.id());
                let found = rows.map(|row| condition.look(&row.part, &row.seen, row.verdict));
                condition.decide(found.fold(Found::default(), Found::and)) == wanted
            };
            nodes.iter().filter(answer).map(|r| r.label.as_str()).collect()
        };
        let question =
            Question { conditions: std::slice::from_ref(&condition), subject: None, when: When::All, nodes: None };
        let answer = index.ask(&question).unwrap();
        let names = |all: &[linerate_gather::index::Node]| all.iter().map(|n| n.label.clone()).collect::<Vec<_>>();
        assert_eq!(names(&answer.yes), by_record(Answer::Yes), "{text}");
        assert_eq!(names(&answer.cannot_tell), by_record(Answer::CannotTell), "{text}");
        some += usize::from(!answer.yes.is_empty());
        blind += usize::from(!answer.cannot_tell.is_empty());
    }
    assert!(some > 40 && blind > 5, "{some} {blind} of {}", asked.len());
}

#[test]
fn drift_is_the_same_from_the_index() {
    let dir = tempfile::tempdir().unwrap();
    let nodes = nodes();
    let index = written(dir.path(), &nodes);
    let from_index = index.table(When::All, None).unwrap();
    assert!(from_index.unreadable.is_empty());
    let mut table = Table::new();
    // In the order of the index, so that nodes have the same numbers.
    (0..index.groups()).flat_map(|g| index.records(g).unwrap()).for_each(|(_, r)| table.record(&r));
    let both = [from_index.table, table].map(|t| format!("{:#?}", drift(&t, &Options::default())));
    assert!(both[0] == both[1]);
    assert!(both[0].lines().count() > 1000);
}

/// Identities that are unknown, known by half and shared, known as a whole, and shared by two names; one node was installed anew.
#[test]
fn drift_of_the_newest_is_that_of_the_records_that_count() {
    let dir = tempfile::tempdir().unwrap();
    let mut nodes = nodes();
    for (n, record) in nodes.iter_mut().enumerate() {
        record.time = 100 + n as u64;
        record.identity = Identity::from(
            match n % 4 {
                0 => "?+?".to_owned(),
                1 => "copied+?".to_owned(),
                2 => format!("m{n}+s{n}"),
                _ => format!("pair{}+s", n / 8),
            }
            .as_str(),
        );
    }
    for (n, machine) in [(5, "before+?"), (6, "before+s6")] {
        let identity = Identity::from(machine);
        nodes.push(Record { time: 1, identity, ..nodes[n].clone() });
    }
    let index = written(dir.path(), &nodes);
    let found = index.table(When::Newest, None).unwrap();
    // Of the pairs the earlier ones, and what was installed before.
    let is_old = |r: &Record| r.time == 1 || [3, 11, 19].iter().any(|n| r.label == format!("gpu{n:02}"));
    let mut table = Table::new();
    let all = (0..index.groups()).flat_map(|g| index.records(g).unwrap());
    all.filter(|(_, r)| !is_old(r)).for_each(|(_, r)| table.record(&r));
    assert_eq!(table.heads().count(), 21);
    assert!(table.heads().eq(found.table.heads()));
    let both = [found.table, table].map(|t| format!("{:#?}", drift(&t, &Options::default())));
    assert!(both[0] == both[1]);
    let names = |a: &str, b: &str| Remark::SeveralNames { names: vec![a.to_owned(), b.to_owned()], at_once: false };
    let anew = Remark::SeveralInstalls { names: vec!["gpu06".to_owned()], at_once: false };
    let pairs = [names("gpu03", "gpu07"), names("gpu11", "gpu15"), names("gpu19", "gpu23")];
    assert!(pairs.iter().chain([&anew]).all(|r| found.remarks.contains(r)), "{:?}", found.remarks);
    // The condition is asked of the same ones.
    let condition = [Condition::parse("kernel.release~*").unwrap()];
    let answer =
        index.ask(&Question { conditions: &condition, subject: None, when: When::Newest, nodes: None }).unwrap();
    assert_eq!(answer.yes.len() + answer.no + answer.cannot_tell.len(), 21);
    assert_eq!(answer.remarks, found.remarks);
}

#[test]
fn of_a_node_the_newest_counts_and_times_can_be_chosen() {
    let dir = tempfile::tempdir().unwrap();
    let base = nodes().remove(1);
    let at = |time: u64, mtu: &str| {
        let mut record = base.clone();
        record.time = time;
        let row = record.rows.iter_mut().find(|r| r.id == "kernel.release").unwrap();
        row.seen = Seen::Known(mtu.to_owned());
        record
    };
    let all = [at(100, "6.1"), at(200, "6.8"), at(300, "6.1")];
    let path = dir.path().join(NAME);
    let mut out = Writer::begin(&path).unwrap();
    for record in &all {
        out.add(&format!("a/{}.tar.zst", record.time), FileId::default(), record).unwrap();
    }
    out.finish().unwrap();
    let index = Index::open(&path).unwrap();
    let condition = [Condition::parse("kernel.release=6.8").unwrap()];
    for (when, yes, no) in [(When::Newest, 0, 1), (When::At(250), 1, 0), (When::At(99), 0, 0), (When::All, 1, 2)] {
        let answer = index.ask(&Question { conditions: &condition, subject: None, when, nodes: None }).unwrap();
        assert_eq!((answer.yes.len(), answer.no), (yes, no), "{when:?}");
    }
    for (subject, yes) in [("node", 1), ("GPU 0", 0)] {
        let question = Question { conditions: &condition, subject: Some(subject), when: When::At(250), nodes: None };
        assert_eq!(index.ask(&question).unwrap().yes.len(), yes, "{subject}");
    }
}

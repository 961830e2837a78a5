//! Where the time of an index goes: each stage of one snapshot, so many times.
//!
//! stages TIMES SNAPSHOT

#![allow(clippy::panic, clippy::unwrap_used, clippy::print_stdout)] // a program for measurements

use linerate_fleet::{Profile, Record};
use linerate_gather::index::{FileId, Gathered};
use linerate_node::Node;
use std::path::Path;
use std::time::{Duration, Instant};

/// As the command has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [times, path] = args.as_slice() else { panic!("TIMES SNAPSHOT") };
    let times: u32 = times.parse().unwrap();
    let mut reader = linerate_snapshot::Reader::new();
    let mut spent = [Duration::ZERO; 9];
    let (mut batch, mut packed) = (Gathered::default(), Vec::new());
    for n in 0..times {
        let mut at = Instant::now();
        let mut stage = |i: usize, at: &mut Instant| {
            spent[i] += at.elapsed();
            *at = Instant::now();
        };
        let snapshot = reader.read(Path::new(path)).unwrap();
        stage(0, &mut at);
        packed.clear();
        snapshot.write_tar_zst_quickly(&mut packed).unwrap();
        stage(8, &mut at);
        let node = Node::decode(&snapshot);
        stage(1, &mut at);
        let audit = linerate_rules::audit(&node, &snapshot, linerate_rules::rules());
        stage(2, &mut at);
        drop(audit);
        at = Instant::now();
        let profile = Profile::of("node", &node, &snapshot, linerate_rules::rules());
        stage(3, &mut at);
        let record = Record::of(profile, &node, &snapshot);
        stage(4, &mut at);
        let direct = Record::read("node", &snapshot);
        assert!(direct == record);
        let mut sorted = record.rows.clone();
        linerate_fleet::sort(&mut sorted);
        assert!(sorted == record.rows);
        at = Instant::now();
        drop(Record::read("node", &snapshot));
        stage(5, &mut at);
        batch.add(&format!("gpu{n}"), FileId::default(), &record);
        stage(6, &mut at);
        drop(node);
        reader.recycle(snapshot);
    }
    let at = Instant::now();
    batch.encode(Path::new("none")).unwrap();
    spent[7] = at.elapsed();
    let names = [
        "read",
        "decode",
        "audit",
        "profile (with the audit)",
        "record",
        "decode to record, directly",
        "batch",
        "encode",
        "pack, as a fleet's archives are",
    ];
    for (name, spent) in names.iter().zip(spent) {
        println!("{name}: {:.3} ms", spent.as_secs_f64() * 1000.0 / f64::from(times));
    }
}

//! Writes an index of many nodes, composed from a few snapshots: each node has its own name and identity, and one in so many differs in something.
//!
//! compose_index OUT NODES SNAPSHOT…

#![allow(clippy::panic, clippy::unwrap_used, clippy::print_stdout)] // a program for measurements

use linerate_fleet::{Addresses, Identity, Record, Seen};
use linerate_gather::index::{FileId, Gathered, Writer};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// As the command has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Nodes of which one is odd.
const ODD: usize = 50;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [out, nodes, sources @ ..] = args.as_slice() else { panic!("OUT NODES SNAPSHOT…") };
    let nodes: usize = nodes.parse().unwrap();
    let started = Instant::now();
    let records: Vec<Record> = sources.iter().map(|s| read(Path::new(s))).collect();
    println!(
        "{} snapshots, {:?} rows, {:.1} s",
        records.len(),
        records.iter().map(|r| r.rows.len()).collect::<Vec<_>>(),
        started.elapsed().as_secs_f64()
    );
    let out = PathBuf::from(out);
    let mut writer = Writer::begin(&out).unwrap();
    let threads = std::thread::available_parallelism().unwrap().get();
    let next = AtomicUsize::new(0);
    let groups = nodes.div_ceil(512);
    let (to, from) = std::sync::mpsc::sync_channel(threads);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (to, next, records, out) = (to.clone(), &next, &records, &out);
            scope.spawn(move || {
                loop {
                    let group = next.fetch_add(1, Ordering::Relaxed);
                    if group >= groups {
                        return;
                    }
                    let mut batch = Gathered::default();
                    for n in group * 512..nodes.min((group + 1) * 512) {
                        let record = node(n, &records[n % records.len()]);
                        let name = format!("{}/20261101T000000Z.tar.zst", record.label);
                        batch.add(&name, FileId { bytes: 100_000 + n as u64, modified: n as u64 }, &record);
                    }
                    to.send(batch.encode(out).unwrap()).unwrap();
                }
            });
        }
        drop(to);
        from.iter().for_each(|group| writer.group(group).unwrap());
    });
    writer.finish().unwrap();
    println!(
        "{nodes} nodes, {:.1} s, {} MB",
        started.elapsed().as_secs_f64(),
        std::fs::metadata(&out).unwrap().len() / 1_000_000
    );
}

fn read(path: &Path) -> Record {
    let bytes = std::fs::read(path).unwrap();
    Record::read("node", &linerate_snapshot::load_bytes(&bytes, &path.to_string_lossy()).unwrap())
}

/// The node of a number: what differs is known, so that answers can be compared.
fn node(n: usize, like: &Record) -> Record {
    let mut record = like.clone();
    record.label = format!("gpu{n:06}");
    record.identity =
        Identity { machine: Some(format!("{:032x}", n * 7919 + 1)), system: Some(format!("sha256-{n:016x}")) };
    let addresses: Vec<String> = (0..10).map(|i| format!("eth{i}={:06x}", (n * 10 + i) * 7919 % (1 << 24))).collect();
    record.addresses = Addresses::from(addresses.join(" ").as_str());
    record.time = 1_793_000_000 + n as u64 % 900;
    if n % ODD == 7 {
        let facts = record.rows.iter().filter(|r| !r.is_answer()).count();
        if let Some(row) = record.rows.get_mut((n * 31) % facts) {
            row.seen = Seen::Known(format!("odd {}", n % 3));
        }
    }
    // A value that is another one on each node: a checksum, a serial.
    if let Some(row) = record.rows.iter_mut().find(|r| r.id == "memory.total_kib") {
        row.seen = Seen::Known(format!("{}", 2_113_000_000 + n * 4));
    }
    record
}

//! Benchmarks' outputs that nobody of this project wrote. They lie beside the repository and are read in place.

// The lint configuration allows these in test functions only, not in their helpers.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use linerate_formats::{nccl_tests, perftest};
use std::path::{Path, PathBuf};

fn data() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if path.is_dir() {
        return Some(path);
    }
    println!("SKIPPED: ../shared/data is not here");
    None
}

/// Files of the folders, sorted, as paths below the data and bytes.
fn files(data: &Path, folders: &[&str]) -> Vec<(String, Vec<u8>)> {
    let mut out = Vec::new();
    let mut todo: Vec<PathBuf> = folders.iter().map(|f| data.join(f)).collect();
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
        } else {
            let name = path.strip_prefix(data).unwrap().to_string_lossy().replace('\\', "/");
            out.push((name, std::fs::read(&path).unwrap()));
        }
    }
    out.sort();
    out
}

#[test]
fn nccl_tests_of_others() {
    let Some(data) = data() else { return };
    for (name, bytes) in
        files(&data, &["nccl-tests", "bench-logs", "perftest", "generated-here", "cases", "misc-bench"])
    {
        let runs = nccl_tests::parse(&bytes);
        for run in &runs {
            println!(
                "{name}: lines {:?} {:?} {:?} ranks {} rows {} copies {} avg {:?} oob {:?} best {:?} refused {:?} failures {:?} lib {:?}",
                run.lines,
                run.collective.map(|c| c.value),
                run.tool,
                run.ranks.len(),
                run.rows.len(),
                run.copies,
                run.average.map(|a| a.value.busbw.0),
                run.out_of_bounds.map(|o| o.value.ok),
                run.largest().map(|r| (r.size, r.best_busbw())),
                run.refused,
                run.failures,
                run.library_text,
            );
        }
    }
}

#[test]
fn perftest_of_others() {
    let Some(data) = data() else { return };
    for (name, bytes) in
        files(&data, &["nccl-tests", "bench-logs", "perftest", "generated-here", "cases", "misc-bench", "nccl-log"])
    {
        for run in perftest::parse(&bytes) {
            println!(
                "{name}: {:?} {:?} server {} copies {} mixed {} {:?} {:?} mtu {:?} addresses {} rows {} best {:?} refused {:?} notes {:?} failures {:?}",
                run.lines,
                run.test.as_ref().map(|t| &t.value),
                run.is_server,
                run.copies,
                run.header.is_mixed,
                run.header.device,
                run.header.cuda_device,
                run.header.mtu,
                run.addresses.len(),
                run.rows.len(),
                run.best_bandwidth(),
                run.refused,
                run.notes.iter().map(|n| n.kind).collect::<Vec<_>>(),
                run.failures.iter().map(|f| f.kind).collect::<Vec<_>>()
            );
        }
    }
}

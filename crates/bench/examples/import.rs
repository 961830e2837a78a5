//! How long the parts of an import take: `cargo run --release -p linerate-bench --example import -- FILE`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use linerate_bench::import::import;
use linerate_formats::nccl_tests;
use std::time::Instant;

fn main() {
    let Some(path) = std::env::args().nth(1) else { return eprintln!("usage: import FILE") };
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) => return eprintln!("{path}: {e}"),
    };
    let timed = |what: &str, work: &mut dyn FnMut() -> usize| {
        let began = Instant::now();
        let found = work();
        let seconds = began.elapsed().as_secs_f64();
        println!("{what:40} {:7.3} s {:7.0} MB/s, {found}", seconds, bytes.len() as f64 / seconds / 1e6);
    };
    for _ in 0..2 {
        timed("nccl-tests' reader alone, rows", &mut || {
            let mut rows = 0;
            nccl_tests::each(&bytes, |run| rows += run.rows.len());
            rows
        });
        timed("import, values", &mut || import(&path, &bytes).runs.iter().map(linerate_bench::Run::points).sum());
    }
}

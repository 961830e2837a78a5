//! How long the parts of an import take: `cargo run --profile dist -p linerate-bench --example import -- FILE`.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use linerate_bench::import::import;
use linerate_formats::nccl_tests::{self, Collect, Row, Run};
use std::time::Instant;

/// Counts rows.
#[derive(Default)]
struct Rows {
    of_run: usize,
    all: usize,
}

impl Collect for Rows {
    fn rows(&mut self, rows: &mut Vec<Row>) {
        self.of_run += rows.len();
    }

    fn again(&mut self) {
        self.of_run = 0;
    }

    fn run(&mut self, run: Run) {
        self.all += std::mem::take(&mut self.of_run) + run.rows.len();
    }
}

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
            let mut rows = Rows::default();
            nccl_tests::parts(&bytes, &mut rows);
            rows.all
        });
        timed("import, values", &mut || import(&path, &bytes).runs.iter().map(linerate_bench::Run::points).sum());
    }
}

//! How quickly files are recognised and cut: `cargo run --profile dist -p linerate-snapshot --example cutting -- FILE…`. Each file is read as a stream, like
//! `linerate doctor` and `linerate audit` do, on one core; the time of reading is in it.

#![allow(clippy::print_stdout)] // a program for measurements

use linerate_snapshot::content;
use linerate_snapshot::cut::Cutter;
use std::io::Read;
use std::time::Instant;

fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1) {
        let began = Instant::now();
        let mut file = std::fs::File::open(&path)?;
        let mut piece = vec![0; 256 << 10];
        let (mut cutter, mut bytes, mut kind) = (Cutter::new(None), 0, None);
        loop {
            let n = file.read(&mut piece)?;
            if n == 0 {
                break;
            }
            let next = piece.get(..n).unwrap_or_default();
            kind = kind.or_else(|| Some(content("", next)));
            cutter.feed(next);
            bytes += n;
        }
        let cut = cutter.finish("x");
        let seconds = began.elapsed().as_secs_f64();
        let kind = kind.map_or("empty", |k| k.name());
        println!(
            "{:>8.1} MB/s  {bytes} bytes, {kind}, {} nodes, {} texts, {} other lines: {path}",
            bytes as f64 / 1e6 / seconds,
            cut.nodes.len(),
            cut.nodes.iter().map(|(_, s)| s.outputs.len()).sum::<usize>(),
            cut.other.0
        );
    }
    Ok(())
}

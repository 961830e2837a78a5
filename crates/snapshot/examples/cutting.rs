//! How quickly files are recognised and cut: `cargo run --profile dist -p linerate-snapshot --example cutting -- FILE…`. Each file is fed in pieces, like
//! `linerate doctor` and `linerate audit` do, on one core, until 1 GB has been fed; reading it from the disk is not in the time. Of the text that is kept (8 MiB
//! at most) snapshots are made, without secrets: that is the second figure.

#![allow(clippy::print_stdout)] // a program for measurements

use linerate_snapshot::cut::Cutter;
use std::time::Instant;

const BYTES: usize = 1_000_000_000;

fn main() -> std::io::Result<()> {
    for path in std::env::args().skip(1) {
        let text = std::fs::read(&path)?;
        let began = Instant::now();
        let (mut cutter, mut bytes, mut kind) = (Cutter::new(None), 0, None);
        while bytes < BYTES && !text.is_empty() {
            for piece in text.chunks(256 << 10) {
                kind = kind.or_else(|| Some(linerate_snapshot::content("", piece)));
                cutter.feed(piece);
                bytes += piece.len();
            }
        }
        let cut = began.elapsed().as_secs_f64();
        let done = cutter.finish("x");
        let seconds = began.elapsed().as_secs_f64() - cut;
        let kind = kind.map_or("empty", |k| k.name());
        println!(
            "{:>8.1} MB/s, then {seconds:.3} s  {bytes} bytes, {kind}, {} nodes, {} texts, {} other lines: {path}",
            bytes as f64 / 1e6 / cut,
            done.nodes.len(),
            done.nodes.iter().map(|(_, s)| s.outputs.len()).sum::<usize>(),
            done.other.0
        );
    }
    Ok(())
}

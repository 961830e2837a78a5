//! How fast a log is read: `cargo run --profile dist -p linerate-doctor --example scan -- FILE`.
#![allow(clippy::print_stdout)]

use linerate_doctor::{Observer, Reader};
use std::io::Read;
use std::time::Instant;

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_default();
    let mut file = std::fs::File::open(&path)?;
    let mut observer = Observer::default();
    let mut reader = Reader::new(&mut observer, &path);
    let mut buffer = vec![0; 64 << 10];
    let (start, mut total) = (Instant::now(), 0);
    loop {
        let n = file.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        total += n;
        reader.feed(&mut observer, buffer.get(..n).unwrap_or_default());
    }
    reader.finish(&mut observer);
    let seconds = start.elapsed().as_secs_f64();
    println!("{total} bytes in {seconds:.3} s: {:.2} GB/s", total as f64 / seconds / 1e9);
    Ok(())
}

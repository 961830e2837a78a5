//! Makes the index of a directory again, without the rest of the program.
//!
//! update_index DIR

#![allow(clippy::panic, clippy::unwrap_used, clippy::print_stdout)] // a program for measurements

use linerate_gather::index::{Update, update};
use std::path::Path;
use std::time::Instant;

/// As the command has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let dir = std::env::args().nth(1).unwrap();
    let started = Instant::now();
    let done = update(Path::new(&dir), &Update { rebuild: true, ..Update::default() }, &mut |_, _| {}).unwrap();
    println!("{} snapshots read, {:.1} s", done.read, started.elapsed().as_secs_f64());
}

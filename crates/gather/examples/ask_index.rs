//! How long an index takes to answer: the table of drift, drift itself, conditions.
//!
//! ask_index INDEX [CONDITION…]

#![allow(clippy::panic, clippy::unwrap_used, clippy::print_stdout)] // a program for measurements

use linerate_fleet::condition::Condition;
use linerate_fleet::drift::{Options, drift};
use linerate_gather::index::{Index, Question, When};
use std::path::Path;
use std::time::Instant;

/// As the command has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [path, conditions @ ..] = args.as_slice() else { panic!("INDEX [CONDITION…]") };
    let started = Instant::now();
    let index = Index::open(Path::new(path)).unwrap();
    let rows: u64 = (0..index.groups()).map(|g| u64::from(index.rows(g))).sum();
    println!("{} groups, {rows} rows: opened in {:.3} s", index.groups(), started.elapsed().as_secs_f64());
    for text in conditions {
        let started = Instant::now();
        let conditions = [Condition::parse(text).unwrap()];
        let answer =
            index.ask(&Question { conditions: &conditions, subject: None, when: When::Newest, nodes: None }).unwrap();
        let (yes, no, blind) = (answer.yes.len(), answer.no, answer.cannot_tell.len());
        println!("{text}: {yes} yes, {no} no, {blind} cannot tell: {:.3} s", started.elapsed().as_secs_f64());
    }
    if conditions.is_empty() {
        let started = Instant::now();
        let table = index.table(When::Newest, None).unwrap().table;
        println!("table of {} nodes: {:.3} s", table.heads().count(), started.elapsed().as_secs_f64());
        let found = drift(&table, &Options::default());
        let facts: usize = found.classes.iter().map(|c| c.facts.len()).sum();
        println!(
            "drift: {} classes, {facts} facts differ: {:.3} s",
            found.classes.len(),
            started.elapsed().as_secs_f64()
        );
    }
}

//! The verbs do not contradict each other: what each says of a subject, over composed nodes, examples and real inputs, in one table.
//!
//! Everything is asked in one process: what the verbs show is made by the same functions, of which no one is left out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::indexing_slicing)]

#[path = "../../../rules/tests/common/mod.rs"]
mod common;
mod inputs;
mod shown;
mod table;
mod verbs;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use table::Table;

#[test]
fn verbs_do_not_contradict_each_other() {
    let inputs = inputs::inputs();
    let next = AtomicUsize::new(0);
    let found: Mutex<BTreeMap<String, Vec<String>>> = Mutex::new(BTreeMap::new());
    let counts: Mutex<(usize, BTreeMap<&'static str, usize>)> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(input) = inputs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut table = Table::default();
                    if let Some(snapshot) = input.load() {
                        verbs::ask(&snapshot, &mut table);
                    }
                    let mut counts = counts.lock().unwrap();
                    counts.0 += table.len();
                    for (verb, n) in table.by_verb() {
                        *counts.1.entry(verb).or_default() += n;
                    }
                    let wrong = table.contradictions();
                    if !wrong.is_empty() {
                        found.lock().unwrap().insert(input.name.clone(), wrong);
                    }
                }
            });
        }
    });
    let (claims, by_verb) = counts.into_inner().unwrap();
    let found = found.into_inner().unwrap();
    println!("{} inputs, {claims} claims, by verb {by_verb:?}", inputs.len());
    let lines: Vec<String> =
        found.iter().flat_map(|(name, list)| list.iter().map(move |l| format!("{name}: {l}"))).collect();
    assert!(claims > 1000, "only {claims} claims");
    assert!(lines.is_empty(), "{} contradictions in {} inputs:\n{}", lines.len(), found.len(), lines.join("\n"));
}

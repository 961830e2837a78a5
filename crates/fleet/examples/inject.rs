//! `inject [NODES] [ODD]`: a fleet of so many composed 8-GPU nodes, so many of which have one change each. What `drift` says of all is held to
//! what is known of each change.

#![allow(clippy::print_stdout)] // what it is for

#[path = "../../rules/tests/common/mod.rs"]
mod common;
#[path = "../tests/common/inject.rs"]
mod inject;
#[path = "../tests/common/lost.rs"]
mod lost;

fn main() -> std::process::ExitCode {
    let mut numbers = std::env::args().skip(1).map(|a| a.parse::<u32>().unwrap_or(0));
    let mut next = |usual| numbers.next().filter(|n| *n > 0).unwrap_or(usual);
    let (nodes, odd) = (next(1_000), next(500));
    let done = inject::inject(nodes, odd.min(nodes));
    for line in done.wrong.iter().take(40) {
        println!("{line}");
    }
    let (changes, facts, moved, wrong) = (done.changes, done.facts.len(), done.moved, done.wrong.len());
    println!("{changes} changes of {facts} facts and {moved} of what moves by itself in {nodes} nodes: {wrong} wrong");
    std::process::ExitCode::from(u8::from(!done.wrong.is_empty()))
}

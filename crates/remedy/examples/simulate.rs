//! Plans of composed nodes for random sets of fixes: whether any makes a verdict worse, is planned again, or is taken back.
//!
//! `cargo run --release -p linerate-remedy --example simulate -- [--pairs N] [--seed N] [--only PART] [--show]`
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::indexing_slicing)]

#[path = "../../rules/tests/common/mod.rs"]
mod common;
#[path = "../tests/properties/mod.rs"]
mod properties;

use linerate_remedy::plan::Options;
use properties::{Case, Random, Seen, descriptions, make};
use std::collections::BTreeSet;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| args.iter().position(|a| a == name).and_then(|n| args.get(n + 1)).cloned();
    let number = |name: &str, usual: u64| value(name).and_then(|v| v.parse().ok()).unwrap_or(usual);
    let (pairs, mut random) = (number("--pairs", 10_000), Random(number("--seed", 15)));
    let only = value("--only").unwrap_or_default();
    let paths: Vec<_> =
        descriptions(&common::nodes()).into_iter().filter(|p| p.display().to_string().contains(&only)).collect();
    let mut cases: Vec<Case> = paths.iter().map(|p| Case::new(&name(p), common::load(p).1)).collect();
    if args.iter().any(|a| a == "--show") {
        cases.iter().for_each(show);
        return;
    }
    let (mut bad, mut all, mut with_steps) = (BTreeSet::new(), Seen::default(), 0);
    let mut one = |case: &mut Case, options: &Options| {
        let (found, seen) = case.check(options);
        bad.extend(found);
        with_steps += usize::from(seen.steps > 0);
        all.steps += seen.steps;
        all.held_back += seen.held_back;
        all.unsimulated += seen.unsimulated;
        all.left_after += seen.left_after;
    };
    cases.iter_mut().for_each(|c| one(c, &Options::default()));
    // Nodes on which nothing can be fixed show nothing.
    cases.retain(|c| !c.fixes.is_empty());
    for _ in 0..pairs {
        let n = usize::try_from(random.next()).unwrap_or(0) % cases.len();
        let options = cases[n].options(&mut random);
        one(&mut cases[n], &options);
    }
    println!(
        "{pairs} random pairs of node and fixes over {} nodes with fixes ({} nodes in all, each with all fixes besides); {with_steps} plans with {} steps, \
         {} with an effect that is not simulated, {} fixes left out or changed because a verdict would be worse",
        cases.len(),
        paths.len(),
        all.steps,
        all.unsimulated,
        all.held_back
    );
    println!("broken properties: {}", bad.len());
    bad.iter().for_each(|b| println!("  {b}"));
    assert!(bad.is_empty(), "see above");
}

fn name(path: &std::path::Path) -> String {
    path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
}

fn show(case: &Case) {
    let plan = make(&case.snapshot, &Options::default());
    println!("== {}: {}", case.name, plan.steps.len());
    for s in &plan.steps {
        println!("  {}: {} ({}) {:?}", s.id, s.summary, s.rules.join(", "), s.unsimulated);
    }
    for r in &plan.refused {
        println!("  refused {}: {}", r.rules.join(", "), r.reason);
    }
    for c in plan.simulation.iter().flat_map(|s| &s.changed) {
        println!("    {} {}: {} -> {} {}", c.rule, c.subject, c.before, c.after, if c.worse { "WORSE" } else { "" });
    }
}

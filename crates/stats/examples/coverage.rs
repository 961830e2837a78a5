//! Writes the table of docs/statistics.md: how often the intervals cover the truth, and how often a difference or an equivalence is
//! found where there is none. `cargo run --profile dist -p linerate-stats --example coverage`

#![allow(clippy::print_stdout, reason = "it is what this program does")]

#[path = "../tests/simulate/mod.rs"]
mod simulate;

use simulate::*;

const TRIALS: u32 = 10_000;

fn main() {
    println!("# How often the intervals are right\n");
    println!("Printed by `cargo run --profile dist -p linerate-stats --example coverage`.\n");
    println!(
        "Simulated truth, {TRIALS} comparisons a cell: coverage of the 95 % interval, percent. The error of a cell is 0.2.\n"
    );
    head("two sides of n independent replicates (`ratio`)");
    for (name, draw) in NOISES {
        row(name, |n| format!("{:.1}", replicates(draw, n, TRIALS).coverage()));
    }
    row("B: 3 × the spread, 2 n replicates", |n| format!("{:.1}", unequal(n, TRIALS).coverage()));
    println!("\nA false \"better\" under equality, percent of comparisons:\n");
    head("`ratio`");
    for (name, draw) in NOISES {
        row(name, |n| format!("{:.1}", replicates(draw, n, TRIALS).false_better()));
    }
    println!(
        "\nTwo autocorrelated series of n steps: coverage (in brackets: refused or flagged as too short for their correlation)."
    );
    println!(
        "Below n = 20 every answer is flagged: a correlation above 0.8 cannot be decided there, and is not covered.\n"
    );
    head("`ratio_series`");
    for phi in [0.0, 0.3, 0.5, 0.7, 0.9] {
        row(&format!("φ = {phi}"), |n| warned(series(phi, n, TRIALS)));
    }
    row("φ = 0.5 after a warm-up, cut by `transient`", |n| warned(warming_series(0.5, n, TRIALS)));
    println!("\nInterleaved replicates (A B B A …) with 2 % of noise while everything drifts by 10 %: coverage.\n");
    head("drift");
    row("`ratio_with_drift`", |n| format!("{:.1}", drifting(n, TRIALS).0.coverage()));
    row("`ratio`, the drift ignored", |n| format!("{:.1}", drifting(n, TRIALS).1.coverage()));
    println!(
        "\nA false equivalence at the margin, percent of comparisons (threshold 10 %; 50 % for the widest three).\n"
    );
    head("`equivalent`");
    for (i, (name, draw)) in NOISES.into_iter().enumerate() {
        let threshold = if (1..=3).contains(&i) { 0.5 } else { 0.1 };
        row(name, |n| format!("{:.1}", false_equivalence(draw, n, threshold, TRIALS)));
    }
    println!("\nAny false difference in a sweep of 30 sizes after Holm's correction, percent of sweeps (2,000).\n");
    head("`holm`");
    row("independent sizes", |n| format!("{:.1}", family_wise(NOISES[0].1, n, 0.0, 2_000)));
    row("sizes share half of a run's noise", |n| format!("{:.1}", family_wise(NOISES[0].1, n, 0.5, 2_000)));
    println!("\nBootstrap with 1,000 resamples, 2,000 comparisons: coverage, studentised / BCa.\n");
    head("`bootstrap_ratio`");
    for (name, draw) in [NOISES[0], NOISES[2]] {
        row(name, |n| {
            let (studentised, bca) = bootstrap(draw, n, 2_000);
            format!("{:.1} / {:.1}", studentised.coverage(), bca.coverage())
        });
    }
    println!(
        "\nRuns of 20 samples, the spread within a run twice that between runs, 2,000 comparisons: coverage; n counts runs.\n"
    );
    head("hierarchy");
    let levels = |n: usize| hierarchical(n, 2_000);
    row("`hierarchical_bootstrap`", |n| format!("{:.1}", levels(n).0.coverage()));
    row("`ratio` of run means", |n| format!("{:.1}", levels(n).1.coverage()));
    row("`ratio`, samples taken for runs", |n| format!("{:.1}", levels(n).2.coverage()));
}

fn warned(c: Count) -> String {
    if c.refused == c.trials { "refused".to_owned() } else { format!("{:.1} ({:.0})", c.coverage(), c.warned()) }
}

fn head(first: &str) {
    let sizes: Vec<String> = SIZES.iter().map(|n| format!("n = {n}")).collect();
    println!("| {first} | {} |", sizes.join(" | "));
    println!("|---|{}", "---|".repeat(SIZES.len()));
}

fn row(name: &str, cell: impl Fn(usize) -> String) {
    let cells: Vec<String> = SIZES.iter().map(|n| cell(*n)).collect();
    println!("| {name} | {} |", cells.join(" | "));
}

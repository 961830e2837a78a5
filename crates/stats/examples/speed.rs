//! Time of a comparison of 30 sizes with 80 samples a side and 10,000 resamples each, on one core.
//! `cargo run --profile dist -p linerate-stats --example speed`

#![allow(clippy::print_stdout, reason = "it is what this program does")]

use linerate_stats::{Refused, bootstrap_ratio, ratio, ratio_series, rng::Rng};
use std::time::Instant;

fn main() -> Result<(), Refused> {
    let mut rng = Rng::new(1);
    let mut side = || -> Vec<f64> { (0..80).map(|_| 100.0 * (0.02 * rng.normal()).exp()).collect() };
    let sizes: Vec<(Vec<f64>, Vec<f64>)> = (0..30).map(|_| (side(), side())).collect();
    let begin = Instant::now();
    for (seed, (a, b)) in sizes.iter().enumerate() {
        std::hint::black_box(bootstrap_ratio(a, b, 0.95, 10_000, seed as u64)?);
    }
    println!("bootstrap_ratio, 10,000 resamples of 2 × 80 samples × 30 sizes: {:.3} s", begin.elapsed().as_secs_f64());
    let begin = Instant::now();
    for (a, b) in &sizes {
        std::hint::black_box(ratio(a, b, 0.95)?);
    }
    println!("ratio of the same: {:.6} s", begin.elapsed().as_secs_f64());
    let begin = Instant::now();
    for (a, b) in &sizes {
        std::hint::black_box(ratio_series(a, b, 0.95)?);
    }
    println!("ratio_series of the same: {:.6} s", begin.elapsed().as_secs_f64());
    Ok(())
}

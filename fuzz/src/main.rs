//! `linerate-fuzz [--seconds N] [--seed N] [TARGET…]`: mutates real-looking inputs and feeds them to every parser.
//!
//! A run fails on a panic, on more than 2 s for one input, and on memory out of proportion to the input. The failing input is
//! written to `target/fuzz/`, and its path printed. Deterministic for a seed.
#![allow(clippy::print_stdout, clippy::print_stderr)] // a command-line tool for developers: it prints

mod alloc;

use linerate_fuzz::mutate::{self, Random};
use linerate_fuzz::targets::{Target, targets};
use linerate_fuzz::{hand, seeds};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Longest time for one input.
const MAX_TIME: Duration = Duration::from_secs(2);
/// Memory that a parser may take: a base for tables, and a multiple of its input.
const BASE_MEMORY: usize = 96 << 20;
const MEMORY_PER_BYTE: usize = 400;

fn main() -> ExitCode {
    let (mut seconds, mut seed, mut only) = (30.0, 1, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(a) = args.next() {
        match a.as_str() {
            "--seconds" => seconds = args.next().and_then(|v| v.parse().ok()).unwrap_or(seconds),
            "--seed" => seed = args.next().and_then(|v| v.parse().ok()).unwrap_or(seed),
            "--help" => {
                println!("usage: linerate-fuzz [--seconds N] [--seed N] [TARGET…]\ntargets:");
                targets().iter().for_each(|t| println!("  {}", t.name));
                return ExitCode::SUCCESS;
            }
            name => only.push(name.to_owned()),
        }
    }
    let chosen: Vec<Target> =
        targets().into_iter().filter(|t| only.is_empty() || only.iter().any(|o| o == t.name)).collect();
    if chosen.is_empty() {
        eprintln!("no such target; --help lists them");
        return ExitCode::from(3);
    }
    std::panic::set_hook(Box::new(|_| {}));
    let each = Duration::from_secs_f64(seconds / chosen.len() as f64);
    let mut failed = 0;
    for t in &chosen {
        match run(t, each, seed) {
            Ok((inputs, peak)) => println!("ok   {:<18} {inputs:>8} inputs, peak {} KiB", t.name, peak / 1024),
            Err((what, input)) => {
                failed += 1;
                println!("FAIL {:<18} {what}; input: {}", t.name, keep(t.name, &input));
            }
        }
    }
    hand::end();
    println!("{} passed, {failed} failed", chosen.len() - failed);
    ExitCode::from(u8::from(failed > 0))
}

fn run(target: &Target, time: Duration, seed: u64) -> Result<(u64, usize), (String, Vec<u8>)> {
    let seeds = seeds::of(target.name);
    let mut random =
        Random::new(seed ^ target.name.bytes().fold(7u64, |h, b| h.wrapping_mul(31).wrapping_add(u64::from(b))));
    let (start, mut count, mut peak) = (Instant::now(), 0, 0);
    while start.elapsed() < time || count < seeds.len() as u64 + 16 {
        // The seeds themselves first, then their mutants.
        let input = match seeds.get(count as usize) {
            Some(s) => s.clone(),
            None => mutate::mutate(&mut random, &seeds),
        };
        let began = Instant::now();
        alloc::reset();
        let result = std::panic::catch_unwind(|| (target.run)(&input));
        let used = alloc::peak();
        peak = peak.max(used);
        if let Err(p) = result {
            let text =
                p.downcast_ref::<String>().cloned().or_else(|| p.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            return Err((format!("panic: {}", text.unwrap_or_default()), input));
        }
        if began.elapsed() > MAX_TIME {
            return Err((format!("took {:?}", began.elapsed()), input));
        }
        if used > BASE_MEMORY + MEMORY_PER_BYTE * input.len() {
            return Err((format!("used {} MiB for {} bytes", used >> 20, input.len()), input));
        }
        count += 1;
    }
    Ok((count, peak))
}

fn keep(name: &str, input: &[u8]) -> String {
    let path =
        format!("target/fuzz/{name}-{:x}", input.iter().fold(5381u64, |h, b| h.wrapping_mul(33) ^ u64::from(*b)));
    let written = std::fs::create_dir_all("target/fuzz").and_then(|()| std::fs::write(&path, input));
    written.map_or_else(|e| format!("could not be written: {e}"), |()| path)
}

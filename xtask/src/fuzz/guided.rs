//! Fuzzing that follows coverage: libFuzzer on the targets of `linerate-fuzz`.

use super::build::Harness;
use super::engine::{Ran, fresh, fuzz};
use super::keep::keep;
use crate::shell::{self, Result};
use crate::tools;
use std::process::ExitCode;
use std::sync::Mutex;

/// `.ci/run` reads it: what was asked for could not be set up here.
const SKIPPED: u8 = 77;

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    /// Goes on from what is there, for so many seconds in all.
    Fuzz { keep: bool },
    /// Both ways from the seeds, for so many seconds of CPU each.
    Compare,
}

struct Asked {
    seconds: u64,
    mode: Mode,
    only: Vec<String>,
}

pub(super) fn run(args: &[String]) -> ExitCode {
    let asked = match read(args) {
        Ok(asked) => asked,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::from(3);
        }
    };
    if let Err(why) = tools::cxx() {
        println!(
            "SKIPPED: fuzzing by coverage, because libFuzzer is built by a C++ compiler (g++), there is none, and {why}"
        );
        return ExitCode::from(SKIPPED);
    }
    shell::exit(all(&asked))
}

fn read(args: &[String]) -> Result<Asked> {
    let mut asked = Asked { seconds: 180, mode: Mode::Fuzz { keep: false }, only: Vec::new() };
    let mut args = args.iter();
    while let Some(a) = args.next() {
        match a.as_str() {
            "--seconds" => {
                let n = args.next().and_then(|n| n.parse().ok());
                asked.seconds = n.ok_or("--seconds takes a whole number")?;
            }
            "--keep" => asked.mode = Mode::Fuzz { keep: true },
            "--compare" => asked.mode = Mode::Compare,
            name => asked.only.push(name.to_owned()),
        }
    }
    Ok(asked)
}

fn all(asked: &Asked) -> Result<()> {
    let harness = Harness::new()?;
    if let Some(unknown) = asked.only.iter().find(|o| !harness.targets.contains(o)) {
        return Err(format!("no target {unknown:?}; there are {}", harness.targets.join(", ")));
    }
    let chosen = |n: &&String| asked.only.is_empty() || asked.only.contains(n);
    let names: Vec<&String> = harness.targets.iter().filter(chosen).collect();
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get().min(names.len()));
    let each = (asked.seconds * workers as u64 / names.len().max(1) as u64).max(1);
    let (left, failed) = (Mutex::new(names.iter()), Mutex::new(Vec::new()));
    let next = || left.lock().ok().and_then(|mut l| l.next().copied());
    std::thread::scope(|s| {
        for _ in 0..workers {
            s.spawn(|| {
                while let Some(name) = next() {
                    let line = match asked.mode {
                        Mode::Fuzz { keep } => line(&harness, name, each, keep),
                        Mode::Compare => compared(&harness, name, asked.seconds),
                    };
                    match line {
                        Ok(line) => println!("ok   {name:<18} {line}"),
                        Err(why) => {
                            println!("FAIL {name:<18} {why}");
                            failed.lock().into_iter().for_each(|mut f| f.push(name.clone()));
                        }
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().map_err(|_| "a thread ended badly")?;
    println!("{} passed, {} failed", names.len() - failed.len(), failed.len());
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

fn line(harness: &Harness, name: &str, seconds: u64, is_kept: bool) -> Result<String> {
    let Ran { inputs, edges, features, .. } = fuzz(harness, name, seconds)?;
    if is_kept {
        keep(harness, name)?;
    }
    Ok(format!("{inputs:>8} inputs, {edges:>6} edges, {features:>6} features"))
}

fn compared(harness: &Harness, name: &str, seconds: u64) -> Result<String> {
    let (blind, guided) = (fresh(harness, name, seconds, true)?, fresh(harness, name, seconds, false)?);
    let show = |r: Ran| format!("{:>8} inputs {:>6} edges {:>6} features", r.inputs, r.edges, r.features);
    Ok(format!("blind {}   guided {}", show(blind), show(guided)))
}

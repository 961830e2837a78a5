//! `cargo xtask test …`: the tests, on whatever machine this is. Cargo builds them; their programs run side by side, and then the
//! examples in the documentation. `--slow`: instead, those that take longest ([`slow`]). Where a package or a test is named, cargo runs them as
//! always, slow or not.
//!
//! A test that cannot run here (no lspci, no third-party data) prints `SKIPPED: why` and passes. Cargo hides what passing
//! tests print; this command reads it, and lists at the end what was not tested.

mod pool;
mod slow;

use crate::memory::Scratch;
use crate::shell::{self, Result};
use crate::tools::{self, Skipped};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{ExitCode, Stdio};

pub(crate) fn run(args: &[String]) -> ExitCode {
    let mut seen = Seen { skipped: tools::install(), ..Seen::default() };
    let result = test(args, &mut seen);
    println!("\n{} passed, {} failed, {} ignored", seen.passed, seen.failed, seen.ignored);
    for (why, tests) in &seen.skipped {
        println!("{why}{}", name_some(tests));
    }
    shell::exit(result)
}

fn test(args: &[String], seen: &mut Seen) -> Result<()> {
    if !Path::new(&shell::root()).join("../shared/data").is_dir() {
        let line = "SKIPPED: third-party files because ../shared/data is not here";
        println!("{line}");
        seen.skipped.insert(line.to_owned(), Vec::new());
    }
    let split = args.iter().position(|a| a == "--").unwrap_or(args.len());
    let (ours, theirs) = (args.get(..split).unwrap_or_default(), args.get(split + 1..).unwrap_or_default());
    let is_slow = ours.iter().any(|a| a == "--slow");
    let ours: Vec<String> = ours.iter().filter(|a| *a != "--slow").cloned().collect();
    let every = ours.iter().all(|a| EVERY_TEST.contains(&a.as_str()));
    if is_slow && (!every || are_named(theirs)) {
        Err("--slow chooses the tests: a package or a test is not named with it".into())
    } else if every {
        all(&ours, theirs, is_slow, seen)
    } else {
        some(&ours, theirs, seen)
    }
}

/// Whether arguments of test programs name tests: those run, slow or not.
fn are_named(theirs: &[String]) -> bool {
    theirs.iter().any(|a| !a.starts_with('-'))
}

/// Arguments of cargo that choose no tests.
const EVERY_TEST: &[&str] = &["--locked", "--offline", "--release", "--workspace", "--quiet", "-q"];

/// All of them: programs side by side, then the documentation's. Or the slow ones.
fn all(ours: &[String], theirs: &[String], is_slow: bool, seen: &mut Seen) -> Result<()> {
    let began = std::time::Instant::now();
    let programs = pool::build(ours)?;
    println!("{} programs of tests, built in {} s", programs.len(), began.elapsed().as_secs());
    let programs = if are_named(theirs) {
        programs
    } else {
        let (programs, slow) = slow::share(programs, is_slow)?;
        if !is_slow {
            seen.skipped.insert(format!("NOT RUN: {slow} slow tests: `cargo xtask test --slow`"), Vec::new());
        }
        programs
    };
    let mut failed = Vec::new();
    let scratch = Scratch::new("test")?;
    pool::run(programs, theirs, scratch.path(), |program, took, output| {
        println!("\n     Running {}: {:.1} s", program.name, took.as_secs_f64());
        match output {
            Ok(output) => {
                String::from_utf8_lossy(&output.stdout).lines().for_each(|line| seen.print(line));
                eprint!("{}", String::from_utf8_lossy(&output.stderr));
                if !output.status.success() {
                    failed.push(format!("{} ({})", program.name, output.status));
                }
            }
            Err(e) => failed.push(format!("{}: {e}", program.name)),
        }
        seen.ended();
    });
    let doc = ["--doc".to_owned()];
    let documented = if is_slow { Ok(()) } else { some(&[&doc, ours].concat(), theirs, seen) };
    println!("all ran within {} s", began.elapsed().as_secs());
    match (failed.is_empty(), documented) {
        (true, documented) => documented,
        (false, documented) => {
            failed.extend(documented.err());
            Err(format!("failed:\n  {}", failed.join("\n  ")))
        }
    }
}

/// Those that are chosen, by cargo.
fn some(ours: &[String], theirs: &[String], seen: &mut Seen) -> Result<()> {
    let mut cargo = shell::cargo();
    let named = ours.iter().any(|a| a.starts_with("-p") || a.starts_with("--package"));
    cargo
        .args(["test", "--no-fail-fast"])
        .args((!named && !ours.iter().any(|a| a == "--workspace")).then_some("--workspace"))
        .args(ours)
        .args(["--", "--show-output"])
        .args(theirs);
    let mut child = cargo.stdout(Stdio::piped()).spawn().map_err(|e| format!("cannot run cargo: {e}"))?;
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).split(b'\n') {
            let line = line.map_err(|e| format!("cargo test: {e}"))?;
            seen.print(&String::from_utf8_lossy(&line));
        }
    }
    match child.wait() {
        Ok(s) if s.success() => Ok(()),
        Ok(s) => Err(format!("cargo test failed ({s})")),
        Err(e) => Err(format!("cargo test: {e}")),
    }
}

/// What the test programs have printed so far.
#[derive(Default)]
struct Seen {
    passed: u64,
    failed: u64,
    ignored: u64,
    skipped: Skipped,
    /// Inside the list of what passing tests printed, which nobody wants to see.
    hidden: bool,
    /// The test whose output comes.
    test: String,
}

impl Seen {
    /// Takes a line, and shows it where it says something.
    fn print(&mut self, line: &str) {
        if self.line(line) {
            println!("{line}");
        }
    }

    /// A program has ended, wherever it was.
    fn ended(&mut self) {
        self.hidden = false;
        self.test.clear();
    }

    /// Takes a line; whether it is to be shown.
    fn line(&mut self, line: &str) -> bool {
        if let Some(result) = line.strip_prefix("test result: ") {
            self.hidden = false;
            let count = |what: &str| {
                let (before, _) = result.split_once(what)?;
                before.rsplit([' ', '.', ';']).find(|w| !w.is_empty())?.parse::<u64>().ok()
            };
            self.passed += count(" passed").unwrap_or(0);
            self.failed += count(" failed").unwrap_or(0);
            self.ignored += count(" ignored").unwrap_or(0);
            return true;
        }
        match line {
            "successes:" => self.hidden = true,
            "failures:" => self.hidden = false,
            _ => {}
        }
        if let Some(test) = line.strip_prefix("---- ").and_then(|l| l.strip_suffix(" stdout ----")) {
            test.clone_into(&mut self.test);
        }
        if line.trim_start().starts_with("SKIPPED: ") {
            self.skipped.entry(line.trim().to_owned()).or_default().push(self.test.clone());
        }
        !self.hidden
    }
}

/// `  (3 tests: a, b, …)`
fn name_some(tests: &[String]) -> String {
    const SHOWN: usize = 3;
    if tests.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = tests.iter().take(SHOWN).map(String::as_str).collect();
    let more = if tests.len() > SHOWN { ", …" } else { "" };
    format!("  ({} × {}{more})", tests.len(), names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_are_found_and_the_output_of_passing_tests_is_hidden() {
        let text = "running 3 tests\ntest a ... ok\n\nsuccesses:\n\n---- a::b stdout ----\nSKIPPED: no lspci\nnoise\n\nsuccesses:\n    a::b\n\n\
                    failures:\n\n---- c stdout ----\nassertion failed\n\ntest result: FAILED. 2 passed; 1 failed; 4 ignored; 0 measured; 0 filtered out\n\
                    test result: ok. 10 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        let mut seen = Seen::default();
        let shown: Vec<&str> = text.lines().filter(|l| seen.line(l)).collect();
        assert_eq!((seen.passed, seen.failed, seen.ignored), (12, 1, 4));
        assert_eq!(seen.skipped, Skipped::from([("SKIPPED: no lspci".to_owned(), vec!["a::b".to_owned()])]));
        assert!(shown.contains(&"assertion failed") && !shown.contains(&"noise"));
    }
}

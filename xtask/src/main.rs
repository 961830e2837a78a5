//! Developer commands: `cargo xtask COMMAND …`. One file (or folder) per command; this one only dispatches.
#![allow(clippy::print_stdout, clippy::print_stderr)] // a command-line tool for developers: it prints

use std::process::ExitCode;

mod bench;
mod bombs;
mod deny;
mod deps;
mod dist;
mod docs;
mod doctor;
#[cfg(test)]
mod errors;
mod examples;
mod features;
mod fuzz;
mod lab;
mod map;
mod memory;
mod metadata;
mod reports;
mod same;
mod shell;
mod supply;
mod test;
mod tools;
#[cfg(test)]
mod words;

/// The name a developer types, one line of help, and what runs.
type Command = (&'static str, &'static str, fn(&[String]) -> ExitCode);

const COMMANDS: &[Command] = &[
    ("test", "run all tests; what could not be tested is listed at the end (arguments go to cargo test)", test::run),
    ("deps", "check the arrows between crates, licences, sources, the binary, and paths in files", deps::run),
    (
        "supply",
        "compare Cargo.lock with what was reviewed (--write: write docs/security; --advisories DIR: by a copy of RustSec's database)",
        supply::run,
    ),
    ("docs", "write docs/rules from the rules (--check: compare only)", docs::run),
    ("examples", "write examples/ from lab/nodes (--check: compare only)", examples::run),
    (
        "fuzz",
        "feed mutated inputs to every parser (--seconds N, --seed N, names of targets; --guided: by coverage, with libFuzzer)",
        fuzz::run,
    ),
    (
        "bench",
        "measure, and write docs/benchmarks.md (--quick: little, and nothing is written; --only logs, --only results)",
        bench::run,
    ),
    (
        "bombs",
        "give every verb inputs that cost its readers dear, and measure it (--count N, --seed S, --jobs N, --kind NAME, --keep DIR)",
        bombs::run,
    ),
    (
        "doctor",
        "judge the lab's NCCL logs of all releases, and print precision and recall (--check, --quick, --write, NAME …; --reports DIR: real reports)",
        doctor::run,
    ),
    (
        "same",
        "what two programs say of the examples, the lab's nodes and real inputs, and where that differs (OLD NEW)",
        same::run,
    ),
    (
        "dist",
        "build what is handed out: programs for old and new userlands, x86_64 and aarch64, packages, image, SBOM (--target NAME, --twice, --try)",
        dist::run,
    ),
    ("lab", "boot the QEMU guests of lab/scenarios and check what they show", lab::main),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let name = args.first().map_or("help", String::as_str);
    if let Some((_, _, run)) = COMMANDS.iter().find(|(command, _, _)| *command == name) {
        return run(args.get(1..).unwrap_or_default());
    }
    let known = matches!(name, "help" | "--help" | "-h");
    if !known {
        eprintln!("xtask: no command {name:?}\n");
    }
    println!("usage: cargo xtask COMMAND …\n");
    for (command, help, _) in COMMANDS {
        println!("  {command:<8} {help}");
    }
    if known { ExitCode::SUCCESS } else { ExitCode::from(3) }
}

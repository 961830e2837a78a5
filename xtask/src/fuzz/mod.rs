//! `cargo xtask fuzz [--dev] [--seconds N] [--seed N] [TARGET…]`: the fuzz harness, built with its own profile, or (`--dev`) as the
//! tests are: slower, but nothing is built anew where they were.
//! `cargo xtask fuzz --guided [--seconds N] [--keep] [TARGET…]`: the same targets under libFuzzer, which follows coverage.
//! `cargo xtask fuzz --guided --compare [--seconds N] [TARGET…]`: what guidance reaches beyond blind mutants in the same time.

mod build;
mod engine;
mod guided;
mod keep;

use crate::shell;
use std::process::ExitCode;

pub(crate) fn run(args: &[String]) -> ExitCode {
    if args.first().is_some_and(|a| a == "--guided") {
        return guided::run(args.get(1..).unwrap_or_default());
    }
    if let Some((_, args)) = args.split_first().filter(|(first, _)| *first == "--dev") {
        let run = |harness| shell::status(std::process::Command::new(harness).args(args).current_dir(shell::root()));
        return shell::exit(shell::dev("linerate-fuzz").and_then(run));
    }
    let harness = ["run", "--quiet", "--profile", "fuzz", "--package", "linerate-fuzz", "--bin", "linerate-fuzz", "--"];
    shell::exit(shell::status(shell::cargo().args(harness).args(args)))
}

//! `cargo xtask fuzz [--seconds N] [--seed N] [TARGET…]`: the fuzz harness, built with its own profile.
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
    let harness = ["run", "--quiet", "--profile", "fuzz", "--package", "linerate-fuzz", "--bin", "linerate-fuzz", "--"];
    shell::exit(shell::status(shell::cargo().args(harness).args(args)))
}

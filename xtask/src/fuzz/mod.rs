//! `cargo xtask fuzz [--seconds N] [--seed N] [TARGET…]`: the fuzz harness, built with its own profile.
//! `cargo xtask fuzz --guided [--seconds N] [--keep] [TARGET…]`: the same targets under libFuzzer, which follows coverage.

mod guided;

use crate::shell;
use std::process::ExitCode;

pub(crate) fn run(args: &[String]) -> ExitCode {
    if args.first().is_some_and(|a| a == "--guided") {
        return shell::exit(guided::run(args.get(1..).unwrap_or_default()));
    }
    let harness = ["run", "--quiet", "--profile", "fuzz", "--package", "linerate-fuzz", "--bin", "linerate-fuzz", "--"];
    shell::exit(shell::status(shell::cargo().args(harness).args(args)))
}

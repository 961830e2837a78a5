//! `cargo xtask fuzz [--seconds N] [--seed N] [TARGET…]`: the fuzz harness, built with its own profile.

use crate::shell;
use std::process::ExitCode;

pub(crate) fn run(args: &[String]) -> ExitCode {
    let harness = ["run", "--quiet", "--profile", "fuzz", "--package", "linerate-fuzz", "--"];
    shell::exit(shell::status(shell::cargo().args(harness).args(args)))
}

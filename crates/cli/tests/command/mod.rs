//! `linerate` as a person calls it, with an environment of its own.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests")]

use std::cell::RefCell;
use std::path::Path;
use std::process::Command;

/// Its status and what it said, in one line: lines are wrapped where they end. `more` are arguments that every call has, `said` takes all.
pub(crate) fn run(
    home: &Path,
    arguments: &[&str],
    more: &[&str],
    environment: &[(&str, &str)],
    said: &RefCell<String>,
) -> (i32, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(arguments)
        .args(more)
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    said.borrow_mut().push_str(&text);
    println!("$ linerate {}\n{text}", arguments.join(" "));
    (out.status.code().unwrap_or(-1), text.split_whitespace().collect::<Vec<_>>().join(" "))
}

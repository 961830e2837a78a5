//! Test programs side by side: most of them keep one core busy.

use crate::shell::{self, Result};
use serde::Deserialize;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// A program of tests that cargo has built.
pub(super) struct Program {
    /// As `linerate-formats: tests/tools.rs`.
    pub(super) name: String,
    file: PathBuf,
    /// The directory of its package, in which it runs, as under cargo.
    package: PathBuf,
    /// What it is asked.
    pub(super) args: Vec<String>,
}

impl Program {
    /// The names of its tests.
    pub(super) fn tests(&self) -> Result<Vec<String>> {
        let out = Command::new(&self.file).args(["--list", "--format=terse"]).current_dir(&self.package).output();
        let out = out.map_err(|e| format!("{}: {e}", self.name))?;
        if !out.status.success() {
            return Err(format!("{} --list: {}", self.name, out.status));
        }
        let text = String::from_utf8_lossy(&out.stdout);
        Ok(text.lines().filter_map(|l| l.strip_suffix(": test")).map(str::to_owned).collect())
    }
}

/// A message of `cargo test --message-format=json`, as far as it is needed.
#[derive(Deserialize)]
struct Message {
    reason: String,
    manifest_path: Option<PathBuf>,
    executable: Option<PathBuf>,
    profile: Option<Profile>,
    target: Option<Target>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Deserialize)]
struct Target {
    src_path: PathBuf,
}

/// Builds all programs of tests, with these arguments of cargo.
pub(super) fn build(args: &[String]) -> Result<Vec<Program>> {
    let mut cargo = shell::cargo();
    cargo.args(["test", "--no-run", "--message-format=json-render-diagnostics"]);
    cargo.args((!args.iter().any(|a| a == "--workspace")).then_some("--workspace")).args(args);
    let mut child = cargo.stdout(Stdio::piped()).spawn().map_err(|e| format!("cannot run cargo: {e}"))?;
    let mut programs = Vec::new();
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).lines() {
            programs.extend(program(&line.map_err(|e| format!("cargo test: {e}"))?));
        }
    }
    match child.wait() {
        Ok(s) if s.success() => Ok(programs),
        Ok(s) => Err(format!("cargo test --no-run failed ({s})")),
        Err(e) => Err(format!("cargo test: {e}")),
    }
}

/// The program of a message, where it is of one.
fn program(line: &str) -> Option<Program> {
    let m: Message = serde_json::from_str(line).ok()?;
    let (file, manifest, target) = (m.executable?, m.manifest_path?, m.target?);
    if m.reason != "compiler-artifact" || !m.profile?.test {
        return None;
    }
    let package = manifest.parent()?.to_owned();
    let source = target.src_path.strip_prefix(&package).unwrap_or(&target.src_path).display().to_string();
    Some(Program { name: format!("{}: {source}", named(&package)), file, package, args: Vec::new() })
}

/// What a package is called by, from the repository's root.
fn named(package: &Path) -> String {
    package.strip_prefix(shell::root()).unwrap_or(package).display().to_string()
}

/// Runs them, some more at once than there are cores, each with one test at a time: those that wait leave room. Temporary files are below `scratch`.
/// `done` is called in the order in which they end.
pub(super) fn run(
    programs: Vec<Program>,
    args: &[String],
    scratch: &Path,
    mut done: impl FnMut(&Program, Duration, std::io::Result<Output>),
) {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    let waiting = Mutex::new(VecDeque::from(programs));
    let (tell, told) = channel();
    std::thread::scope(|scope| {
        for _ in 0..=cores {
            let (tell, waiting) = (tell.clone(), &waiting);
            scope.spawn(move || {
                loop {
                    let next = waiting.lock().ok().and_then(|mut w| w.pop_front());
                    let Some(program) = next else { return };
                    let began = Instant::now();
                    let output = one(&program, args, scratch);
                    if tell.send((program, began.elapsed(), output)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(tell);
        told.iter().for_each(|(program, took, output)| done(&program, took, output));
    });
}

fn one(program: &Program, args: &[String], scratch: &Path) -> std::io::Result<Output> {
    let mut command = Command::new(&program.file);
    command.args(["--show-output", "--test-threads=1"]).args(&program.args).args(args).current_dir(&program.package);
    command.env("CARGO_MANIFEST_DIR", &program.package).env("TMPDIR", scratch).stdin(Stdio::null());
    command.output()
}

#[cfg(test)]
mod tests {
    #[test]
    fn programs_are_those_of_tests() {
        let line = |test: bool, reason: &str| {
            format!(
                r#"{{"reason":"{reason}","manifest_path":"/r/crates/a/Cargo.toml","target":{{"src_path":"/r/crates/a/tests/t.rs"}},
                   "profile":{{"test":{test}}},"executable":"/t/debug/deps/t-1"}}"#
            )
        };
        let found = super::program(&line(true, "compiler-artifact")).unwrap();
        assert_eq!((found.file.to_str(), found.package.to_str()), (Some("/t/debug/deps/t-1"), Some("/r/crates/a")));
        assert!(found.name.ends_with("crates/a: tests/t.rs"), "{}", found.name);
        assert!(super::program(&line(false, "compiler-artifact")).is_none(), "a command");
        assert!(super::program(&line(true, "build-finished")).is_none());
        assert!(super::program("a warning").is_none());
    }
}

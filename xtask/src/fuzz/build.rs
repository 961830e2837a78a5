//! The harness with coverage counters, and the files that it begins with.

use crate::memory::Scratch;
use crate::shell::{self, Result, emptied, made};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A counter on every edge, a table of their places, and compared values. They are LLVM's, asked for by flags that stable rustc has.
const COUNTERS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Runs rustc with these flags. Cargo builds anew by a wrapper's name and not by what is in it: other flags need another name.
const WRAPPER: &str = "counting-rustc";

/// What a run has: the harness, its inputs by target, and a directory in memory for what it writes while it runs.
pub(super) struct Harness {
    binary: PathBuf,
    pub(super) work: PathBuf,
    scratch: Scratch,
    pub(super) targets: Vec<String>,
}

impl Harness {
    pub(super) fn new() -> Result<Self> {
        let work = shell::target().join("guided");
        made(&work)?;
        let binary = build(&work)?;
        let scratch = Scratch::new("guided")?;
        let mut harness = Harness { binary, work, scratch, targets: Vec::new() };
        let inputs = harness.work.join("inputs");
        emptied(&inputs)?;
        shell::status(harness.command().env("LINERATE_FUZZ_SEEDS", &inputs))?;
        let own = inputs.join("own");
        let read = std::fs::read_dir(&own).map_err(|e| format!("{}: {e}", own.display()))?;
        harness.targets = read.flatten().map(|d| d.file_name().to_string_lossy().into_owned()).collect();
        harness.targets.sort();
        Ok(harness)
    }

    /// The harness, for no target yet.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.env("LINERATE_FUZZ_SCRATCH", self.scratch.path());
        command
    }

    /// The harness for a target, below a limit of CPU time if there is one.
    pub(super) fn of(&self, target: &str, cpu: Option<u64>) -> Command {
        let mut command = self.command();
        if let Some(seconds) = cpu {
            command = Command::new("sh");
            command.args(["-c", "ulimit -S -t \"$0\" && exec \"$@\"", &seconds.to_string()]).arg(&self.binary);
            command.env("LINERATE_FUZZ_SCRATCH", self.scratch.path());
        }
        command.env("LINERATE_FUZZ_TARGET", target).env("LINERATE_FUZZ_POOL", self.seeds(target));
        command
    }

    /// The seeds of a target, without what was kept.
    pub(super) fn seeds(&self, target: &str) -> PathBuf {
        self.work.join("inputs/own").join(target)
    }

    /// What was kept of a target before.
    pub(super) fn kept(&self, target: &str) -> PathBuf {
        self.work.join("inputs/kept").join(target)
    }
}

/// Only what is in this workspace is built anew, with counters: the crates of others are those of the tests, which CI has built by then.
/// They would be most of the counters and of the time.
fn build(work: &Path) -> Result<PathBuf> {
    let wrapper = work.join(WRAPPER);
    let text = format!("#!/bin/sh\nexec \"$@\" {COUNTERS}\n");
    let at = |e: std::io::Error| format!("{}: {e}", wrapper.display());
    if std::fs::read_to_string(&wrapper).ok().as_deref() != Some(&text) {
        std::fs::write(&wrapper, text).map_err(at)?;
        std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).map_err(at)?;
    }
    let mut cargo = shell::beside_xtask("linerate-fuzz", "linerate-fuzz-guided");
    cargo.args(["--locked", "--features", "linerate-fuzz/guided"]);
    shell::status(cargo.env("RUSTC_WORKSPACE_WRAPPER", &wrapper).env("CARGO_PROFILE_DEV_OPT_LEVEL", "1"))?;
    Ok(shell::target().join("debug/linerate-fuzz-guided"))
}

//! Fuzzing that follows coverage: libFuzzer on the targets of `linerate-fuzz`.
//!
//! The counters are LLVM's, asked for by flags that stable rustc has (`-C passes`, `-C llvm-args`): no nightly, no sanitizer. Memory and
//! time of one input are bounded by libFuzzer's own limits.

use crate::shell::{self, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Counters in every branch, a table of places, and compared values: what cargo-fuzz asks for, too.
const COUNTERS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing";
/// Longest input that is made, in bytes: the targets are linear in it, so longer ones find little more.
const LONGEST: &str = "-max_len=65536";
/// Bytes of a target's inputs that `--keep` writes into the repository.
const KEPT: usize = 4 << 10;
/// Longest input among them.
const KEPT_ONE: usize = 512;

struct Asked {
    seconds: u64,
    keep: bool,
    only: Vec<String>,
}

/// What libFuzzer said of one target.
struct Ran {
    inputs: u64,
    covered: u64,
}

pub(super) fn run(args: &[String]) -> Result<()> {
    let asked = read(args)?;
    if !shell::has("c++") && !shell::has("clang++") {
        return Err("libFuzzer is built by a C++ compiler: apt-get install g++".to_owned());
    }
    let work = shell::target().join("guided");
    let binary = build(&work)?;
    let seeds = work.join("seeds");
    let _ = std::fs::remove_dir_all(&seeds);
    shell::status(Command::new(&binary).env("LINERATE_FUZZ_SEEDS", &seeds))?;
    let read = std::fs::read_dir(&seeds).map_err(|e| format!("{}: {e}", seeds.display()))?;
    let mut names: Vec<String> = read.flatten().map(|d| d.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    if let Some(unknown) = asked.only.iter().find(|o| !names.contains(o)) {
        return Err(format!("no target {unknown:?}; there are {}", names.join(", ")));
    }
    names.retain(|n| asked.only.is_empty() || asked.only.contains(n));
    let each = (asked.seconds / names.len().max(1) as u64).max(1);
    let mut failed = Vec::new();
    for name in &names {
        match one(&binary, &work, &seeds, name, each) {
            Ok(ran) => println!("ok   {name:<18} {:>8} inputs, {:>6} places covered", ran.inputs, ran.covered),
            Err(why) => {
                println!("FAIL {name:<18} {why}");
                failed.push(name.clone());
            }
        }
        if asked.keep {
            keep(&binary, &work, &seeds, name)?;
        }
    }
    println!("{} passed, {} failed", names.len() - failed.len(), failed.len());
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

fn read(args: &[String]) -> Result<Asked> {
    let mut asked = Asked { seconds: 180, keep: false, only: Vec::new() };
    let mut args = args.iter();
    while let Some(a) = args.next() {
        match a.as_str() {
            "--seconds" => {
                let n = args.next().and_then(|n| n.parse().ok());
                asked.seconds = n.ok_or("--seconds takes a whole number")?;
            }
            "--keep" => asked.keep = true,
            name => asked.only.push(name.to_owned()),
        }
    }
    Ok(asked)
}

/// The harness with counters, in a directory of its own: the flags would build everything else again. The target is named so that build
/// scripts and macros, which run on this machine, get no counters.
fn build(work: &Path) -> Result<PathBuf> {
    let version = shell::output(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|l| l.strip_prefix("host: ")).ok_or("rustc does not say its host")?;
    let mut cargo = shell::cargo();
    cargo.args(["build", "--quiet", "--profile", "fuzz", "--package", "linerate-fuzz", "--features", "guided"]);
    cargo.args(["--bin", "linerate-fuzz-guided", "--target", host]);
    shell::status(cargo.env("CARGO_TARGET_DIR", work.join("build")).env("RUSTFLAGS", COUNTERS))?;
    Ok(work.join("build").join(host).join("fuzz/linerate-fuzz-guided"))
}

fn one(binary: &Path, work: &Path, seeds: &Path, name: &str, seconds: u64) -> Result<Ran> {
    let corpus = work.join("corpus").join(name);
    made(&corpus)?;
    let found = work.join(format!("found-{name}-"));
    let mut command = Command::new(binary);
    command.env("LINERATE_FUZZ_TARGET", name).arg(&corpus).arg(seeds.join(name)).arg(LONGEST);
    command.args(["-timeout=5", "-rss_limit_mb=1024", "-print_final_stats=1"]);
    command.arg(format!("-max_total_time={seconds}")).arg(format!("-artifact_prefix={}", found.display()));
    let out = command.stdin(Stdio::null()).output().map_err(|e| format!("{}: {e}", binary.display()))?;
    let said = String::from_utf8_lossy(&out.stderr);
    if !out.status.success() {
        let why = said.lines().rfind(|l| l.contains("panicked at") || l.contains("ERROR: libFuzzer"));
        let input = said.lines().rfind(|l| l.contains("Test unit written to")).unwrap_or("no input was written");
        return Err(format!("{}; {input}", why.unwrap_or("it ended badly")));
    }
    let number = |mark: &str| {
        let at = said.rfind(mark)? + mark.len();
        said.get(at..)?.split_whitespace().next()?.parse().ok()
    };
    let ran =
        Ran { inputs: number("stat::number_of_executed_units:").unwrap_or(0), covered: number(" cov: ").unwrap_or(0) };
    // Without counters libFuzzer goes on blindly.
    if ran.inputs == 0 || ran.covered == 0 {
        return Err(format!("{} inputs covered {} places: nothing was measured", ran.inputs, ran.covered));
    }
    Ok(ran)
}

/// Writes the smallest inputs that together cover what all do beyond the seeds, as far as there is room.
fn keep(binary: &Path, work: &Path, seeds: &Path, name: &str) -> Result<()> {
    let small = work.join("small").join(name);
    let _ = std::fs::remove_dir_all(&small);
    made(&small)?;
    let mut merge = Command::new(binary);
    merge.env("LINERATE_FUZZ_TARGET", name).args(["-merge=1", "-timeout=5", "-rss_limit_mb=1024"]).arg(&small);
    merge.arg(work.join("corpus").join(name)).stderr(Stdio::null()).stdout(Stdio::null());
    shell::status(&mut merge)?;
    let known: HashSet<Vec<u8>> = contents(&seeds.join(name))?.collect();
    let is_kept = |input: &Vec<u8>| input.len() <= KEPT_ONE && !known.contains(input);
    let mut inputs: Vec<Vec<u8>> = contents(&small)?.filter(is_kept).collect();
    inputs.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    let mut room = KEPT;
    let mut text = String::new();
    // The longest of the short ones reach deepest.
    for input in inputs.iter().rev() {
        let Some(rest) = room.checked_sub(input.len()) else { continue };
        room = rest;
        text.push_str(&STANDARD.encode(input));
        text.push('\n');
    }
    let corpus = shell::root().join("fuzz/corpus");
    made(&corpus)?;
    let path = corpus.join(format!("{name}.txt"));
    std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
}

/// The files of a directory, by content.
fn contents(dir: &Path) -> Result<impl Iterator<Item = Vec<u8>>> {
    let files = std::fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    Ok(files.flatten().filter_map(|f| std::fs::read(f.path()).ok()))
}

fn made(dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))
}

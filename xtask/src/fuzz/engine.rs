//! One run of libFuzzer on one target.

use super::build::Harness;
use crate::shell::{Result, emptied, made};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Limits of one input; the seconds are of the clock, on machines that do other things too.
pub(super) const LIMITS: [&str; 2] = ["-timeout=20", "-rss_limit_mb=1024"];

/// How far it came.
#[derive(Clone, Copy, Default)]
pub(super) struct Ran {
    pub(super) inputs: u64,
    /// Places of the code that were reached.
    pub(super) edges: u64,
    /// Places with how often they were reached, and compared values.
    pub(super) features: u64,
    /// Inputs that it goes on from: each reached something that those before did not.
    units: u64,
}

/// Goes on from what earlier runs found, for some seconds.
pub(super) fn fuzz(harness: &Harness, target: &str, seconds: u64) -> Result<Ran> {
    let corpus = harness.work.join("corpus").join(target);
    made(&corpus)?;
    let mut command = harness.of(target, None);
    command.arg(&corpus).args([harness.seeds(target), harness.kept(target)]);
    command.arg(format!("-max_total_time={seconds}"));
    run(&mut command, &harness.work, target)
}

/// From the seeds alone, for some seconds of CPU; blindly, or guided by coverage.
pub(super) fn fresh(harness: &Harness, target: &str, seconds: u64, blind: bool) -> Result<Ran> {
    let corpus = harness.work.join("fresh").join(target).join(if blind { "blind" } else { "guided" });
    emptied(&corpus)?;
    let mut command = harness.of(target, Some(seconds));
    if blind {
        // Each mutant is one of a seed, as the bounded harness makes them.
        command.env("LINERATE_FUZZ_BLIND", "1").args(["-len_control=0", "-max_len=65536"]);
    }
    command.arg(&corpus).arg(harness.seeds(target)).arg("-seed=1");
    run(&mut command, &harness.work, target)
}

fn run(command: &mut Command, work: &Path, target: &str) -> Result<Ran> {
    let found = work.join(format!("found-{target}-"));
    command.args(LIMITS).arg(format!("-artifact_prefix={}", found.display()));
    let out = command.stdin(Stdio::null()).output().map_err(|e| format!("cannot run the harness: {e}"))?;
    let said = String::from_utf8_lossy(&out.stderr);
    if !out.status.success() && out.status.signal() != Some(libc::SIGXCPU) {
        return Err(failure(&said));
    }
    let ran = read(&said).ok_or("libFuzzer did not say how far it came")?;
    // Without counters libFuzzer goes on blindly.
    if ran.edges == 0 {
        return Err(format!("{} inputs reached nothing that is counted", ran.inputs));
    }
    if ran.units < 2 {
        return Err(format!("{} inputs all did the same: the target does nothing with its bytes", ran.inputs));
    }
    Ok(ran)
}

/// Why it ended and on which input, in words that are enough where the file is gone: a panic and its message, or libFuzzer's own error; the input
/// in base64, which libFuzzer prints of short ones.
fn failure(said: &str) -> String {
    let lines: Vec<&str> = said.lines().collect();
    let panicked = lines.iter().position(|l| l.contains("panicked at")).and_then(|at| lines.get(at..));
    let why = match panicked {
        Some(lines) => lines.iter().take(2).copied().collect::<Vec<_>>().join(" "),
        None => lines.iter().rfind(|l| l.contains("ERROR: libFuzzer")).map_or("it ended badly", |l| l).to_owned(),
    };
    let of = |mark: &str| lines.iter().rfind(|l| l.contains(mark)).copied();
    let input = of("Test unit written to").unwrap_or("no input was written");
    format!("{why}; {input}; {}", of("Base64: ").unwrap_or("too long to be printed"))
}

/// The last line like `#4096 pulse cov: 211 ft: 480 corp: 31/1204b …`.
fn read(said: &str) -> Option<Ran> {
    let line = said.lines().rfind(|l| l.starts_with('#') && l.contains(" cov: "))?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let after = |mark: &str| words.iter().skip_while(|w| **w != mark).nth(1)?.split('/').next()?.parse().ok();
    let inputs = words.first()?.get(1..)?.parse().ok()?;
    Some(Ran { inputs, edges: after("cov:")?, features: after("ft:")?, units: after("corp:")? })
}

#[cfg(test)]
mod tests {
    #[test]
    fn how_far_it_came_is_its_last_line() {
        let said = "INFO: seed corpus: files: 2\n#3\tINITED cov: 10 ft: 12 corp: 2/9b exec/s: 0 rss: 30Mb\n\
                    #4096\tpulse  cov: 211 ft: 480 corp: 31/1204b lim: 64 exec/s: 2048 rss: 40Mb\nDone 4100 runs in 2 second(s)\n";
        let ran = super::read(said).unwrap();
        assert_eq!((ran.inputs, ran.edges, ran.features, ran.units), (4096, 211, 480, 31));
        assert!(super::read("INFO: seed corpus\n").is_none());
    }

    #[test]
    fn a_failure_says_what_and_on_which_input() {
        let said = "thread 'main' panicked at src/a.rs:1:2:\nno room\nnote: x\n==1== ERROR: libFuzzer: deadly signal\n\
                    artifact_prefix='/x-'; Test unit written to /x-crash-1\nBase64: AAE=\n";
        let why = super::failure(said);
        for part in ["src/a.rs:1:2: no room", "/x-crash-1", "Base64: AAE="] {
            assert!(why.contains(part), "{why}");
        }
        assert!(super::failure("==1== ERROR: libFuzzer: timeout\n").contains("timeout"));
    }
}

//! `linerate bench run` over SSH, from this machine, between two guests with Soft-RoCE.

use super::super::{Group, Guest, Lab, Spec};
use super::BOOT;
use crate::lab::Result;
use serde::Deserialize;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What is measured, and with which further arguments. Not the sweep over all sizes, which moves 17 GB, and far fewer messages than
/// the 10,000 of a latency test: an emulated CPU takes milliseconds for each.
const MEASUREMENTS: &[(&[&str], &[&str])] = &[
    (&["ib_write_bw", "ib_read_bw"], &["--seconds", "10"]),
    (&["ib_write_lat", "ib_read_lat"], &["--variant", "few: args=-n,50"]),
];

/// The part of `linerate bench run --format json` that is looked at.
#[derive(Debug, Deserialize)]
struct Answer {
    runs: Vec<Run>,
    refused: Vec<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct Run {
    tool: Option<String>,
    hosts: Vec<String>,
    valid: bool,
    samples: Vec<Sample>,
}

#[derive(Debug, Deserialize)]
struct Sample {
    value: f64,
    valid: bool,
}

/// Names, addresses on the cable, a Soft-RoCE device over it, and `linerate`.
fn prepare(guest: &mut Guest<'_>, address: &str, linerate: &Path) -> Result<()> {
    guest.wait_ssh(BOOT)?;
    let name = guest.name();
    guest.shell(&format!(
        "hostname {name}
        ip link set eth1 mtu 9000 up
        ip addr add {address}/24 dev eth1
        modprobe rdma_rxe
        rdma link add rxe0 type rxe netdev eth1"
    ))?;
    guest.copy_in(linerate, "/usr/local/bin/linerate", "755")
}

/// Processes of tools and of what linerate starts them by, and folders that it made.
fn left(guest: &Guest<'_>) -> Result<String> {
    // The brackets keep the pattern from finding the shell that it is in.
    guest.shell("{ pgrep -fa '[i]b_(write|read|send)_' || :; } ; ls -d /tmp/*linerate* 2>/dev/null || :")
}

pub(super) fn between_two(lab: &Lab<'_>) -> Result<()> {
    let linerate = lab.linerate.as_ref().map_err(Clone::clone)?;
    let group = Group::new(lab.image, &lab.out, lab.patience, lab.stop)?;
    let mut a = group.start(Spec { cable_to: Some("b"), ..Spec::new("a") })?;
    let mut b = group.start(Spec { cable_to: Some("a"), ..Spec::new("b") })?;
    prepare(&mut a, "10.7.0.1", linerate)?;
    prepare(&mut b, "10.7.0.2", linerate)?;
    // A cable that does not carry large frames would be found much later, and by less clear words.
    a.ok(&["ping", "-c", "2", "-W", "10", "-M", "do", "-s", "8972", "10.7.0.2"])?;

    let mut wrong = Vec::new();
    for (number, (tests, more)) in MEASUREMENTS.iter().enumerate() {
        let kept = lab.out.join(format!("kept{number}"));
        wrong.extend(measure(linerate, &group, &kept, tests, more)?);
        for guest in [&a, &b] {
            match left(guest)?.replace('\n', "; ") {
                what if what.is_empty() => {}
                what => wrong.push(format!("{}: expected nothing left behind, saw {what}", guest.name())),
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// One `linerate bench run`; what is wrong with what it said and kept. Its words lie beside what it kept.
fn measure(linerate: &Path, group: &Group<'_>, kept: &Path, tests: &[&str], more: &[&str]) -> Result<Vec<String>> {
    let limit = group.limit(Duration::from_secs(1200)).as_secs().to_string();
    let mut run = Command::new("timeout");
    run.args(["-k", "10", &limit]).arg(linerate);
    run.args(["bench", "run", &tests.join(","), "--on", "a=10.7.0.1,b=10.7.0.2", "--rdma", "rxe0,rxe0"]).args(more);
    run.args(["--repetitions", "1", "--warmups", "0", "--max-time", "10m", "--no-store"]);
    run.args(["--ssh-option", "-F", "--ssh-option"]).arg(group.ssh_config());
    run.args(["--format", "json", "--keep"]).arg(kept);
    let output = run.stdin(Stdio::null()).output().map_err(|e| format!("cannot run {}: {e}", linerate.display()))?;
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    for (ending, bytes) in [("json", &output.stdout), ("txt", &output.stderr)] {
        fs::write(kept.with_extension(ending), bytes).map_err(|e| format!("{}: {e}", kept.display()))?;
    }
    let mut wrong = Vec::new();
    if !output.status.success() {
        wrong.push(format!("linerate bench run: expected exit code 0, saw {}: {}", output.status, words.trim()));
    }
    match serde_json::from_slice::<Answer>(&output.stdout) {
        Ok(answer) => wrong.extend(complaints(&answer, tests)),
        Err(why) => wrong.push(format!("linerate bench run: expected JSON, saw {why}: {}", words.trim())),
    }
    for (number, name) in ["a", "b"].iter().enumerate() {
        wrong.extend(snapshot_of(linerate, &kept.join(format!("host{number}.tar.zst")), name).err());
    }
    Ok(wrong)
}

/// Each test has one run, between the two, with values.
fn complaints(answer: &Answer, tests: &[&str]) -> Vec<String> {
    let mut out: Vec<String> = answer.refused.iter().map(|r| format!("refused: {r}")).collect();
    for test in tests {
        let runs: Vec<&Run> = answer.runs.iter().filter(|r| r.tool.as_deref() == Some(*test)).collect();
        let [run] = runs.as_slice() else {
            out.push(format!("{test}: expected one run, saw {}", runs.len()));
            continue;
        };
        if run.hosts != ["a", "b"] {
            out.push(format!("{test}: expected hosts a and b, saw {:?}", run.hosts));
        }
        if !run.valid || !run.samples.iter().any(|s| s.valid && s.value > 0.0) {
            out.push(format!("{test}: expected a value above 0, saw {:?}", run.samples));
        }
    }
    out
}

/// Does this file hold what `linerate collect` saw on the guest? Its own name is redacted there.
fn snapshot_of(linerate: &Path, file: &Path, name: &str) -> Result<()> {
    let output = Command::new(linerate).args(["audit", "--format", "json"]).arg(file).output();
    let output = output.map_err(|e| format!("cannot run {}: {e}", linerate.display()))?;
    // What it says of the guest does not matter here: Soft-RoCE is nothing to be content with.
    let judged = matches!(output.status.code(), Some(0..=2));
    if judged && String::from_utf8_lossy(&output.stdout).contains("\"rxe0\"") {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("snapshot of {name}: expected one that shows rxe0, saw {}: {}", output.status, said.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTS: &[&str] = &["ib_write_bw", "ib_read_bw"];

    #[test]
    fn a_run_that_is_missing_or_empty_is_complained_about() {
        let run = |tool: &str, hosts: &str, value: f64| {
            format!(r#"{{"tool":"{tool}","hosts":{hosts},"valid":true,"samples":[{{"value":{value},"valid":true}}]}}"#)
        };
        let of = |change: &dyn Fn(&str) -> Option<String>| {
            let runs: Vec<String> = TESTS.iter().filter_map(|t| change(t)).collect();
            let text = format!(r#"{{"runs":[{}],"refused":[]}}"#, runs.join(","));
            complaints(&serde_json::from_str(&text).unwrap(), TESTS).len()
        };
        let ab = r#"["a","b"]"#;
        assert_eq!(of(&|t| Some(run(t, ab, 1.0))), 0);
        assert_eq!(of(&|t| (t != "ib_read_bw").then(|| run(t, ab, 1.0))), 1);
        assert_eq!(of(&|t| Some(run(t, ab, 0.0))), TESTS.len());
        assert_eq!(of(&|t| Some(run(t, r#"["a"]"#, 1.0))), TESTS.len());
    }
}

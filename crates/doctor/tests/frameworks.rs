//! The messages of programs that name a cause, or seem to: each alone and behind heads, against the verdict that is beside it.

use crate::common;

use common::{answer, asserted, ids};
use linerate_doctor::answer::Confidence;
use serde::Deserialize;

#[derive(Deserialize)]
struct Messages {
    message: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    program: String,
    form: String,
    source: String,
    cause: String,
    sure: Option<String>,
    alone: Option<String>,
}

/// What comes before a line, as launchers and loggers have it.
const HEADS: &[&str] = &[
    "[rank3]: ",
    "(VllmWorker rank=3 pid=15164) ERROR 06-19 07:06:13 [multiproc_executor.py:527] ",
    "2025-05-16T16:39:55.215Z stdout F ",
    "worker-1  | ",
    "2026-08-18T19:05:26+0200 sys0 vllm[68046]: ",
];

fn messages() -> Result<Vec<Message>, Box<dyn std::error::Error>> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/messages/frameworks.toml");
    Ok(toml::from_str::<Messages>(&std::fs::read_to_string(file)?)?.message)
}

/// The first cause of a text and how sure it is.
fn verdict(text: &str) -> (String, String) {
    let a = answer(text);
    a.causes.first().map_or_else(Default::default, |c| (c.id.to_owned(), c.confidence.name().to_owned()))
}

#[test]
fn messages_have_the_verdict_beside_them() {
    let mut wrong = Vec::new();
    for m in messages().unwrap() {
        assert!(!m.program.is_empty() && !m.source.is_empty(), "{}", m.form);
        let sure = m.sure.clone().unwrap_or_default();
        let alone = m.alone.clone().unwrap_or_else(|| sure.clone());
        let mut ask = |text: String, want: &str| {
            let got = verdict(&text);
            if got != (m.cause.clone(), want.to_owned()) {
                wrong.push(format!("{text}want {} {want}, got {} {}", m.cause, got.0, got.1));
            }
        };
        ask(format!("{}\n", m.form), &alone);
        ask(format!("We get this:\n```\n{}\n```\n", m.form), &alone);
        for head in HEADS {
            // In the journal another program's words are not the kernel's, nor slurmstepd's.
            if head.contains("vllm[") && matches!(m.program.as_str(), "kernel" | "Slurm") {
                continue;
            }
            ask(format!("{head}{}\n", m.form.trim_start()), &sure);
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Sentences, quotes and commands around the same messages.
#[test]
fn talk_of_the_messages_asserts_nothing() {
    let mut wrong = Vec::new();
    for m in messages().unwrap() {
        let form = m.form.trim();
        for text in [
            format!("If you see {form} then read on.\n"),
            format!("- {form}\n"),
            format!("> {form}\n"),
            format!("$ grep '{form}' *.log\n"),
            format!("We never saw `{form}` again after the update.\n"),
            format!("| {form} | update |\n"),
            format!("raise RuntimeError(\"{form}\")\n"),
        ] {
            // NCCL's and the kernel's own words have tests of their own.
            if matches!(m.program.as_str(), "NCCL" | "kernel") {
                continue;
            }
            let got = asserted(&answer(&text));
            if !got.is_empty() {
                wrong.push(format!("{got:?}: {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.concat());
}

#[test]
fn gloo_on_the_loopback_address_is_likely_with_a_connection_that_fails() {
    let fallback = "[rank8] Warning: Unable to resolve hostname to a (local) address. Using the loopback\n        address as fallback. Manually set the network interface with GLOO_SOCKET_IFNAME\n";
    let fails = "[rank8] Gloo connectFullMesh failed ... timed out connecting: SO_ERROR: Connection refused,\n        remote=[127.0.0.1]:14215\n";
    assert_eq!(ids(&answer(fallback)), [""; 0]);
    assert_eq!(verdict(fails), ("job/bootstrap-unreachable".to_owned(), "possible".to_owned()));
    let a = answer(&format!("{fallback}{fails}"));
    assert_eq!(a.causes.first().map(|c| (c.id, c.confidence)), Some(("net/wrong-interface", Confidence::Likely)));
}

#[test]
fn the_status_of_the_fabric_manager_counts_where_there_are_switches() {
    let status = "● nvidia-fabricmanager.service - NVIDIA fabric manager service\n     Loaded: loaded (/lib/systemd/system/nvidia-fabricmanager.service; enabled; vendor preset: enabled)\n     Active: failed (Result: exit-code) since Mon 2024-07-01 14:43:57 UTC; 5s ago\n";
    assert_eq!(verdict(status), ("gpu/nvlink".to_owned(), "possible".to_owned()));
    assert_eq!(ids(&answer(&status.replace("failed (Result: exit-code)", "active (running)"))), [""; 0]);
    assert_eq!(ids(&answer(&status.replace("nvidia-fabricmanager", "nginx"))), [""; 0]);
    let none = "Nov 15 14:15:47 n1 nv-fabricmanager[4177]: request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]\n";
    assert_eq!(ids(&answer(&format!("{status}{none}"))), [""; 0]);
}

/// An exception below its traceback is a program's; alone it may be a guide's.
#[test]
fn an_exception_is_sure_below_its_traceback() {
    let error = "RuntimeError: The NVIDIA driver on your system is too old (found version 12020)";
    let guide =
        format!("# Troubleshooting\n\nWith a newer CUDA you get\n\n```\n{error}\n```\n\nInstall another build.\n");
    assert_eq!(asserted(&answer(&guide)), [""; 0]);
    let own = format!("Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n{error}\n");
    assert_eq!(verdict(&own), ("gpu/driver-too-old".to_owned(), "certain".to_owned()));
}

//! `linerate env check` as it is called.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

fn command(arguments: &[&str]) -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_linerate"));
    c.args(["env", "check"]).args(arguments).env_clear().env("HOME", env!("CARGO_TARGET_TMPDIR"));
    c
}

fn file(name: &str, text: &str) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

fn piped(text: &str, arguments: &[&str]) -> Output {
    let mut child =
        command(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    child.wait_with_output().unwrap()
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn this_process_is_looked_at_without_a_file() {
    let out = command(&["--nccl", "2.21"]).env("NCCL_IB_DISABLE", "1").env("SECRET_TOKEN", "hunter2").output().unwrap();
    let text = said(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{text}");
    assert!(text.contains("NCCL_IB_DISABLE=1") && text.contains("this process (environment, 1 setting)"), "{text}");
    assert!(!text.contains("hunter2") && !text.contains("SECRET_TOKEN"), "{text}");
}

#[test]
fn a_file_that_nccl_would_read_first_is_read() {
    let conf = file("named.conf", "NCCL_CROSS_NIC=0\n");
    let out = command(&[]).env("NCCL_CONF_FILE", &conf).env("NCCL_CROSS_NIC", "1").output().unwrap();
    let text = said(&out.stdout);
    assert!(text.contains("environment wins over nccl.conf"), "{text}");
}

#[test]
fn forms_are_known_by_content_and_codes_tell_the_outcome() {
    for (text, code, word) in [
        ("NCCL_NET=IB\n", 0, "no problem found in these settings"),
        ("", 2, "it is empty"),
        ("export NCCL_P2P_DISABLE=1\n", 1, "script, 1 setting"),
        ("NCCL_IB_HCA==mlx5_0\n", 2, "cannot be decided"),
        (
            "x NCCL INFO NCCL_IB_TIMEOUT set by environment to 22.\nNCCL version 2.21.5+cuda12.4\n",
            1,
            "from log, line 2",
        ),
    ] {
        let out = piped(text, &["-"]);
        let page = said(&out.stdout);
        assert_eq!(out.status.code(), Some(code), "{text}: {page}{}", said(&out.stderr));
        assert!(page.contains(word), "{text}: no {word} in {page}");
    }
}

#[test]
fn what_cannot_be_read_is_an_error_with_a_hint() {
    for (arguments, word) in
        [(vec!["no-such-file"], "cannot read"), (vec!["."], "is a directory"), (vec!["--nccl", "x"], "2.21")]
    {
        let out = command(&arguments).output().unwrap();
        assert_eq!(out.status.code(), Some(3), "{arguments:?}");
        assert!(said(&out.stderr).contains(word), "{arguments:?}: {}", said(&out.stderr));
    }
    let out = piped("Lorem ipsum dolor\n", &["-"]);
    assert!(out.status.code() == Some(3) && said(&out.stderr).contains("hint"), "{}", said(&out.stderr));
}

#[test]
fn a_node_decides_and_its_least_can_be_sourced() {
    let node = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/healthy-8gpu.tar.zst");
    let script = file("job.sh", "#!/bin/bash\nexport NCCL_IB_GID_INDEX=3 NCCL_P2P_LEVEL=NVL NCCL_IB_HCA=mlx4\n");
    let out = command(&[&script, "--node", node, "--nccl", "2.21", "--format", "json"]).output().unwrap();
    let value: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let kind = |name: &str| {
        let all = value["judgements"].as_array().unwrap();
        all.iter().find(|j| j["variable"] == name).map(|j| j["kind"].as_str().unwrap().to_owned()).unwrap()
    };
    assert_eq!(
        [kind("NCCL_IB_GID_INDEX"), kind("NCCL_P2P_LEVEL"), kind("NCCL_IB_HCA")],
        ["ignored", "redundant", "harmful"]
    );
    let shell = command(&[&script, "--node", node, "--nccl", "2.21", "--format", "shell"]).output().unwrap();
    let checked = Command::new("sh").args(["-n", "-c"]).arg(String::from_utf8(shell.stdout).unwrap()).status().unwrap();
    assert!(checked.success());
}

#[test]
fn a_large_log_is_read_in_pieces() {
    let line = "host:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA\n";
    let text = format!(
        "{}NCCL version 2.21.5+cuda12.4\nhost:1:2 [0] NCCL INFO NCCL_PROTO set by environment to LL\n",
        line.repeat(60_000)
    );
    let log = file("large.log", &text);
    let out = command(&[&log]).output().unwrap();
    let page = said(&out.stdout);
    assert!(page.contains("NCCL_PROTO=LL") && page.contains(":60002)") && page.contains("2.21.5"), "{page}");
}

fn packed(name: &str, bytes: &[u8]) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_string_lossy().into_owned()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut e = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    e.write_all(bytes).unwrap();
    e.finish().unwrap()
}

/// Packed inputs are what they are when they are unpacked; what is damaged or beyond the budget is said, and no exit code 0.
#[test]
fn packed_logs_are_read_within_the_budget() {
    let line = "host:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA\n";
    let head = "NCCL version 2.21.5+cuda12.4\nhost:1:2 [0] NCCL INFO NCCL_PROTO set by environment to LL\n";
    let text = format!("{head}{}", line.repeat(60_000));
    let zst = zstd::encode_all(text.as_bytes(), 3).unwrap();
    for (name, bytes) in [("nccl.log.gz", gz(text.as_bytes())), ("nccl.log.zst", zst.clone())] {
        let out = command(&[&packed(name, &bytes)]).output().unwrap();
        let page = said(&out.stdout);
        assert!(page.contains("NCCL_PROTO=LL") && page.contains("2.21.5"), "{name}: {page}{}", said(&out.stderr));
        assert!(!page.contains("damaged"), "{name}: {page}");
    }
    let conf = command(&[&packed("nccl.conf.gz", &gz(b"NCCL_CROSS_NIC=0\n"))]).output().unwrap();
    assert!(said(&conf.stdout).contains("nccl.conf.gz (nccl.conf, 1 setting)"), "{}", said(&conf.stdout));
    let cut = command(&[&packed("cut.log.zst", &zst[..zst.len() / 2])]).output().unwrap();
    let page = said(&cut.stdout);
    assert!(page.contains("zstd compression is damaged after ") && page.contains("NCCL_PROTO=LL"), "{page}");
    let harmless = gz(format!("NCCL_NET=IB\n{}", "#\n".repeat(2 << 20)).as_bytes());
    let list = packed("large.txt.gz", &harmless);
    let bounded = command(&["--max-input", "1M", &list]).output().unwrap();
    let page = said(&bounded.stdout);
    assert_eq!(bounded.status.code(), Some(2), "{page}{}", said(&bounded.stderr));
    assert!(page.contains("the limit of packed input"), "{page}");
    assert_eq!(command(&[&list]).output().unwrap().status.code(), Some(0));
    let archive =
        command(&[concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/healthy-8gpu.tar.zst")]).output().unwrap();
    assert_eq!(archive.status.code(), Some(3));
    assert!(said(&archive.stderr).contains("is an archive"), "{}", said(&archive.stderr));
}

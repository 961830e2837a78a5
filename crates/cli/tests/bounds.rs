//! Inputs that cost their reader dear, as commands meet them: an error or a remark that names the limit, and the option that raises it.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, outside of test functions

#[path = "../../snapshot/tests/packs/mod.rs"]
mod packs;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn dir(test: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("bounds-{test}"));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

fn linerate(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_linerate")).args(arguments).output().unwrap()
}

fn said(out: &Output) -> String {
    let text = format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn write(dir: &Path, name: &str, bytes: &[u8]) -> String {
    let path = dir.join(name);
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

/// A megabyte of one byte, packed once and repeated.
fn zst(block: &[u8], times: usize) -> Vec<u8> {
    zstd::encode_all(block, 3).unwrap().repeat(times)
}

fn bz2(block: &[u8], times: usize) -> Vec<u8> {
    let mut e = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(9));
    e.write_all(block).unwrap();
    e.finish().unwrap().repeat(times)
}

/// The attack: a snapshot of half a kilobyte whose pack is millions of directories deep.
fn deep_snapshot(depth: u32) -> Vec<u8> {
    packs::behind(&packs::tar(&[("linerate/manifest.json", br#"{"schema":1}"#)]), &packs::deep(depth))
}

#[test]
fn a_snapshot_that_is_millions_of_directories_deep_ends_no_command() {
    let dir = dir("deep");
    let node = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sick-8gpu.tar.zst").display().to_string();
    let plan = dir.join("plan.json").display().to_string();
    let made = linerate(&["plan", &node, "--format", "json", "-o", &plan]);
    assert!(Path::new(&plan).is_file(), "{}", said(&made));
    for depth in [100_000, 900_000] {
        let deep = write(&dir, "deep.tar.zst", &deep_snapshot(depth));
        for arguments in [
            &["verify", "--before", &deep, &plan, &deep][..],
            &["verify", "--before", &node, &plan, &deep],
            &["plan", &deep],
        ] {
            let out = linerate(arguments);
            // An answer or an error, not a signal.
            assert!(out.status.code().is_some_and(|c| c <= 3), "{arguments:?}: {}", out.status);
        }
    }
}

#[test]
fn a_benchmark_that_unpacks_to_gigabytes_is_refused_and_says_how_to_have_it() {
    let dir = dir("bench");
    for (name, bytes) in [("x.log.zst", zst(&[0xff; 1 << 20], 2000)), ("x.log.bz2", bz2(&[b'a'; 8 << 20], 100))] {
        let path = write(&dir, name, &bytes);
        let out = linerate(&["bench", "import", "--no-store", &path]);
        assert!(said(&out).contains("--max-input"), "{name}: {}", said(&out));
    }
}

#[test]
fn the_doctor_reads_so_much_of_a_bomb_and_more_where_it_is_asked_to() {
    let dir = dir("doctor");
    let line = b"gpu-0:1:1 [0] NCCL INFO something\n".repeat(30_000);
    let path = write(&dir, "nccl.log.zst", &zst(&line, 120));
    let text = said(&linerate(&["doctor", &path]));
    assert!(text.contains("--max-input"), "{text}");
    let text = said(&linerate(&["doctor", "--max-input", "1G", &path]));
    assert!(!text.contains("--max-input"), "{text}");
    let text = said(&linerate(&["--max-input", "1M", "doctor", &path]));
    assert!(text.contains("--max-input"), "{text}");
}

#[test]
fn a_file_of_holes_is_packed_input() {
    let dir = dir("holes");
    let path = write(&dir, "app.log", b"gpu-0:1:1 [0] NCCL INFO something\n");
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    for arguments in [&["doctor", &path][..], &["bench", "import", "--no-store", &path]] {
        let text = said(&linerate(arguments));
        assert!(text.contains("--max-input"), "{arguments:?}: {text}");
    }
}

/// Functions of a text of lspci, more than are read.
fn many_functions(n: usize) -> String {
    let bdf = |i: usize| format!("{:04x}:{:02x}:{:02x}.{}", i >> 16, i >> 8 & 255, i >> 3 & 31, i & 7);
    (0..n).map(|i| format!("{} PCI bridge [0604]: Device [15b3:1979]\n", bdf(i))).collect()
}

#[test]
fn a_text_beyond_a_limit_is_never_read_as_all_there_is() {
    let dir = dir("cut");
    let whole = write(&dir, "whole.txt", many_functions(100).as_bytes());
    let cut = write(&dir, "cut.txt", many_functions(8200).as_bytes());
    for verb in ["audit", "plan"] {
        let (some, all) = (linerate(&[verb, &cut]), linerate(&[verb, &whole]));
        assert!(said(&some).contains("PCI_FUNCTIONS (8192)"), "{verb}: {}", said(&some));
        assert!(!said(&all).contains("PCI_FUNCTIONS"), "{verb}: {}", said(&all));
    }
    // A rule that applies to nothing here: only what was left out keeps it from being good.
    let rule = ["audit", "--rule", "cpu/*", "--role", "bare-metal"];
    let code = |file: &str| linerate(&[&rule[..], &[file]].concat()).status.code();
    assert_eq!((code(&cut), linerate(&["plan", &cut]).status.code()), (Some(2), Some(2)));
    let json = linerate(&["audit", "--format", "json", &cut]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(json["source"]["problems"].to_string().contains("PCI_FUNCTIONS"), "{}", json["source"]);
}

#[test]
fn settings_beyond_the_limit_end_env_check_with_2() {
    let dir = dir("env");
    let settings = |n: usize| "NCCL_DEBUG=WARN\n".repeat(n);
    let code = |n| {
        let path = write(&dir, "job.env", settings(n).as_bytes());
        let out = linerate(&["env", "check", &path, "--nccl", "2.21.5"]);
        (out.status.code(), said(&out).contains("ENV_SETTINGS"))
    };
    assert_eq!(code(10), (Some(0), false));
    assert_eq!(code(4100), (Some(2), true));
}

/// A command that may take so many seconds of CPU.
fn within(seconds: u32, arguments: &[&str]) -> Output {
    let limited = format!("ulimit -t {seconds} && exec \"$0\" \"$@\"");
    Command::new("sh").args(["-c", &limited, env!("CARGO_BIN_EXE_linerate")]).args(arguments).output().unwrap()
}

/// Texts whose readers took time with the square of their rows: more than a minute each.
#[test]
fn rows_cost_time_in_proportion() {
    let dir = dir("rows");
    let settings: String = (0..16_000).map(|i| format!("        KEY_{i} False(0) False(0) True(1)\n")).collect();
    let head =
        "Device #1:\nDevice type:    ConnectX7\nDevice:         41:00.0\nConfigurations:   Default Current Next Boot\n";
    let mlxconfig = write(&dir, "mlxconfig.txt", format!("{head}{settings}").as_bytes());
    let hosts: String = (0..150_000).map(|i| format!("{i},{i},{i}.5,h{i}\n")).collect();
    let table = write(&dir, "values.csv", format!("size,time,busbw,host\n{hosts}").as_bytes());
    for arguments in [&["plan", &mlxconfig][..], &["bench", "summary", &table], &["bench", "compare", &table, &table]] {
        let out = within(20, arguments);
        assert!(out.status.code().is_some_and(|c| c <= 3), "{arguments:?}: {} {}", out.status, said(&out));
    }
}

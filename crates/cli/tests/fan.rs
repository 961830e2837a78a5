//! `collect --on`: a fleet of addresses of this host behind one sshd, healthy and sick ones.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, clippy::disallowed_methods, missing_docs)]

mod lab;

use lab::common::{all_gone, processes, quietly, wait_for};
use lab::{Lab, SAYS_VERSION, node};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const LINERATE: &str = env!("CARGO_BIN_EXE_linerate");

fn cached(home: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(home.join("home/.cache/linerate")).into_iter().flatten().flatten();
    all.flat_map(|d| std::fs::read_dir(d.path()).into_iter().flatten().flatten()).map(|f| f.path()).collect()
}

const PUSH: &[&str] = &["--collector", "push", "--program"];

#[test]
fn the_program_is_pushed_once_and_used_again() {
    let Some(lab) = Lab::start() else { return };
    lab.kind(2, "dash");
    lab.kind(3, "ash");
    lab.kind(4, "rbash");
    lab.kind(5, "banner");
    let program = lab.cat(env!("CARGO_PKG_VERSION"));
    let hosts = "127.1.0.1,127.1.0.2,127.1.0.3,127.1.0.4,127.1.0.5,127.1.0.1";
    let how = [PUSH, &[program.as_str()]].concat();
    let (json, out) = lab.collect(hosts, &how);
    assert_eq!(
        (out.status.code(), json["collected"].as_u64(), json["asked"].as_u64()),
        (Some(0), Some(5), Some(5)),
        "{json}"
    );
    assert!(json["nodes"].as_array().unwrap().iter().all(|n| n["by"] == "pushed"), "{json}");
    // The question, the push, the run.
    assert_eq!(lab.connections(), 15);
    assert_eq!(cached(&lab.host(1)).len(), 1);
    // Names of files are times of a second.
    std::thread::sleep(Duration::from_millis(1100));
    let (json, _) = lab.collect(hosts, &how);
    assert!(json["nodes"].as_array().unwrap().iter().all(|n| n["by"] == "cache"), "{json}");
    assert_eq!(lab.connections(), 20, "one connection each");
    // What was changed there does not run.
    let file = cached(&lab.host(1)).remove(0);
    std::fs::write(&file, "#!/bin/sh\ntouch /tmp/never\n").unwrap();
    let (json, _) = lab.collect("127.1.0.1,127.1.0.2", &how);
    assert_eq!((&node(&json, "127.1.0.1")["by"], &node(&json, "127.1.0.2")["by"]), (&"pushed".into(), &"cache".into()));
    // Missing ones only; then all of them, and nothing is left there.
    let before = lab.connections();
    let (json, out) = lab.collect("127.1.0.1,127.1.0.6", &[&how[..], &["--resume"]].concat());
    assert_eq!((json["fresh"].as_u64(), json["collected"].as_u64(), out.status.code()), (Some(1), Some(1), Some(0)));
    assert_eq!(lab.connections() - before, 3);
    let (json, _) = lab.collect("127.1.0.1,127.1.0.7", &[&how[..], &["--leave-nothing"]].concat());
    assert_eq!(json["collected"], 2);
    for last in [1, 7] {
        assert!(!lab.host(last).join("home/.cache/linerate").exists(), "{last}");
    }
    let of = std::fs::read_dir(lab.path("fleet/127.1.0.2")).unwrap().count();
    assert!((2..=3).contains(&of), "{of}");
}

#[test]
fn sick_hosts_are_named_with_their_cause() {
    let Some(lab) = Lab::start() else { return };
    for (last, kind) in [
        (10, "noshell"),
        (11, "hang"),
        (12, "drop"),
        (13, "endless"),
        (14, "garbage"),
        (15, "escape"),
        (16, "drop-late"),
    ] {
        lab.kind(last, kind);
    }
    // Two that are installed and lie: of the version, and in the archive.
    let liar = |last: u8, collects: &str| {
        let bin = lab.host(last).join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::write(bin.join("linerate"), format!("#!/bin/sh\n{SAYS_VERSION}\n{collects}\n")).unwrap();
        assert!(quietly("chmod", &["755", &bin.join("linerate").display().to_string()]));
    };
    liar(17, &format!("exec sh '{}'", lab.cat("9.9.9")));
    liar(18, "exec yes archive");
    liar(19, "printf '\\033[2Jno\\n' >&2; exit 3");
    let silent = std::net::TcpListener::bind("127.1.0.70:0").unwrap();
    let silent = format!(
        "127.1.0.70:{}",
        silent
            .local_addr()
            .map(|a| {
                std::mem::forget(silent);
                a.port()
            })
            .unwrap()
    );
    let want = [
        ("127.1.0.10".to_owned(), "no-shell"),
        ("127.1.0.11".to_owned(), "timed-out"),
        ("127.1.0.12".to_owned(), "lost"),
        ("127.1.0.13".to_owned(), "garbage"),
        ("127.1.0.14".to_owned(), "garbage"),
        ("127.1.0.15".to_owned(), "no-shell"),
        ("127.1.0.16".to_owned(), "lost"),
        ("127.1.0.17".to_owned(), "version-differs"),
        ("127.1.0.18".to_owned(), "endless"),
        ("127.1.0.19".to_owned(), "program-failed"),
        ("127.1.0.66".to_owned(), "wrong-host-key"),
        ("127.1.0.67".to_owned(), "unknown-host-key"),
        ("127.1.0.69".to_owned(), "not-let-in"),
        (silent, "connect-timed-out"),
        ("127.1.0.71:1".to_owned(), "refused"),
        ("no-such-host.invalid".to_owned(), "unresolved"),
    ];
    let hosts: Vec<&str> = want.iter().map(|(h, _)| h.as_str()).collect();
    let began = Instant::now();
    let (json, out) = lab.collect(&hosts.join(","), &["--node-limit", "15s", "--collector", "auto"]);
    assert!(began.elapsed() < Duration::from_secs(80), "{:?}", began.elapsed());
    assert_eq!((out.status.code(), json["collected"].as_u64()), (Some(2), Some(0)), "{json}");
    for (host, cause) in &want {
        let n = node(&json, host);
        assert_eq!(n["cause"], *cause, "{n}");
        let retried = matches!(*cause, "refused" | "closed-early" | "no-connection");
        assert_eq!(n["tries"].as_u64(), Some(if retried { 3 } else { 1 }), "{n}");
    }
    assert!(!lab.path("fleet").exists() || std::fs::read_dir(lab.path("fleet")).unwrap().next().is_none());
    // Nothing of theirs reaches a terminal as it is.
    let text = lab.command("127.1.0.15,127.1.0.19", &["--format", "text"]);
    drop(text);
    let config = lab.path("ssh_config").display().to_string();
    let out = Command::new(LINERATE)
        .args([
            "collect",
            "--on",
            "127.1.0.15,127.1.0.19",
            "-o",
            &lab.path("fleet").display().to_string(),
            "--ssh-option",
            "-F",
        ])
        .args(["--ssh-option", &config])
        .output()
        .unwrap();
    assert!(!out.stdout.contains(&0x1b) && !out.stderr.contains(&0x1b) && out.status.code() == Some(2));
}

/// Where the program cannot run, the script reads the same.
#[test]
fn homes_without_room_or_without_programs() {
    let Some(mut lab) = Lab::start() else { return };
    let noexec = lab.mount(20, "noexec,size=300m");
    let full = lab.mount(21, "size=1m");
    let read_only = lab.mount(22, "ro,size=1m");
    // No home at all.
    std::fs::write(lab.host(23).join("kind"), "ash\n").unwrap();
    std::fs::remove_dir_all(lab.host(24).join("home")).unwrap();
    std::fs::write(lab.path("hosts/127.1.0.24/home"), "a file").unwrap();
    let mut hosts = vec!["127.1.0.24"];
    hosts.extend(noexec.then_some("127.1.0.20"));
    hosts.extend(full.then_some("127.1.0.21"));
    hosts.extend(read_only.then_some("127.1.0.22"));
    let (json, out) = lab.collect(&hosts.join(","), &["--fanout", "2"]);
    assert_eq!(out.status.code(), Some(0), "{json}");
    for host in &hosts {
        let n = node(&json, host);
        assert_eq!(n["by"], "script", "{n}");
        assert!(n["notes"][0].as_str().unwrap().starts_with("collected by the shell script: "), "{n}");
    }
    if full {
        let left = std::fs::read_dir(lab.path("hosts/127.1.0.21/home")).unwrap().flatten();
        let left: Vec<_> = left.filter(|e| e.path().join("linerate").exists()).collect();
        assert!(left.is_empty(), "what did not arrive whole is removed: {left:?}");
    }
}

/// A program that does not start on the host, as where the C library is older than it needs: known before it begins, and the script reads the node.
#[test]
fn a_program_that_does_not_start_makes_way_for_the_script() {
    let Some(lab) = Lab::start() else { return };
    // Its dynamic linker ends with 1, as a program that failed does. Below each shell that a host may have.
    let too_old = "echo \"$0: /lib64/libc.so.6: version \\`GLIBC_2.35' not found (required by $0)\" >&2; exit 1";
    let too_old = lab.file("too-old", format!("#!/bin/sh\n{too_old}\n").as_bytes());
    let shell = |last: u8, text: &str| {
        let bin = lab.host(last).join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::write(bin.join("sh"), format!("#!/bin/dash\nexec {text} \"$@\"\n")).unwrap();
        assert!(quietly("chmod", &["755", &bin.join("sh").display().to_string()]));
    };
    shell(25, "dash");
    shell(26, "bash");
    shell(27, "busybox ash");
    let hosts = ["127.1.0.25", "127.1.0.26", "127.1.0.27"];
    let (json, out) = lab.collect(&hosts.join(","), &["--program", &too_old, "--fanout", "2"]);
    assert_eq!(out.status.code(), Some(0), "{json}");
    let note = "collected by the shell script: the program does not run there: asked for its version, it ended with status 1 and said: \
                /lib64/libc.so.6: version `GLIBC_2.35' not found";
    for host in hosts {
        let n = node(&json, host);
        assert_eq!((&n["by"], &n["notes"][0]), (&"script".into(), &note.into()), "{n}");
    }
    // It stays there, so that it is not pushed again; and goes where nothing is to be left.
    let before = lab.connections();
    std::thread::sleep(Duration::from_millis(1100));
    let (json, _) = lab.collect(hosts[0], &["--program", &too_old, "--leave-nothing"]);
    assert_eq!((&node(&json, hosts[0])["by"], lab.connections() - before), (&"script".into(), 2), "{json}");
    assert!(!lab.host(25).join("home/.cache/linerate").exists());
    // Where the program that was given is to run and no other one, that is the cause.
    let (json, out) = lab.collect(hosts[1], &["--program", &too_old, "--collector", "push"]);
    assert_eq!((&node(&json, hosts[1])["cause"], out.status.code()), (&"no-program".into(), Some(2)), "{json}");
}

#[test]
fn a_program_of_another_machine_or_one_that_hangs_makes_way_for_the_script() {
    let Some(lab) = Lab::start() else { return };
    // The head of a program for aarch64, on a host that says it is one.
    let mut elf = b"\x7fELF\x02\x01\x01".to_vec();
    elf.resize(64, 0);
    (elf[16], elf[18], elf[20], elf[52]) = (2, 183, 1, 64);
    let elf = lab.file("aarch64", &elf);
    let machine = |last: u8, name: &str| {
        let bin = lab.host(last).join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::write(bin.join("uname"), format!("#!/bin/sh\necho {name}\n")).unwrap();
        assert!(quietly("chmod", &["755", &bin.join("uname").display().to_string()]));
    };
    machine(28, "aarch64");
    machine(29, "riscv64");
    let (json, out) = lab.collect("127.1.0.28,127.1.0.29", &["--program", &elf]);
    assert_eq!(out.status.code(), Some(0), "{json}");
    let [here, other] = ["127.1.0.28", "127.1.0.29"].map(|n| node(&json, n)["notes"][0].as_str().unwrap().to_owned());
    assert!(here.contains(": the program does not run there: asked for its version, it ended with status 12"), "{here}");
    assert!(other.ends_with("there is no program for riscv64"), "{other}");
    // What it starts holds its output open, and is ended with it.
    let hangs = lab.file("hangs", b"#!/bin/sh\nsleep 1000 &\nsleep 1000\n");
    let began = Instant::now();
    let (json, out) = lab.collect("127.1.0.32", &["--program", &hangs]);
    let n = node(&json, "127.1.0.32");
    let note = "collected by the shell script: the program does not run there: it does not say its version within 10 s";
    assert_eq!((out.status.code(), &n["by"], &n["notes"][0]), (Some(0), &"script".into(), &note.into()), "{json}");
    assert!(began.elapsed() < Duration::from_secs(100), "{:?}", began.elapsed());
    all_gone(&lab.path("hosts").display().to_string());
    // One that is of another version, and one that says the right version and is not: the snapshot says so.
    let other = lab.file("other", b"#!/bin/sh\necho linerate 9.9.9\n");
    let (json, _) = lab.collect("127.1.0.33", &["--program", &other]);
    let n = node(&json, "127.1.0.33");
    assert!(n["by"] == "script" && n["notes"][0].as_str().unwrap().ends_with("said: linerate 9.9.9"), "{n}");
    let (json, out) = lab.collect("127.1.0.34", &["--program", &lab.cat("9.9.9")]);
    assert_eq!((&node(&json, "127.1.0.34")["cause"], out.status.code()), (&"version-differs".into(), Some(2)), "{json}");
}

/// The real program and the script, over ssh: the same node in an audit.
#[test]
fn an_audit_finds_the_same_node_by_both_ways() {
    let Some(lab) = Lab::start() else { return };
    let mut audits = Vec::new();
    for (host, how, by) in [("127.1.0.30", "push", "pushed"), ("127.1.0.31", "script", "script")] {
        let (json, out) = lab.collect(host, &["--collector", how, "--leave-nothing", "--no-redact"]);
        let n = node(&json, host);
        assert_eq!((out.status.code(), &n["by"]), (Some(0), &Value::from(by)), "{json}");
        let out =
            Command::new(LINERATE).args(["audit", "--format", "json", n["file"].as_str().unwrap()]).output().unwrap();
        let mut audit: Value = serde_json::from_slice(&out.stdout).unwrap();
        audits.push(audit["node"].take());
    }
    let mut wrong = Vec::new();
    differ("node", &audits[0], &audits[1], &mut wrong);
    // The library of NVIDIA's driver answers no script; where there is no such driver, it says so. Memory moves.
    wrong.retain(|w| !["nvml", "mem_free", "mem_available"].iter().any(|e| w.to_lowercase().contains(e)));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn differ(at: &str, a: &Value, b: &Value, out: &mut Vec<String>) {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            for key in x.keys().chain(y.keys().filter(|k| !x.contains_key(*k))) {
                differ(&format!("{at}.{key}"), &a[key], &b[key], out);
            }
        }
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            for (i, (x, y)) in x.iter().zip(y).enumerate() {
                differ(&format!("{at}[{i}]"), x, y, out);
            }
        }
        _ if a == b => {}
        _ => out.push(format!("{at}: {a} and {b}")),
    }
}

/// Ctrl-C: nothing is left running on any host, and nothing half written here.
#[test]
fn an_interrupted_run_leaves_nothing() {
    let Some(lab) = Lab::start() else { return };
    let done = lab.cat(env!("CARGO_PKG_VERSION"));
    let slow = lab.program("slow", &format!("case $SSH_CONNECTION in *127.1.0.40*) exec sh '{done}' ;; esac\nprintf part\nsleep 1000 & sleep 1000\n"));
    let word = lab.path("hosts").display().to_string();
    let hosts: Vec<String> = (40..48).map(|n| format!("127.1.0.{n}")).collect();
    let mut child =
        lab.command(&hosts.join(","), &["--collector", "push", "--program", &slow, "--leave-nothing"]).spawn().unwrap();
    wait_for("programs to run", || processes(&word).len() >= 14);
    wait_for("one to be done", || lab.path("fleet/127.1.0.40").exists());
    assert!(quietly("kill", &["-INT", &child.id().to_string()]));
    let began = Instant::now();
    wait_for("the end", || child.try_wait().unwrap().is_some());
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let out = child.wait_with_output().unwrap();
    let json: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((out.status.code(), json["interrupted"].as_bool()), (Some(2), Some(true)), "{json}");
    // What was done before is kept.
    assert_eq!(node(&json, "127.1.0.40")["state"], "collected", "{json}");
    assert_eq!(node(&json, "127.1.0.41")["cause"], "interrupted");
    all_gone(&word);
    for last in 41..48 {
        wait_for("the program to be removed", || cached(&lab.host(last)).is_empty());
    }
    let parts = std::fs::read_dir(lab.path("fleet")).unwrap().flatten().map(|e| e.file_name()).collect::<Vec<_>>();
    assert_eq!(parts, ["127.1.0.40"]);
}

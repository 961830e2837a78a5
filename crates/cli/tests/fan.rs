//! `collect --on`: a fleet of addresses of this host behind one sshd, healthy and sick ones.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, clippy::disallowed_methods, missing_docs)]

use crate::lab;

use lab::common::{all_gone, processes, quietly, wait_for};
use lab::{Lab, SAYS_VERSION, node, now};
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
    let liar = |last: u8, collects: &str| lab.install(last, "linerate", &format!("{SAYS_VERSION}\n{collects}"));
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
        let tries = match *cause {
            "refused" | "closed-early" | "no-connection" => 3,
            // It took the connection.
            "connect-timed-out" => 2,
            _ => 1,
        };
        assert_eq!(n["tries"].as_u64(), Some(tries), "{n}");
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
    for (last, shell) in [(25, "dash"), (26, "bash"), (27, "busybox ash")] {
        lab.install(last, "sh", &format!("exec {shell} \"$@\""));
    }
    let hosts = ["127.1.0.25", "127.1.0.26", "127.1.0.27"];
    let (json, out) = lab.collect(&hosts.join(","), &["--program", &too_old, "--fanout", "2"]);
    assert_eq!(out.status.code(), Some(0), "{json}");
    let note = "collected by the shell script: the program does not run on the host: asked for its version, it ended with status 1 and said: \
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
    lab.install(28, "uname", "echo aarch64");
    lab.install(29, "uname", "echo riscv64");
    let (json, out) = lab.collect("127.1.0.28,127.1.0.29", &["--program", &elf]);
    assert_eq!(out.status.code(), Some(0), "{json}");
    let [here, other] = ["127.1.0.28", "127.1.0.29"].map(|n| node(&json, n)["notes"][0].as_str().unwrap().to_owned());
    assert!(
        here.contains(": the program does not run on the host: asked for its version, it ended with status 12"),
        "{here}"
    );
    assert!(other.ends_with("no program for riscv64"), "{other}");
    // One that hangs has the limit of its node, and is ended with what it started.
    let hangs = lab.file("hangs", b"#!/bin/sh\nsleep 1000 &\nsleep 1000\n");
    let (json, out) = lab.collect("127.1.0.32", &["--program", &hangs, "--node-limit", "8s"]);
    assert_eq!((out.status.code(), &node(&json, "127.1.0.32")["cause"]), (Some(2), &"timed-out".into()), "{json}");
    all_gone(&lab.path("hosts").display().to_string());
    // One that is of another version, and one that says the right version and is not: the snapshot says so.
    let other = lab.file("other", b"#!/bin/sh\necho linerate 9.9.9\n");
    let (json, _) = lab.collect("127.1.0.33", &["--program", &other]);
    let n = node(&json, "127.1.0.33");
    assert!(n["by"] == "script" && n["notes"][0].as_str().unwrap().ends_with("said: linerate 9.9.9"), "{n}");
    let (json, out) = lab.collect("127.1.0.34", &["--program", &lab.cat("9.9.9")]);
    assert_eq!(
        (&node(&json, "127.1.0.34")["cause"], out.status.code()),
        (&"version-differs".into(), Some(2)),
        "{json}"
    );
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

#[test]
fn a_clock_that_is_off_is_said() {
    let Some(lab) = Lab::start() else { return };
    let late = lab.snapshot("late", |s| s.manifest.time = now() - 3600);
    let early = lab.snapshot("early", |s| s.manifest.time = now() + 7200);
    let right = lab.snapshot("right", |_| {});
    let program = lab.program(
        "clocks",
        &format!("case $SSH_CONNECTION in\n*127.1.0.50*) cat {late} ;;\n*127.1.0.51*) cat {early} ;;\n*) cat {right} ;;\nesac\n"),
    );
    let (json, out) = lab.collect("127.1.0.50,127.1.0.51,127.1.0.52", &[PUSH, &[program.as_str()]].concat());
    assert_eq!((out.status.code(), json["collected"].as_u64()), (Some(0), Some(3)), "{json}");
    let note = |host: &str| node(&json, host)["notes"][0].as_str().unwrap_or_default().to_owned();
    // Between making the files and asking a few seconds pass.
    let number = |note: &str| note.split(' ').nth(3).and_then(|s| s.parse::<u64>().ok()).unwrap_or_default();
    let (behind, ahead) = (note("127.1.0.50"), note("127.1.0.51"));
    assert!(behind.ends_with(" minutes behind the one here") && (60..=61).contains(&number(&behind)), "{behind}");
    let nearly = ahead.ends_with(" minutes ahead of the one here") && (118..120).contains(&number(&ahead));
    assert!(nearly || ahead.ends_with(" 2 hours ahead of the one here"), "{ahead}");
    assert_eq!(node(&json, "127.1.0.52")["notes"].as_array().map(Vec::len), Some(0), "{json}");
}

/// `sudo` that asks for a password is never answered: the user's own rights are used, and that is said.
#[test]
fn a_password_is_never_typed() {
    let Some(lab) = Lab::start() else { return };
    if !lab::common::have(&["setpriv"]) {
        return;
    }
    let log = lab.path("sudo").display().to_string();
    std::fs::write(&log, "").unwrap();
    let sudo = format!(
        "echo \"$*\" >>{log}\n[ \"$1\" != -n ] || {{ echo 'sudo: a password is required' >&2; exit 1; }}\n\
         printf '[sudo] password for nobody: ' >&2\nread -r word && echo \"read $word\" >>{log}\nexit 1"
    );
    for last in [53, 54] {
        lab.kind(last, "nobody");
        lab.install(last, "sudo", &sudo);
        assert!(quietly("chown", &["-R", "65534", &lab.host(last).display().to_string()]));
    }
    std::fs::write(lab.path("connections"), "").unwrap();
    assert!(quietly("chmod", &["666", &log]));
    let program = lab.prints("user", |s| s.manifest.uid = Some(65534));
    assert!(quietly("chmod", &["644", &lab.path("snapshot-user.tar.zst").display().to_string()]));
    let (json, out) = lab.collect("127.1.0.53", &[PUSH, &[program.as_str(), "--sudo"]].concat());
    assert_eq!((out.status.code(), &node(&json, "127.1.0.53")["root"]), (Some(0), &false.into()), "{json}");
    let (json, out) = lab.collect("127.1.0.54", &["--collector", "script", "--sudo"]);
    assert_eq!((out.status.code(), &node(&json, "127.1.0.54")["root"]), (Some(0), &false.into()), "{json}");
    let asked = std::fs::read_to_string(&log).unwrap();
    assert!(asked.lines().count() >= 2 && asked.lines().all(|l| l.starts_with("-n ")), "{asked}");
    std::thread::sleep(Duration::from_millis(1100));
    let fleet = lab.path("fleet").display().to_string();
    let words = ["collect", "--on", "127.1.0.53,127.1.0.54", "-o", &fleet, "--sudo", "--collector", "script"];
    let said = String::from_utf8(lab.linerate(&words).output().unwrap().stdout).unwrap();
    assert!(said.contains("not collected as root") && said.contains("(2): 127.1.0.[53-54]"), "{said}");
}

/// A node that reboots while it is read: the connection is lost, nothing of it is kept, and what comes when it is asked again is of the new boot.
#[test]
fn a_reboot_in_between_is_a_lost_connection_and_no_snapshot() {
    let Some(lab) = Lab::start() else { return };
    const ID: &str = "proc/sys/kernel/random/boot_id";
    let boot = |n: u32| {
        lab.snapshot(&format!("boot-{n}"), |s| {
            _ = s.add_file(ID, format!("5b2a3f38-9f0f-4a3e-9c1e-2f7a8f3f000{n}\n").as_bytes())
        })
    };
    let (first, second, mark) = (boot(1), boot(2), lab.path("down").display().to_string());
    let program = lab.program(
        "reboots",
        &format!(
            "if [ -e {mark}.done ]; then exec cat {second}; fi\n[ -e {mark} ] || exec cat {first}\n\
             head -c 200 {first}\nsleep 1\ntouch {mark}.done\nkill -KILL \"$LAB_SESSION\"\nsleep 20\n"
        ),
    );
    let (host, how) = ("127.1.0.55", [PUSH, &[program.as_str(), "--resume", "--stale", "1s"]].concat());
    let (json, _) = lab.collect(host, &how);
    let before = node(&json, host)["file"].as_str().unwrap().to_owned();
    std::fs::write(&mark, "").unwrap();
    std::thread::sleep(Duration::from_millis(2100));
    let (json, out) = lab.collect(host, &how);
    let n = node(&json, host);
    assert_eq!((out.status.code(), &n["cause"], &n["tries"]), (Some(2), &"lost".into(), &1.into()), "{json}");
    let files = || std::fs::read_dir(lab.path("fleet").join(host)).unwrap().count();
    assert_eq!(files(), 1, "nothing half written");
    let (json, out) = lab.collect(host, &how);
    let n = node(&json, host);
    assert_eq!((out.status.code(), &n["state"]), (Some(0), &"collected".into()), "{json}");
    assert_eq!(files(), 2);
    let id = |file: &str| {
        let bytes = std::fs::read(file).unwrap();
        let snapshot = linerate_snapshot::load_bytes(&bytes, "x").unwrap();
        let linerate_snapshot::Lookup::Found(at) = snapshot.resolve(ID) else { panic!("no boot id in {file}") };
        snapshot.data(at).to_vec()
    };
    let (old, new) = (id(&before), id(n["file"].as_str().unwrap()));
    assert!(!old.is_empty() && old != new, "{}", String::from_utf8_lossy(&new));
}

/// The operator's disk is full: each node that could not be written says so, and no part of it is left.
#[test]
fn a_full_disk_of_the_operator_is_said_of_each_node() {
    let Some(mut lab) = Lab::start() else { return };
    let fleet = lab.path("fleet");
    if !lab.mount_at(fleet.clone(), "size=160k") {
        return;
    }
    // A machine with eight GPUs, whose file has a hundred kilobytes.
    let large = lab.prints("large", |s| {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/healthy-8gpu.tar.zst");
        *s = linerate_snapshot::load_bytes(&std::fs::read(example).unwrap(), "x").unwrap();
        env!("CARGO_PKG_VERSION").clone_into(&mut s.manifest.linerate);
    });
    let hosts = "127.1.0.56,127.1.0.57,127.1.0.58";
    let (json, out) = lab.collect(hosts, &[PUSH, &[large.as_str(), "--fanout", "1"]].concat());
    assert_eq!((out.status.code(), json["collected"].as_u64()), (Some(2), Some(1)), "{json}");
    let (mut whole, mut lost) = (0, 0);
    for n in json["nodes"].as_array().unwrap() {
        let dir = fleet.join(n["name"].as_str().unwrap());
        let files: Vec<_> = std::fs::read_dir(&dir).into_iter().flatten().flatten().map(|e| e.path()).collect();
        if n["state"] == "collected" {
            assert!(linerate_snapshot::load_bytes(&std::fs::read(&files[0]).unwrap(), "x").is_ok());
            whole += files.len();
        } else {
            assert_eq!(n["cause"], "not-written", "{n}");
            assert!(n["why"].as_str().unwrap().contains("No space left"), "{n}");
            lost += 1;
            assert_eq!(files, Vec::<PathBuf>::new());
        }
    }
    assert_eq!((whole, lost, &json["failed"][0]["hint"]), (1, 2, &"make room in the directory".into()));
}

#[test]
fn what_is_older_than_stale_is_collected_again() {
    let Some(lab) = Lab::start() else { return };
    let program = lab.cat(env!("CARGO_PKG_VERSION"));
    let name = |seconds: i64| {
        let time = std::time::UNIX_EPOCH + Duration::from_secs(now().checked_add_signed(seconds).unwrap());
        linerate_gather::fan::file_name(time)
    };
    let (old, young, coming) = ("127.1.0.59", "127.1.0.60", "127.1.0.61");
    for (host, seconds) in [(old, -7200), (young, -600), (coming, 86_400)] {
        let dir = lab.path("fleet").join(host);
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::copy(lab.path(&format!("snapshot-{}.tar.zst", env!("CARGO_PKG_VERSION"))), dir.join(name(seconds)))
            .unwrap();
    }
    let hosts = [old, young, coming].join(",");
    let collect = |more: &[&str]| lab.collect(&hosts, &[PUSH, &[program.as_str(), "--resume"], more].concat());
    let state = |json: &Value| [old, young, coming].map(|h| node(json, h)["state"].as_str().unwrap().to_owned());
    // One from the future says nothing about its age.
    let (json, out) = collect(&["--stale", "1h"]);
    assert_eq!((state(&json), out.status.code()), (["collected", "fresh", "collected"].map(str::to_owned), Some(0)));
    assert_eq!((json["fresh"].as_u64(), json["collected"].as_u64()), (Some(1), Some(2)));
    let before = lab.connections();
    let (json, _) = collect(&["--stale", "1h"]);
    assert_eq!((state(&json)[0].as_str(), state(&json)[1].as_str()), ("fresh", "fresh"));
    assert!(lab.connections() - before <= 1, "only the one from the future is asked again");
    std::thread::sleep(Duration::from_millis(1100));
    let (json, _) = collect(&["--stale", "5m"]);
    assert_eq!(state(&json)[1], "collected");
    // A day where nothing is said; and it means nothing without --resume.
    let (json, _) = collect(&[]);
    assert_eq!(state(&json)[0], "fresh");
    for wrong in [&["--stale", "1h"][..], &["--resume", "--stale", "soon"]] {
        assert_eq!(lab.command(&hosts, wrong).output().unwrap().status.code(), Some(3), "{wrong:?}");
    }
}

/// Ctrl-C: nothing is left running on any host, and nothing half written here.
#[test]
fn an_interrupted_run_leaves_nothing() {
    let Some(lab) = Lab::start() else { return };
    let done = lab.cat(env!("CARGO_PKG_VERSION"));
    let slow = lab.program(
        "slow",
        &format!(
            "case $SSH_CONNECTION in *127.1.0.40*) exec sh '{done}' ;; esac\nprintf part\nsleep 1000 & sleep 1000\n"
        ),
    );
    let word = lab.path("hosts").display().to_string();
    let hosts: Vec<String> = (40..48).map(|n| format!("127.1.0.{n}")).collect();
    let mut child =
        lab.command(&hosts.join(","), &["--collector", "push", "--program", &slow, "--leave-nothing"]).spawn().unwrap();
    wait_for("programs to run", || processes(&word).len() >= 14);
    wait_for("one to be done", || lab.path("fleet/127.1.0.40").exists());
    assert!(quietly("kill", &["-INT", &child.id().to_string()]));
    let began = Instant::now();
    wait_for("the end", || child.try_wait().unwrap().is_some());
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
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
    // And in the index.
    let parts = std::fs::read_dir(lab.path("fleet")).unwrap().flatten().map(|e| e.file_name());
    let parts: std::collections::BTreeSet<_> = parts.map(|n| n.to_string_lossy().into_owned()).collect();
    assert_eq!(parts.into_iter().collect::<Vec<_>>(), [".index.lock", "127.1.0.40", "index.parquet"]);
    let dir = lab.path("fleet").display().to_string();
    let out = Command::new(LINERATE).args(["where", "kernel.release~*", &dir, "--format", "lines"]).output().unwrap();
    // Its snapshot does not say; it is known, and the index is not older than the directory.
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("127.1.0.40") && !said.contains("the index is out of date"), "{said}");
}

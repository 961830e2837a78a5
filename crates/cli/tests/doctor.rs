//! `linerate doctor` as it is called: every way in, exit codes, memory.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // helpers of tests, outside of test functions

use crate::schema;

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// An empty directory of a test.
fn dir(test: &str) -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("doctor-{test}"));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) -> &Path {
    std::fs::write(path, bytes).unwrap();
    path
}

fn doctor(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_linerate")).arg("doctor").args(arguments).output().unwrap()
}

/// The answer as JSON, held against its schema; the exit code is what the document says.
fn answer(arguments: &[&str]) -> Value {
    valid(&doctor(&[arguments, &["--format", "json"]].concat()))
}

fn valid(out: &Output) -> Value {
    let value: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {out:?}"));
    schema::Schema::of("doctor-1").check(&value).unwrap();
    assert_eq!(value["exit_code"], out.status.code().unwrap());
    // Nobody waits at a terminal here: no progress.
    assert_eq!(String::from_utf8_lossy(&out.stderr), "");
    value
}

/// Two ranks of one node each, by NCCL 2.21.
fn log(setting: &str, carrier: &str) -> String {
    let mut out = String::new();
    for (host, rank, peer) in [("gpu-0", 0, 1), ("gpu-1", 1, 0)] {
        let head = format!("{host}:10{rank}:11{rank} [0] NCCL INFO");
        out +=
            &format!("{head} NCCL version 2.21.5+cuda12.4\n{head} Bootstrap : Using eth0:10.0.0.{rank}<0>\n{setting}");
        let network = if carrier.contains("Socket") { "Socket" } else { "IB" };
        out += &format!("{head} NET/{network} : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.{rank}<0>\n");
        out += &format!("{head} Using network {network}\n");
        out += &format!(
            "{head} comm 0x55d0 rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 18000 commId 0x7a - Init START\n"
        );
        for channel in 0..2 {
            out += &format!("{head} Channel 0{channel}/0 : {rank}[0] -> {peer}[0] [send] via {carrier}\n");
            out += &format!("{head} Channel 0{channel}/0 : {peer}[0] -> {rank}[0] [receive] via {carrier}\n");
        }
        out += &format!(
            "{head} comm 0x55d0 rank {rank} nranks 2 cudaDev 0 nvmlDev 0 busId 18000 commId 0x7a - Init COMPLETE\n"
        );
    }
    out
}

fn healthy() -> String {
    log("", "NET/IB/0/GDRDMA")
}

/// Somebody left a setting behind.
fn sick() -> String {
    let set = "gpu-0:100:110 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.\n\
               gpu-1:101:111 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.\n";
    log(set, "NET/Socket/0")
}

const DMESG: &str = "\
[    0.000000] Linux version 6.8.0-60-generic
[  100.000001] NVRM: Xid (PCI:0000:18:00): 79, pid=1234, name=python, GPU has fallen off the bus.
";

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut e = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    e.write_all(bytes).unwrap();
    e.finish().unwrap()
}

fn ids(a: &Value) -> Vec<&str> {
    a["causes"].as_array().unwrap().iter().map(|c| c["id"].as_str().unwrap()).collect()
}

fn input<'a>(a: &'a Value, end: &str) -> &'a Value {
    let inputs = a["inputs"].as_array().unwrap();
    inputs.iter().find(|i| i["name"].as_str().unwrap().ends_with(end)).unwrap_or_else(|| panic!("no {end}: {inputs:?}"))
}

fn remarks(input: &Value) -> String {
    input["remarks"].as_array().unwrap().iter().map(|r| r.as_str().unwrap()).collect::<Vec<_>>().join("; ")
}

#[test]
fn a_log_of_which_part_was_not_read_is_never_good() {
    let d = dir("unread");
    let log = d.join("good.log");
    write(&log, healthy());
    let whole = d.display().to_string();
    assert_eq!(doctor(&[&whole]).status.code(), Some(0), "all of it is good");
    let unread = |arguments: &[&str]| {
        let a = answer(arguments);
        let open: Vec<_> = a["undecided"].as_array().unwrap().iter().filter(|u| u["symptom"] == "").cloned().collect();
        assert_eq!((a["exit_code"].as_u64(), open.len()), (Some(2), 1), "{arguments:?}: {a}");
        open[0]["read"].to_string()
    };
    // Directories that are deeper than they are walked.
    std::fs::create_dir_all(d.join("1/2/3/4/5/6/7/8/9")).unwrap();
    assert!(unread(&[&whole]).contains("WALK_DEPTH"));
    std::fs::remove_dir_all(d.join("1")).unwrap();
    // A good log, packed: more of it than the budget allows.
    let packed = zstd::encode_all(healthy().repeat(2000).as_bytes(), 3).unwrap();
    std::fs::write(d.join("packed.log.zst"), packed).unwrap();
    assert!(unread(&["--max-input", "64K", &whole]).contains("--max-input"));
    // Packed lines that are searched for all that programs print count as longer than they are.
    let lines = ["lacks = 'DMAR: x'\n", "app.py:12: a step\n", "NCCL_ALGO=Ring or not\n"];
    for searched in lines.map(|l| l.repeat(11_000)) {
        std::fs::write(d.join("packed.log.zst"), zstd::encode_all(searched.as_bytes(), 3).unwrap()).unwrap();
        assert!(unread(&["--max-input", "1M", &whole]).contains("--max-input"), "{}", searched.lines().next().unwrap());
    }
    let plain = "a step of it\n".repeat(11_000);
    std::fs::write(d.join("packed.log.zst"), zstd::encode_all(plain.as_bytes(), 3).unwrap()).unwrap();
    assert_eq!(answer(&["--max-input", "1M", &whole])["exit_code"].as_u64(), Some(0), "nothing of it is searched");
    std::fs::write(d.join("plain.log"), lines[0].repeat(11_000)).unwrap();
    std::fs::remove_file(d.join("packed.log.zst")).unwrap();
    assert_eq!(answer(&["--max-input", "1M", &whole])["exit_code"].as_u64(), Some(0), "what is plain has no budget");
    std::fs::remove_file(d.join("plain.log")).unwrap();
    // So do those of a tool's text behind what is held of it.
    let device = "01:00.0 PCI bridge: PEX\n\t\tACSCtl:\tSrcValid+ ReqRedir+ CmpltRedir+ UpstreamFwd+\n";
    let lspci = zstd::encode_all(device.repeat((9 << 20) / device.len()).as_bytes(), 3).unwrap();
    std::fs::write(d.join("lspci.txt.zst"), lspci).unwrap();
    assert!(unread(&["--max-input", "12M", &whole]).contains("--max-input"));
    std::fs::remove_file(d.join("lspci.txt.zst")).unwrap();
    // One that is damaged.
    let mut damaged = zstd::encode_all(healthy().as_bytes(), 3).unwrap();
    damaged.truncate(damaged.len() / 2);
    std::fs::write(d.join("packed.log.zst"), damaged).unwrap();
    assert!(unread(&[&whole]).contains("packed.log.zst"));
}

#[test]
fn exit_codes() {
    let d = dir("codes");
    let path = |name: &str, text: &str| write(&d.join(name), text).display().to_string();
    let (good, bad, odd) = (path("good.log", &healthy()), path("bad.log", &sick()), path("odd", "hello\nworld\n"));
    let (empty, missing) = (path("empty", ""), d.join("missing").display().to_string());
    for (arguments, code) in [
        (&[good.as_str()][..], 0),
        (&[&bad], 1),
        (&[&good, &bad], 1),
        (&[&odd], 2),
        (&[&empty], 2),
        // Nothing is piped to it.
        (&[], 2),
        (&[&missing], 3),
        (&[&good, &missing], 3),
        (&["-", "-"], 3),
        (&[&good, "--node", &missing], 3),
        (&[&good, "--node", &good], 3),
        (&[&good, "--format", "sarif"], 3),
    ] {
        let out = doctor(arguments);
        assert_eq!(out.status.code(), Some(code), "{arguments:?}: {out:?}");
        // Either an answer, or a reason.
        assert_eq!(out.stdout.is_empty(), code == 3, "{arguments:?}");
        assert_eq!(out.stderr.is_empty(), code != 3, "{arguments:?}: {out:?}");
    }
    assert_eq!(ids(&answer(&[&bad])).first(), Some(&"net/ib-disabled-by-env"));
}

#[test]
fn every_packing_is_the_same_log() {
    let d = dir("packed");
    let text = sick();
    let (a, b) = text.split_at(text.find("gpu-1").unwrap());
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
    xz.write_all(text.as_bytes()).unwrap();
    let mut bz = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bz.write_all(text.as_bytes()).unwrap();
    let zst = [zstd::encode_all(a, 3).unwrap(), zstd::encode_all(b, 3).unwrap()].concat();
    let utf16: Vec<u8> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    for (name, bytes) in [
        ("plain", text.clone().into_bytes()),
        ("members.gz", [gz(a), gz(b)].concat()),
        ("frames.zst", zst),
        ("one.xz", xz.finish().unwrap()),
        ("one.bz2", bz.finish().unwrap()),
        // What it is, its first bytes say.
        ("misnamed.txt", gz(text.as_bytes())),
        ("windows.log", utf16),
    ] {
        let got = answer(&[write(&d.join(name), bytes).to_str().unwrap()]);
        assert_eq!(ids(&got).first(), Some(&"net/ib-disabled-by-env"), "{name}");
        assert_eq!(input(&got, name)["lines"], text.lines().count(), "{name}");
        assert_eq!(remarks(input(&got, name)), "", "{name}");
    }
}

#[test]
fn a_damaged_end_is_said_and_what_came_before_is_read() {
    let d = dir("damaged");
    let text: String =
        sick() + &(0..20_000u32).map(|i| format!("{i} {}\n", i.wrapping_mul(2_654_435_761))).collect::<String>();
    let whole = gz(text.as_bytes());
    for (name, bytes) in [("cut.gz", &whole[..whole.len() / 2]), ("rest.gz", &[&whole[..], b"no gzip"].concat())] {
        let got = answer(&[write(&d.join(name), bytes).to_str().unwrap()]);
        assert_eq!(ids(&got).first(), Some(&"net/ib-disabled-by-env"), "{name}");
        assert!(remarks(input(&got, name)).contains("gzip compression is damaged after "), "{name}: {got}");
    }
    let got = answer(&[write(&d.join("head.gz"), &whole[..12]).to_str().unwrap()]);
    assert!(remarks(input(&got, "head.gz")).contains("damaged"), "{got}");
}

/// Runs it with a standard input.
fn piped(bytes: &[u8], arguments: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["doctor", "--format", "json"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn standard_input_is_read_as_a_file_is() {
    for bytes in [sick().into_bytes(), gz(sick().as_bytes())] {
        let got = valid(&piped(&bytes, &["-"]));
        assert_eq!(ids(&got).first(), Some(&"net/ib-disabled-by-env"));
        assert_eq!(input(&got, "standard input")["nccl_lines"], sick().lines().count());
    }
    let archive = std::fs::read(root().join("examples/healthy-8gpu.tar.zst")).unwrap();
    assert_eq!(input(&valid(&piped(&archive, &["-"])), "standard input")["kind"], "snapshot");
}

#[test]
fn a_directory_of_logs_kernel_logs_and_snapshots() {
    let d = dir("tree");
    std::fs::create_dir_all(d.join("ranks/deeper")).unwrap();
    let text = healthy();
    let (a, b) = text.split_at(text.find("gpu-1").unwrap());
    write(&d.join("ranks/rank0.log"), a);
    write(&d.join("ranks/deeper/rank1.log.gz"), gz(b.as_bytes()));
    write(&d.join("dmesg-gpu-1.txt"), DMESG);
    std::fs::copy(root().join("examples/healthy-8gpu.tar.zst"), d.join("node.tar.zst")).unwrap();
    // What would hang, loop, or lead out.
    assert!(Command::new("mkfifo").arg(d.join("pipe")).status().unwrap().success());
    std::os::unix::fs::symlink("..", d.join("ranks/loop")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", d.join("passwd")).unwrap();
    let got = answer(&[d.to_str().unwrap(), d.join("ranks/rank0.log").to_str().unwrap()]);
    let names: Vec<&str> = got["inputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| i["name"].as_str().unwrap().rsplit('/').next().unwrap())
        .collect();
    // In a fixed order, each once.
    assert_eq!(names, ["dmesg-gpu-1.txt", "rank1.log.gz", "rank0.log", "node.tar.zst"]);
    assert_eq!(input(&got, "dmesg-gpu-1.txt")["kind"], "kernel log");
    assert_eq!(input(&got, "node.tar.zst")["kind"], "snapshot");
    assert_eq!(ids(&got), ["kernel/xid"]);
    let limits = got["limits"].to_string();
    assert!(limits.contains("2 symbolic links") && limits.contains("1 pipes, sockets"), "{limits}");
}

#[test]
fn nodes_are_given_beside_the_logs() {
    let d = dir("nodes");
    let log = write(&d.join("job.log"), healthy()).display().to_string();
    let node = root().join("examples/sick-8gpu.tar.zst").display().to_string();
    let got = answer(&[&log, "--node", &node]);
    assert_eq!(input(&got, "sick-8gpu.tar.zst")["kind"], "snapshot");
    assert_eq!(
        doctor(&["--node", &node, "--quiet"]).status.code(),
        Some(1),
        "what is badly wrong on a node is told without a log, too"
    );
}

#[test]
fn a_ticket_in_one_file_is_taken_apart() {
    let d = dir("ticket");
    let text = format!(
        "It is slow:\n```\n{}```\nroot@gpu-0:~# nvidia-smi topo -m\n\tGPU0\tNIC0\tCPU Affinity\nGPU0\t X \tSYS\t0-31\nNIC0\tSYS\t X \t\n\n{DMESG}\n\
         0000:18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330] (rev a1)\n",
        sick()
    );
    let got = answer(&[write(&d.join("ticket.txt"), text).to_str().unwrap()]);
    let kind = input(&got, "ticket.txt")["kind"].as_str().unwrap();
    for what in ["NCCL log", "kernel log", "nvidia-smi topo -m", "lspci"] {
        assert!(kind.contains(what), "{kind}");
    }
    assert_eq!(kind.matches("kernel log").count(), 1, "{kind}");
    assert!(ids(&got).contains(&"kernel/xid") && ids(&got).contains(&"net/ib-disabled-by-env"), "{got}");
}

/// A tool's output first, and a program's error below it: both are read.
#[test]
fn an_error_below_a_tools_output_is_read() {
    let d = dir("below");
    let text = "$ nvidia-smi topo -m\n\n\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPHB\t0-63\nGPU1\tPHB\t X \t0-63\n\nRuntimeError: Can't enable access between nodes 0 and 1\n";
    let got = answer(&[write(&d.join("ticket.txt"), text).to_str().unwrap()]);
    assert_eq!(ids(&got), ["p2p/refused-by-driver"], "{got}");
}

#[test]
fn forms_and_places_of_the_answer() {
    let d = dir("forms");
    let log = write(&d.join("job.log"), sick() + "\x1b[31m\x1b]0;title\x07 NCCL WARN \x1b[2Jx\n").display().to_string();
    let to = d.join("answer.md");
    let out = doctor(&[&log, "--format", "markdown", "--output", to.to_str().unwrap()]);
    assert_eq!((out.status.code(), out.stdout.len()), (Some(1), 0));
    let text = std::fs::read_to_string(&to).unwrap();
    assert!(text.starts_with("# linerate doctor\n\n**CAUSE, "), "{text}");
    for more in [&[][..], &["--verbose"], &["--color", "always"]] {
        let text = String::from_utf8(doctor(&[&[log.as_str()], more].concat()).stdout).unwrap();
        assert!(text.contains("CAUSE, ") && text.contains("linerate explain net/ib-disabled-by-env"), "{text}");
        let colour = more.contains(&"always");
        let bad = text.chars().find(|c| c.is_control() && *c != '\n' && !(colour && *c == '\x1b'));
        assert_eq!(bad, None, "{text}");
        assert_eq!(text.contains('\x1b'), colour);
    }
}

#[test]
fn symptoms_are_explained() {
    let explain = |id: &str| Command::new(env!("CARGO_BIN_EXE_linerate")).args(["explain", id]).output().unwrap();
    let list = String::from_utf8(explain("symptom").stdout).unwrap();
    let ids: Vec<&str> = list.lines().filter(|l| l.starts_with("symptom/")).collect();
    assert!(ids.len() >= 8, "{list}");
    for id in ids {
        let text = String::from_utf8(explain(id).stdout).unwrap();
        assert!(text.starts_with(&format!("SYMPTOM {id}\n")) && text.contains("Step by step"), "{text}");
    }
    let out = explain("symptom/gpudirect");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.code() == Some(3) && said.contains("did you mean `symptom/gpudirect-disabled`?"), "{said}");
}

/// Memory at its highest of a process that has read so much of its standard input, in MiB.
fn peak(pieces: impl Iterator<Item = Vec<u8>>, end: &[u8]) -> (u64, Value) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(["doctor", "--format", "json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    for piece in pieces {
        to.write_all(&piece).unwrap();
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    to.write_all(end).unwrap();
    drop(to);
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap();
    let kib: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    (kib >> 10, valid(&child.wait_with_output().unwrap()))
}

/// 300 MB of a job's calls of collectives, the most that logs consist of.
#[test]
fn memory_does_not_grow_with_the_log() {
    let start = sick();
    let mut block = Vec::new();
    while block.len() < 1 << 20 {
        let n = block.len();
        block.extend_from_slice(
            format!(
                "gpu-0:100:110 [0] NCCL INFO AllReduce: opCount {n:x} sendbuff 0x7f{n:x} recvbuff 0x7f{n:x} count 262144 datatype 7 op 0 root 0 comm 0x55d0 [nranks=2] stream 0x5571\n"
            )
            .as_bytes(),
        );
    }
    let size = 300_000_000 / block.len();
    let pieces = std::iter::once(start.clone().into_bytes()).chain((0..size).map(|_| block.clone()));
    let (mib, got) = peak(pieces, b"");
    println!("300 MB of log: {mib} MiB");
    assert!(mib <= 64, "{mib} MiB");
    assert!(input(&got, "standard input")["bytes"].as_u64().unwrap() > 299_000_000);
    assert_eq!(ids(&got).first(), Some(&"net/ib-disabled-by-env"));
}

/// One line of 100 MB, then zeros, then a log: what is no text costs nothing, and what follows is read.
#[test]
fn memory_does_not_grow_with_a_line() {
    let piece = |fill: u8| (0..100).map(move |_| vec![fill; 1 << 20]);
    let pieces = piece(b'x').chain([b"\n".to_vec()]).chain(piece(0));
    let (mib, got) = peak(pieces, format!("\n{}", sick()).as_bytes());
    println!("200 MB of junk: {mib} MiB");
    assert!(mib <= 64, "{mib} MiB");
    assert_eq!(ids(&got).first(), Some(&"net/ib-disabled-by-env"));
}

/// No real input is refused, and none makes it panic.
#[test]
fn every_real_input() {
    let data = root().join("../shared/data");
    if !data.is_dir() {
        println!("SKIPPED: ../shared/data is not here");
        return;
    }
    let mut dirs: Vec<PathBuf> =
        std::fs::read_dir(&data).unwrap().flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect();
    dirs.extend(std::fs::read_dir(data.join("cases")).unwrap().flatten().map(|e| e.path()));
    for d in &dirs {
        let got = answer(&[d.to_str().unwrap()]);
        assert!(got["inputs"].as_array().is_some_and(|i| !i.is_empty()), "{}", d.display());
    }
    let out = doctor(&[data.to_str().unwrap()]);
    assert_eq!(out.status.code(), Some(1));
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(text.chars().find(|c| c.is_control() && *c != '\n'), None);
    println!("{} directories", dirs.len());
}

#[test]
fn lines_of_lspci_without_their_devices_are_read() {
    let dir = dir("acs-lines");
    let line = "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n";
    let file = dir.join("lspci.txt");
    write(&file, format!("# lspci -vvv | grep -i acsctl\n{line}{line}"));
    let a = answer(&[file.to_str().unwrap()]);
    assert_eq!(a["causes"][0]["id"], "p2p/acs-redirects");
}

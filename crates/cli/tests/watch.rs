//! `linerate watch counters`: what grew between two dumps or readings, and what cannot be said.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::process::Command;

struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn run(args: &[&str]) -> Ran {
    let out = Command::new(env!("CARGO_BIN_EXE_linerate")).args(args).output().unwrap();
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    Ran { code: out.status.code().unwrap(), out: text(&out.stdout), err: text(&out.stderr) }
}

fn dump(dir: &Path, name: &str, text: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn json(ran: &Ran) -> serde_json::Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {} {}", ran.out, ran.err))
}

/// What grew, as `owner/counter/by/kind`.
fn grown(v: &serde_json::Value) -> Vec<String> {
    let all = v["nodes"][0]["grown"].as_array().unwrap().iter();
    all.map(|c| {
        format!("{}/{}/{}/{}", c["owner"].as_str().unwrap(), c["counter"].as_str().unwrap(), c["by"], c["kind"])
    })
    .collect()
}

const PORT: &str = "/sys/class/infiniband/mlx5_0/ports/1";

#[test]
fn two_dumps_of_files() {
    let dir = tempfile::tempdir().unwrap();
    let at = |downed: u32, seq: u32, data: u64| {
        format!(
            "$ grep . {PORT}/counters/* {PORT}/hw_counters/*\n{PORT}/counters/link_downed:{downed}\n{PORT}/counters/port_xmit_data:{data}\n{PORT}/counters/symbol_error:3\n{PORT}/hw_counters/packet_seq_err:{seq}\n"
        )
    };
    let before = dump(dir.path(), "before.txt", &at(0, 10, 0));
    let after = dump(dir.path(), "after.txt", &at(1, 610, 7_500_000_000));
    let ran = run(&["watch", "counters", &before, &after, "--apart", "60s", "--format", "json"]);
    let v = json(&ran);
    assert_eq!((ran.code, v["schema"].as_str(), v["exit_code"].as_u64()), (1, Some("linerate.watch/1"), Some(1)));
    assert_eq!(
        grown(&v),
        [
            "mlx5_0 port 1/link_downed/1/\"fault\"",
            "mlx5_0 port 1/packet_seq_err/600/\"loss\"",
            "mlx5_0 port 1/port_xmit_data/7500000000/\"traffic\""
        ]
    );
    let node = &v["nodes"][0];
    assert_eq!(node["grown"][1]["per_second"].as_f64(), Some(10.0));
    assert_eq!(node["traffic"][0]["sent_gbps"].as_f64(), Some(4.0), "words of four bytes");
    let text = run(&["watch", "counters", &before, &after, "--apart", "60s"]);
    assert!(text.out.lines().all(|l| l.chars().count() <= 80 || l.contains("/sys/")), "{}", text.out);
    // Without a time there is no rate; nothing that is judged grew the other way round.
    let v = json(&run(&["watch", "counters", &before, &after, "--format", "json"]));
    assert!(v["nodes"][0]["seconds"].is_null() && v["nodes"][0]["grown"][1]["per_second"].is_null());
}

#[test]
fn what_cannot_be_told_is_not_clean() {
    let dir = tempfile::tempdir().unwrap();
    let still =
        dump(dir.path(), "a.txt", &format!("{PORT}/counters/symbol_error:3\n{PORT}/counters/port_xmit_data:9\n"));
    let ran = run(&["watch", "counters", &still, &still, "--format", "json"]);
    assert_eq!((ran.code, json(&ran)["nodes"][0]["verdict"].as_str()), (2, Some("unknown")), "a quiet link");
    let moved =
        dump(dir.path(), "b.txt", &format!("{PORT}/counters/symbol_error:3\n{PORT}/counters/port_xmit_data:99\n"));
    let ran = run(&["watch", "counters", &still, &moved, "--format", "json"]);
    assert_eq!((ran.code, json(&ran)["nodes"][0]["verdict"].as_str()), (0, Some("clean")));
    let text = dump(dir.path(), "uname.txt", "Linux gpu001 6.8.0 #1 SMP x86_64 GNU/Linux\n");
    let ran = run(&["watch", "counters", &text, &text, "--format", "json"]);
    assert_eq!((ran.code, json(&ran)["nodes"][0]["compared"].as_u64()), (2, Some(0)));
    let one = run(&["watch", "counters", &still]);
    assert_eq!(one.code, 3, "{}", one.err);
    assert_eq!(run(&["watch", "counters", "--count", "0"]).code, 3);
}

#[test]
fn pasted_tools_with_their_interfaces() {
    let dir = tempfile::tempdir().unwrap();
    let at = |n: u32| {
        format!(
            "root@gpu001:~# ethtool -S eth0\nNIC statistics:\n     rx_discards_phy: {n}\n     rx_prio3_pause_duration: {}\n     rx_bytes_phy: {n}000000\nroot@gpu001:~# nvidia-smi pci -gErrCnt\nGPU 0: NVIDIA H200 (UUID: GPU-6ab2b91d-1ab2-86a8-53e4-07fad7b85230)\n    REPLAY_COUNTER:          0\n    L0_TO_RECOVERY_COUNTER:  {n}\n    BAD_TLP:                 {n}\n    LANE_ERROR:              \n\t lane  0: {n}\n",
            n * 1000
        )
    };
    let (before, after) = (dump(dir.path(), "a.txt", &at(5)), dump(dir.path(), "b.txt", &at(8)));
    let v = json(&run(&["watch", "counters", &before, &after, "--apart", "1s", "--format", "json"]));
    assert_eq!(
        grown(&v),
        [
            "eth0/rx_discards_phy/3/\"loss\"",
            "GPU 0/pcie_bad_tlp/3/\"loss\"",
            "GPU 0 link 0/pcie_lane_errors/3/\"loss\"",
            "eth0/rx_prio3_pause_duration/3000/\"congestion\"",
            "GPU 0/pcie_l0_to_recovery/3/\"repaired\"",
            "eth0/rx_bytes_phy/3000000/\"traffic\""
        ]
    );
}

#[test]
fn snapshots_of_two_nodes_are_not_compared() {
    let dir = tempfile::tempdir().unwrap();
    let take = |name: &str| {
        let path = dir.path().join(name).display().to_string();
        assert_eq!(run(&["collect", "--counters", "--no-redact", "-q", "-o", &path]).code, 0);
        path
    };
    let (a, b) = (take("a.tar.zst"), take("b.tar.zst"));
    let ran = run(&["watch", "counters", &a, &b, "--format", "json"]);
    assert!(matches!(ran.code, 0..=2), "{}", ran.err);
    let v = json(&ran);
    assert!(v["nodes"][0]["seconds"].is_null() || v["nodes"][0]["seconds"].as_f64().is_some_and(|s| s < 60.0), "{v}");
}

#[test]
fn this_machine_and_nodes_of_a_set() {
    for source in [&[][..], &["--on", "local"][..]] {
        let args =
            [&["watch", "counters", "--interval", "1s", "--count", "1", "--format", "json"][..], source].concat();
        let ran = run(&args);
        let v = json(&ran);
        assert!(matches!(ran.code, 0..=2), "{}", ran.err);
        let node = &v["nodes"][0];
        assert_eq!(node["intervals"].as_u64(), Some(1), "{v}");
        assert!(node["seconds"].as_f64().is_some_and(|s| (0.5..30.0).contains(&s)), "{v}");
    }
}

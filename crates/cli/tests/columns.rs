//! Terminals of 40 to 200 columns: no report writes a longer line.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Stdio};

const SICK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sick-8gpu.tar.zst");
const HEALTHY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/healthy-8gpu.tar.zst");
const BENCH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/bench");

/// What a command writes to standard output in a terminal of so many columns, with a home of its own.
fn run(home: &Path, columns: usize, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.args(args).env("COLUMNS", columns.to_string()).env("HOME", home).env_remove("XDG_DATA_HOME");
    let out = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.code().is_some_and(|c| c < 3), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    text
}

#[test]
fn every_report_fits() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name).display().to_string();
    let (fleet, plan, policy, log) = (at("fleet"), at("plan.json"), at("policy.toml"), at("job.log"));
    std::fs::create_dir(&fleet).unwrap();
    for (from, name) in [(SICK, "gpu001.tar.zst"), (HEALTHY, "gpu002.tar.zst")] {
        std::fs::copy(from, Path::new(&fleet).join(name)).unwrap();
    }
    std::fs::write(&plan, run(home.path(), 80, &["plan", SICK, "--format", "json"])).unwrap();
    run(home.path(), 80, &["fleet", "index", &fleet]);
    Command::new(env!("CARGO_BIN_EXE_linerate")).args(["policy", "learn", &fleet, "-o", &policy]).output().unwrap();
    let said = "gpu001:71:93 [0] transport/net_ib.cc:2253 NCCL WARN NET/IB: Got completion from peer 10.0.0.2<48342> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) len=0 vendor err 129 (Send) localGid ::ffff:10.0.0.1 remoteGids ::ffff:10.0.0.2 hca mlx5_0\n";
    std::fs::write(&log, said).unwrap();
    let runs = ["", "/passthrough", "/disabled"].map(|dir| format!("{BENCH}/n0{dir}"));
    let [all_runs, before, after] = &runs;
    let all: &[&[&str]] = &[
        &["audit", SICK],
        &["audit", SICK, "--verbose"],
        &["audit", SICK, "--brief"],
        &["audit", &fleet],
        &["audit", &fleet, "--verbose"],
        &["plan", SICK],
        &["verify", &plan, SICK],
        &["verify", &plan, HEALTHY],
        &["topo", SICK],
        &["topo", SICK, "--ceiling"],
        &["topo", SICK, "--explain", "GPU0", "mlx5_3"],
        &["topo", SICK, "--what-if", "full-links"],
        &["doctor", SICK],
        &["doctor", &log],
        &["doctor", &log, "--verbose"],
        &["diff", SICK, HEALTHY],
        &["diff", SICK, HEALTHY, "--verbose"],
        &["drift", SICK, HEALTHY, "--verbose"],
        &["env", "check", "--node", SICK],
        &["rules"],
        &["explain", "NCCL_IB_HCA"],
        &["nodes", "gpu[1-300],cpu[2-7]"],
        &["where", "kernel.release~*", &fleet],
        &["bench", "import", all_runs],
        &["bench", "history"],
        &["bench", "compare", before, after],
        &["policy", "check", &policy, &fleet],
        &["watch", "counters", SICK, HEALTHY],
    ];
    let mut long = Vec::new();
    for columns in [40, 60, 80, 120, 200] {
        for args in all {
            let text = run(home.path(), columns, args);
            assert!(!text.is_empty(), "{args:?}");
            let is_long = |l: &&str| l.chars().count() > columns && !l.contains("https://");
            long.extend(text.lines().filter(is_long).map(|l| format!("{columns}: {args:?}: {l}")));
        }
    }
    assert_eq!(long, Vec::<String>::new());
}

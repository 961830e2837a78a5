//! Known findings: `--fail-on`, `--ignore`, files of suppressions and `linerate.toml`, as a person uses them.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, outside of test functions

use serde_json::Value;
use std::path::Path;
use std::process::Command;

const SICK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sick-8gpu.tar.zst");

/// Exit code, standard output, standard error; in a directory of its own.
fn run(dir: &Path, arguments: &[&str]) -> (i32, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_linerate"))
        .args(arguments)
        .current_dir(dir)
        .env_clear()
        .env("HOME", dir)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code().unwrap_or(-1), text(&out.stdout), text(&out.stderr))
}

fn json(dir: &Path, more: &[&str]) -> (i32, Value) {
    let (code, out, err) = run(dir, &[&["audit", SICK, "--format", "json"], more].concat());
    (code, serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {err}")))
}

fn rules(list: &Value) -> Vec<&str> {
    list.as_array().map_or_else(Vec::new, |l| l.iter().filter_map(|v| v["verdict"]["rule"].as_str()).collect())
}

const ACCEPTED: &str = "\
[[suppress]]
rule = \"iommu/faults\"
nodes = \"gpu-00001,sick*\"
reason = \"the fault is from before the reboot\"
by = \"OPS-1\"
until = 2999-12-31

[[suppress]]
rule = \"acs/*\"
subject = \"0000:17:*\"
reason = \"accepted until the BIOS is new\"
by = \"OPS-2\"
until = 2020-01-01
";

#[test]
fn a_file_found_as_cargo_finds_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let below = dir.path().join("a/b");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::write(dir.path().join("linerate.toml"), format!("audit = {{ fail-on = \"critical\" }}\n{ACCEPTED}"))
        .unwrap();
    let (code, all) = json(&below, &[]);
    assert_eq!(rules(&all["suppressed"]), ["iommu/faults"]);
    assert_eq!(
        (code, &all["summary"]["fail_on"]),
        (0, &Value::from("critical")),
        "the one critical finding is accepted"
    );
    let review = all["suppressions_to_review"].as_array().unwrap();
    assert!(review.len() == 1 && review[0].as_str().unwrap().contains("2020-01-01"), "{review:?}");
    let place = all["suppressed"][0]["suppression"]["place"].as_str().unwrap();
    assert!(place.ends_with("linerate.toml:2"), "{place}");
    // An option is stronger than the file, and the file can be left out.
    assert_eq!(json(&below, &["--fail-on", "high"]).0, 1);
    let (code, all) = json(&below, &["--no-config"]);
    assert_eq!((code, all.get("suppressed")), (1, None));
}

#[test]
fn of_another_user_it_suppresses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("linerate.toml");
    std::fs::write(&file, ACCEPTED).unwrap();
    if std::os::unix::fs::chown(&file, Some(12345), None).is_err() {
        println!("skipped: only root can give a file to another user");
        return;
    }
    let (code, out, err) = run(dir.path(), &["audit", SICK, "--format", "json"]);
    let all: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, all.get("suppressed")), (1, None));
    assert!(err.contains("another user"), "{err}");
    let file = file.to_str().unwrap();
    assert_eq!(rules(&json(dir.path(), &["--suppressions", file]).1["suppressed"]), ["iommu/faults"]);
}

#[test]
fn options_take_a_rule_and_its_subject() {
    let dir = tempfile::tempdir().unwrap();
    let of = |words: &str| {
        let all = json(dir.path(), &["--ignore", words]).1;
        all["suppressed"].as_array().map_or(0, Vec::len)
    };
    let all = of("acs/redirect-on-p2p-path");
    let some = of("acs/redirect-on-p2p-path:0000:17:*");
    assert!(all > some && some > 0, "{all} {some}");
    assert_eq!(of("acs/redirect-on-p2p-path:0000:17:00.0"), 1);
    for bad in [&["--ignore", "acs/typo"][..], &["--fail-on", "sometimes"], &["--suppressions", "/nowhere"]] {
        let (code, out, err) = run(dir.path(), &[&["audit", SICK], bad].concat());
        assert_eq!((code, out.as_str()), (3, ""), "{bad:?}: {err}");
    }
    for text in [
        "[[suppress]]\nrule = \"acs/*\"\n",
        "[audit]\nfail-on = \"bad\"\n",
        "[[suppress]]\nrule = \"typo\"\nreason = \"r\"\nby = \"b\"\n",
    ] {
        std::fs::write(dir.path().join("linerate.toml"), text).unwrap();
        assert_eq!(run(dir.path(), &["audit", SICK]).0, 3, "{text}");
    }
}

#[test]
fn a_plan_has_no_step_for_what_is_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let steps = |more: &[&str]| {
        let (_, out, err) = run(dir.path(), &[&["plan", SICK, "--format", "json"], more].concat());
        let plan: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {err}"));
        plan.to_string().contains("acs/redirect-on-p2p-path")
    };
    assert!(steps(&[]));
    assert!(!steps(&["--ignore", "acs/redirect-on-p2p-path"]));
}

#[test]
fn a_fleet_says_what_it_suppressed() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["gpu1", "gpu2"] {
        std::fs::copy(SICK, dir.path().join(format!("{name}.tar.zst"))).unwrap();
    }
    std::fs::write(
        dir.path().join("accepted.toml"),
        "[[suppress]]\nrule = \"*\"\nnodes = \"gpu[1]\"\nreason = \"spare\"\nby = \"ops\"\n",
    )
    .unwrap();
    let file = dir.path().join("accepted.toml");
    let (code, out, err) = run(
        dir.path(),
        &["audit", "gpu1.tar.zst", "gpu2.tar.zst", "--format", "json", "--suppressions", file.to_str().unwrap()],
    );
    let lines: Vec<Value> = out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let codes: Vec<_> = lines.iter().map(|l| l["exit_code"].as_u64().unwrap()).collect();
    assert_eq!((code, codes), (1, vec![0, 1, 1]), "{err}");
    assert!(lines[0]["suppressed"].as_u64() > Some(0));
}

/// Runs `sh -c` with the program as `$0`.
fn shell(dir: &Path, script: &str) -> (i32, String, String) {
    let out = Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_linerate")])
        .current_dir(dir)
        .env("HOME", dir)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code().unwrap_or(-1), text(&out.stdout), text(&out.stderr))
}

#[test]
fn pipes_are_read_where_files_are() {
    let dir = tempfile::tempdir().unwrap();
    let lspci = "17:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2330] (rev a1)";
    let (code, out, err) = shell(dir.path(), &format!("\"$0\" audit <(echo '{lspci}')"));
    assert!(code == 2 && out.contains("1 GPU"), "{out}{err}");
    let (code, out, err) = shell(dir.path(), &format!("\"$0\" audit <(cat '{SICK}') --rule acs"));
    assert!(code == 1 && out.contains("only acs: "), "{out}{err}");
    let log = "n1:1:1 [0] NCCL INFO NCCL_IB_DISABLE set by environment to 1.";
    let (code, out, _) = shell(dir.path(), &format!("echo '{log}' | \"$0\" doctor --format json"));
    let answer: Value = serde_json::from_str(&out).unwrap();
    assert!(code <= 2 && answer["schema"].as_str().is_some_and(|s| s.starts_with("linerate.doctor/")), "{out}");
    let (code, _, err) =
        shell(dir.path(), &format!("for i in 1 2 3; do echo '{log}'; done > x.log; \"$0\" audit x.log"));
    assert!(code == 3 && err.contains("linerate doctor"), "{err}");
}

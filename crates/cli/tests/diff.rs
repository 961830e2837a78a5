//! `linerate diff` as it is called.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::schema;

use serde_json::Value;
use std::process::{Command, Output};

fn linerate(arguments: &[&str]) -> Output {
    let mut c = Command::new(env!("CARGO_BIN_EXE_linerate"));
    c.args(arguments).env_clear().env("HOME", env!("CARGO_TARGET_TMPDIR")).env("PATH", "/usr/bin:/bin");
    c.output().unwrap()
}

/// What `mlxconfig -e q` prints of four NICs.
fn query(settings: impl Fn(usize) -> Vec<(&'static str, &'static str)>) -> String {
    let nic = |(i, bdf): (usize, &&str)| {
        let mut out = format!(
            "\nDevice #{}:\n----------\n\nDevice type:        ConnectX7\nName:               MCX75310AAS-NEA_Ax\n\
             Description:        NVIDIA ConnectX-7 HHHL Adapter card; 400GbE\nDevice:             {bdf}\n\n\
             Configurations:                                 Default             Current             Next Boot\n",
            i + 1
        );
        for (name, value) in settings(i) {
            out.push_str(&format!("        {name:<40}{value:<20}{value:<20}{value}\n"));
        }
        out
    };
    ["03:00.0", "23:00.0", "a3:00.0", "c3:00.0"].iter().enumerate().map(nic).collect()
}

/// Field note N1: two nodes of four NICs each. Of three settings that differ, one is wrong on the second node, one on the first, and one only shows the
/// others.
#[test]
fn a_directory_of_two_queries_of_firmware_gives_each_setting_with_its_truth() {
    let dir = tempfile::tempdir().unwrap();
    let reference =
        [("ADVANCED_PCI_SETTINGS", "True(1)"), ("MAX_ACC_OUT_READ", "128"), ("PCI_WR_ORDERING", "per_mkey(0)")];
    let target = |i: usize| {
        let order = if i.is_multiple_of(2) { "per_mkey(0)" } else { "force_relax(1)" };
        vec![("ADVANCED_PCI_SETTINGS", "False(0)"), ("PCI_WR_ORDERING", order), ("SRIOV_EN", "False(0)")]
    };
    let write = |leaf: &str, text: &str| std::fs::write(dir.path().join(leaf), text).unwrap();
    write("u25.txt", &query(|_| [&reference[..], &[("SRIOV_EN", "False(0)")]].concat()));
    write("u36.txt", &query(target));
    let path = dir.path().to_str().unwrap();
    let out = linerate(&["diff", path, "--format", "json"]);
    let json: Value = serde_json::from_slice(&out.stdout).unwrap();
    schema::Schema::of("diff-1").check(&json).unwrap();
    assert_eq!(out.status.code(), Some(1), "{json}");

    let rows = json["differences"].as_array().unwrap();
    let row = |part: &str| {
        let of: Vec<&Value> = rows.iter().filter(|r| r["part"] == part).collect();
        assert_eq!(of.len(), 1, "{part}: {of:?}");
        of[0]
    };
    let rules = |row: &Value, side: usize| -> Vec<(String, String)> {
        let word = |v: &Value| v.as_str().unwrap().to_owned();
        let all = row["rules"][side].as_array().unwrap().iter();
        all.map(|s| (word(&s["rule"]), word(&s["status"]))).collect()
    };
    let said = |all: &[(&str, &str)]| all.iter().map(|(r, s)| ((*r).to_owned(), (*s).to_owned())).collect::<Vec<_>>();
    assert_eq!(rows.len(), 3, "{json}");
    // The worst first: two NICs of the second node force what applications are to choose, and its NICs are not alike.
    let ordering = row("PCI_WR_ORDERING");
    assert_eq!(
        (rows.first(), &ordering["severity"], &ordering["at"]),
        (Some(ordering), &"medium".into(), &"NIC 1,3".into()),
        "{json}"
    );
    assert_eq!(rules(ordering, 0), said(&[("nicfw/pci-wr-ordering", "pass")]));
    let (mixed, forced) = (("nicfw/mixed-between-nics", "fail"), ("nicfw/pci-wr-ordering", "fail"));
    let mut found = rules(ordering, 1);
    found.sort();
    assert_eq!(found, said(&[mixed, forced]));
    // The first node's own fault; the second one does not show it, which is no fault.
    let reads = row("MAX_ACC_OUT_READ");
    assert_eq!((&reads["severity"], &reads["at"]), (&"low".into(), &"NIC 0-3".into()), "{reads}");
    assert_eq!((rules(reads, 0), rules(reads, 1)), (said(&[("nicfw/max-acc-out-read", "fail")]), said(&[])), "{reads}");
    // A switch of the display: either value is right.
    let switch = row("ADVANCED_PCI_SETTINGS");
    let right = said(&[("nicfw/advanced-pci-settings", "pass")]);
    assert_eq!((&switch["severity"], rules(switch, 0), rules(switch, 1)), (&"info".into(), right.clone(), right));
    // No verdict is said twice.
    assert_eq!(json["verdicts"], serde_json::json!([]));

    let text = String::from_utf8(linerate(&["diff", path]).stdout).unwrap();
    assert_eq!(text.matches("nicfw/mixed-between-nics").count(), 1, "{text}");
    assert!(!text.contains("beyond that"), "{text}");
    for words in
        ["NIC 1,3: PCI_WR_ORDERING", "NIC 0-3: MAX_ACC_OUT_READ", "NIC 0-3: ADVANCED_PCI_SETTINGS", "not listed"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    // A third text: a directory of three is not two.
    write("u37.txt", "x\n");
    let out = linerate(&["diff", path]);
    assert!(out.status.code() == Some(3) && String::from_utf8_lossy(&out.stderr).contains("holds 3 sources"));
}

//! The JSON document: against its schema, on small nodes and on a real one where it is here.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

mod common;

use common::schema::{check, schema, valid};
use common::{HOSTILE, LSPCI, REDIRECT, lspci, usual, with};
use linerate_report::json;
use linerate_snapshot::Snapshot;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// A tree with the parts that text of `lspci` does not have.
fn tree() -> Snapshot {
    let mut s = Snapshot::new("tree");
    let dev = "sys/devices/pci0000:18/0000:18:00.0";
    let files: &[(&str, &str)] = &[
        ("proc/sys/kernel/osrelease", "6.12.9\n"),
        ("proc/cmdline", "quiet iommu=pt\n"),
        ("proc/self/limits", "Max locked memory         unlimited            65536                bytes\n"),
        ("sys/kernel/iommu_groups/7/type", "DMA-FQ\n"),
        ("sys/kernel/security/lockdown", "none [integrity] confidentiality\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
        ("sys/devices/system/node/node0/cpulist", "0-3\n"),
        ("sys/devices/system/node/node0/distance", "10\n"),
        ("sys/devices/pci0000:18/0000:18:00.0/vendor", "0x15b3\n"),
        ("sys/devices/pci0000:18/0000:18:00.0/device", "0x1021\n"),
        ("sys/devices/pci0000:18/0000:18:00.0/class", "0x020700\n"),
        ("sys/devices/pci0000:18/0000:18:00.0/infiniband/mlx5_0/fw_ver", "28.39.1002\n"),
        ("sys/devices/pci0000:18/0000:18:00.0/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n"),
        ("sys/devices/pci0000:18/0000:18:00.0/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n"),
        (
            "sys/devices/pci0000:18/0000:18:00.0/infiniband/mlx5_0/ports/1/gids/0",
            "fe80:0000:0000:0000:0000:0000:0000:0001\n",
        ),
        ("sys/devices/pci0000:18/0000:18:00.0/net/ib0/mtu", "2044\n"),
    ];
    for (path, text) in files {
        s.add_file(path, text.as_bytes()).unwrap();
    }
    s.add_link("sys/bus/pci/devices/0000:18:00.0", b"../../../devices/pci0000:18/0000:18:00.0").unwrap();
    s.add_link("sys/class/infiniband/mlx5_0", b"../../devices/pci0000:18/0000:18:00.0/infiniband/mlx5_0").unwrap();
    s.add_link("sys/class/net/ib0", b"../../devices/pci0000:18/0000:18:00.0/net/ib0").unwrap();
    s.add_link(&format!("{dev}/iommu_group"), b"../../../kernel/iommu_groups/7").unwrap();
    s
}

#[test]
fn documents_match_their_schema() {
    let mut rules = usual();
    rules.push(&HOSTILE);
    for s in [lspci(LSPCI), tree(), Snapshot::new("empty"), lspci("\u{0}\u{1b}garbage")] {
        let text = with(&s, &rules, json::to_string);
        let value = valid(&text);
        assert_eq!(value["schema"], json::SCHEMA);
        assert_eq!(text.lines().count(), 1);
    }
}

#[test]
fn the_tree_shows_what_it_holds() {
    let value = valid(&with(&tree(), &usual(), json::to_string));
    let node = &value["node"];
    assert_eq!(node["kernel"]["release"], "6.12.9");
    assert_eq!(node["kernel"]["cmdline"], serde_json::json!(["quiet", "iommu=pt"]));
    assert_eq!(node["memory"]["memlock"], serde_json::json!({"soft_bytes": null, "hard_bytes": 65536}));
    assert_eq!(node["iommu"]["groups"][0]["domain"], "DMA-FQ");
    assert_eq!(node["rdma"][0]["ports"][0]["rate_gbps"], 400.0);
    assert_eq!(node["net"][0]["mtu"], 2044);
    assert_eq!(node["pci"][0]["kind"], "rdma-nic");
    assert_eq!(node["pci"][0]["vendor"], "15b3");
    assert_eq!(node["firmware"]["lockdown"], "integrity");
}

/// `null` in a fact exactly where `unseen` says why.
#[test]
fn what_is_null_is_explained() {
    for s in [lspci(LSPCI), tree()] {
        let value = valid(&with(&s, &[&REDIRECT], json::to_string));
        let unseen: BTreeSet<&str> =
            value["node"]["unseen"].as_array().unwrap().iter().map(|u| u["what"].as_str().unwrap()).collect();
        for f in value["node"]["pci"].as_array().unwrap() {
            for field in ["driver", "iommu_group", "express", "acs", "ats", "numa_node", "vendor", "class"] {
                let what = format!("pci[{}].{field}", f["bdf"].as_str().unwrap());
                assert_eq!(f[field].is_null(), unseen.contains(what.as_str()), "{what}");
            }
        }
        for field in ["release", "cmdline"] {
            let what = format!("kernel.{field}");
            assert_eq!(value["node"]["kernel"][field].is_null(), unseen.contains(what.as_str()), "{what}");
        }
    }
}

#[test]
fn the_checker_finds_mistakes() {
    let (text, schema) = (with(&lspci(LSPCI), &usual(), json::to_string), schema());
    let good: Value = serde_json::from_str(&text).unwrap();
    for (pointer, wrong) in [
        ("/schema", "linerate.audit/2".into()),
        ("/summary/exit_code", 7.into()),
        ("/verdicts/0/status", "bad".into()),
        ("/verdicts/0/evidence/0/place", 5.into()),
        ("/node/pci/0/link", Value::Null),
        ("/node/pci/0/driver", true.into()),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = wrong;
        assert!(check(&bad, &schema, &schema, "$").is_err(), "{pointer}");
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let make = || with(&lspci(LSPCI), &usual(), json::to_string);
    assert_eq!(make(), make());
    let pretty = |r: &linerate_report::Report<'_>| common::bytes(|out| json::render_pretty(r, out));
    let pretty: Value = serde_json::from_str(&with(&lspci(LSPCI), &usual(), pretty)).unwrap();
    assert_eq!(pretty, serde_json::from_str::<Value>(&make()).unwrap());
}

#[test]
fn the_real_server() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/lspci/gpud-lspci-vvv.txt");
    let Ok(text) = std::fs::read(path) else {
        eprintln!("SKIPPED: ../shared/data is not here");
        return;
    };
    let s = lspci(&String::from_utf8_lossy(&text));
    let value = valid(&with(&s, linerate_rules::rules(), json::to_string));
    assert_eq!(value["node"]["pci"].as_array().unwrap().len(), 517);
    assert_eq!(value["node"]["gpus"].as_array().unwrap().len(), 8);
}

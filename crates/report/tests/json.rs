//! The JSON document: against its schema, on small nodes and on a real one where it is here.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::common;

use common::schema::Schema;
use common::{HOSTILE, LSPCI, REDIRECT, lspci, usual, with};
use linerate_report::json::{self, Version};
use linerate_rules::Rule;
use linerate_snapshot::Snapshot;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// The document in a version, which must match its schema.
fn valid(s: &Snapshot, rules: &[&'static Rule], version: Version) -> Value {
    let name = match version {
        Version::One => "audit-1",
        Version::Two => "audit-2",
    };
    let text = with(s, rules, |r| json::to_string(r, version));
    assert_eq!(text.lines().count(), 1);
    let value = Schema::of(name).valid(&text);
    assert_eq!(value["schema"], version.schema());
    value
}

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
        for version in [Version::One, Version::Two] {
            valid(&s, &rules, version);
        }
    }
}

#[test]
fn the_tree_shows_what_it_holds() {
    let value = valid(&tree(), &usual(), Version::One);
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

#[test]
fn each_fact_is_tagged() {
    let value = valid(&tree(), &usual(), Version::Two);
    let node = &value["node"];
    let unlimited = json!({"known": {"soft_bytes": {"known": "unlimited"}, "hard_bytes": {"known": 65536}}});
    assert_eq!(node["memory"]["memlock"], unlimited);
    assert_eq!(node["iommu"]["groups"]["known"][0]["id"], 7);
    assert_eq!(node["iommu"]["groups"]["known"][0]["domain"], json!({"known": "DMA-FQ"}));
    assert_eq!(node["rdma"]["known"][0]["ports"]["known"][0]["rate_gbps"], json!({"known": 400.0}));
    let function = &node["pci"]["known"][0];
    assert_eq!(function["bdf"], "0000:18:00.0");
    assert_eq!(function["vendor"], json!({"known": "15b3"}));
    assert_eq!(function["physfn"], json!({"absent": true}));
    assert!(
        function["express"]["unreadable"]["why"].is_string() && function["express"]["unreadable"]["place"].is_string()
    );
    assert_eq!(node.get("unseen"), None);
}

/// `null` in a fact exactly where `unseen` says why.
#[test]
fn what_is_null_is_explained() {
    for s in [lspci(LSPCI), tree()] {
        let value = valid(&s, &[&REDIRECT], Version::One);
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
fn mistakes_are_found() {
    let both = [
        ("/summary/exit_code", 7.into()),
        ("/verdicts/0/status", "bad".into()),
        ("/verdicts/0/evidence/0/place", 5.into()),
        ("/node/kernel", Value::Null),
    ];
    let one = [
        ("/schema", "linerate.audit/2".into()),
        ("/node/pci/0/link", Value::Null),
        ("/node/pci/0/driver", true.into()),
    ];
    let two = [
        ("/schema", "linerate.audit/1".into()),
        ("/node/pci", json!([])),
        ("/node/pci/known/0/bdf", json!({"known": "0000:15:01.0"})),
        ("/node/pci/known/0/kind", json!({"known": "gpux"})),
        ("/node/pci/known/0/kind", json!({"absent": false})),
        ("/node/pci/known/0/kind", json!({"known": "gpu", "absent": true})),
        ("/node/pci/known/0/kind", json!({})),
        ("/node/pci/known/0/link/width/known", "16".into()),
        ("/node/kernel/release/unreadable", json!({"why": "no place"})),
        ("/node/pci/known/0/express/known", json!({"port_type": {"known": "root-port"}})),
    ];
    for (version, name, own) in [(Version::One, "audit-1", &one[..]), (Version::Two, "audit-2", &two[..])] {
        let good = valid(&lspci(LSPCI), &usual(), version);
        Schema::of(name).rejects(&good, &[&both[..], own].concat());
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let make = || with(&lspci(LSPCI), &usual(), |r| json::to_string(r, Version::Two));
    assert_eq!(make(), make());
    let pretty = |r: &linerate_report::Report<'_>| common::bytes(|out| json::render_pretty(r, Version::Two, out));
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
    let value = valid(&s, linerate_rules::rules(), Version::Two);
    assert_eq!(value["node"]["pci"]["known"].as_array().unwrap().len(), 517);
    assert_eq!(value["node"]["gpus"]["known"].as_array().unwrap().len(), 8);
}

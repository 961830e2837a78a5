//! NVIDIA's `rdma_topo` (rdma-core, kernel-boot/rdma_topo) over composed trees: each port on which it says OK or FAIL gets the same answer here.
//!
//! The script is not part of this repository. `LINERATE_RDMA_TOPO` names it; without it the test says that it did nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

use crate::common;
use crate::rdma_topo;

use linerate_compose::Description;
use linerate_rules::Status;
use linerate_snapshot::rdma_dump;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Base, and patches of ACS control: each node is composed with each alone.
const TREES: &[(&str, &[(&str, u16)])] = &[
    (
        "gb300-tray",
        &[
            ("complex0.dma", 0x1d),
            ("complex0.gpu", 0x1d),
            ("complex1.root", 0x1d),
            ("gpu0.port", 0x15),
            ("gpu*.port", 0x15),
            ("complex*.gpu", 0),
            ("complex*.dma", 0x1c),
            ("rootport*", 0),
            ("nic2.port", 0),
            ("complex3.gpu", 0x55),
            ("complex3.root", 0x5c),
        ],
    ),
    ("gb200-tray", &[("rootport*", 0), ("gpu1.port", 0x1c), ("nic0.port", 0x5d), ("gpu3.port", 0x3d)]),
    (
        "hgx-b300",
        &[
            ("complex0.nic", 0x1d),
            ("complex0.gpu", 0x01),
            ("complex*.root", 0x1d),
            ("gpu*.port", 0x10),
            ("gpu4.port", 0x1d),
            ("complex7.nic", 0x40),
            ("nvme*", 0xffff),
        ],
    ),
];

/// Ports that rdma_topo names, and whether each is right.
fn asked(script: &str, tree: &Path) -> BTreeMap<String, bool> {
    let out = Command::new("python3")
        .args([script, "check"])
        .env("RDMA_TOPO_DEVDIR", tree.join("sys/bus/pci/devices/"))
        .output()
        .expect("python3 starts");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(text.contains("correct PCI topology"), "{text}{}", String::from_utf8_lossy(&out.stderr));
    let acs = text.lines().filter_map(|l| {
        let (word, rest) = l.split_once('\t')?;
        let bdf = rest.strip_prefix("ACS for ")?.split(' ').nth(1)?;
        Some((bdf.to_owned(), word == "OK"))
    });
    acs.collect()
}

/// The script's dump of a tree, as it is below `/`.
fn dump(script: &str, tree: &Path) -> String {
    let devices = tree.join("sys/bus/pci/devices/");
    let out = Command::new("python3").args([script, "dump"]).env("RDMA_TOPO_DEVDIR", devices).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let real = tree.canonicalize().unwrap();
    String::from_utf8(out.stdout).unwrap().replace(&format!("{}/", real.display()), "/")
}

#[test]
fn every_port_gets_the_answer_of_rdma_topo() {
    let Ok(script) = std::env::var("LINERATE_RDMA_TOPO") else {
        return eprintln!("SKIPPED: LINERATE_RDMA_TOPO does not name rdma-core's kernel-boot/rdma_topo");
    };
    let (mut agreed, mut wrong, mut trees) = ([0_usize; 2], Vec::new(), 0);
    let (mut devices, mut from_dump) = (0, 0);
    for (base, patches) in TREES {
        let healthy = std::fs::read_to_string(common::nodes().join(format!("healthy/{base}.toml"))).unwrap();
        let variants = std::iter::once(String::new()).chain(
            patches.iter().filter(|(_, v)| *v != 0xffff).map(|(port, v)| format!("\n[pci.{port:?}]\nacs_ctl = {v}\n")),
        );
        for patch in variants {
            let tree = Description::parse(&format!("{healthy}{patch}")).unwrap().compose().unwrap();
            let dir = std::env::temp_dir().join(format!("linerate-rdma-topo-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&dir);
            let mut pci = tree.clone();
            let wanted = ["sys/devices/pci", "sys/bus/pci/devices", "sys/kernel/iommu_groups"];
            pci.entries.retain(|p, _| wanted.iter().any(|w| p.starts_with(w)));
            pci.write_to(&dir).unwrap();
            let truth = asked(&script, &dir);
            let dumped = dump(&script, &dir);
            std::fs::remove_dir_all(&dir).unwrap();
            assert!(!truth.is_empty());
            let snapshot = common::snapshot(&tree, base);
            let ours = rdma_topo::comparable(&rdma_dump::print(&snapshot).unwrap());
            assert_eq!(ours, rdma_topo::comparable(&dumped), "{base}{patch}");
            devices += ours.len();
            let audit = common::judge(&snapshot);
            // Of the script's own dump alone, as `linerate audit` reads it: the same ports fail.
            let read = common::judge(&linerate_snapshot::load_bytes(dumped.as_bytes(), "dump.json").unwrap());
            trees += 1;
            for (bdf, right) in truth {
                let said: Vec<_> = audit
                    .verdicts
                    .iter()
                    .filter(|v| matches!(v.rule.id, "acs/direct-nic" | "acs/redirect-on-p2p-path"))
                    .filter(|v| v.finding.subject.to_string() == bdf)
                    .collect();
                let fails = said.iter().any(|v| v.finding.status == Status::Fail);
                let fails_in_dump = read.verdicts.iter().any(|v| {
                    matches!(v.rule.id, "acs/direct-nic" | "acs/redirect-on-p2p-path")
                        && v.finding.subject.to_string() == bdf
                        && (v.finding.status == Status::Fail
                            || v.finding.message.to_string().contains("there it would fail"))
                });
                from_dump += usize::from(fails_in_dump == fails);
                if fails_in_dump != fails {
                    wrong.push(format!("{base}{patch} {bdf}: the dump alone gives another answer"));
                }
                if fails == right {
                    let here: Vec<String> =
                        said.iter().map(|v| format!("{:?} {}", v.finding.status, v.finding.message)).collect();
                    wrong.push(format!(
                        "{base}{patch} {bdf}: rdma_topo {}, here {here:?}",
                        if right { "OK" } else { "FAIL" }
                    ));
                } else {
                    agreed[usize::from(right)] += 1;
                }
            }
        }
    }
    println!("rdma_topo: {trees} trees, {} FAIL and {} OK agree, {} do not", agreed[0], agreed[1], wrong.len());
    println!(
        "rdma_topo dump: {trees} dumps with {devices} functions equal; {from_dump} answers from the dump alone are the same"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

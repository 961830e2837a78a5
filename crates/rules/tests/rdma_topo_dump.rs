//! `rdma_topo dump` written and read: a golden of our own; `rdma_topo_oracle.rs` compares with the script.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use crate::common;
use crate::rdma_topo;

use linerate_rules::Status;
use linerate_snapshot::{Coverage, rdma_dump};

/// `LINERATE_BLESS=1` writes it anew.
#[test]
fn the_dump_of_a_tray_is_the_golden() {
    let snapshot = common::base("healthy/gb300-tray");
    let lines = rdma_topo::lines(&rdma_dump::print(&snapshot).unwrap());
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/rdma-topo-gb300.txt");
    if std::env::var_os("LINERATE_BLESS").is_some() {
        std::fs::create_dir_all(golden.parent().unwrap()).unwrap();
        std::fs::write(&golden, &lines).unwrap();
    }
    assert_eq!(lines, std::fs::read_to_string(&golden).unwrap());
}

/// A dump alone: what it does not say passes nothing and fails nothing, and what it says is judged as on the node.
#[test]
fn a_dump_alone_is_judged_as_far_as_it_says() {
    for (node, patch, fails) in [
        ("gb300-tray", "", 0),
        ("gb300-tray", "\n[pci.\"complex0.dma\"]\nacs_ctl = 29\n", 1),
        ("gb200-tray", "", 0),
        ("hgx-b300", "", 0),
        ("hgx-b300", "\n[pci.\"complex0.nic\"]\nacs_ctl = 29\n", 1),
    ] {
        let text = std::fs::read_to_string(common::nodes().join(format!("healthy/{node}.toml"))).unwrap();
        let tree = linerate_compose::Description::parse(&format!("{text}{patch}")).unwrap().compose().unwrap();
        let whole = common::snapshot(&tree, node);
        let dump = rdma_dump::print(&whole).unwrap();
        let read = linerate_snapshot::load_bytes(dump.as_bytes(), "dump.json").unwrap();
        assert!(read.problems.is_empty() && read.coverage == Coverage::Partial, "{:?}", read.problems);
        assert_eq!(rdma_topo::lines(&rdma_dump::print(&read).unwrap()), rdma_topo::lines(&dump));
        let (all, part) = (linerate_node::Node::decode(&whole), linerate_node::Node::decode(&read));
        for (_, f) in part.pci.iter() {
            let on_node =
                all.pci.iter().find(|(_, g)| g.bdf == f.bdf).map(|(_, g)| (g.kind, g.acs.known(), g.ats.known()));
            assert_eq!(Some((f.kind, f.acs.known(), f.ats.known())), on_node, "{node} {}", f.bdf);
        }
        // The role of the node is not in a dump: what holds on bare metal and hosts only is said with that condition.
        let is_bad = |v: &&linerate_rules::Verdict| {
            v.finding.status == Status::Fail || v.finding.message.to_string().contains("there it would fail")
        };
        let bad: Vec<_> = common::judge(&read)
            .verdicts
            .iter()
            .filter(is_bad)
            .map(|v| format!("{} {}", v.rule.id, v.finding.subject))
            .collect();
        assert_eq!(bad.len(), fails, "{node}{patch}: {bad:?}");
    }
}

//! Layouts merged into domains that somebody wrote: what they wrote stays byte for byte, merging again changes nothing, and NCCL concludes what it concludes on the host.
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, clippy::print_stderr, clippy::indexing_slicing)]

use crate::common;

use common::domains::{Picks, domain};
use common::merging::Host;
use common::{hosts, lab, load, wishes};
use linerate_formats::libvirt;
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_vm::Refusal;
use linerate_vm::layout::Wishes;
use linerate_vm::merge::Refused;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn any_domain_and_any_host() {
    let cases = std::env::var("LINERATE_DOMAINS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let (merged, cells, refused) = (RefCell::new(0usize), RefCell::new(0usize), RefCell::new(BTreeMap::new()));
    for (number, path) in (0..).zip(hosts()) {
        let (_, s) = load(&path);
        let node = Node::decode(&s);
        if node.context.role.value == Some(Role::VmGuest) {
            continue;
        }
        let Some(host) = Host::of(&node, "all") else { continue };
        let own = host.roots.iter().find_map(|r| r.node).unwrap_or(0);
        let config = Config { cases, failure_persistence: None, ..Config::default() };
        let mut runner = match std::env::var_os("LINERATE_DOMAINS") {
            Some(_) => TestRunner::new(config),
            None => TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[number; 32])),
        };
        let picks = (prop::collection::vec(any::<u16>(), 61), any::<bool>(), any::<bool>());
        let result = runner.run(&picks, |(picks, replace, is_asked)| {
            let text = domain(&mut Picks(&picks, 0), &host.address(), own);
            let asked = match is_asked {
                true => wishes(),
                // What is said in neither place is what the host has free.
                false => Wishes { vcpus: None, memory_mib: Some(32 << 10), ..wishes() },
            };
            match host.hold(&asked, replace, &text) {
                Ok((_, seen)) => {
                    *merged.borrow_mut() += 1;
                    *cells.borrow_mut() += seen;
                }
                Err(e) => {
                    let given = matches!(&e, Refused::Given(_) | Refused::NoCell { .. }) && !replace;
                    // Fewer CPUs than nodes, or more than a node has.
                    let known = given || matches!(&e, Refused::Layout(Refusal::Cell { .. }));
                    prop_assert!(known, "{e}\n{text}");
                    *refused.borrow_mut().entry(e.to_string().split(':').next().unwrap().to_owned()).or_insert(0) += 1;
                }
            }
            Ok(())
        });
        result.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    let (merged, refused) = (merged.borrow(), refused.borrow());
    eprintln!("{merged} domains, {} conclusions equal; refused: {refused:#?}", cells.borrow());
    assert!(*merged > 250, "{merged} merged, {refused:?}");
}

#[test]
fn libvirts_own_domains() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/libvirt");
    if !dir.is_dir() {
        eprintln!("NOT TESTED: {} does not exist", dir.display());
        return;
    }
    let (_, s) = load(&lab().join("nodes/healthy-8gpu.toml"));
    let node = Node::decode(&s);
    let host = Host::of(&node, "all").unwrap();
    let (mut merged, mut refused) = (0, BTreeMap::<String, usize>::new());
    for sub in ["qemuxml2argvdata", "qemuxml2xmloutdata"] {
        let mut files: Vec<_> = std::fs::read_dir(dir.join(sub)).unwrap().flatten().map(|e| e.path()).collect();
        files.sort();
        for path in files.iter().filter(|p| p.extension().is_some_and(|e| e == "xml")) {
            let text = std::fs::read_to_string(path).unwrap();
            let is_q35 = libvirt::parse(text.as_bytes())
                .is_ok_and(|d| d.is_pcie() && d.refusals().is_empty() && d.arch == "x86_64");
            if !is_q35 {
                continue;
            }
            for replace in [false, true] {
                match host.hold(&wishes(), replace, &text) {
                    Ok(_) => merged += 1,
                    Err(e) => {
                        eprintln!("{}: {e}", path.display());
                        assert!(!matches!(e, Refused::Mistake(_)), "{}: {e}", path.display());
                        *refused.entry(e.to_string()).or_default() += 1;
                    }
                }
            }
        }
    }
    eprintln!("{merged} merged; refused: {refused:#?}");
    assert!(merged > 40, "{merged} merged; {refused:#?}");
}

//! Functions of a guest are those of its host: by what both show, each is right or refused, never wrong.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, clippy::indexing_slicing)]

use crate::common;

use common::fake::{self, ALL, NOTHING, Shows};
use common::{from, hosts, lab, make, snapshot};
use linerate_compose::{Description, Tree};
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_vm::guest::{Guest, What};
use linerate_vm::pairs::{By, Unpaired, by_domain, by_marks};
use linerate_vm::running;
use linerate_vm::same::in_guest;

/// Hosts of the lab, with their trees.
fn trees() -> Vec<(String, Tree)> {
    let of = |path: &std::path::PathBuf| {
        let tree = Description::load(path).unwrap().compose().unwrap();
        (path.file_stem().unwrap().to_string_lossy().into_owned(), tree)
    };
    hosts().iter().map(of).collect()
}

/// Hands devices out in another order, as a domain of somebody else may.
fn shuffled(guest: &Guest, by: usize) -> Guest {
    let mut out = guest.clone();
    let places: Vec<usize> =
        (0..out.functions.len()).filter(|i| matches!(out.functions[*i].what, What::Host(_))).collect();
    for (n, at) in places.iter().enumerate() {
        out.functions[*at].what = guest.functions[places[(n * 7 + by) % places.len()]].what;
    }
    let mut seen = std::collections::BTreeSet::new();
    let is_permutation = places.iter().all(|p| seen.insert(format!("{:?}", out.functions[*p].what)));
    if is_permutation { out } else { guest.clone() }
}

/// Pairs as they are: host and guest.
fn truth(guest: &Guest) -> Vec<(Bdf, Bdf)> {
    let mut out: Vec<(Bdf, Bdf)> = guest
        .functions
        .iter()
        .filter_map(|f| match f.what {
            What::Host(Some(host)) => Some((host, f.bdf)),
            _ => None,
        })
        .collect();
    out.sort();
    out
}

#[test]
fn each_pair_is_right_or_refused() {
    let (mut paired, mut functions, mut ambiguous, mut foreign, mut equal) = (0, 0, 0, 0, 0);
    for (name, tree) in trees() {
        let s = snapshot(&tree);
        let node = Node::decode(&s);
        if node.context.role.value == Some(Role::VmGuest) {
            continue;
        }
        let Some(from) = from(&node) else { continue };
        let Ok(made) = make(&node, &from, "all") else { continue };
        for by in [0, 3] {
            let guest = if by == 0 { made.guest.clone() } else { shuffled(&made.guest, by) };
            let truth = truth(&guest);
            for smi in [true, false] {
                for rdma in [true, false] {
                    for config in [true, false] {
                        let fake = snapshot(&fake::guest(&tree, &guest, Shows { smi, rdma, config }));
                        let fake = Node::decode(&fake);
                        match by_marks(&node, &fake, true) {
                            Ok(pairs) => {
                                paired += 1;
                                functions += pairs.len();
                                for p in &pairs {
                                    assert!(truth.contains(&(p.host, p.guest)), "{name} {by}: {p:?}");
                                }
                                if by == 0 && smi && rdma && config {
                                    let all = made.layout.devices.iter().map(|d| d.host).collect();
                                    let seen = in_guest(&from, &all, &running(&fake, &pairs)).1.unwrap();
                                    assert_eq!(seen.with_file.differing, [], "{name}");
                                    equal += seen.with_file.cells;
                                }
                            }
                            Err(Unpaired::Ambiguous { candidates, .. }) => {
                                ambiguous += 1;
                                assert!(!candidates.is_empty());
                            }
                            Err(e) => panic!("{name} {by} {smi} {rdma} {config}: {e}"),
                        }
                        // With the domain nothing needs to be shown but addresses.
                        let pairs = by_domain(&node, &fake, &guest, true).unwrap_or_else(|e| panic!("{name}: {e}"));
                        assert_eq!(pairs.iter().map(|p| (p.host, p.guest)).collect::<Vec<_>>(), truth, "{name}");
                        // A domain that hands devices out otherwise is seen through where host and guest show what they are; a host whose GPUs are on vfio-pci does not.
                        let other = shuffled(&guest, 2);
                        if other != guest && smi && rdma && !node.nvidia.gpus.is_empty() {
                            match by_domain(&node, &fake, &other, true) {
                                Err(_) => foreign += 1,
                                Ok(wrong) => {
                                    for p in wrong.iter().filter(|p| !truth.contains(&(p.host, p.guest))) {
                                        let f = node.pci.get(node.pci.find(p.host).unwrap());
                                        assert!(!f.is_endpoint_of_path(), "{name} {by}: {p:?}");
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    eprintln!(
        "{paired} guests paired ({functions} functions), {ambiguous} refused; {foreign} wrong domains seen through; {equal} conclusions equal"
    );
    assert!(paired > 100 && ambiguous > 100 && foreign > 50 && equal > 4_000, "{paired} {ambiguous} {foreign} {equal}");
}

#[test]
fn a_guest_of_another_host_is_refused() {
    let path = lab().join("nodes/healthy-8gpu.toml");
    let tree = Description::load(&path).unwrap().compose().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let seed = text.lines().find(|l| l.starts_with("seed")).map(str::to_owned);
    let other = match &seed {
        Some(line) => text.replace(line, "seed = 987"),
        None => text.replace("[node]\n", "[node]\nseed = 987\n"),
    };
    let other = Description::parse(&other).unwrap().compose().unwrap();
    let (here, there) = (snapshot(&tree), snapshot(&other));
    let (here, there) = (Node::decode(&here), Node::decode(&there));
    let made = make(&there, &from(&there).unwrap(), "all").unwrap();
    let fake = snapshot(&fake::guest(&other, &made.guest, ALL));
    let fake = Node::decode(&fake);
    let found = by_marks(&here, &fake, true);
    assert!(matches!(found, Err(Unpaired::Foreign { by: By::Uuid, .. })), "{found:?}");
    assert!(matches!(by_domain(&here, &fake, &made.guest, true), Err(Unpaired::Foreign { .. })));
    // Hashes of different keys say nothing.
    assert!(matches!(by_marks(&here, &fake, false), Err(Unpaired::Ambiguous { .. })));
    let blind = snapshot(&fake::guest(&other, &made.guest, NOTHING));
    assert!(matches!(by_marks(&here, &Node::decode(&blind), true), Err(Unpaired::Ambiguous { .. })));
}

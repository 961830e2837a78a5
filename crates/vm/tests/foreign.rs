//! Topology files from elsewhere: a dump of the host in the guest's numbers is the file made of the host's snapshot; a file with ids that the guest does not have is refused.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, clippy::indexing_slicing)]

use crate::common;

use common::{from, lab, load, make};
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_topology::xml::Dialect;
use linerate_topology::{Analysis, Config, Document};
use linerate_vm::foreign::{self, Foreign};
use linerate_vm::nccl;
use linerate_vm::same::{compare, same};
use std::collections::BTreeSet;

#[test]
fn a_dump_in_the_guests_numbers_is_the_file_of_the_snapshot() {
    let (mut hosts, mut cells) = (0, 0);
    for dir in ["nodes", "nodes/healthy"] {
        let mut files: Vec<_> = std::fs::read_dir(lab().join(dir)).unwrap().flatten().map(|e| e.path()).collect();
        files.sort();
        for path in files.iter().filter(|p| p.extension().is_some_and(|e| e == "toml")) {
            let (_, s) = load(path);
            let node = Node::decode(&s);
            if node.context.role.value == Some(Role::VmGuest) {
                continue;
            }
            let Some(from) = from(&node) else { continue };
            // All devices, and a part of them: of the rest the dump's ids are dropped.
            for words in ["all", "gpu:0+nics"] {
                let Ok(made) = make(&node, &from, words) else { continue };
                let mut config = Config::default();
                from.configure(&mut config);
                let dump = from.dumped(&config).unwrap().0.to_xml(Dialect::Nccl);
                let dump = Document::parse(dump, Dialect::Nccl).unwrap();
                let found = foreign::dump(&dump, Some(&node), &made.guest).unwrap();
                // What NCCL lists nowhere (no active port) is in no dump.
                let ids: Vec<&str> = from.document.system.all().filter_map(|e| e.get("busid")).collect();
                assert!(found.missing.iter().all(|m| !ids.contains(&m.to_string().as_str())), "{path:?} {words}");
                let chosen: BTreeSet<Bdf> = made.layout.devices.iter().map(|d| d.host).collect();
                assert!(found.dropped.iter().all(|d| !chosen.contains(d)), "{path:?} {words}");
                assert_eq!(foreign::dump(&dump, None, &made.guest).unwrap().dropped, found.dropped);
                let of_node = nccl::keep(&from.document, &chosen);
                let of_dump = nccl::keep(&dump, &chosen);
                let (a, b) = (nccl::file(&of_node, &made.guest), nccl::file(&of_dump, &made.guest));
                let judge = |file| Analysis::new(&nccl::seen(&of_node, &made.guest, Some(file)), &config).unwrap();
                let found = same(&judge(&a), &judge(&b));
                assert_eq!(found.differing, [], "{path:?} {words}");
                // And by its own account, with nothing but the dump.
                let alone = compare(&of_dump, &Config::default(), &made.guest, &b).unwrap();
                assert_eq!(alone.with_file.differing, [], "{path:?} {words}");
                // What is made passes the check of what people write.
                let checked = foreign::check(&a, &of_node, &made.guest).unwrap();
                assert_eq!(checked.missing, [], "{path:?} {words}");
                (hosts, cells) = (hosts + 1, cells + found.cells);
            }
        }
    }
    eprintln!("{hosts} dumps translated, {cells} conclusions equal");
    assert!(hosts > 40 && cells > 4_000, "{hosts} {cells}");
}

#[test]
fn ids_of_nowhere_are_refused() {
    let (_, s) = load(&lab().join("nodes/healthy-8gpu.toml"));
    let node = Node::decode(&s);
    let from = from(&node).unwrap();
    let made = make(&node, &from, "gpu:0-3+nics").unwrap();
    let config = Config::default();
    let dump = from.dumped(&config).unwrap().0;
    let chosen: BTreeSet<Bdf> = made.layout.devices.iter().map(|d| d.host).collect();
    let kept = nccl::keep(&from.document, &chosen);
    // The usual mistake: the host's dump, given to the guest as it is.
    let Err(Foreign::NotInGuest { absent, has }) = foreign::check(&dump, &kept, &made.guest) else { panic!() };
    assert!(absent.len() >= 8 && has.len() == 8 && made.layout.devices.len() >= 8, "{absent:?} {has:?}");
    let mut other = dump.clone();
    fn rename(e: &mut linerate_topology::xml::Element, from: &str, to: &str) {
        if e.get("busid") == Some(from) {
            e.set("busid", to);
        }
        e.children.iter_mut().for_each(|c| rename(c, from, to));
    }
    let first = made.layout.devices[0].host.to_string();
    rename(&mut other.system, &first, "0000:0f:1f.7");
    let refused = foreign::dump(&other, Some(&node), &made.guest).unwrap_err();
    assert_eq!(refused, Foreign::NotOnHost(vec!["0000:0f:1f.7".parse().unwrap()]));
    rename(&mut other.system, "0000:0f:1f.7", "what");
    assert!(matches!(foreign::dump(&other, Some(&node), &made.guest), Err(Foreign::NoAddress { .. })));
    let second = made.layout.devices[1].host.to_string();
    rename(&mut other.system, "what", &second);
    assert!(matches!(foreign::dump(&other, Some(&node), &made.guest), Err(Foreign::Twice { .. })));
    let empty = linerate_vm::guest::Guest::default();
    assert!(matches!(foreign::dump(&dump, Some(&node), &empty), Err(Foreign::NoneOfIt(_))));
    // All below one bridge that nobody has: it is taken, and NCCL concludes otherwise than on the host.
    let mut flat = nccl::file(&kept, &made.guest);
    let mut devices = Vec::new();
    fn take(e: &mut linerate_topology::xml::Element, out: &mut Vec<linerate_topology::xml::Element>) {
        for c in std::mem::take(&mut e.children) {
            match c.children.is_empty() {
                true => out.push(c),
                false => {
                    let mut c = c;
                    take(&mut c, out);
                }
            }
        }
    }
    let mut cpu = flat.system.children.remove(0);
    flat.system.children.iter_mut().for_each(|c| take(c, &mut devices));
    take(&mut cpu, &mut devices);
    let bridge = linerate_topology::xml::Element::new("pci")
        .with("busid", "ffff:ff:01.0")
        .with("class", "0x060400")
        .with("link_speed", "32.0 GT/s PCIe")
        .with("link_width", "16");
    cpu.children = vec![linerate_topology::xml::Element { children: devices, ..bridge }];
    flat.system.children = vec![cpu];
    let checked = foreign::check(&flat, &kept, &made.guest).unwrap();
    assert_eq!(checked.invented, ["ffff:ff:01.0".parse().unwrap()]);
    let compared = compare(&kept, &config, &made.guest, &flat).unwrap();
    assert!(!compared.with_file.differing.is_empty());
    // NVLinks that a file says go before those of NVML.
    let mut linked = nccl::file(&kept, &made.guest);
    fn gpu(e: &mut linerate_topology::xml::Element) {
        if e.get("class").is_some_and(|c| c.starts_with("0x03")) {
            let link = linerate_topology::xml::Element::new("nvlink")
                .with("target", "fffffff:ffff:ff")
                .with("count", "1")
                .with("tclass", "0x068000");
            e.children.push(linerate_topology::xml::Element::new("gpu").holding(link));
        }
        e.children.iter_mut().for_each(gpu);
    }
    gpu(&mut linked.system);
    let compared = compare(&kept, &config, &made.guest, &linked).unwrap();
    assert!(compared.with_file.differing.iter().any(|d| d.what == "rings"), "{:?}", compared.with_file.differing);
}

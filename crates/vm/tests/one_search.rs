//! Where a search of the host is said to be a search of the guest, it is: they find the same, step by step.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use crate::common;

use common::{from, hosts, load, make};
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_topology::{Analysis, Config, Search};
use linerate_vm::nccl;
use std::collections::BTreeSet;

#[test]
fn what_is_alike_finds_the_same() {
    let (mut alike, mut other, mut narrowed) = (0, 0, 0);
    for path in hosts() {
        let (_, s) = load(&path);
        let node = Node::decode(&s);
        let Some(from) = from(&node) else { continue };
        for words in ["all", "gpu:0+nics"] {
            let Ok(made) = make(&node, &from, words) else { continue };
            let mut config = Config::default();
            from.configure(&mut config);
            let chosen: BTreeSet<Bdf> = made.layout.devices.iter().map(|d| d.host).collect();
            let kept = nccl::keep(&from.document, &chosen);
            let file = nccl::file(&kept, &made.guest);
            let Ok(host) = Analysis::new(&kept, &config) else { continue };
            let of_host = Search::new(&host, 2);
            for file in [Some(&file), None] {
                let guest = Analysis::new(&nccl::seen(&kept, &made.guest, file), &config).unwrap();
                if Search::is_of_both(&host, &guest) {
                    let of_guest = Search::new(&guest, 2);
                    assert_eq!(of_host, of_guest, "{} {words}", path.display());
                    alike += 1;
                } else {
                    other += 1;
                }
            }
            // One link of another width is another search.
            let mut text = kept.to_xml(linerate_topology::xml::Dialect::Nccl);
            if let Some(at) = text.find("link_width=\"16\"") {
                text.replace_range(at..at + "link_width=\"16\"".len(), "link_width=\"8\"");
                let parsed = linerate_topology::Document::parse(text, linerate_topology::xml::Dialect::Nccl).unwrap();
                let changed = Analysis::new(&parsed, &config).unwrap();
                narrowed += usize::from(!Search::is_of_both(&host, &changed));
            }
        }
    }
    eprintln!("{alike} alike, {other} not; {narrowed} told from those with a narrower link");
    assert!(alike > 20 && other > 0 && narrowed > 20, "{alike} {other} {narrowed}");
}

//! Composed hosts, and a layout of each.
#![allow(dead_code, unreachable_pub)] // each test file uses a part
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // a test may stop

pub mod domains;
pub mod merging;
pub mod random;

pub mod fake;

use linerate_compose::{Description, Entry, Tree};
use linerate_formats::libvirt;
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_snapshot::{Coverage, Manifest, Snapshot, Why, load_bytes};
use linerate_topology::from_node::{FromNode, from_node};
use linerate_vm::host::Root;
use linerate_vm::layout::Wishes;
use linerate_vm::same::{Same, in_guest};
use linerate_vm::{Layout, Refusal, choose, guest, host, layout, write};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub fn lab() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab")
}

/// Descriptions of the lab's machines, in the order of their paths.
pub fn hosts() -> Vec<PathBuf> {
    let list = |dir: &str| std::fs::read_dir(lab().join(dir)).unwrap().flatten().map(|e| e.path()).collect::<Vec<_>>();
    let mut all: Vec<PathBuf> = ["nodes", "nodes/healthy"].into_iter().flat_map(list).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    all.sort();
    all
}

/// What a capture makes of a tree: outputs of commands are found by the reader of archives.
pub fn snapshot(tree: &Tree) -> Snapshot {
    let mut s = Snapshot::new("host");
    s.coverage = Coverage::Full { not_tried: Vec::new() };
    for (path, entry) in &tree.entries {
        match entry {
            Entry::File(data) => s.add_file(path, data),
            Entry::Link(target) => s.add_link(path, target.as_bytes()),
            Entry::Dir => s.add_dir(path),
            Entry::Denied => s.add_failed(path, Why::Denied),
        };
    }
    if let Some(bytes) = tree.get("linerate/manifest.json") {
        s.manifest = serde_json::from_slice::<Manifest>(bytes).unwrap();
    }
    let mut bytes = Vec::new();
    s.write_tar_zst(&mut bytes).unwrap();
    load_bytes(&bytes, "host").unwrap()
}

pub fn load(path: &Path) -> (Description, Snapshot) {
    let d = Description::load(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let tree = d.compose().unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    (d, snapshot(&tree))
}

pub fn wishes() -> Wishes {
    Wishes {
        name: "guest".to_owned(),
        memory_mib: Some(64 << 10),
        vcpus: Some(8),
        page_kib: Some(1 << 20),
        has_cliques: false,
        has_iommu: false,
        taken: Default::default(),
    }
}

/// All that is made of a host and a choice.
pub struct Made {
    pub roots: Vec<Root>,
    pub layout: Layout,
    pub xml: String,
    pub domain: libvirt::Domain,
    pub guest: guest::Guest,
    pub with_file: Same,
    pub without: Same,
}

/// # Panics
/// Where what is made does not hold together.
pub fn make(node: &Node<'_>, from: &FromNode, words: &str) -> Result<Made, Refusal> {
    let chosen = choose(node, words)?;
    let roots = host::roots(node, &chosen.functions)?;
    let layout = layout(node, &roots, &wishes())?;
    let xml = write::domain(&layout).unwrap();
    let domain = libvirt::parse(xml.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{xml}"));
    assert_eq!(domain.refusals(), [], "{xml}");
    let guest = guest(&domain);
    assert_eq!((&guest.unplaced, &guest.without_number), (&Vec::new(), &Vec::new()), "{xml}");
    for d in &layout.devices {
        let at = guest.of_host(d.host).unwrap_or_else(|| panic!("{} is not in the domain", d.host));
        assert_eq!(guest.functions[at].bdf, d.guest, "{}", d.host);
    }
    let all: BTreeSet<Bdf> = layout.devices.iter().map(|d| d.host).collect();
    let (with_file, without) = match in_guest(from, &all, &guest).1 {
        // NICs alone: NCCL builds nothing there.
        Err(linerate_topology::Error::NoGpu) => (Same::default(), Same::default()),
        Err(e) => panic!("{e}"),
        Ok(c) => (c.with_file, c.without),
    };
    Ok(Made { roots, layout, xml, domain, guest, with_file, without })
}

pub fn from(node: &Node<'_>) -> Option<FromNode> {
    from_node(node).ok()
}

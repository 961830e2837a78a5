//! hwloc's own `lstopo` as the oracle: every machine tree that hwloc ships is read from its tarball, and the PCI tree and NUMA nodes
//! agree with what `lstopo` makes of the same files. Read in place where `../shared/data` is; says so where it is not.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, clippy::print_stdout)] // a test may stop

use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_node::pci::Parent;
use linerate_snapshot::Reader;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Function → bridge above it, `None` for those at the root complex.
type Tree = BTreeMap<Bdf, Option<Bdf>>;

#[test]
fn pci_trees_and_numa_nodes_agree_with_lstopo() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/hwloc");
    if !folder.is_dir() {
        eprintln!("SKIPPED: hwloc tarballs, because ../shared/data is not here");
        return;
    }
    let tool = ["lstopo-no-graphics", "lstopo"].into_iter().find(|t| Command::new(t).arg("--version").output().is_ok());
    let Some(lstopo) = tool else {
        eprintln!("SKIPPED: comparison with lstopo, because hwloc is not installed");
        return;
    };
    let tarballs: Vec<PathBuf> = ["linux", "x86linux"]
        .iter()
        .flat_map(|d| std::fs::read_dir(folder.join(d)).unwrap().flatten().map(|e| e.path()))
        .filter(|p| p.to_string_lossy().ends_with(".tar.bz2"))
        .collect();
    assert!(tarballs.len() >= 20, "{} tarballs", tarballs.len());
    let (mut functions, mut with_pci) = (0, 0);
    for path in tarballs {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let snapshot = Reader::new().read(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        let node = Node::decode(&snapshot);
        let xml = oracle(lstopo, &path, &name);
        let doc = roxmltree::Document::parse_with_options(
            &xml,
            roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() },
        )
        .unwrap_or_else(|e| panic!("{name}: lstopo's XML: {e}"));
        let (theirs, ours) = (their_tree(&doc), our_tree(&node));
        assert_eq!(ours, theirs, "{name}: PCI tree");
        functions += ours.len();
        with_pci += usize::from(!ours.is_empty());
        if let Some(nodes) = node.numa.known() {
            let ours: BTreeSet<u32> = nodes.iter().map(|n| n.id).collect();
            let theirs = their_numa(&doc);
            // hwloc drops nodes that the cgroup of the recording forbids, and invents one where there is not a directory.
            assert!(theirs.is_subset(&ours) || theirs.len() <= 1, "{name}: NUMA nodes {ours:?}, lstopo {theirs:?}");
        }
    }
    assert!(with_pci >= 4 && functions > 150, "{with_pci} trees with {functions} functions");
}

fn our_tree(node: &Node<'_>) -> Tree {
    let above = |p: &Parent| match p {
        Parent::Bridge(b) => Some(node.pci.get(*b).bdf),
        _ => None,
    };
    // hwloc leaves out a bridge that nobody configured (secondary bus 0), and, as Debian builds it, domains of more than 16 bits.
    let configured = node.pci.functions.iter().filter(|f| !matches!(f.buses, Some((0, _))) && f.bdf.domain <= 0xffff);
    configured.map(|f| (f.bdf, above(&f.parent))).collect()
}

/// What lstopo says of the unpacked tree.
fn oracle(lstopo: &str, tarball: &Path, name: &str) -> String {
    // Tens of thousands of small files: in memory where that is possible.
    let shm = Path::new("/dev/shm");
    let base = if shm.is_dir() { shm.to_owned() } else { std::env::temp_dir() };
    let dir = base.join(format!("linerate-hwloc-{}", std::process::id())).join(name);
    std::fs::create_dir_all(&dir).unwrap();
    let unpacked = Command::new("tar").arg("xjf").arg(tarball).arg("-C").arg(&dir).status().unwrap();
    assert!(unpacked.success(), "{name}: tar");
    let below =
        |d: &Path| std::fs::read_dir(d).unwrap().flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect::<Vec<_>>();
    let inside = below(&dir).into_iter().flat_map(|d| below(&d).into_iter().chain([d]));
    let root = inside.filter(|d| d.join("sys").is_dir()).min().unwrap_or_else(|| panic!("{name}: no sys/"));
    let out = Command::new(lstopo)
        .args(["--whole-io", "--of", "xml", "-"])
        .env("HWLOC_FSROOT", &root)
        .env("HWLOC_COMPONENTS", "linux,stop")
        .env("HWLOC_THISSYSTEM", "0")
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(dir.parent().unwrap_or(&dir));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn their_tree(doc: &roxmltree::Document<'_>) -> Tree {
    let bdf = |n: &roxmltree::Node<'_, '_>| n.attribute("pci_busid")?.parse::<Bdf>().ok();
    let is_bridge = |n: &roxmltree::Node<'_, '_>| n.attribute("type") == Some("Bridge");
    doc.descendants()
        .filter(|n| is_bridge(n) || n.attribute("type") == Some("PCIDev"))
        // A host bridge ("0-1") has no address of its own.
        .filter_map(|n| Some((bdf(&n)?, n.ancestors().skip(1).filter(is_bridge).find_map(|b| bdf(&b)))))
        .collect()
}

fn their_numa(doc: &roxmltree::Document<'_>) -> BTreeSet<u32> {
    doc.descendants()
        .filter(|n| n.attribute("type") == Some("NUMANode"))
        .filter_map(|n| n.attribute("os_index")?.parse().ok())
        .collect()
}

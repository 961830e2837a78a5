//! `lstopo` as text: which PCI devices are near which NUMA node (hwloc, utils/lstopo/lstopo-text.c).
//!
//! Memory of an object comes before what is in it, and devices come last: the nodes of an object are known where its devices begin.

use crate::bounds::TEXT_ITEMS;
use crate::pci::Bdf;
use crate::text::{decode, lines};
use crate::tool::{Command, Gives, Mark, Tool, seen};

/// `lstopo`.
pub const TOOL: Tool = Tool {
    name: "lstopo",
    called: "lstopo",
    run: "lstopo --of console",
    gives: Gives::Facts,
    // People paste it beside what matters more.
    marks: &[Mark::aside(is_own).begins(&["Package ", "NUMANode ", "HostBridge ", "Socket "])],
    commands: &[Command::any("lstopo"), Command::any("lstopo-no-graphics"), Command::any("hwloc-ls")],
    files: &["lstopo", "hwloc-ls"],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "Machine (252GB total)\n  Package L#0\n    NUMANode L#0 (P#0 126GB)\n    HostBridge\n      PCIBridge\n        PCI 41:00.0 (3D)\n          GPU \"nvml0\"\n",
    ],
    ..Tool::NONE
};

/// A PCI device of a topology.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Address; lstopo leaves out domain 0.
    pub bdf: Bdf,
    /// The only NUMA node that is near it; `None` where there are several, or where the text does not show one.
    pub node: Option<u32>,
    /// 1-based line.
    pub line: u32,
}

/// `Package L#0`, `NUMANode L#0 (P#0 126GB)`, `HostBridge L#0`, `PCI 41:00.0 (3D)`.
fn is_own(line: &str) -> bool {
    let numbered = |l: &str| {
        let rest = l.strip_prefix("L#").unwrap_or_default();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && rest.get(digits..).is_some_and(|r| r.is_empty() || r.starts_with([' ', '(']))
    };
    let line = line.trim();
    ["Package ", "NUMANode ", "HostBridge ", "Socket "].iter().any(|w| line.strip_prefix(w).is_some_and(numbered))
}

/// An object that is open.
struct Object<'a> {
    indent: usize,
    what: &'a str,
    /// NUMA nodes in it, as far as the text goes; `None`: more than one.
    nodes: Nodes,
    /// A processor or a socket is in it.
    has_cpus: bool,
}

/// NUMA nodes of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nodes {
    None,
    One(u32),
    Several,
}

impl Nodes {
    fn and(self, id: u32) -> Nodes {
        match self {
            Nodes::None => Nodes::One(id),
            Nodes::One(one) if one == id => self,
            Nodes::One(_) | Nodes::Several => Nodes::Several,
        }
    }
}

/// The PCI devices of a text. Where the text does not begin with its machine, or is of two machines, none is near a node.
pub fn parse(bytes: &[u8]) -> Vec<Device> {
    let text = decode(bytes);
    let mut out: Vec<Device> = Vec::new();
    let mut open: Vec<Object<'_>> = Vec::new();
    let mut machines = 0;
    for (line, raw) in lines(&text) {
        let head = raw.trim();
        let Some(what) = head.split([' ', '(', '[']).next().filter(|w| w.bytes().all(|b| b.is_ascii_alphanumeric()))
        else {
            continue;
        };
        let indent = raw.len() - raw.trim_start().len();
        while open.last().is_some_and(|o| o.indent >= indent) {
            open.pop();
        }
        match what {
            "Machine" => machines += 1,
            "NUMANode" => {
                if let Some(id) = physical(head) {
                    open.iter_mut().for_each(|o| o.nodes = o.nodes.and(id));
                    open.push(Object { indent, what, nodes: Nodes::One(id), has_cpus: false });
                    continue;
                }
            }
            "Package" | "Socket" | "Core" | "PU" => open.iter_mut().for_each(|o| o.has_cpus = true),
            "PCI" => {
                if let Some(bdf) = address(head).filter(|_| out.len() < TEXT_ITEMS) {
                    out.push(Device { bdf, node: near(&open), line });
                }
            }
            _ => {}
        }
        // Deeper than any machine: not a topology.
        if open.len() < 64 {
            open.push(Object { indent, what, nodes: Nodes::None, has_cpus: false });
        }
    }
    if machines != 1 {
        out.iter_mut().for_each(|d| d.node = None);
    }
    out
}

/// The node of the nearest object that has one and is none of devices.
fn near(open: &[Object<'_>]) -> Option<u32> {
    let machine = open.first().is_some_and(|o| o.what == "Machine");
    let bridged = open.iter().any(|o| o.what == "HostBridge");
    let mut outside = open.iter().rev().filter(|o| !matches!(o.what, "HostBridge" | "PCIBridge" | "PCI"));
    let holder = outside.find(|o| o.nodes != Nodes::None).filter(|_| machine && bridged)?;
    // A node that holds a bridge and no processor is the line above one that is missing.
    let misplaced = holder.what == "NUMANode" && !holder.has_cpus;
    match holder.nodes {
        Nodes::One(id) if !misplaced => Some(id),
        _ => None,
    }
}

/// `P#1` of `NUMANode L#1 (P#1 126GB)`; without it the topology has one numbering.
fn physical(head: &str) -> Option<u32> {
    let (_, rest) = head.split_once("P#")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest.get(..digits)?.parse().ok()
}

/// `PCI 41:00.0 (3D)`, `PCI L#0 (busid=0004:05:00.0 id=…)`.
fn address(head: &str) -> Option<Bdf> {
    let word = match head.split_once("busid=") {
        Some((_, rest)) => rest.split([' ', ')']).next()?,
        None => head.strip_prefix("PCI ")?.split_whitespace().next()?,
    };
    word.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(text: &str) -> Vec<(String, Option<u32>, u32)> {
        parse(text.as_bytes()).into_iter().map(|d| (d.bdf.to_string(), d.node, d.line)).collect()
    }

    const TWO: &str = "Machine (504GB total)\n  Package L#0\n    NUMANode L#0 (P#0 252GB)\n    L3 L#0 (32MB) + Core L#0 + PU L#0 (P#0)\n    HostBridge\n      PCIBridge\n        PCI 41:00.0 (3D)\n          GPU \"nvml0\"\n\
        \x20 Package L#1\n    NUMANode L#1 (P#1 252GB)\n    HostBridge\n      PCI 81:00.0 (InfiniBand)\n        OpenFabrics \"mlx5_0\"\n";

    #[test]
    fn devices_are_near_the_node_of_their_package() {
        let got = nodes(TWO);
        assert_eq!(
            got.iter().map(|(b, n, l)| (b.as_str(), *n, *l)).collect::<Vec<_>>(),
            [("0000:41:00.0", Some(0), 7), ("0000:81:00.0", Some(1), 12)]
        );
        let old = "Machine (64GB)\n  NUMANode L#0 (P#0 32GB)\n    Socket L#0\n      Core L#0\n    HostBridge L#0\n      PCI 02:00.0\n";
        assert_eq!(nodes(old)[0].1, Some(0), "release 1 has all of a node in it");
        let verbose = "Machine (P#0 total=1GiB)\n  NUMANode L#0 (P#8 local=1GiB)\n  HostBridge L#0 (buses=0004:[05-05])\n    PCI L#0 (busid=0004:05:00.0 id=0000:0000)\n";
        assert_eq!(nodes(verbose), [("0004:05:00.0".to_owned(), Some(8), 4)]);
    }

    #[test]
    fn what_is_near_several_or_a_part_is_near_none() {
        let four = "Machine\n  Package L#0\n    Group0 L#0\n      NUMANode L#0 (P#0 1GB)\n    Group0 L#1\n      NUMANode L#1 (P#1 1GB)\n    HostBridge\n      PCI 41:00.0 (3D)\n";
        assert_eq!(nodes(four)[0].1, None);
        let picked: String =
            TWO.lines().filter(|l| l.contains("NUMA") || l.contains("PCI")).flat_map(|l| [l, "\n"]).collect();
        assert!(nodes(&picked).iter().all(|(_, n, _)| n.is_none()), "without the lines between, nothing is certain");
        assert!(nodes(&format!("{TWO}{TWO}")).iter().all(|(_, n, _)| n.is_none()), "two machines");
        let without_packages: String = TWO.lines().filter(|l| !l.contains("Package")).flat_map(|l| [l, "\n"]).collect();
        assert!(nodes(&without_packages).iter().all(|(_, n, _)| n.is_none_or(|n| n == 0)));
    }

    #[test]
    fn prose_is_none() {
        for line in ["Package manager", "NUMANode is near", "Machine (a large one)", "Package L#x"] {
            assert!(!is_own(line), "{line}");
        }
    }
}

//! A topology that hwloc wrote (`lstopo FILE.xml`): which PCI devices are near which NUMA node (hwloc, topology-xml.c).

use crate::bounds::TEXT_ITEMS;
use crate::error::{ParseError, Why};
use crate::lstopo::Device;
use crate::text::{LineIndex, decode};
use crate::tool::{Gives, Mark, Tool, seen};
use crate::xml;
use roxmltree::Node;

/// `lstopo FILE.xml`.
pub const TOOL: Tool = Tool {
    name: "hwloc-xml",
    called: "topology of hwloc",
    run: "lstopo FILE.xml",
    gives: Gives::Facts,
    marks: &[Mark::root(|root, rest| root == "topology" && rest.contains("<object type=\"Machine\""))],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n<object type=\"Machine\" nodeset=\"0x00000001\">\n<object type=\"Bridge\">\n<object type=\"PCIDev\" pci_busid=\"0000:41:00.0\"/>\n</object>\n</object>\n</topology>\n",
    ],
    ..Tool::NONE
};

/// The PCI devices of a topology, each with the only NUMA node that is near it.
///
/// # Errors
/// The document is no XML, or none of hwloc: one that is cut shows nothing.
pub fn parse(bytes: &[u8]) -> Result<Vec<Device>, ParseError> {
    let text = decode(bytes);
    let index = LineIndex::new(&text);
    let start = text.find('<').unwrap_or_default();
    let document = xml::document(text.get(start..).unwrap_or_default(), start, &index, true, "broken XML of hwloc")?;
    let root = document.root_element();
    if root.tag_name().name() != "topology" {
        return Err(ParseError::new(0, Why::Foreign("the root is not a <topology> of hwloc")));
    }
    let devices = root.descendants().filter(|n| n.attribute("type") == Some("PCIDev"));
    let device = |n: Node<'_, '_>| {
        let bdf = n.attribute("pci_busid")?.parse().ok()?;
        Some(Device { bdf, node: near(n), line: index.line(start + n.range().start) })
    };
    Ok(devices.filter_map(device).take(TEXT_ITEMS).collect())
}

/// Devices have no set of nodes of their own: that of what holds them counts.
fn near(device: Node<'_, '_>) -> Option<u32> {
    only(device.ancestors().find_map(|n| n.attribute("nodeset"))?)
}

/// The number of the only bit of a set: `0x00000002`, `0x1,0x0` (words of 32 bits, the highest first).
fn only(set: &str) -> Option<u32> {
    let mut found = None;
    for (word, place) in set.rsplit(',').zip(0..) {
        let digits = word.trim().strip_prefix("0x").unwrap_or(word.trim());
        let bits = if digits.is_empty() { 0 } else { u32::from_str_radix(digits, 16).ok()? };
        if bits == 0 {
            continue;
        }
        if bits.count_ones() > 1 || found.is_some() {
            return None;
        }
        found = bits.trailing_zeros().checked_add(32_u32.checked_mul(place)?);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_nodes() {
        for (set, node) in [
            ("0x00000001", Some(0)),
            ("0x00000080", Some(7)),
            ("0x00000003", None),
            ("0x1,0x0", Some(32)),
            ("0x1,0x00000001", None),
            ("0x00000001,,0x0", Some(64)),
            ("0xf...f", None),
            ("", None),
        ] {
            assert_eq!(only(set), node, "{set}");
        }
    }

    #[test]
    fn a_device_is_near_the_node_of_what_holds_it() {
        let text = "# lstopo --of xml\n<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n\
            <object type=\"Machine\" nodeset=\"0x00000003\">\n<object type=\"Package\" nodeset=\"0x00000002\">\n<object type=\"Bridge\">\n\
            <object type=\"PCIDev\" pci_busid=\"0000:41:00.0\"/>\n</object></object>\n<object type=\"Bridge\">\n<object type=\"PCIDev\" pci_busid=\"0001:02:00.0\"/></object>\n</object></topology>\n";
        let got = parse(text.as_bytes()).unwrap();
        let got: Vec<_> = got.iter().map(|d| (d.bdf.to_string(), d.node, d.line)).collect();
        assert_eq!(got, [("0000:41:00.0".to_owned(), Some(1), 8), ("0001:02:00.0".to_owned(), None, 11)]);
        assert!(parse(text.get(..200).unwrap_or_default().as_bytes()).is_err(), "cut");
    }
}

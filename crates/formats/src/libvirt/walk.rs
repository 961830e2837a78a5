//! Values of elements, as libvirt reads them.

use super::model::Span;
use super::pci::Address;
use crate::cpulist::{self, CpuList};
use crate::size;
use crate::text::LineIndex;
use roxmltree::Node;

/// Ranges of a set.
const MOST: usize = 4096;

/// A document, with the lines of its text.
pub(super) struct Text<'a> {
    /// Offset of the document in the text.
    pub(super) start: usize,
    /// Lines of the text.
    pub(super) index: &'a LineIndex,
}

impl Text<'_> {
    pub(super) fn line(&self, node: Node<'_, '_>) -> u32 {
        self.index.line(self.start + node.range().start)
    }

    pub(super) fn span(&self, node: Node<'_, '_>) -> Span {
        let range = node.range();
        Span { from: self.start + range.start, to: self.start + range.end, line: self.line(node) }
    }

    /// The `<address type='pci'>` of a device, if it has its numbers.
    pub(super) fn address(&self, device: Node<'_, '_>) -> Option<Address> {
        let address = children(device, "address").find(|a| a.attribute("type") == Some("pci"))?;
        self.numbers(address)
    }

    /// The numbers of an address. Without any, libvirt chooses one.
    pub(super) fn numbers(&self, address: Node<'_, '_>) -> Option<Address> {
        const NAMES: [&str; 4] = ["domain", "bus", "slot", "function"];
        if !NAMES.iter().any(|n| address.has_attribute(*n)) {
            return None;
        }
        // What is no number is out of any range, and refused as such.
        let [domain, bus, slot, function] =
            NAMES.map(|n| address.attribute(n).map_or(0, |text| number(text).unwrap_or(u32::MAX)));
        let multifunction = address.attribute("multifunction") == Some("on");
        Some(Address { domain, bus, slot, function, multifunction, line: self.line(address) })
    }
}

/// Length of the start tag that a text begins with. A value may have a `>`.
pub(super) fn start_tag(text: &str) -> usize {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at + 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(q), b) if q == b => quote = None,
            _ => {}
        }
    }
    text.len()
}

/// Elements of a name in another one.
pub(super) fn children<'a, 'i>(node: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |n| n.is_element() && n.tag_name().name() == name)
}

/// The first of them.
pub(super) fn child<'a, 'i>(node: Node<'a, 'i>, name: &'static str) -> Option<Node<'a, 'i>> {
    children(node, name).next()
}

/// The element at the end of a way.
pub(super) fn at<'a, 'i>(node: Node<'a, 'i>, way: &[&'static str]) -> Option<Node<'a, 'i>> {
    way.iter().try_fold(node, |n, name| child(n, name))
}

/// The text of an element.
pub(super) fn text<'a>(node: Node<'a, '_>) -> &'a str {
    node.text().unwrap_or_default().trim()
}

/// A number: decimal, `0x` hexadecimal, `0` octal.
pub(super) fn number(text: &str) -> Option<u32> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u32::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

/// A number in an attribute.
pub(super) fn number_of(node: Node<'_, '_>, name: &str) -> Option<u32> {
    node.attribute(name).and_then(number)
}

/// KiB: a number and its unit, KiB where none is said.
pub(super) fn kib(value: &str, unit: Option<&str>) -> Option<u64> {
    let unit = match unit {
        None => 1024,
        Some("bytes") => 1,
        Some(unit) => size::unit(unit)?,
    };
    Some(value.trim().parse::<u64>().ok()?.checked_mul(unit)? / 1024)
}

/// A set of numbers, with those that are taken out: `1-5,^3`. `None`: not readable, or more ranges than any machine has.
pub(super) fn set(text: &str) -> Option<CpuList> {
    let words = || text.split(',').map(str::trim);
    let plain: Vec<&str> = words().filter(|w| !w.starts_with('^')).collect();
    let mut out = cpulist::parse(&plain.join(","))?;
    if words().nth(MOST).is_some() {
        return None;
    }
    for gone in words().filter_map(|w| w.strip_prefix('^')) {
        let gone: u32 = gone.parse().ok()?;
        out.ranges = out.ranges.into_iter().flat_map(|r| without(r, gone)).collect();
    }
    Some(out)
}

fn without(range: std::ops::RangeInclusive<u32>, gone: u32) -> Vec<std::ops::RangeInclusive<u32>> {
    let (first, last) = range.clone().into_inner();
    if !range.contains(&gone) {
        return vec![range];
    }
    let before = gone.checked_sub(1).filter(|b| *b >= first).map(|b| first..=b);
    let after = gone.checked_add(1).filter(|a| *a <= last).map(|a| a..=last);
    before.into_iter().chain(after).collect()
}

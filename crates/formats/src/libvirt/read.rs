//! From the XML to a [`Domain`].

use super::model::{Cell, Domain, Firmware, HugePages, MemoryNode, Override, Pin, Property};
use super::pci::{Controller, Device, Hostdev, Model};
use super::walk::{Text, at, child, children, kib, number, number_of, set, start_tag, text};
use super::{Illegal, Refusal};
use crate::bounds::XML_BYTES;
use crate::error::{ParseError, Why};
use crate::pci::Bdf;
use crate::text::{At, LineIndex, decode};
use crate::xml;
use roxmltree::Node;
use std::collections::BTreeSet;

/// Reads the first domain of a text; prompts around it are ignored. Places are those of the text without byte-order mark and colours.
///
/// # Errors
/// No domain, broken XML, more than [`XML_BYTES`], a DTD.
pub fn parse(bytes: &[u8]) -> Result<Domain, ParseError> {
    if bytes.len() > XML_BYTES {
        return Err(ParseError::new(0, Why::TooLarge { mib: XML_BYTES >> 20 }));
    }
    let whole = decode(bytes);
    let (start, end) = range(&whole).ok_or_else(|| ParseError::new(0, Why::Foreign("no <domain> of libvirt")))?;
    let index = LineIndex::new(&whole);
    let part = whole.get(start..end).unwrap_or_default();
    let document = xml::document(part, start, &index, false, "broken XML of a domain")?;
    let cx = Text { start, index: &index };
    let root = document.root_element();
    let node = if root.tag_name().name() == "domstatus" { child(root, "domain") } else { Some(root) };
    let Some(node) = node.filter(|n| n.tag_name().name() == "domain" && n.has_attribute("type")) else {
        return Err(ParseError::new(cx.line(root), Why::Foreign("the root is not a <domain> of libvirt")));
    };
    Ok(domain(&cx, node, part))
}

/// Where the document begins and ends.
fn range(text: &str) -> Option<(usize, usize)> {
    // A domain has a type: `<domain>0</domain>` is a part of an address in other XML of libvirt.
    let root =
        ["<domain ", "<domain\n", "<domain\r", "<domain\t", "<domstatus"].iter().filter_map(|t| text.find(t)).min()?;
    let before = text.get(..root)?;
    // A declaration and comments before it are part of the document; prompts are not.
    let start = ["<?xml", "<!--", "<!DOCTYPE"].iter().filter_map(|t| before.find(t)).min().unwrap_or(root);
    let end = ["</domain>", "</domstatus>"].iter().filter_map(|t| text.rfind(t).map(|at| at + t.len())).max();
    Some((start, end.filter(|e| *e > root).unwrap_or(text.len())))
}

fn domain(cx: &Text<'_>, node: Node<'_, '_>, part: &str) -> Domain {
    let tag = part.get(node.range().start..).map_or(0, |t| start_tag(t).saturating_sub(1));
    let numbered = |way: &[&'static str]| at(node, way).and_then(|n| Some(At::new(number(text(n))?, cx.line(n))));
    let sized = |way: &[&'static str]| {
        at(node, way).and_then(|n| Some(At::new(kib(text(n), n.attribute("unit"))?, cx.line(n))))
    };
    let os = child(node, "os");
    let kind = os.and_then(|os| child(os, "type"));
    let mut out = Domain {
        name: child(node, "name").map_or("", text).to_owned(),
        kind: node.attribute("type").unwrap_or_default().to_owned(),
        is_running: node.has_attribute("id"),
        span: cx.span(node),
        tag_end: cx.start + node.range().start + tag,
        machine: kind.and_then(|k| Some(At::new(k.attribute("machine")?.to_owned(), cx.line(k)))),
        arch: kind.and_then(|k| k.attribute("arch")).unwrap_or("x86_64").to_owned(),
        firmware: os.map(firmware),
        has_acpi: at(node, &["features", "acpi"]).is_some(),
        hides_kvm: at(node, &["features", "kvm", "hidden"]).is_some_and(|h| h.attribute("state") == Some("on")),
        memory_kib: sized(&["memory"]),
        vcpus: numbered(&["vcpu"]),
        hard_limit_kib: sized(&["memtune", "hard_limit"]),
        is_locked: at(node, &["memoryBacking", "locked"]).map(|n| cx.line(n)),
        cpu_mode: child(node, "cpu").and_then(|c| Some(At::new(c.attribute("mode")?.to_owned(), cx.line(c)))),
        address_bits: at(node, &["cpu", "maxphysaddr"]).and_then(|n| Some(At::new(number_of(n, "bits")?, cx.line(n)))),
        ..Domain::default()
    };
    processors(cx, node, &mut out);
    memory(cx, node, &mut out);
    if let Some(all) = child(node, "devices") {
        out.devices_span = cx.span(all);
        all.children().filter(Node::is_element).for_each(|n| device(cx, n, &mut out));
        number_controllers(&mut out.controllers);
        let together = Domain::together(all, &out.arch, |n| cx.line(n));
        out.illegal.extend(together);
    }
    for line in node.descendants().filter(|n| n.is_element()) {
        match line.tag_name().name() {
            "arg" if is_of_qemu(line) => {
                out.arguments.extend(line.attribute("value").map(|v| At::new(v.to_owned(), cx.line(line))))
            }
            "device" if is_of_qemu(line) => out.overrides.push(properties(cx, line)),
            _ => {}
        }
    }
    out
}

/// Whether an element is of the namespace of QEMU's own settings.
fn is_of_qemu(node: Node<'_, '_>) -> bool {
    node.tag_name().namespace().is_some_and(|n| n.starts_with("http://libvirt.org/schemas/domain/qemu/"))
}

fn firmware(os: Node<'_, '_>) -> Firmware {
    let is_flash = children(os, "loader").any(|l| l.attribute("type") == Some("pflash"));
    match os.attribute("firmware") {
        Some("efi") => Firmware::Uefi,
        None if is_flash => Firmware::Uefi,
        None if child(os, "kernel").is_some() => Firmware::Kernel,
        _ => Firmware::Bios,
    }
}

fn processors(cx: &Text<'_>, node: Node<'_, '_>, out: &mut Domain) {
    let cells = at(node, &["cpu", "numa"]).into_iter().flat_map(|n| children(n, "cell"));
    out.cells = cells
        .enumerate()
        .map(|(place, n)| Cell {
            id: number_of(n, "id").unwrap_or(u32::try_from(place).unwrap_or(u32::MAX)),
            cpus: n.attribute("cpus").and_then(set),
            memory_kib: n.attribute("memory").and_then(|m| kib(m, n.attribute("unit"))),
            distances: child(n, "distances")
                .into_iter()
                .flat_map(|d| children(d, "sibling"))
                .filter_map(|s| Some((number_of(s, "id")?, number_of(s, "value")?)))
                .collect(),
            span: cx.span(n),
        })
        .collect();
    let Some(tune) = child(node, "cputune") else { return };
    for pin in children(tune, "vcpupin").chain(children(tune, "emulatorpin")) {
        let vcpu = number_of(pin, "vcpu");
        out.pins.push(Pin { vcpu, cpus: pin.attribute("cpuset").and_then(set), line: cx.line(pin) });
    }
}

fn memory(cx: &Text<'_>, node: Node<'_, '_>, out: &mut Domain) {
    if let Some(tune) = child(node, "numatune") {
        for n in children(tune, "memory").chain(children(tune, "memnode")) {
            out.memory_nodes.push(MemoryNode {
                cell: number_of(n, "cellid"),
                mode: n.attribute("mode").unwrap_or("strict").to_owned(),
                nodes: n.attribute("nodeset").and_then(set),
                line: cx.line(n),
            });
        }
    }
    let Some(pages) = at(node, &["memoryBacking", "hugepages"]) else { return };
    out.huge_pages = children(pages, "page")
        .map(|p| HugePages {
            size_kib: p.attribute("size").and_then(|s| kib(s, p.attribute("unit"))),
            cells: p.attribute("nodeset").and_then(set),
            line: cx.line(p),
        })
        .collect();
    if out.huge_pages.is_empty() {
        out.huge_pages.push(HugePages { size_kib: None, cells: None, line: cx.line(pages) });
    }
}

fn device(cx: &Text<'_>, node: Node<'_, '_>, out: &mut Domain) {
    let name = node.tag_name().name();
    let alias = child(node, "alias").and_then(|a| a.attribute("name")).map(str::to_owned);
    let is = |kind: &str| node.attribute("type") == Some(kind);
    match name {
        "controller" if is("pci") => out.controllers.push(controller(cx, node, alias)),
        "hostdev" if is("pci") => out.hostdevs.push(hostdev(cx, node, "hostdev", alias)),
        "interface" if is("hostdev") => out.hostdevs.push(hostdev(cx, node, "interface", alias)),
        "emulator" => {}
        _ => {
            if name == "iommu" {
                out.iommu = node.attribute("model").map(|m| At::new(m.to_owned(), cx.line(node)));
                out.has_eim = child(node, "driver").is_some_and(|d| d.attribute("eim") == Some("on"));
            }
            if let Some(refusal) = Refusal::of_device(node) {
                out.illegal.push(Illegal { refusal, line: cx.line(node) });
            }
            out.devices.push(Device { element: name.to_owned(), address: cx.address(node), span: cx.span(node) });
        }
    }
}

/// Of a controller that says none.
const NO_INDEX: u32 = u32::MAX;

/// Controllers without an index get the lowest free ones, in the order of the text, as libvirt gives them.
fn number_controllers(all: &mut [Controller]) {
    let taken: BTreeSet<u32> = all.iter().map(|c| c.index).collect();
    let mut free = (0..NO_INDEX).filter(|n| !taken.contains(n));
    for c in all.iter_mut().filter(|c| c.index == NO_INDEX) {
        c.index = free.next().unwrap_or(NO_INDEX);
    }
}

fn controller(cx: &Text<'_>, node: Node<'_, '_>, alias: Option<String>) -> Controller {
    let target = child(node, "target");
    let of_target = |name: &str| target.and_then(|t| number_of(t, name));
    Controller {
        index: number_of(node, "index").unwrap_or(NO_INDEX),
        model: node.attribute("model").and_then(Model::from_name),
        chassis: of_target("chassis"),
        port: of_target("port"),
        bus_number: of_target("busNr"),
        node: target.and_then(|t| child(t, "node")).and_then(|n| number(text(n))),
        hotplug: target.and_then(|t| t.attribute("hotplug")).map(|h| h == "on"),
        hole64_kib: child(node, "pcihole64").and_then(|h| kib(text(h), h.attribute("unit"))),
        address: cx.address(node),
        alias,
        span: cx.span(node),
    }
}

fn hostdev(cx: &Text<'_>, node: Node<'_, '_>, element: &'static str, alias: Option<String>) -> Hostdev {
    let source = at(node, &["source", "address"]).and_then(|a| cx.numbers(a));
    let bdf = source.and_then(|a| {
        let device = u8::try_from(a.slot).ok().filter(|d| *d <= 31)?;
        let function = u8::try_from(a.function).ok().filter(|f| *f <= 7)?;
        Some(Bdf { domain: a.domain, bus: u8::try_from(a.bus).ok()?, device, function })
    });
    let is_managed = node.attribute("managed") == Some("yes");
    Hostdev { source: bdf, element, is_managed, address: cx.address(node), alias, span: cx.span(node) }
}

fn properties(cx: &Text<'_>, node: Node<'_, '_>) -> Override {
    let all = children(node, "frontend").flat_map(|f| children(f, "property"));
    let property = |p: Node<'_, '_>| {
        let (name, value) = (p.attribute("name")?, p.attribute("value").unwrap_or_default());
        Some(Property { name: name.to_owned(), value: value.to_owned(), line: cx.line(p) })
    };
    Override {
        alias: node.attribute("alias").unwrap_or_default().to_owned(),
        properties: all.filter_map(property).collect(),
        span: cx.span(node),
    }
}

//! NCCL's topology of a guest: what it sees there by itself, and the file that puts it right.
//!
//! NCCL climbs two steps of sysfs at a time, so of a switch the upstream port is an element, and root ports are none (`ncclTopoGetXmlFromSys`). Where a topology file has
//! a device's bus id, the file's way up holds. In the guest an emulated port says 2.5 GT/s and one lane, which NCCL takes for the truth.

use crate::guest::{Guest, What};
use linerate_formats::libvirt::Model;
use linerate_formats::pci::Bdf;
use linerate_topology::Document;
use linerate_topology::xml::Element;
use std::collections::{BTreeMap, BTreeSet};

/// Restricts a host's document to chosen functions. Ranks and device numbers are those of a process that sees no others.
#[must_use]
pub fn keep(document: &Document, chosen: &BTreeSet<Bdf>) -> Document {
    let mut system = prune(&document.system, chosen).unwrap_or_else(|| Element::new("system").with("version", "1"));
    let (mut gpus, mut nets) = (0, 0);
    let gone: BTreeSet<String> = document
        .system
        .all()
        .filter(|e| e.name == "pci" && e.named("gpu").next().is_some())
        .filter_map(|e| e.get("busid"))
        .filter(|id| id.parse().map_or(true, |b| !chosen.contains(&b)))
        .map(str::to_owned)
        .collect();
    number(&mut system, &gone, &mut gpus, &mut nets);
    Document { system }
}

/// An element with chosen devices below; `None`: it has none.
fn prune(e: &Element, chosen: &BTreeSet<Bdf>) -> Option<Element> {
    if is_device(e) {
        let bdf: Bdf = e.get("busid")?.parse().ok()?;
        // A NIC's functions are in the element of its first one.
        let is_chosen = chosen.iter().any(|c| (c.domain, c.bus, c.device) == (bdf.domain, bdf.bus, bdf.device));
        return is_chosen.then(|| e.clone());
    }
    let children: Vec<Element> = e.children.iter().filter_map(|c| prune(c, chosen)).collect();
    (!children.is_empty()).then(|| Element { children, ..e.clone() })
}

/// A PCI element with a GPU or NIC in it.
pub(crate) fn is_device(e: &Element) -> bool {
    e.name == "pci" && e.children.iter().any(|c| matches!(c.name.as_ref(), "gpu" | "nic"))
}

fn number(e: &mut Element, gone: &BTreeSet<String>, gpus: &mut u32, nets: &mut u32) {
    match e.name.as_ref() {
        "gpu" => {
            e.set("dev", gpus.to_string());
            e.set("rank", gpus.to_string());
            *gpus += 1;
        }
        "net" => {
            e.set("dev", nets.to_string());
            *nets += 1;
        }
        _ => {}
    }
    e.children.retain(|c| c.name != "nvlink" || c.get("target").is_none_or(|t| !gone.contains(t)));
    e.children.iter_mut().for_each(|c| number(c, gone, gpus, nets));
}

/// The document that NCCL has in the guest: `file` is the topology file that it begins with.
///
/// `host` is of the chosen devices ([`keep`]). Elements of a device are the host's; those above it are the file's where it has the device, else what the guest shows.
#[must_use]
pub fn seen(host: &Document, guest: &Guest, file: Option<&Document>) -> Document {
    let mut system = Element::new("system").with("version", "1");
    let map = addresses(guest);
    for (device, cpu) in devices(&host.system) {
        let Some((index, bdf)) = device.get("busid").and_then(|id| id.parse().ok()).and_then(|b| map.get(&b)).copied()
        else {
            continue;
        };
        let mut own = device.clone();
        own.set("busid", bdf.to_string());
        translate(&mut own, &map);
        let in_file = file.and_then(|f| way_in(&f.system, &bdf.to_string()));
        let way = match in_file {
            Some((way, said)) => {
                overlay(&mut own, said);
                way
            }
            None => {
                virtual_link(&mut own, guest, index);
                climbed(guest, index, cpu)
            }
        };
        insert(&mut system, way, own);
    }
    Document { system }
}

/// The file for the guest (`NCCL_TOPO_FILE`): CPUs and ports with the host's links, in the guest's numbers. GPUs and NICs are in it as functions only: NCCL finds what they
/// are by itself, and asks NVML for NVLinks.
#[must_use]
pub fn file(host: &Document, guest: &Guest) -> Document {
    let map = addresses(guest);
    let mut system = Element::new("system").with("version", "1");
    let mut invented = 0;
    for cpu in &host.system.children {
        let mut out = Element { children: Vec::new(), ..cpu.clone() };
        out.attributes.retain(|(k, _)| k != "affinity" && k != "host_hash");
        let cell = devices(cpu).find_map(|(d, _)| {
            let (index, _) = map.get(&d.get("busid")?.parse().ok()?)?;
            guest.functions.get(*index)?.cell
        });
        if let Some(cell) = cell {
            out.set("numaid", cell.to_string());
        }
        out.children = cpu.children.iter().filter_map(|c| ports(c, guest, &map, &mut invented).map(|x| x.0)).collect();
        if !out.children.is_empty() {
            system.children.push(out);
        }
    }
    Document { system }
}

/// An element of the file, and a guest function below it with the steps up from there.
fn ports(e: &Element, guest: &Guest, map: &Map, invented: &mut u32) -> Option<(Element, usize, usize)> {
    if e.name != "pci" {
        return None;
    }
    if is_device(e) {
        let (index, bdf) = map.get(&e.get("busid")?.parse().ok()?).copied()?;
        let mut out = Element { children: Vec::new(), ..e.clone() };
        out.set("busid", bdf.to_string());
        return Some((out, index, 0));
    }
    let below: Vec<_> = e.children.iter().filter_map(|c| ports(c, guest, map, invented)).collect();
    let (_, device, steps) = below.first()?;
    let (device, steps) = (*device, *steps);
    // The guest's port in the same place above the device; an id that the guest does not have where there is none.
    let port = guest.above(device).nth(2 * steps + 1).and_then(|at| guest.functions.get(at));
    let port = port.filter(|p| p.what == What::Bridge(Model::UpstreamPort));
    let busid = port.map_or_else(
        || {
            *invented += 1;
            format!("ffff:{:02x}:00.0", *invented)
        },
        |p| p.bdf.to_string(),
    );
    let mut out = Element { children: below.into_iter().map(|b| b.0).collect(), ..e.clone() };
    out.set("busid", busid);
    Some((out, device, steps + 1))
}

/// Host's function to its place in the guest, and its address there.
pub(crate) type Map = BTreeMap<Bdf, (usize, Bdf)>;

pub(crate) fn addresses(guest: &Guest) -> Map {
    let of = |(i, f): (usize, &crate::guest::Function)| match f.what {
        What::Host(Some(host)) => Some((host, (i, f.bdf))),
        _ => None,
    };
    guest.functions.iter().enumerate().filter_map(of).collect()
}

/// Devices below an element, each with its CPU.
pub(crate) fn devices(e: &Element) -> impl Iterator<Item = (&Element, Option<&Element>)> {
    let mut left: Vec<(&Element, Option<&Element>)> = vec![(e, None)];
    std::iter::from_fn(move || {
        while let Some((at, cpu)) = left.pop() {
            if is_device(at) {
                return Some((at, cpu));
            }
            let cpu = if at.name == "cpu" { Some(at) } else { cpu };
            left.extend(at.children.iter().rev().map(|c| (c, cpu)));
        }
        None
    })
}

/// Targets of NVLinks in the guest's numbers.
fn translate(e: &mut Element, map: &Map) {
    let target = e.get("target").and_then(|t| t.parse::<Bdf>().ok()).and_then(|t| map.get(&t));
    if let Some((_, bdf)) = target {
        e.set("target", bdf.to_string());
    }
    e.children.iter_mut().for_each(|c| translate(c, map));
}

/// Elements above a device of the file, the CPU first, and the device's own.
fn way_in<'a>(system: &'a Element, busid: &str) -> Option<(Vec<Element>, &'a Element)> {
    fn walk<'a>(e: &'a Element, busid: &str, way: &mut Vec<Element>) -> Option<&'a Element> {
        if e.name == "pci" && e.get("busid") == Some(busid) {
            return Some(e);
        }
        way.push(Element { children: Vec::new(), ..e.clone() });
        let found = e.children.iter().find_map(|c| walk(c, busid, way));
        if found.is_none() {
            way.pop();
        }
        found
    }
    let mut way = Vec::new();
    let found = walk(system, busid, &mut way)?;
    Some((way.split_off(1), found))
}

/// What a file says of a device goes before what NCCL finds: attributes of its function, and the NVLinks of a GPU, for which NVML is not asked then.
fn overlay(own: &mut Element, said: &Element) {
    said.attributes.iter().filter(|(k, _)| k != "busid").for_each(|(k, v)| own.set(k, v.as_str()));
    let Some(links) = said.named("gpu").next().map(|g| g.named("nvlink").cloned().collect::<Vec<_>>()) else { return };
    if let Some(gpu) = own.children.iter_mut().find(|c| c.name == "gpu" && !links.is_empty()) {
        gpu.children.retain(|c| c.name != "nvlink");
        gpu.children.extend(links);
    }
}

/// Elements above a device as the guest shows them: every second bridge, with the links of emulated ports.
fn climbed(guest: &Guest, device: usize, cpu: Option<&Element>) -> Vec<Element> {
    let mut ports: Vec<usize> = guest.above(device).skip(1).step_by(2).collect();
    ports.reverse();
    let cell = guest.functions.get(device).and_then(|f| f.cell);
    let mut top = cpu.map_or_else(|| Element::new("cpu"), |c| Element { children: Vec::new(), ..c.clone() });
    top.attributes.retain(|(k, _)| k != "affinity");
    top.set("numaid", cell.map_or_else(|| "-1".to_owned(), |c| c.to_string()));
    let port = |at: usize| {
        let bdf = guest.functions.get(at).map(|f| f.bdf.to_string()).unwrap_or_default();
        // QEMU's x3130 upstream port, which has no registers for another link.
        Element::new("pci")
            .with("busid", bdf)
            .with("class", "0x060400")
            .with("vendor", "0x104c")
            .with("device", "0x8232")
            .with("link_speed", SLOW)
            .with("link_width", "1")
    };
    std::iter::once(top).chain(ports.into_iter().map(port)).collect()
}

/// What an emulated port of a switch says of its link.
const SLOW: &str = "2.5 GT/s PCIe";

/// A NIC's link is the lower of its own and of the port's above it; a GPU's is what NVML says, which is its own.
fn virtual_link(e: &mut Element, guest: &Guest, device: usize) {
    let port = guest.above(device).next().and_then(|p| guest.functions.get(p)).map(|p| p.what);
    let is_gpu = e.named("gpu").next().is_some();
    if !is_gpu && matches!(port, Some(What::Bridge(Model::DownstreamPort | Model::UpstreamPort))) {
        e.set("link_speed", SLOW);
        e.set("link_width", "1");
    }
}

/// Adds a device below its way, into elements that are there.
fn insert(at: &mut Element, way: Vec<Element>, device: Element) {
    let mut at = at;
    for step in way {
        let key = if step.name == "cpu" { "numaid" } else { "busid" };
        let index = at
            .children
            .iter()
            .position(|c| c.name == step.name && c.get(key) == step.get(key))
            .unwrap_or(at.children.len());
        if index == at.children.len() {
            at.children.push(step);
        }
        let Some(next) = at.children.get_mut(index) else { return };
        at = next;
    }
    at.children.push(device);
}

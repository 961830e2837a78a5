//! `<pci>`: a function, what is above it in NCCL's tree, and its link.

use super::Build;
use super::arena::Id;
use super::cpu;
use crate::open::Open;
use crate::system::speed_words;
use crate::xml::Element;
use linerate_formats::pci::{Bdf, LinkSpeed, LinkWidth};
use linerate_node::context::Role;
use linerate_node::gpu::Gpu;
use linerate_node::pci::{FnId, Kind, Parent, PciFunction, PciTree};
use linerate_node::{Reading, Why};

/// What a link attribute of a function says.
enum Limit<T> {
    /// This.
    At(T),
    /// The file is not there, or holds no number: it limits nothing.
    None,
    /// Nobody looked.
    Unseen,
}

fn limit<T: Copy>(r: &Reading<T>) -> Limit<T> {
    match r {
        Reading::Known(v, _) => Limit::At(*v),
        Reading::Absent(_) | Reading::Unreadable(_, Why::Malformed(_)) => Limit::None,
        Reading::Unreadable(..) => Limit::Unseen,
    }
}

/// The function whose NUMA node NCCL takes for a device: the topmost that is an element of its tree, a switch's upstream port where there is one,
/// else the device itself (`ncclTopoGetXmlFromSys`).
#[must_use]
pub fn topmost(tree: &PciTree<'_>, id: FnId) -> FnId {
    let (above, _) = tree.ancestors(id);
    above.iter().copied().skip(1).step_by(2).next_back().unwrap_or(id)
}

/// The `<pci>` of a function, with everything above it.
pub(super) fn pci(b: &mut Build<'_, '_>, id: FnId, gpu: Option<&Gpu>) -> Id {
    let node = b.node;
    let (above, complete) = node.pci.ancestors(id);
    // Every second bridge is an element. Root ports, and the downstream ports of switches, are none.
    let mut chain: Vec<FnId> = std::iter::once(id).chain(above.iter().copied().skip(1).step_by(2)).collect();
    let Some(top) = chain.last().copied() else { return 0 };
    let mut at = None;
    // NCCL climbs from the device until it meets an element that is there; what is above that is as it is.
    let there = chain.iter().enumerate().find_map(|(i, f)| {
        let busid = node.pci.get(*f).bdf.to_string();
        Some((i, b.arena.find("pci", "busid", &busid)?))
    });
    if let Some((i, there)) = there {
        keep(b, there, gpu.filter(|_| i == 0));
        at = Some(there);
        chain.truncate(i);
    }
    while let Some(f) = chain.pop() {
        let function = node.pci.get(f);
        if !complete {
            b.unknown.of("what is above it: counted as below a root port", node.pci.get(top).bdf);
            b.open.push(Open::Place);
        }
        let parent = match at {
            Some(p) => p,
            None => {
                let numa = numa(b, function);
                cpu::cpu(b, numa)
            }
        };
        let e = describe(b, function, gpu.filter(|_| f == id));
        at = Some(b.arena.add_sorted(parent, e));
    }
    at.unwrap_or(0)
}

/// Takes an element of a topology file, and all above it, into use, with what the file does not say (`ncclTopoGetXmlFromSys`).
fn keep(b: &mut Build<'_, '_>, mut id: Id, mut gpu: Option<&Gpu>) {
    let node = b.node;
    while id > 0 {
        let Some(e) = b.arena.element(id) else { return };
        if e.name == "cpu" {
            return cpu::complete(b, id);
        }
        let busid = e.get("busid").unwrap_or_default().to_owned();
        let linked = e.get("link_speed").is_some() && e.get("link_width").is_some();
        if b.arena.meet(id) {
            match node.pci.functions.iter().find(|f| f.bdf.to_string() == busid) {
                Some(f) => {
                    // What is not known of it matters only where the file does not say it.
                    let (assumed, unknown) = (b.assumed.clone(), b.unknown.clone());
                    let seen = describe(b, f, gpu);
                    if linked {
                        (b.assumed, b.unknown) = (assumed, unknown);
                    }
                    for (key, value) in seen.attributes {
                        // sysfs says the class even where the file does.
                        if key == "class" && f.class.known().is_some() {
                            b.arena.set(id, "class", value);
                        } else {
                            b.arena.init(id, &key, value);
                        }
                    }
                }
                None => {
                    if let Some(g) = gpu.filter(|_| !linked) {
                        let mut seen = Element::new("pci");
                        current(b, &mut seen, g.bdf, &g.speed, &g.width);
                        seen.attributes.into_iter().for_each(|(k, v)| b.arena.init(id, &k, v));
                    }
                    ["link_speed", "link_width"].into_iter().for_each(|k| b.arena.init(id, k, ""));
                }
            }
        }
        gpu = None;
        id = b.arena.parent(id);
    }
}

/// A GPU of which only its address is known.
pub(super) fn pci_without_function(b: &mut Build<'_, '_>, bdf: Bdf, gpu: Option<&Gpu>) -> Id {
    if let Some(there) = b.arena.find("pci", "busid", &bdf.to_string()) {
        keep(b, there, gpu);
        b.arena.init(there, "class", "0x03");
        return there;
    }
    b.unknown.of("its place in the PCI tree, class and ids", bdf);
    b.open.push(Open::Place);
    let cpu = cpu::cpu(b, -1);
    let mut e = Element::new("pci").with("busid", bdf.to_string()).with("class", "0x03").with("vendor", "0x10de");
    if let Some(g) = gpu {
        current(b, &mut e, bdf, &g.speed, &g.width);
    }
    b.arena.add_sorted(cpu, e)
}

/// The NUMA node of the topmost function. -1 where firmware gave none.
fn numa(b: &mut Build<'_, '_>, f: &PciFunction<'_>) -> i32 {
    match &f.numa_node {
        Reading::Known(n, _) => *n,
        _ => {
            b.unknown.of("NUMA node: placed below CPU -1", f.bdf);
            b.open.push(Open::Numa);
            -1
        }
    }
}

fn describe(b: &mut Build<'_, '_>, f: &PciFunction<'_>, gpu: Option<&Gpu>) -> Element {
    let mut e = Element::new("pci").with("busid", f.bdf.to_string());
    let is_gpu = f.class.known().is_some_and(|c| c.is_display());
    match f.class.known() {
        Some(c) => e.set("class", format!("{:#08x}", c.0)),
        None => {
            // As NCCL has it until it reads the class: what it looked for.
            let class = match f.kind {
                Kind::RdmaNic => "0x02",
                _ if f.buses.is_some() => "0x060400",
                _ => "0x03",
            };
            b.unknown.of("class: taken from its use", f.bdf);
            e.set("class", class);
        }
    }
    // NVML's ids are printed without leading zeros, sysfs' with them.
    let hex = |v: u16| if is_gpu { format!("{v:#x}") } else { format!("{v:#06x}") };
    match f.vendor.known() {
        Some(v) => e.set("vendor", hex(*v)),
        None => b.unknown.of("vendor id", f.bdf),
    }
    match f.device.known() {
        Some(d) => e.set("device", hex(*d)),
        None => b.unknown.of("device id", f.bdf),
    }
    match &f.subsystem {
        Reading::Known((v, d), _) => {
            e.set("subsystem_vendor", hex(*v));
            e.set("subsystem_device", hex(*d));
        }
        _ => b.unknown.of("subsystem ids", f.bdf),
    }
    if f.vendor.known() == Some(&0x1000) {
        b.unknown.of("links to other Broadcom switches (sys/kernel/pci_switch_link is not collected)", f.bdf);
    }
    match gpu {
        _ if is_gpu && !b.options.release.since(2, 30) => most(b, &mut e, f),
        Some(g) => {
            let speed = g.speed.known().or(f.link.speed.known());
            let width = g.width.known().or(f.link.width.known());
            if g.speed.known().is_none() && speed.is_some() || g.width.known().is_none() && width.is_some() {
                b.assumed.say("current links of GPUs: from the PCI tree, if NVML did not show them");
            }
            let at = f.link.speed.place();
            let reading = |s: &LinkSpeed| Reading::Known(*s, at);
            let speed = speed.map_or_else(|| f.link.speed.clone(), reading);
            let width = width.map_or_else(|| f.link.width.clone(), |w| Reading::Known(*w, at));
            current(b, &mut e, f.bdf, &speed, &width);
        }
        None if is_gpu => {
            if f.link.speed.known().is_some() {
                b.assumed.say("current links of GPUs: from the PCI tree, if NVML did not show them");
            }
            current(b, &mut e, f.bdf, &f.link.speed, &f.link.width);
        }
        None => most(b, &mut e, f),
    }
    e
}

/// A GPU's link as it is now: NCCL asks NVML.
fn current(b: &mut Build<'_, '_>, e: &mut Element, bdf: Bdf, speed: &Reading<LinkSpeed>, width: &Reading<LinkWidth>) {
    match speed.known() {
        Some(s) => {
            e.set("link_speed", speed_words(*s));
            if *s <= LinkSpeed::Gen2 {
                let guest = b.node.context.role.value == Some(Role::VmGuest);
                let why = match width.known() {
                    Some(LinkWidth(1)) if guest => "a guest may show an emulated link, and the host shows the real one",
                    _ => "an idle GPU slows down its link; under a job it is faster",
                };
                b.assumed.of(&format!("link at {s}, as it was read: {why}"), bdf);
            }
        }
        None => unseen(b, e, bdf, "link_speed"),
    }
    match width.known() {
        Some(w) => e.set("link_width", w.0.to_string()),
        None => unseen(b, e, bdf, "link_width"),
    }
}

/// What the link could at most: the lower of the function's and of the port's above it.
fn most(b: &mut Build<'_, '_>, e: &mut Element, f: &PciFunction<'_>) {
    let port = match f.parent {
        Parent::Bridge(p) => Some(b.node.pci.get(p)),
        _ => None,
    };
    // A root bus has no link attributes.
    let nothing = if f.parent == Parent::Unknown { Limit::Unseen } else { Limit::None };
    let above = port.map_or(nothing, |p| limit(&p.link.max_speed));
    let speed = match (limit(&f.link.max_speed), above) {
        (Limit::At(own), Limit::At(port)) => speed_words(own.min(port)).to_owned(),
        (Limit::At(one), Limit::None) | (Limit::None, Limit::At(one)) => speed_words(one).to_owned(),
        (Limit::None, Limit::None) => String::new(),
        (Limit::At(one), Limit::Unseen) | (Limit::Unseen, Limit::At(one)) => {
            b.assumed.of("link as shown by one end, because the other end is not known", f.bdf);
            speed_words(one).to_owned()
        }
        _ => {
            unseen(b, e, f.bdf, "link_speed");
            return width(b, e, f);
        }
    };
    e.set("link_speed", speed);
    width(b, e, f);
}

fn width(b: &mut Build<'_, '_>, e: &mut Element, f: &PciFunction<'_>) {
    let above = match f.parent {
        Parent::Bridge(p) => limit_width(&b.node.pci.get(p).link.max_width),
        Parent::RootComplex => Limit::At(0),
        Parent::Unknown => Limit::Unseen,
    };
    let width = match (limit_width(&f.link.max_width), above) {
        (Limit::At(own), Limit::At(port)) => own.min(port),
        // The width of a root bus counts as 0, which says nothing about a link that nobody looked at.
        (Limit::Unseen, Limit::At(0)) => return unseen(b, e, f.bdf, "link_width"),
        (Limit::At(one), Limit::None | Limit::Unseen) | (Limit::None | Limit::Unseen, Limit::At(one)) => {
            b.assumed.of("link as shown by one end, because the other end is not known", f.bdf);
            one
        }
        _ => return unseen(b, e, f.bdf, "link_width"),
    };
    e.set("link_width", width.to_string());
}

/// An attribute of the link that is not known. NCCL writes nothing where it can read nothing.
fn unseen(b: &mut Build<'_, '_>, e: &mut Element, bdf: Bdf, attribute: &'static str) {
    let what = match attribute {
        "link_speed" => "speed of its link, left empty: NCCL then counts Gen3",
        _ => "width of its link, left empty: NCCL then counts 16 lanes",
    };
    b.unknown.of(what, bdf);
    e.set(attribute, "");
}

/// A file that is not there counts as 0, and NCCL takes 0 for 16 later on.
fn limit_width(r: &Reading<LinkWidth>) -> Limit<u8> {
    match (limit(r), r) {
        (Limit::At(w), _) => Limit::At(w.0),
        (Limit::None, Reading::Absent(_)) => Limit::At(0),
        (Limit::None, _) => Limit::None,
        (Limit::Unseen, _) => Limit::Unseen,
    }
}

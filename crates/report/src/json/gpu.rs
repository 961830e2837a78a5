//! GPUs as JSON: the PCI function, its nearest NICs, and what the driver reports.

use super::value::{Seer, Value};
use linerate_formats::pci::{Bdf, LinkSpeed, LinkWidth};
use linerate_node::Node;
use linerate_node::gpu::{Flavour, Gpu};
use linerate_node::pci::Distance;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
pub(super) struct GpuOut<'a> {
    bdf: Bdf,
    /// As `lspci` names it; empty where no text was given.
    name: &'a str,
    numa_node: Option<i32>,
    /// `null` where there is no NIC, or no PCI list.
    distance: Option<Distance>,
    nearest_nics: Vec<Bdf>,
    /// `null` where the driver was not asked.
    driver_view: Option<ViewOut<'a>>,
}

#[derive(Serialize)]
struct ViewOut<'a> {
    name: Value<&'a str>,
    architecture: Value<&'a str>,
    fb_mib: Value<u64>,
    bar1_mib: Value<u64>,
    device_max_speed: Value<LinkSpeed>,
    host_max_speed: Value<LinkSpeed>,
    width: Value<LinkWidth>,
    max_width: Value<LinkWidth>,
    replays: Value<u64>,
    fabric_state: Value<&'a str>,
    virtualization: Value<&'a str>,
}

/// The driver.
#[derive(Serialize)]
pub(super) struct NvidiaOut<'a> {
    version: Value<&'a str>,
    flavour: Value<&'static str>,
    cuda: Value<&'a str>,
}

pub(super) fn gpus<'a>(node: &'a Node<'a>, seer: &mut Seer<'_, '_>) -> Vec<GpuOut<'a>> {
    // By address: those of the PCI list, and those that only the driver shows.
    let mut all: BTreeMap<Bdf, GpuOut<'a>> = BTreeMap::new();
    for (id, f) in node.pci.nvidia_gpus() {
        let rail = node.rails.iter().find(|r| r.gpu == id);
        let nics = rail.into_iter().flat_map(|r| &r.nics).map(|n| node.pci.get(*n).bdf);
        let out = GpuOut {
            bdf: f.bdf,
            name: &f.name,
            numa_node: f.numa_node.known().copied(),
            distance: rail.map(|r| r.distance),
            nearest_nics: nics.collect(),
            driver_view: None,
        };
        all.insert(f.bdf, out);
    }
    for g in &node.nvidia.gpus {
        let out = all.entry(g.bdf).or_insert_with(|| GpuOut {
            bdf: g.bdf,
            name: "",
            numa_node: None,
            distance: None,
            nearest_nics: Vec::new(),
            driver_view: None,
        });
        out.driver_view = Some(view(g, seer));
    }
    all.into_values().collect()
}

fn view<'a>(g: &'a Gpu, seer: &mut Seer<'_, '_>) -> ViewOut<'a> {
    let base = format!("gpus[{}].driver_view", g.bdf);
    let b = base.as_str();
    ViewOut {
        name: seer.text(b, "name", &g.name),
        architecture: seer.text(b, "architecture", &g.architecture),
        fb_mib: seer.copy(b, "fb_mib", &g.fb_mib),
        bar1_mib: seer.copy(b, "bar1_mib", &g.bar1_mib),
        device_max_speed: seer.copy(b, "device_max_speed", &g.device_max_speed),
        host_max_speed: seer.copy(b, "host_max_speed", &g.host_max_speed),
        width: seer.copy(b, "width", &g.width),
        max_width: seer.copy(b, "max_width", &g.max_width),
        replays: seer.copy(b, "replays", &g.replays),
        fabric_state: seer.text(b, "fabric_state", &g.fabric_state),
        virtualization: seer.text(b, "virtualization", &g.virtualization),
    }
}

pub(super) fn nvidia<'a>(node: &'a Node<'a>, seer: &mut Seer<'_, '_>) -> NvidiaOut<'a> {
    let (d, b) = (&node.nvidia.driver, "nvidia");
    NvidiaOut {
        version: seer.text(b, "version", &d.version),
        flavour: seer.value(b, "flavour", &d.flavour, |f| match f {
            Flavour::Open => "open",
            Flavour::Proprietary => "proprietary",
        }),
        cuda: seer.text(b, "cuda", &d.cuda),
    }
}

//! GPUs: the PCI function, its nearest NICs, and what the driver reports.

use super::{Row, Said, borrowed, copy, counting, fact, known, number, quiet, shown, text};
use crate::{GpuAt, Unit, Value};
use linerate_node::Node;
use linerate_node::gpu::Gpu;
use linerate_snapshot::{Place, Reading, Why};
use std::borrow::Cow;

type ReadGpu = for<'n> fn(&'n Node<'n>, GpuAt<'n>) -> Said<'n>;

pub(super) static GPU: &[Row<ReadGpu>] = &[
    fact("gpus.bdf", "PCI address of the GPU", |n, g| known(Value::Address(g.bdf), place(n, g))),
    fact("gpus.name", "Name as lspci prints it; empty where no text was given", |n, g| {
        known(borrowed(g.function.map_or("", |f| &f.name)), place(n, g))
    }),
    quiet("gpus.numa_node", "NUMA node as the kernel knows it", |n, g| match g.function {
        Some(f) => copy(&f.numa_node, |n| Value::Signed(n.into())),
        None => shown(place(n, g), None),
    }),
    quiet("gpus.distance", "Distance to the nearest NICs", |n, g| {
        shown(place(n, g), g.rail.map(|r| Value::Distance(r.distance)))
    }),
    fact("gpus.nearest_nics", "The nearest NICs", |n, g| {
        let nics = g.rail.into_iter().flat_map(|r| &r.nics).map(|id| n.pci.get(*id).bdf);
        Reading::Known(Value::Addresses(Cow::Owned(nics.collect())), place(n, g))
    }),
    quiet("gpus.driver_view", "Whether the driver reports the GPU", |n, g| {
        shown(n.nvidia.asked.place(), g.driver.map(|_| Value::There))
    }),
    fact("gpus.driver_view.name", "Product name", |n, g| driver(n, g, |v| text(&v.name))),
    fact("gpus.driver_view.architecture", "Architecture", |n, g| driver(n, g, |v| text(&v.architecture))),
    counting(
        Unit::Mib,
        fact("gpus.driver_view.fb_mib", "Memory of the GPU", |n, g| driver(n, g, |v| number(&v.fb_mib))),
    ),
    counting(
        Unit::Mib,
        fact("gpus.driver_view.bar1_mib", "Size of BAR1", |n, g| driver(n, g, |v| number(&v.bar1_mib))),
    ),
    fact("gpus.driver_view.device_max_speed", "Most that the GPU's link can", |n, g| {
        driver(n, g, |v| copy(&v.device_max_speed, Value::Speed))
    }),
    fact("gpus.driver_view.host_max_speed", "Most that the host's side of the link can", |n, g| {
        driver(n, g, |v| copy(&v.host_max_speed, Value::Speed))
    }),
    fact("gpus.driver_view.width", "Width of the link now", |n, g| driver(n, g, |v| copy(&v.width, Value::Width))),
    fact("gpus.driver_view.max_width", "Most lanes of the link", |n, g| {
        driver(n, g, |v| copy(&v.max_width, Value::Width))
    }),
    fact("gpus.driver_view.replays", "Packets that the link sent again", |n, g| driver(n, g, |v| number(&v.replays))),
    fact("gpus.driver_view.fabric_state", "State of the NVLink fabric", |n, g| driver(n, g, |v| text(&v.fabric_state))),
    fact("gpus.driver_view.virtualization", "Virtualization mode", |n, g| driver(n, g, |v| text(&v.virtualization))),
];

fn place(n: &Node<'_>, g: GpuAt<'_>) -> Place {
    g.function.map_or(n.nvidia.asked.place(), |f| Place::of(f.home))
}

fn driver<'n>(n: &'n Node<'n>, g: GpuAt<'n>, read: impl FnOnce(&'n Gpu) -> Said<'n>) -> Said<'n> {
    g.driver.map_or(Reading::Unreadable(n.nvidia.asked.place(), Why::NotCollected), read)
}

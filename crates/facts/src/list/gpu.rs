//! GPUs: the PCI function, its nearest NICs, and what the driver reports.

use super::{Row, Said, as_in, borrowed, copy, counting, fact, known, number, quiet, shown, text};
use crate::{Form, GpuAt, Unit, Value, Version1};
use linerate_node::Node;
use linerate_node::gpu::Gpu;
use linerate_snapshot::{Place, Reading, Why};
use std::borrow::Cow;

type ReadGpu = for<'n> fn(&'n Node<'n>, GpuAt<'n>) -> Said<'n>;

pub(super) static GPU: &[Row<ReadGpu>] = &[
    fact("gpus.bdf", Form::Address, "PCI address of the GPU", |n, g| known(Value::Address(g.bdf), place(n, g))),
    fact("gpus.name", Form::Text, "Name as lspci prints it; empty where no text was given", |n, g| {
        known(borrowed(g.function.map_or("", |f| &f.name)), place(n, g))
    }),
    quiet("gpus.numa_node", Form::Signed, "NUMA node as the kernel knows it", |n, g| match g.function {
        Some(f) => copy(&f.numa_node, |n| Value::Signed(n.into())),
        None => shown(place(n, g), None),
    }),
    quiet("gpus.distance", Form::Distance, "Distance to the nearest NICs", |n, g| {
        shown(place(n, g), g.rail.map(|r| Value::Distance(r.distance)))
    }),
    fact("gpus.nearest_nics", Form::Addresses, "The nearest NICs", |n, g| {
        let nics = g.rail.into_iter().flat_map(|r| &r.nics).map(|id| n.pci.get(*id).bdf);
        Reading::Known(Value::Addresses(Cow::Owned(nics.collect())), place(n, g))
    }),
    quiet("gpus.driver_view", Form::There, "Whether the driver reports the GPU", |n, g| {
        driver(n, g, |_| known(Value::There, n.nvidia.asked.place()))
    }),
    fact("gpus.driver_view.name", Form::Text, "Product name", |n, g| driver(n, g, |v| text(&v.name))),
    fact("gpus.driver_view.architecture", Form::Text, "Architecture", |n, g| driver(n, g, |v| text(&v.architecture))),
    counting(
        Unit::Mib,
        fact("gpus.driver_view.fb_mib", Form::Number, "Memory of the GPU", |n, g| driver(n, g, |v| number(&v.fb_mib))),
    ),
    counting(
        Unit::Mib,
        fact("gpus.driver_view.bar1_mib", Form::Number, "Size of BAR1", |n, g| driver(n, g, |v| number(&v.bar1_mib))),
    ),
    fact("gpus.driver_view.device_max_speed", Form::Speed, "Most that the GPU's link can", |n, g| {
        driver(n, g, |v| copy(&v.device_max_speed, Value::Speed))
    }),
    fact("gpus.driver_view.host_max_speed", Form::Speed, "Most that the host's side of the link can", |n, g| {
        driver(n, g, |v| copy(&v.host_max_speed, Value::Speed))
    }),
    fact("gpus.driver_view.width", Form::Number, "Width of the link now", |n, g| {
        driver(n, g, |v| copy(&v.width, Value::Width))
    }),
    fact("gpus.driver_view.max_width", Form::Number, "Most lanes of the link", |n, g| {
        driver(n, g, |v| copy(&v.max_width, Value::Width))
    }),
    fact("gpus.driver_view.replays", Form::Number, "Packets that the link sent again", |n, g| {
        driver(n, g, |v| number(&v.replays))
    }),
    fact("gpus.driver_view.fabric_state", Form::Text, "State of the NVLink fabric", |n, g| {
        driver(n, g, |v| text(&v.fabric_state))
    }),
    fact("gpus.driver_view.virtualization", Form::Text, "Virtualization mode", |n, g| {
        driver(n, g, |v| text(&v.virtualization))
    }),
    as_in(Version1::Left, "gpus.driver_view.ecc", Form::Text, "ECC mode", |n, g| driver(n, g, |v| text(&v.ecc))),
    as_in(Version1::Left, "gpus.driver_view.mig", Form::Text, "MIG mode", |n, g| driver(n, g, |v| text(&v.mig))),
];

fn place(n: &Node<'_>, g: GpuAt<'_>) -> Place {
    g.function.map_or(n.nvidia.asked.place(), |f| Place::of(f.home))
}

/// What the driver says of a GPU. One that it does not report has no view of it; a container may be given a part of the GPUs.
fn driver<'n>(n: &'n Node<'n>, g: GpuAt<'n>, read: impl FnOnce(&'n Gpu) -> Said<'n>) -> Said<'n> {
    let asked = &n.nvidia.asked;
    match (g.driver, asked) {
        (Some(of), _) => read(of),
        (None, Reading::Known((), place)) if n.nvidia.whole && !n.firmware.in_container() => Reading::Absent(*place),
        (None, _) => Reading::Unreadable(asked.place(), Why::NotCollected),
    }
}

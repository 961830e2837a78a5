//! Complexes of a GPU and a NIC that are not simply below one switch: ConnectX-8 Data Direct and Inline, and root buses.
//!
//! Trees and ACS values: `kernel-boot/rdma_topo` of rdma-core (`__get_nvcx_complex`, `compute_acs`).

use crate::DescribeError;
use crate::build::Builder;
use crate::description::{Complex, Description, Switch};
use crate::layout::{Device, card, gpu, place};
use crate::models;

/// The kernel's default where an IOMMU wants isolation: Source Validation, redirects, Upstream Forwarding.
const ISOLATED: u16 = 0x1d;

/// Lays out one pair; `false` where the description has no such complex.
pub(crate) fn pair(
    b: &mut Builder,
    d: &Description,
    socket: u32,
    n: usize,
    slot: usize,
) -> Result<bool, DescribeError> {
    match d.layout.complex {
        Complex::None | Complex::RootBus => return Ok(false),
        Complex::DataDirect => data_direct(b, d, socket, n, slot)?,
        Complex::Inline => inline(b, d, socket, n, slot)?,
    }
    Ok(true)
}

/// Devices on a root bus, as AWS shows a p4d: bus 10 has 1b.0, 1c.0, 1d.0.
pub(crate) fn on_root_bus(b: &mut Builder, d: &Description, socket: u32, at: usize, devices: &[Device]) {
    let Some(root) = b.root_bus(socket, at) else { return };
    for (slot, device) in (0x1b_u8..).zip(devices) {
        let function = match device {
            Device::Gpu(n) => gpu(d).map(|f| (f, *n, format!("gpu{n}"))),
            Device::Nic(n, model) => models::nic(*model).map(|f| (f, *n, format!("nic{n}"))),
        };
        let Some((mut f, index, name)) = function else { continue };
        f.kind = device.kind(index);
        f.model = if let Device::Nic(_, model) = device { Some(*model) } else { None };
        let at = b.on_root(root, socket, slot, 0, f);
        b.name(at, name);
    }
}

fn data_direct(b: &mut Builder, d: &Description, socket: u32, n: usize, slot: usize) -> Result<(), DescribeError> {
    let port = b.root_port(socket, 2 * slot)?;
    b.set_acs(port, ISOLATED);
    place(b, d, port, &Device::Nic(n, d.layout.nic));
    let root = b.root_port(socket, 8 + slot)?;
    // Without Source Validation the kernel puts all below into one group.
    b.set_acs(root, 0x1c);
    b.name(root, format!("complex{n}.root"));
    let first = b.mark();
    let (up, dma_port) = below_switch(b, root, &format!("complex{n}"), "dma", 0x19)?;
    let uuid = b.uuid_of(&format!("nic{n}"));
    let mut f = models::data_direct();
    f.vpd = uuid;
    let dma = b.below(dma_port, 0, 0, f);
    b.name(dma, format!("dma{n}"));
    b.name(dma_port, format!("dma{n}.port"));
    nested(b, d, up, n, 0x15, ISOLATED)?;
    b.group(root, first, 500 + n as u32);
    Ok(())
}

fn inline(b: &mut Builder, d: &Description, socket: u32, n: usize, slot: usize) -> Result<(), DescribeError> {
    let root = b.root_port(socket, slot)?;
    b.name(root, format!("complex{n}.root"));
    let (up, port) = below_switch(b, root, &format!("complex{n}"), "nic", 0)?;
    place(b, d, port, &Device::Nic(n, d.layout.nic));
    nested(b, d, up, n, 0, 0)
}

/// An upstream port below `root`, and its first downstream port.
fn below_switch(
    b: &mut Builder,
    root: usize,
    name: &str,
    what: &str,
    acs: u16,
) -> Result<(usize, usize), DescribeError> {
    let (up, down) = models::switch(Switch::ConnectX);
    let up = b.below(root, 0, 0, up);
    b.name(up, format!("{name}.up"));
    b.bridge(up)?;
    let port = b.below(up, 0, 0, down);
    b.set_acs(port, acs);
    b.name(port, format!("{name}.{what}"));
    b.bridge(port)?;
    Ok((up, port))
}

/// The second port of the shared switch, and behind it a switch of one port with the GPU.
fn nested(b: &mut Builder, d: &Description, up: usize, n: usize, acs: u16, inner: u16) -> Result<(), DescribeError> {
    let (upper, down) = models::switch(Switch::ConnectX);
    let port = b.below(up, 1, 0, down.clone());
    b.set_acs(port, acs);
    b.name(port, format!("complex{n}.gpu"));
    b.bridge(port)?;
    let second = b.below(port, 0, 0, upper);
    b.name(second, format!("complex{n}.up2"));
    b.bridge(second)?;
    let last = b.below(second, 0, 0, down);
    b.set_acs(last, inner);
    b.bridge(last)?;
    place(b, d, last, &Device::Gpu(n));
    Ok(())
}

/// ConnectX-7 functions that manage NVLink switches: four functions to a card, each card below a root port of its own.
pub(crate) fn nvlink_bridges(b: &mut Builder, d: &Description) -> Result<(), DescribeError> {
    let nics = (d.node.sockets * d.layout.switches_per_socket * d.layout.nics_per_switch + d.layout.frontend) as usize;
    for n in 0..d.layout.nvlink_bridges.div_ceil(4) {
        let port = b.root_port(n % d.node.sockets, 2)?;
        let name = format!("nvlink{n}");
        card(b, crate::Nics::NvlinkBridge, port, nics + n as usize, &name, None);
        b.name(port, format!("{name}.port"));
    }
    Ok(())
}

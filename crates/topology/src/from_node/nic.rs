//! `<nic>` and `<net>`: the devices that NCCL's InfiniBand plugin lists, in its order, under its names.

use super::arena::Id;
use super::{Build, link};
use crate::xml::Element;
use linerate_formats::pci::Bdf;
use linerate_node::gpu::Flavour;
use linerate_node::pci::{FnId, Kind};
use linerate_node::rdma::{PortState, RdmaDevice, RdmaPort};

/// Devices that the plugin lists, at most (`MAX_IB_DEVS`).
const MOST: usize = 32;

/// Queue pairs of a ConnectX-5 and later; a driver's limit that no file shows.
const MAX_QP: &str = "131072";

/// One active port.
struct Listed<'a> {
    device: &'a RdmaDevice,
    port: &'a RdmaPort,
}

/// Adds all devices.
pub(super) fn place(b: &mut Build<'_, '_>) {
    let node = b.node;
    let Some(devices) = node.rdma.known() else {
        if node.rdma.is_absent() {
            b.assumed.say("NICs are counted that have no RDMA device now: NCCL on this host would not see them");
        } else {
            b.unknown.say("RDMA devices: names, ports, speeds (no sys/class/infiniband, ibstat or ibv_devinfo)");
        }
        return functions_alone(b, &[]);
    };
    let mut listed = listed(b, devices);
    if node.pci.of_kind(Kind::DataDirect).next().is_some() {
        b.unknown.say("Data Direct: NCCL lists such a device as NAME_dma, at its Data Direct function; which one that is the snapshot does not show, so it is listed as itself");
    }
    if listed.is_empty() {
        b.left_out.say("no RDMA device has an active port: NCCL would use sockets, which are not in the document");
    }
    // By address; devices without one last. The plugin's sort keeps the order of equals.
    listed.sort_by_key(|l| (l.device.pci.is_none(), l.device.pci));
    if listed.len() > MOST {
        b.left_out.say(format!("{} RDMA ports after the first {MOST}: the plugin lists no more", listed.len() - MOST));
        listed.truncate(MOST);
    }
    if listed.iter().any(|l| l.device.pci.is_some()) {
        b.assumed.say(format!("maxconn: {MAX_QP} queue pairs"));
    }
    let mut buses: Vec<(u32, u8)> = Vec::new();
    let mut lost = Vec::new();
    for (dev, l) in listed.iter().enumerate() {
        let bus = l.device.pci.map(|p| (p.domain, p.bus));
        let before = buses.iter().filter(|seen| b.options.merge_functions && Some(**seen) == bus).count();
        buses.extend(bus);
        if !one(b, dev, l, before) {
            lost.push(l.device.name.as_str());
        }
    }
    if !lost.is_empty() {
        lost.iter().for_each(|l| b.unknown.of("which PCI function it is: it is not in the document", l));
        let placed: Vec<Bdf> = devices.iter().filter_map(|d| d.pci).collect();
        functions_alone(b, &placed);
    }
}

fn listed<'a>(b: &mut Build<'_, '_>, devices: &'a [RdmaDevice]) -> Vec<Listed<'a>> {
    let mut out = Vec::new();
    for device in devices {
        if device.ports.is_empty() {
            b.unknown.of("its ports: it is left out", &device.name);
        }
        for port in &device.ports {
            match port.state.known() {
                Some(PortState::Active) => {}
                Some(state) => {
                    let state = format!("{state:?}").to_uppercase();
                    b.left_out.of(
                        &format!("its state is {state}, and NCCL lists active ports only"),
                        format!("{} port {}", device.name, port.number),
                    );
                    continue;
                }
                None => {
                    b.assumed
                        .of("active, because its state is not known", format!("{} port {}", device.name, port.number));
                }
            }
            out.push(Listed { device, port });
        }
    }
    out
}

/// Adds one device; `false` where its place is not known. `before`: devices of its card that came earlier.
fn one(b: &mut Build<'_, '_>, dev: usize, l: &Listed<'_>, before: usize) -> bool {
    let name = l.device.name.as_str();
    if let Some(net) = b.arena.find("net", "name", name) {
        b.assumed.of("NCCL finds its second port under the name of the first, so both are one <net>", name);
        b.arena.set(net, "dev", dev.to_string());
        return true;
    }
    let Some(under) = parent(b, l.device) else { return false };
    let nic = b.arena.child(under, "nic").unwrap_or_else(|| b.arena.add(under, Element::new("nic")));
    let mut e = Element::new("net").with("name", name).with("dev", dev.to_string()).with("latency", "0");
    match l.port.rate_gbps.known().filter(|r| r.is_finite() && (0.0..1e6).contains(*r)) {
        Some(rate) => e.set("speed", format!("{:.0}", rate * 1000.0)),
        None => b.unknown.of("its speed", name),
    }
    let port = l.port.number as usize + before;
    e.set("port", port.to_string());
    match guid(b, l.device) {
        Some(g) => e.set("guid", format!("{g:#x}")),
        None => b.unknown.of("GUID of its card", name),
    }
    e.set("maxconn", MAX_QP);
    match gdr(b, name) {
        Some(gdr) => e.set("gdr", u8::from(gdr).to_string()),
        None => b.unknown.say(
            "whether NICs can register GPU memory (neither a peer-memory module nor the kind of the driver is known)",
        ),
    }
    e.set("net", "1");
    b.arena.add(nic, e);
    true
}

/// The `<pci>` of a device, or the first CPU for what has no PCI function.
fn parent(b: &mut Build<'_, '_>, d: &RdmaDevice) -> Option<Id> {
    let Some(own) = d.pci else {
        if !d.is_software() {
            return None;
        }
        b.assumed.of("software; NCCL puts it below the first CPU where its user library is installed", &d.name);
        return b.arena.first("cpu");
    };
    // Ports and virtual functions of a card become its function 0.
    let zero = Bdf { device: 0, function: 0, ..own };
    let at = if b.options.merge_functions { zero } else { own };
    if let Some(f) = b.node.pci.find(at) {
        return Some(link::pci(b, f, None));
    }
    match b.node.pci.find(own) {
        Some(_) if b.node.pci.seen.is_some() && b.node.pci.functions.iter().all(|f| f.in_sysfs) => {
            b.assumed.of(
                "below the first CPU, where NCCL puts what it does not find: function 0 of the card is not there",
                &d.name,
            );
            b.arena.first("cpu")
        }
        Some(f) => {
            b.assumed.of("at its own function, because function 0 of its card is not in the text", &d.name);
            Some(link::pci(b, f, None))
        }
        None => Some(link::pci_without_function(b, at, None)),
    }
}

/// The GUID of the card as NCCL prints it: eight bytes in network order, taken for a number of this machine.
fn guid(b: &mut Build<'_, '_>, d: &RdmaDevice) -> Option<u64> {
    let text = match (d.sys_image_guid.known(), d.node_guid.known()) {
        (Some(g), _) => g,
        (None, Some(g)) => {
            b.assumed.of("GUID: that of the device, because that of the card is not known", &d.name);
            g
        }
        (None, None) => return None,
    };
    let digits: String = text.trim().trim_start_matches("0x").chars().filter(|c| *c != ':').collect();
    let number = u64::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 16)?;
    Some(number.swap_bytes())
}

/// Whether a NIC can register GPU memory: through a peer-memory module, or as a DMA-BUF, which the open driver exports.
fn gdr(b: &mut Build<'_, '_>, name: &str) -> Option<bool> {
    if let Some(told) = b.options.nic_gdr {
        return Some(told);
    }
    let node = b.node;
    let peermem = &node.peermem;
    if peermem.client("nv_mem").or(peermem.client("nv_mem_nc")).is_some()
        || peermem.nvidia_peermem.version.known().is_some()
    {
        return Some(true);
    }
    let flavour = node.nvidia.driver.flavour.known();
    let kernel = node.kernel.release.known();
    let absent =
        peermem.nvidia_peermem.loaded.is_absent() && (peermem.clients.is_absent() || peermem.clients.known().is_some());
    match (flavour, kernel) {
        (Some(Flavour::Open), Some(k)) if k.at_least(5, 12) && !name.starts_with("mlx4_") => {
            b.assumed.say("GPUDirect RDMA of NICs: as DMA-BUF, because the driver is the open one and the kernel is 5.12 or later");
            Some(true)
        }
        (Some(Flavour::Open), None) | (None, _) => None,
        (Some(_), _) if absent => Some(false),
        (Some(_), _) => None,
    }
}

/// RDMA functions of the PCI tree without their devices: NCCL would find the devices there.
fn functions_alone(b: &mut Build<'_, '_>, placed: &[Bdf]) {
    let mut nics: Vec<FnId> = b.node.pci.rdma_nics().filter(|(_, f)| !f.is_vf()).map(|(id, _)| id).collect();
    if nics.is_empty() {
        nics = b.node.pci.rdma_nics().map(|(id, _)| id).collect();
    }
    nics.retain(|id| !placed.contains(&b.node.pci.get(*id).bdf));
    nics.truncate(MOST);
    if !nics.is_empty() {
        b.assumed.say("NICs: the RDMA functions of the PCI tree, as <pci> without <net>");
    }
    for id in nics {
        link::pci(b, id, None);
    }
}

//! `<nic>` and `<net>`: the devices that NCCL's InfiniBand plugin lists, in its order, under its names.

use super::arena::Id;
use super::{Build, link};
use crate::open::{Lack, Open};
use crate::xml::Element;
use linerate_formats::pci::Bdf;
use linerate_node::dmabuf::{self, Support};
use linerate_node::gpu::Flavour;
use linerate_node::pci::{DataPath, FnId};
use linerate_node::rdma::{Purpose, RdmaDevice, RdmaPort};
use linerate_node::transport::BuiltIn;

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
            b.assumed.say("NICs without an RDMA device are counted too, although NCCL on this host would not see them");
        } else {
            b.unknown.say("RDMA devices: names, ports, speeds (no sys/class/infiniband, ibstat or ibv_devinfo)");
            // Those that a topology file lists may be there.
            let nets = b.arena.all("net");
            b.open.extend((!nets.is_empty()).then_some(Open::NicPorts));
            for net in nets {
                b.arena.meet(net);
            }
        }
        return functions_alone(b, &[]);
    };
    let mut listed = listed(b, devices);
    if listed.is_empty() {
        b.left_out.say("no RDMA device has an active port that NCCL's own transport lists: without a network plugin NCCL uses sockets, which are not in the document");
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
        lost.iter().for_each(|l| b.unknown.of("which PCI function it is: left out of the document", l));
        let placed: Vec<Bdf> = devices.iter().filter_map(|d| d.pci).collect();
        functions_alone(b, &placed);
    }
}

fn listed<'a>(b: &mut Build<'_, '_>, devices: &'a [RdmaDevice]) -> Vec<Listed<'a>> {
    let mut out = Vec::new();
    for device in devices {
        if device.ports.is_empty() {
            b.unknown.of("its ports: left out", &device.name);
        }
        for port in &device.ports {
            let name = || format!("{} port {}", device.name, port.number);
            if device.purpose == Purpose::PerhapsNvlinkManagement {
                b.unknown.of("whether it is a NIC or manages NVLink switches (its VPD shows that): left out; NCCL lists it unless NCCL_IB_HCA excludes it", name());
                continue;
            }
            match device.built_in(port) {
                BuiltIn::Listed => {}
                BuiltIn::NotActive => {
                    let state = port.state.known().map_or_else(String::new, |s| format!("{s:?}").to_uppercase());
                    b.left_out.of(&format!("its state is {state}, and NCCL lists active ports only"), name());
                    continue;
                }
                BuiltIn::NeedsPlugin => {
                    b.left_out.of("its link layer is neither InfiniBand nor Ethernet (EFA): NCCL's own transport ignores it; a network plugin (aws-ofi-nccl) adds it, and decides about GPUDirect", name());
                    continue;
                }
                BuiltIn::ListedInVain => {
                    b.left_out.of("it manages NVLink switches and leads to no other node; NCCL lists it unless NCCL_IB_HCA excludes it", name());
                    continue;
                }
                BuiltIn::Unknown if device.purpose == Purpose::NvlinkManagement => continue,
                BuiltIn::Unknown => b.assumed.of("active, because its state is not known", name()),
            }
            out.push(Listed { device, port });
        }
    }
    out
}

/// Adds one device; `false` where its place is not known. `before`: devices of its card that came earlier.
fn one(b: &mut Build<'_, '_>, dev: usize, l: &Listed<'_>, before: usize) -> bool {
    let direct = direct(b, l.device);
    let with_suffix = format!("{}_dma", l.device.name);
    let name = if direct.is_some() { with_suffix.as_str() } else { l.device.name.as_str() };
    let there = b.arena.find("net", "name", name);
    let of_file = there.filter(|n| b.arena.meet(*n));
    if let Some(net) = there.filter(|_| of_file.is_none()) {
        b.assumed.of("NCCL finds its second port under the name of the first, so both are one <net>", name);
        b.arena.set(net, "dev", dev.to_string());
        return true;
    }
    let under = match direct {
        // A topology file may list it: it stays where it is.
        _ if of_file.is_some() => of_file.map(|n| b.arena.parent(n)),
        Some(f) => {
            b.assumed.of("NCCL 2.27 or later lists it at its Data Direct function (NCCL_IB_DATA_DIRECT=1)", name);
            Some(link::pci(b, f, None))
        }
        None => parent(b, l.device),
    };
    let Some(under) = under else { return false };
    let nic = match of_file {
        Some(_) => under,
        None => b.arena.child(under, "nic").unwrap_or_else(|| b.arena.add(under, Element::new("nic"))),
    };
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
    if let Some(gdr) = gdr(b, l.device) {
        e.set("gdr", u8::from(gdr).to_string());
    }
    e.set("net", "1");
    let Some(net) = of_file else {
        b.arena.add(nic, e);
        return true;
    };
    for (key, value) in e.attributes {
        if matches!(key.as_ref(), "dev" | "net") {
            b.arena.set(net, &key, value);
        } else {
            b.arena.init(net, &key, value);
        }
    }
    true
}

/// The Data Direct function by which NCCL lists a device.
fn direct(b: &mut Build<'_, '_>, d: &RdmaDevice) -> Option<FnId> {
    let own = d.pci.and_then(|p| b.node.pci.find(p))?;
    match b.node.pci.data_path(own) {
        DataPath::Direct(f) => Some(f),
        DataPath::Own => None,
        DataPath::Unknown => {
            b.unknown.of("its Data Direct function, by which NCCL lists it as NAME_dma (no Vital Product Data): it is listed as itself", &d.name);
            None
        }
    }
}

/// The `<pci>` of a device, or the first CPU for what has no PCI function.
fn parent(b: &mut Build<'_, '_>, d: &RdmaDevice) -> Option<Id> {
    let Some(own) = d.pci else {
        if !d.is_software() {
            return None;
        }
        b.assumed.of("a software device; NCCL puts it below the first CPU if its user library is installed", &d.name);
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
                "below the first CPU, where NCCL puts devices that it does not find: function 0 of the card does not exist",
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
            b.assumed.of("GUID: of the device, because the card's is not known", &d.name);
            g
        }
        (None, None) => return None,
    };
    let digits: String = text.trim().trim_start_matches("0x").chars().filter(|c| *c != ':').collect();
    let number = u64::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 16)?;
    Some(number.swap_bytes())
}

/// Whether a NIC can register GPU memory: through a peer-memory module, or as a DMA-BUF, which the open driver exports.
fn gdr(b: &mut Build<'_, '_>, device: &RdmaDevice) -> Option<bool> {
    if let Some(told) = b.options.nic_gdr {
        return Some(told);
    }
    let node = b.node;
    if device.purpose == Purpose::Efa {
        b.unknown.of(
            "GPUDirect RDMA: an EFA device is used through the aws-ofi-nccl plugin and libfabric, which decide; NCCL's own network takes InfiniBand \
             and Ethernet only",
            &device.name,
        );
        return None;
    }
    let peermem = &node.peermem;
    if peermem.client("nv_mem").or(peermem.client("nv_mem_nc")).is_some()
        || peermem.nvidia_peermem.version.known().is_some()
    {
        return Some(true);
    }
    let flavour = node.nvidia.driver.flavour.known();
    let absent =
        peermem.nvidia_peermem.loaded.is_absent() && (peermem.clients.is_absent() || peermem.clients.known().is_some());
    let function = device.pci.and_then(|p| node.pci.find(p)).map(|f| node.pci.get(f));
    let support = function.and_then(|f| dmabuf::of(node, f));
    let mlx4 = device.name.starts_with("mlx4_");
    let lacks = |b: &mut Build<'_, '_>, lack| {
        b.lack = Some(lack);
        Some(false)
    };
    match (flavour, support) {
        (Some(Flavour::Open), Some(Support::Yes)) => {
            b.assumed.say("GPUDirect RDMA of NICs: by DMA-BUF, because the GPU driver is the open one and the NIC driver accepts DMA-BUFs on this kernel");
            Some(true)
        }
        (Some(Flavour::Open), Some(Support::Since(..) | Support::KernelWithout(_))) if absent => lacks(b, Lack::Kernel),
        (Some(Flavour::Open), Some(Support::Never)) if absent => lacks(b, Lack::NicDriver),
        (Some(Flavour::Open), None) if mlx4 && absent => lacks(b, Lack::NicDriver),
        (Some(Flavour::Proprietary), _) if absent => lacks(b, Lack::ProprietaryDriver),
        (flavour, support) => {
            b.unknown.of(&undecided(flavour.is_some(), absent, support), &device.name);
            None
        }
    }
}

/// Why it is open whether a NIC can register GPU memory.
fn undecided(flavour: bool, absent: bool, support: Option<Support>) -> String {
    let why = match support {
        _ if !flavour && !absent => "neither a peer-memory module nor the kind of the GPU driver is known".to_owned(),
        _ if !flavour => "without a peer-memory module the GPU driver decides, and its kind is not known".to_owned(),
        _ if !absent => "the peer-memory modules are not known".to_owned(),
        Some(Support::Backport(major, minor)) => format!(
            "its driver registers DMA-BUFs since Linux {major}.{minor}; this kernel is older, and may have the driver of a newer one"
        ),
        Some(Support::UnknownDriver) => "whether its driver registers DMA-BUFs is not known to linerate".to_owned(),
        _ => "its driver or the kernel's release is not known".to_owned(),
    };
    format!("whether it can register GPU memory: {why}")
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

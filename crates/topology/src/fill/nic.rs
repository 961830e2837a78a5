//! Network devices: the plugin's, in its order.

use super::Assumptions;
use crate::error::Error;
use crate::open::Open;
use crate::system::MAX_NODES;
use crate::tree::{Tag, Tree};
use crate::xml::name;

/// The `<net>` elements of the plugin's devices, in its order: the place is the number.
pub(super) fn fill(
    tree: &mut Tree,
    assume: &Assumptions,
    assumed: &mut Vec<String>,
    open: &mut Vec<Open>,
) -> Result<Vec<u32>, Error> {
    let mut nets: Vec<u32> = tree.all(Tag::Net).collect();
    let made = nets.is_empty();
    if made {
        nets = from_functions(tree, assume, assumed);
    }
    if nets.len() > MAX_NODES {
        return Err(Error::TooMany { what: "NET", limit: MAX_NODES });
    }
    // NCCL finds an element by its device's name: the first of a name is the device.
    let mut seen: Vec<String> = Vec::new();
    nets.retain(|n| match tree.get(*n, "name") {
        None => true,
        Some(name) if seen.iter().any(|s| s == name) => false,
        Some(name) => {
            seen.push(name.to_owned());
            true
        }
    });
    nets.sort_by_key(|n| tree.get(*n, "dev").map_or(i64::MAX, |_| tree.long(*n, "dev")));
    // Devices that NCCL has fused keep their numbers: those of their parts are not here any more.
    let numbered = nets.iter().any(|n| super::vnic::fused_already(tree, *n));
    let (mut speeds, mut gdr) = (0, 0);
    for (dev, net) in nets.iter().enumerate() {
        if let Some(n) = tree.nodes.get_mut(*net as usize) {
            n.keep = true;
        }
        if !(numbered && tree.get(*net, "dev").is_some()) {
            tree.set(*net, "dev", dev.to_string());
        }
        tree.init(*net, "latency", "0");
        speeds += usize::from(tree.init(*net, "speed", assume.nic_speed.to_string()));
        tree.init(*net, "port", "1");
        tree.init(*net, "guid", "0x0");
        tree.init(*net, "maxconn", "131072");
        gdr += usize::from(tree.init(*net, "gdr", u8::from(assume.gdr).to_string()));
        tree.set(*net, "net", "1");
    }
    open.extend((made && !nets.is_empty()).then_some(Open::NicPorts));
    open.extend((speeds > 0).then_some(Open::NicSpeed));
    open.extend((gdr > 0).then_some(Open::Gdr));
    if !made && speeds > 0 {
        assumed.push(format!("{speeds} NICs without a speed: {} Mb/s", assume.nic_speed));
    }
    if !made && gdr > 0 {
        let can = if assume.gdr { "can" } else { "cannot" };
        assumed.push(format!("{gdr} NICs of which the document does not say it {can} do GPUDirect RDMA"));
    }
    Ok(nets)
}

/// A document without any: its functions of class 0x02 are the devices, in its order.
fn from_functions(tree: &mut Tree, assume: &Assumptions, assumed: &mut Vec<String>) -> Vec<u32> {
    let nic = |p: &u32| tree.get(*p, "class").is_some_and(|c| c.starts_with("0x02"));
    let functions: Vec<u32> = tree.all(Tag::Pci).filter(nic).collect();
    let mut nets = Vec::with_capacity(functions.len());
    for (i, pci) in functions.iter().copied().enumerate() {
        tree.init(pci, "link_speed", "");
        tree.init(pci, "link_width", "");
        let nic = tree.child(pci, Tag::Nic).unwrap_or_else(|| tree.make(Tag::Nic, pci, Vec::new()));
        let guid = (name("guid"), format!("{:#x}", 0x1000 + i));
        nets.push(tree.make(Tag::Net, nic, vec![(name("name"), format!("{}{i}", assume.nic_prefix)), guid]));
    }
    if !nets.is_empty() {
        assumed.push(format!(
            "NICs (class 0x02): {}0 to {} in document order, {} Mb/s, {}",
            assume.nic_prefix,
            nets.len() - 1,
            assume.nic_speed,
            if assume.gdr { "with GPUDirect RDMA" } else { "without GPUDirect RDMA" },
        ));
    }
    nets
}

//! GPUs, NICs, links, ports, modules.

use super::{Facts, counted, known};
use crate::compare::Weight::{Possible, Slight, Strong};
use linerate_formats::pci::caps::AcsBits;
use linerate_node::Node;
use linerate_node::pci::{Kind, PciFunction};

pub(super) fn facts(node: &Node<'_>, facts: &mut Facts) {
    let nvidia = &node.nvidia;
    let models = nvidia.gpus.iter().filter_map(|g| known(&g.name));
    facts.add("GPUs", Strong, "what is measured runs on them", counted(models));
    facts.add("NVIDIA driver", Possible, "memory registration and NVLink come with it", known(&nvidia.driver.version));
    links(node, facts);
    ports(node, facts);
    let peermem = &node.peermem;
    let loaded = [("nvidia_peermem", &peermem.nvidia_peermem), ("nv_peer_mem", &peermem.nv_peer_mem)];
    for (name, module) in loaded {
        let state = match (module.loaded.known().is_some(), module.loaded.is_absent()) {
            (true, _) => Some("loaded"),
            (_, true) => Some("not loaded"),
            _ => None,
        };
        facts.add(name, Strong, "without it, and without DMA-BUF, GPUDirect RDMA is off", state);
    }
    for nic in &node.nic_firmware {
        for p in &nic.config.params {
            // What runs; where the query shows only what comes after a reset, that.
            let Some(value) = p.current.as_ref().or(p.next.as_ref()) else { continue };
            let name = format!("NIC setting {}", p.name);
            let mut all: Vec<String> =
                facts.list.get(&name).map(|f| f.value.split(" | ").map(str::to_owned).collect()).unwrap_or_default();
            if !all.contains(&value.raw.to_string()) {
                all.push(value.raw.to_string());
                all.sort();
            }
            facts.add(name, Possible, "a setting of the NIC's firmware", Some(all.join(" | ")));
        }
    }
}

fn links(node: &Node<'_>, facts: &mut Facts) {
    for (kind, name) in [(Kind::Gpu, "PCIe links of GPUs"), (Kind::RdmaNic, "PCIe links of RDMA NICs")] {
        let all = node.pci.of_kind(kind).filter(|(_, f)| !f.is_vf()).filter_map(|(_, f)| link(f));
        facts.add(name, Strong, "a link at half speed halves what goes through it", counted(all));
    }
    let ports: Vec<AcsBits> = node.pci.iter().filter_map(|(_, f)| f.acs.known()?.control).collect();
    let redirecting = ports.iter().filter(|c| c.0 & AcsBits::REDIRECT != 0).count();
    let acs = (!ports.is_empty()).then(|| format!("{redirecting} of {} ports redirect", ports.len()));
    facts.add("ACS", Strong, "redirected peer traffic goes through the root complex", acs);
}

fn link(f: &PciFunction<'_>) -> Option<String> {
    Some(format!("{} {}", known(&f.link.speed)?, known(&f.link.width)?))
}

fn ports(node: &Node<'_>, facts: &mut Facts) {
    let devices = node.rdma.known().into_iter().flatten();
    let hardware: Vec<_> = devices.filter(|d| !d.is_virtual).collect();
    let of = |each: &dyn Fn(&linerate_node::rdma::RdmaDevice) -> Option<String>| {
        counted(hardware.iter().filter_map(|d| each(d)))
    };
    facts.add("RDMA NICs", Strong, "what is measured goes through them", of(&|d| known(&d.hca_type)));
    facts.add(
        "NIC firmware",
        Possible,
        "congestion control and PCIe behaviour come with it",
        of(&|d| known(&d.firmware)),
    );
    let all = |each: &dyn Fn(&linerate_node::rdma::RdmaPort) -> Option<String>| {
        counted(hardware.iter().flat_map(|d| &d.ports).filter_map(each))
    };
    facts.add(
        "RDMA port rates",
        Strong,
        "the ceiling itself",
        all(&|p| p.rate_gbps.known().map(|r| format!("{r} Gb/s"))),
    );
    facts.add("RDMA port MTU", Strong, "headers take their share of each packet", all(&|p| known(&p.active_mtu)));
    let layer = all(&|p| p.link_layer.known().map(|l| format!("{l:?}")));
    facts.add("RDMA link layer", Strong, "another network", layer);
    facts.add(
        "RDMA port states",
        Strong,
        "a port that is down carries nothing",
        all(&|p| p.state.known().map(|s| format!("{s:?}"))),
    );
    let of_nics =
        node.net.known().into_iter().flatten().filter(|n| hardware.iter().any(|d| d.pci.is_some() && d.pci == n.pci));
    let mtu = counted(of_nics.filter_map(|n| known(&n.mtu)));
    facts.add("MTU of NICs' interfaces", Possible, "RoCE packets must fit", mtu);
    facts.add(
        "NCCL configuration file",
        Slight,
        "what NCCL is told on this node",
        node.nccl.conf.known().map(|c| digest(c)),
    );
}

/// Enough of a text to tell whether two are the same, and no more: it may hold what nobody should copy around.
fn digest(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    let hash = Sha256::digest(bytes);
    format!("{} bytes, SHA-256 {:02x}{:02x}{:02x}{:02x}", bytes.len(), hash[0], hash[1], hash[2], hash[3])
}

//! GPUDirect P2P cliques: which GPUs the guest's driver may let write to each other over PCIe.
//!
//! QEMU gives a GPU a capability with a number (`x-nv-gpudirect-clique`, 0 to 15; hw/vfio/pci-quirks.c), and NVIDIA's driver in the guest takes GPUs of one number for peers. It does not look at
//! the ports above them. On GPUs that do not support it, copies hang or give wrong data (NVIDIA/nccl#2335), so only those are taken for which it is documented
//! (QEMU names NVIDIA's specification for Turing and later; cloud-hypervisor#6235: data-centre GPUs of Turing, Ampere, Hopper and Lovelace).

use crate::Refusal;
use crate::host::Root;
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_node::pci::{FnId, Kind};
use serde::Serialize;

/// A GPU and its clique.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Member {
    /// The host's function.
    pub host: Bdf,
    /// Number of the clique.
    pub id: u8,
}

/// QEMU's name of the property.
pub const PROPERTY: &str = "x-nv-gpudirect-clique";
/// Numbers that QEMU takes.
const IDS: usize = 16;
/// Architectures for which it is documented.
const DOCUMENTED: &[&str] = &["Turing", "Ampere", "Hopper", "Ada Lovelace"];

/// The cliques of these roots: GPUs below one root port are in one, since their data need not leave a switch.
///
/// # Errors
/// A GPU that does not support it, or more cliques than there are numbers.
pub(crate) fn cliques(node: &Node<'_>, roots: &[Root]) -> Result<Vec<Member>, Refusal> {
    let (mut out, mut count) = (Vec::new(), 0);
    for port in roots.iter().flat_map(|r| &r.ports) {
        let mut gpus = port.all_functions();
        gpus.retain(|id| node.pci.get(*id).kind.is_gpu());
        let id = u8::try_from(count).ok().filter(|_| count < IDS);
        count += usize::from(!gpus.is_empty());
        for gpu in gpus {
            let host = node.pci.get(gpu).bdf;
            if let Some(why) = unfit(node, gpu) {
                return Err(Refusal::Clique { bdf: host, why });
            }
            out.push(Member { host, id: id.ok_or(Refusal::Cliques(IDS))? });
        }
    }
    out.sort_by_key(|m| m.host);
    Ok(out)
}

/// Why a GPU cannot be in a clique.
#[must_use]
pub fn unfit(node: &Node<'_>, gpu: FnId) -> Option<String> {
    let f = node.pci.get(gpu);
    if f.kind != Kind::Gpu {
        return Some("it is not NVIDIA's".to_owned());
    }
    let named = node.nvidia.gpu(f.bdf).and_then(|g| g.name.known()).map_or(f.name.as_str(), String::as_str);
    if ["GeForce", "TITAN"].iter().any(|w| named.contains(w)) {
        return Some(format!("{named} is not a data-centre GPU"));
    }
    // Boards with display outputs are VGA controllers; those for data centres are 3D controllers.
    match f.class.known() {
        Some(class) if class.sub() == 0x0302 => {}
        Some(_) => return Some("it has display outputs (class VGA), so it is not a data-centre GPU".to_owned()),
        None => return Some("its class is not in the snapshot".to_owned()),
    }
    let known = node.context.devices.gpus.iter().find(|(bdf, _)| *bdf == f.bdf).and_then(|(_, a)| a.value);
    match known {
        Some(name) if DOCUMENTED.contains(&name) => None,
        Some(name) => Some(format!("its architecture is {name}; cliques are documented for {}", DOCUMENTED.join(", "))),
        None => Some("its architecture is not known: collect `nvidia-smi -q`".to_owned()),
    }
}

//! Which GPUs of an NVSwitch fabric can be in one guest: the fabric manager's partitions.

use crate::Refusal;
use linerate_formats::fabric_partitions::{Gpu, Partition};
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use std::collections::BTreeSet;

/// What is known of the fabric's partitions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Fabric {
    /// Nothing: a part of GPUs that NVSwitches join is refused.
    #[default]
    Unknown,
    /// Somebody looked: the chosen GPUs are a partition.
    Said,
    /// The fabric manager's list.
    Listed(Vec<Partition>),
}

impl Fabric {
    /// Whether these GPUs are one partition, all of it. Without a list there is nothing to hold them against.
    ///
    /// # Errors
    /// They are not, with those that are; or a GPU of the list is not found on the host.
    pub(crate) fn holds(&self, node: &Node<'_>, gpus: &BTreeSet<Bdf>) -> Result<(), Refusal> {
        let Fabric::Listed(list) = self else { return Ok(()) };
        let mut possible = Vec::new();
        for partition in list {
            let of: Result<BTreeSet<Bdf>, Refusal> =
                partition.gpus.iter().map(|g| find(node, g).ok_or_else(|| unknown(partition, g))).collect();
            possible.push((partition.id, of?));
        }
        if possible.iter().any(|(_, of)| of == gpus) {
            return Ok(());
        }
        let possible = possible.into_iter().map(|(id, of)| (id, of.into_iter().collect())).collect();
        Err(Refusal::Partition { gpus: gpus.iter().copied().collect(), possible })
    }
}

fn unknown(partition: &Partition, g: &Gpu) -> Refusal {
    Refusal::Module { partition: partition.id, module: g.module }
}

/// A GPU of the list on the host: by its module, which always holds, else by its UUID or address. The fabric manager may run in a virtual machine with addresses of its own: one that
/// is no GPU of the host counts for nothing.
fn find(node: &Node<'_>, g: &Gpu) -> Option<Bdf> {
    let by_module = node.nvidia.gpus.iter().filter(|n| n.module_id.known() == Some(&g.module));
    if let [one] = by_module.collect::<Vec<_>>().as_slice() {
        return Some(one.bdf);
    }
    let by_uuid = node.nvidia.gpus.iter().find(|n| g.uuid.is_some() && n.uuid.known() == g.uuid.as_ref());
    by_uuid.map(|n| n.bdf).or(g.bdf).filter(|b| node.pci.gpus().any(|(_, f)| f.bdf == *b))
}

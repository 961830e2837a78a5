//! Which NICs serve which GPU: the nearest ones by PCIe path. Computed once, because many rules ask.

use crate::pci::{Distance, FnId, PciTree, WayUp};

/// A GPU and the NICs nearest to it.
#[derive(Debug, Clone)]
pub struct Rail {
    /// The GPU.
    pub gpu: FnId,
    /// How far its nearest NICs are; `Unknown` where the source does not tell, or where there is no NIC.
    pub distance: Distance,
    /// Number of bridges between.
    pub bridges: usize,
    /// The nearest NICs. Virtual functions only where no physical one is among the NICs of the node.
    pub nics: Vec<FnId>,
}

impl Rail {
    /// GPU and NICs are below one PCIe switch.
    #[must_use]
    pub fn shares_switch(&self) -> bool {
        matches!(self.distance, Distance::Pix | Distance::Pxb)
    }
}

/// RDMA NICs that can serve a GPU: physical functions, or virtual ones where there are no others.
#[must_use]
pub fn candidates(pci: &PciTree<'_>) -> Vec<FnId> {
    let nics: Vec<FnId> = pci.rdma_nics().filter(|(_, f)| !f.is_vf()).map(|(id, _)| id).collect();
    if nics.is_empty() { pci.rdma_nics().map(|(id, _)| id).collect() } else { nics }
}

/// One rail for each GPU. Empty where there is no GPU or no NIC.
pub(crate) fn rails(pci: &PciTree<'_>) -> Vec<Rail> {
    let nics = candidates(pci);
    if nics.is_empty() || pci.gpus().next().is_none() {
        return Vec::new();
    }
    all(pci, &nics)
}

/// For each GPU the nearest of these NICs.
#[must_use]
pub fn all(pci: &PciTree<'_>, nics: &[FnId]) -> Vec<Rail> {
    let ways = ways(pci, nics);
    pci.gpus().map(|(gpu, _)| nearest_way(pci, gpu, &ways)).collect()
}

/// The nearest of these NICs to a GPU.
#[must_use]
pub fn nearest(pci: &PciTree<'_>, gpu: FnId, nics: &[FnId]) -> Rail {
    nearest_way(pci, gpu, &ways(pci, nics))
}

fn ways(pci: &PciTree<'_>, nics: &[FnId]) -> Vec<WayUp> {
    nics.iter().map(|nic| pci.way_up(*nic)).collect()
}

fn nearest_way(pci: &PciTree<'_>, gpu: FnId, nics: &[WayUp]) -> Rail {
    let mut best = (Distance::Unknown, usize::MAX);
    let mut near = Vec::new();
    let from = pci.way_up(gpu);
    for nic in nics {
        let at = pci.distance(&from, nic);
        if at < best {
            best = at;
            near.clear();
        }
        if at == best {
            near.push(nic.of);
        }
    }
    Rail { gpu, distance: best.0, bridges: best.1, nics: near }
}

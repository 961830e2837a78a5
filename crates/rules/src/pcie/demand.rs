//! RDMA traffic between GPUs and their NICs that passes a link between switches.

use super::links::{self, Uplink};
use super::nic_fits_port::active_ports;
use crate::Cx;
use linerate_formats::units::{GBps, Gbps};
use linerate_node::pci::{FnId, Kind};
use linerate_snapshot::Place;

/// What NICs and GPUs on different sides of a link send through it, one direction.
pub(super) struct Demand {
    /// All of it.
    pub(super) total: GBps,
    /// The share of one NIC, the largest.
    pub(super) largest: GBps,
    /// NICs that take part.
    pub(super) nics: Vec<FnId>,
    /// Rates of their ports.
    pub(super) rates: Vec<Place>,
}

/// Each NIC's active rate, times the share of its GPUs that are on the other side of the link. A NIC that is nearest to no GPU
/// counts nothing, and so does one whose ports are not seen: this is a lower bound.
pub(super) fn through(cx: &Cx<'_>, uplink: &Uplink) -> Demand {
    let node = cx.node;
    let mut out = Demand { total: GBps(0.0), largest: GBps(0.0), nics: Vec::new(), rates: Vec::new() };
    for (id, nic) in links::ends(cx).into_iter().filter(|(_, f)| f.kind == Kind::RdmaNic) {
        let same = |other: &FnId| links::same_device(node.pci.get(*other), nic);
        let rails = || node.rails.iter().filter(|r| r.nics.iter().any(same));
        // Where a GPU is below one switch with the NIC, NCCL lets the others send to it over NVLink (PXN), if there is any.
        let near = rails().any(|r| r.shares_switch());
        let served: Vec<FnId> = rails().filter(|r| r.shares_switch() || !near).map(|r| r.gpu).collect();
        let side = uplink.below.contains(&id);
        let across = served.iter().filter(|g| uplink.below.contains(g) != side).count();
        if across == 0 {
            continue;
        }
        let Some(rates) = active_ports(cx, nic).filter(|r| !r.is_empty()) else { continue };
        let rate: f64 = rates.iter().map(|(r, _)| r).sum();
        let share = GBps::from(Gbps(rate)).0 * across as f64 / served.len() as f64;
        out.total.0 += share;
        out.largest.0 = out.largest.0.max(share);
        out.nics.push(id);
        out.rates.extend(rates.iter().map(|(_, p)| *p));
    }
    out
}

//! Peer-to-peer ways between GPUs and NICs below a common bridge, port by port.

use crate::pci::{FnId, Kind, PciFunction, PciTree};

/// A bridge that peer-to-peer TLPs of two functions pass, strictly between one of them and their common bridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortOnPath {
    /// The bridge.
    pub port: FnId,
    /// The two ends of the first pair whose way leads through it: the one that is below it, and the other.
    pub below: FnId,
    /// The other end of that pair.
    pub peer: FnId,
    /// How many pairs there are in all.
    pub pairs: u32,
}

impl PciTree<'_> {
    /// Ports of PCIe switches that peer-to-peer TLPs between GPUs and RDMA NICs pass when the two are below one bridge: the ACS
    /// audit set. Sorted by address, each once.
    #[must_use]
    pub fn p2p_ports(&self) -> Vec<PortOnPath> {
        self.ports_between(|f| f.kind.is_gpu(), |f| matches!(f.kind, Kind::RdmaNic | Kind::DataDirect))
    }

    /// The same between two sets of functions; virtual functions stand where their physical one does.
    #[must_use]
    pub fn ports_between(
        &self,
        one: impl Fn(&PciFunction<'_>) -> bool,
        other: impl Fn(&PciFunction<'_>) -> bool,
    ) -> Vec<PortOnPath> {
        let with_ancestors = |pick: &dyn Fn(&PciFunction<'_>) -> bool| -> Vec<(FnId, Vec<FnId>)> {
            self.iter().filter(|(_, f)| pick(f)).map(|(id, _)| (id, self.ancestors(id).0)).collect()
        };
        let (ones, others) = (with_ancestors(&one), with_ancestors(&other));
        let mut out: Vec<PortOnPath> = Vec::new();
        let mut add = |port: FnId, below: FnId, peer: FnId| match out.iter_mut().find(|p| p.port == port) {
            Some(p) => p.pairs += 1,
            None => out.push(PortOnPath { port, below, peer, pairs: 1 }),
        };
        for (a, up_a) in &ones {
            for (b, up_b) in others.iter().filter(|(b, _)| b != a) {
                let Some(common) = up_a.iter().find(|x| up_b.contains(x)) else { continue };
                up_a.iter().take_while(|x| *x != common).for_each(|p| add(*p, *a, *b));
                up_b.iter().take_while(|x| *x != common).for_each(|p| add(*p, *b, *a));
            }
        }
        out.sort_unstable_by_key(|p| p.port);
        out
    }
}

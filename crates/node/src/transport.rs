//! What RDMA devices are for, and what NCCL's built-in InfiniBand transport does with their ports: one place for topology, rules and
//! environment.

use crate::pci::{Kind, PciTree};
use crate::rdma::{LinkLayer, PortState, Purpose, RdmaDevice, RdmaPort};

/// What NCCL's built-in transport does with a port (`ncclIbInitDevices`, `transport/net_ib/init.cc`): it lists active ports whose link layer
/// is InfiniBand or Ethernet, and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltIn {
    /// Listed.
    Listed,
    /// Listed where `NCCL_IB_HCA` does not exclude it, though it leads to NVLink switches and to no other node.
    ListedInVain,
    /// Passed over: not active.
    NotActive,
    /// Passed over: the link layer is neither (EFA). A network plugin has to use it.
    NeedsPlugin,
    /// State or link layer are not known.
    Unknown,
}

impl RdmaDevice {
    /// What NCCL's built-in transport does with one of its ports.
    #[must_use]
    pub fn built_in(&self, port: &RdmaPort) -> BuiltIn {
        match (self.purpose, port.state.known(), port.link_layer.known()) {
            (Purpose::Efa, ..) | (_, _, Some(LinkLayer::Unspecified)) => BuiltIn::NeedsPlugin,
            (_, Some(s), _) if *s != PortState::Active => BuiltIn::NotActive,
            (Purpose::NvlinkManagement, ..) => BuiltIn::ListedInVain,
            (_, Some(_), Some(_)) => BuiltIn::Listed,
            _ => BuiltIn::Unknown,
        }
    }

    /// Whether its ports lead to other nodes through InfiniBand or Ethernet, so that what is known of such ports holds for them.
    #[must_use]
    pub fn is_network(&self) -> bool {
        self.purpose == Purpose::Network
    }
}

/// Tells devices apart, once their functions are known.
pub(crate) fn purposes(devices: &mut [RdmaDevice], pci: &PciTree<'_>) {
    for d in devices {
        let function = d.pci.and_then(|b| pci.find(b)).map(|id| pci.get(id));
        let unspecified = |p: &RdmaPort| p.link_layer.known() == Some(&LinkLayer::Unspecified);
        d.purpose = match function {
            Some(f) if f.kind == Kind::NvlinkBridge => Purpose::NvlinkManagement,
            Some(f) if f.kind == Kind::PerhapsNvlinkBridge => Purpose::PerhapsNvlinkManagement,
            Some(f) if f.is_efa() || f.driven_by("efa") => Purpose::Efa,
            None if !d.ports.is_empty() && d.ports.iter().all(unspecified) => Purpose::Efa,
            _ => Purpose::Network,
        };
    }
}

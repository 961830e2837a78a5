//! What a topology does not show and a ceiling needs: what the caller has seen elsewhere.

use super::link::Port;
use super::pcie::PcieLink;
use linerate_formats::pci::LinkSpeed;
use std::collections::BTreeMap;

/// What was seen outside the topology. Whatever is `None` or missing makes the result a range over what is possible.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Extra {
    /// Equal nodes of the job. `None` or 1: only what happens within the node.
    pub nodes: Option<u32>,
    /// What holds for ports that `ports` does not name.
    pub any_port: Port,
    /// Ports by the name of their NIC in the topology.
    pub ports: BTreeMap<String, Port>,
    /// PCIe functions by bus id in lower case, as `0000:c5:00.0`: of a switch, its upstream port.
    pub pcie: BTreeMap<String, PcieSeen>,
    /// Max Payload Size in force where `pcie` does not tell it.
    pub mps: Option<u32>,
    /// The topology is a guest's: the PCIe links that it has are the hypervisor's, and only those in `pcie` count.
    pub virtual_links: bool,
}

/// What was seen of a PCIe function: its link as it runs now, which a topology of NCCL's does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PcieSeen {
    /// Generation of the link now.
    pub speed: Option<LinkSpeed>,
    /// Lanes now.
    pub width: Option<u32>,
    /// Max Payload Size in force, in bytes.
    pub mps: Option<u32>,
    /// Bytes of the completions that it gets.
    pub completion: Option<u32>,
}

impl Extra {
    /// What is known of a port. `rate` is the topology's, in Gb/s.
    pub(crate) fn port(&self, name: Option<&str>, rate: Option<f64>) -> Port {
        let own = name.and_then(|n| self.ports.get(n)).copied().unwrap_or_default();
        let any = self.any_port;
        Port {
            rate: own.rate.or(any.rate).or(rate),
            infiniband: own.infiniband.or(any.infiniband),
            protocol: own.protocol.or(if own.infiniband.is_some() { None } else { any.protocol }),
            mtu: own.mtu.or(any.mtu),
            vlan: own.vlan || any.vlan,
        }
    }

    /// What is known of a link, given what the topology has of it.
    pub(crate) fn link(&self, busid: &str, speed: Option<LinkSpeed>, width: Option<u32>) -> Option<PcieLink> {
        let seen = self.pcie.get(busid).copied().unwrap_or_default();
        let (speed, width) = if self.virtual_links { (None, None) } else { (speed, width) };
        Some(PcieLink {
            speed: seen.speed.or(speed)?,
            width: seen.width.or(width).filter(|w| (1..=32).contains(w))?,
            mps: seen.mps.or(self.mps),
            completion: seen.completion,
        })
    }
}

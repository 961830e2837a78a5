//! What rules speak of, by position.

use crate::Whose;
use linerate_facts::Subject;
use linerate_facts::position::Positions;
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_rules::Subject as Of;

/// Whose the subject of a verdict is, and what of it; of the node itself, the subject in words.
#[must_use]
pub fn about(positions: &Positions, node: &Node<'_>, subject: &Of) -> (Whose, String) {
    let device = |i: Option<usize>, part: &str| match i {
        Some(i) => (Whose::Device(i), part.to_owned()),
        None => (Whose::Node, subject.to_string()),
    };
    let rdma = |name: &str| {
        let found = node.rdma.known()?.iter().find(|d| d.name == name)?;
        positions.find(&Subject::RdmaDevice(found))
    };
    match subject {
        Of::Pci(bdf) => device(positions.at(*bdf), ""),
        Of::RdmaPort(name, port) => device(rdma(name), &format!("port {port}")),
        Of::NicFirmware(name, setting) => {
            let bdf = name.parse::<Bdf>().ok().filter(|b| b.to_string() == *name);
            let firmware = node.nic_firmware.iter().find(|n| n.name == *name || bdf.is_some() && n.bdf == bdf);
            device(firmware.and_then(|n| positions.find(&Subject::NicFirmware(n))), setting)
        }
        Of::Net(name) => {
            let found = node.net.known().and_then(|all| all.iter().find(|n| n.name == *name));
            device(found.and_then(|n| positions.at(n.pci?)), "")
        }
        Of::Named(name) => device(rdma(name).or_else(|| positions.at(name.parse().ok()?)), ""),
        Of::Node | Of::KernelArg(_) | Of::Module(_) => (Whose::Node, subject.to_string()),
    }
}

//! Templates of NVIDIA's NIC configuration operator (`NicConfigurationTemplate`, configuration.net.nvidia.com/v1alpha1), one for each kind of
//! card and set of settings. The operator sets, resets and reboots in its own order.

use super::pieces::{Piece, pieces};
use super::yaml::Y;
use super::{Export, Rest};
use crate::model::Plan;
use linerate_formats::pci::Bdf;
use std::collections::BTreeMap;

/// What the operator must be told of a NIC besides its settings. A template without them is refused by the operator, and a wrong number of
/// VFs or link type is set: neither is guessed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NicType {
    /// Its address.
    pub device: Bdf,
    /// PCI device id: `101d`, `1021`.
    pub device_id: u16,
    /// Link type of its ports, which the operator sets again.
    pub link_type: LinkType,
    /// Number of VFs that its firmware has now (`NUM_OF_VFS`, 0 without `SRIOV_EN`), which the operator sets again.
    pub num_vfs: u32,
}

/// Link type of ports, as the operator names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkType {
    /// Ethernet.
    Ethernet,
    /// InfiniBand.
    Infiniband,
}

/// The firmware settings of the plan as templates. `nics`: those of the node whose type is known.
#[must_use]
pub fn nicconfig(plan: &Plan, nics: &[NicType]) -> Export {
    let mut rest = Rest::of(plan);
    let mut cards: BTreeMap<Bdf, Vec<(String, String)>> = BTreeMap::new();
    for (step, piece) in pieces(plan) {
        let Piece::NicFirmware { device, parameter, value } = piece else {
            rest.leave(&step.id, piece.what(), "it is not a setting of NIC firmware");
            continue;
        };
        match device.parse::<Bdf>().ok().filter(|b| nics.iter().any(|n| n.device == *b)) {
            Some(bdf) => cards.entry(bdf).or_default().push((parameter.to_owned(), value.to_owned())),
            None => rest.leave(
                &step.id,
                piece.what(),
                "the operator needs the NIC's type, link type and number of VFs, and the source does not show them all",
            ),
        }
    }
    type Key = (u16, LinkType, u32, Vec<(String, String)>);
    let mut alike: BTreeMap<Key, Vec<Bdf>> = BTreeMap::new();
    for (bdf, settings) in cards {
        if let Some(n) = nics.iter().find(|n| n.device == bdf) {
            alike.entry((n.device_id, n.link_type, n.num_vfs, settings)).or_default().push(bdf);
        }
    }
    let host = plan.node.host.as_deref().filter(|h| host_name(h));
    let mut text = rest.head(plan, "NIC configuration operator. Only one template may match a device: remove, or merge with, those that are there.");
    for (n, ((id, link, vfs, settings), devices)) in alike.iter().enumerate() {
        text.push_str("---\n");
        if host.is_none() {
            text.push_str("# No nodeSelector: the plan does not name its node. Without one, this is for all nodes with such cards at these addresses.\n");
        }
        text.push_str(&template(n, host, *id, *link, *vfs, settings, devices).document());
    }
    rest.done(text)
}

fn template(
    n: usize,
    host: Option<&str>,
    id: u16,
    link: LinkType,
    vfs: u32,
    settings: &[(String, String)],
    devices: &[Bdf],
) -> Y {
    let raw = settings.iter().map(|(name, value)| Y::map([("name", Y::str(name)), ("value", Y::str(value))]));
    let addresses: Vec<String> = devices.iter().map(ToString::to_string).collect();
    let mut spec = Vec::new();
    if let Some(host) = host {
        spec.push(("nodeSelector".to_owned(), Y::map([("kubernetes.io/hostname", Y::str(host))])));
    }
    let selector = Y::map([("nicType", Y::str(format!("{id:04x}"))), ("pciAddresses", Y::strings(&addresses))]);
    spec.push(("nicSelector".into(), selector));
    spec.push(("resetToDefault".into(), Y::Bool(false)));
    let link = match link {
        LinkType::Ethernet => "Ethernet",
        LinkType::Infiniband => "Infiniband",
    };
    spec.push((
        "template".into(),
        Y::map([
            ("numVfs", Y::Num(i64::from(vfs))),
            ("linkType", Y::str(link)),
            ("rawNvConfig", Y::List(raw.collect())),
        ]),
    ));
    let name = host.map_or_else(|| format!("linerate-{n}"), |h| format!("linerate-{h}-{n}"));
    Y::map([
        ("apiVersion", Y::str("configuration.net.nvidia.com/v1alpha1")),
        ("kind", Y::str("NicConfigurationTemplate")),
        ("metadata", Y::map([("name", Y::str(name)), ("namespace", Y::str("nvidia-network-operator"))])),
        ("spec", Y::Map(spec)),
    ])
}

/// A name that Kubernetes takes for a node.
fn host_name(host: &str) -> bool {
    let part = |p: &str| {
        !p.is_empty()
            && !p.starts_with('-')
            && !p.ends_with('-')
            && p.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    host.len() <= 63 && host.split('.').all(part)
}

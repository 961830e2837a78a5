//! Topology files from elsewhere: a dump of the host that the guest is to have, and a file that somebody wrote for the guest.

use crate::guest::{Guest, What};
use crate::nccl::{addresses, devices, is_device};
use crate::pairs::list;
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_node::pci::DataPath;
use linerate_topology::Document;
use linerate_topology::xml::Element;
use std::collections::BTreeSet;

/// Why a file does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Foreign {
    /// An id that is no address.
    #[error("line {line}: busid=\"{id}\" is not a PCI address: write it as 0000:3b:00.0")]
    NoAddress {
        /// As it is written, cut at 40 characters.
        id: String,
        /// 1-based.
        line: u32,
    },
    /// An id that is there twice.
    #[error("line {line}: {id} is in the file twice, and NCCL takes the first: remove one")]
    Twice {
        /// The id.
        id: Bdf,
        /// 1-based.
        line: u32,
    },
    /// A dump of another host.
    #[error("the dump has {} that the host does not have: give the dump of this host (NCCL_TOPO_DUMP_FILE), or the snapshot of the host that it is of", list(.0))]
    NotOnHost(Vec<Bdf>),
    /// A dump without any device of the guest.
    #[error("none of the GPUs and NICs in the dump is in the guest, which has {}: give the dump of its host", if .0.is_empty() { "no device of a host".to_owned() } else { list(.0) })]
    NoneOfIt(Vec<Bdf>),
    /// A file with devices that the guest does not have.
    #[error("the file has {} that the guest does not have: NCCL would not find them; the guest has {}", list(.absent), list(.has))]
    NotInGuest {
        /// Ids of the file.
        absent: Vec<Bdf>,
        /// GPUs and NICs of the host, by their addresses in the guest.
        has: Vec<Bdf>,
    },
}

/// What of a dump the guest has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dumped {
    /// GPUs and NICs of the dump that the guest does not have: they are dropped.
    pub dropped: Vec<Bdf>,
    /// Devices of the guest that are not in the dump: NCCL finds their places by itself.
    pub missing: Vec<Bdf>,
}

/// Holds a dump of the host against the host, where its snapshot is given, and against the guest.
///
/// # Errors
/// Ids that the host does not have; none that the guest has.
pub fn dump(document: &Document, host: Option<&Node<'_>>, guest: &Guest) -> Result<Dumped, Foreign> {
    let all = ids(document)?;
    if let Some(host) = host {
        let unknown: Vec<Bdf> = all.iter().map(|(bdf, _)| *bdf).filter(|b| host.pci.find(*b).is_none()).collect();
        if !unknown.is_empty() {
            return Err(Foreign::NotOnHost(unknown));
        }
    }
    // A NIC's functions are in the element of its first one.
    let slot = |b: Bdf| (b.domain, b.bus, b.device);
    let chosen: Vec<Bdf> = sources(guest).map(|(host, _)| host).collect();
    let devices: Vec<Bdf> = all.iter().filter(|(_, e)| is_device(e)).map(|(bdf, _)| *bdf).collect();
    let has = |among: &[Bdf], bdf: Bdf| among.iter().any(|b| slot(*b) == slot(bdf));
    if !devices.iter().any(|d| has(&chosen, *d)) {
        return Err(Foreign::NoneOfIt(chosen));
    }
    // A NIC whose data another function moves is in the dump as that one.
    let moves = |h: &Node<'_>, id| !h.pci.data_paths.iter().any(|(nic, path)| *nic == id && *path != DataPath::Own);
    let is_end = |bdf: Bdf| {
        let of = |h: &Node<'_>| h.pci.find(bdf).is_some_and(|id| h.pci.get(id).is_endpoint_of_path() && moves(h, id));
        host.is_none_or(of)
    };
    Ok(Dumped {
        dropped: devices.iter().copied().filter(|d| !has(&chosen, *d)).collect(),
        missing: chosen.iter().copied().filter(|c| !has(&devices, *c) && is_end(*c)).collect(),
    })
}

/// What of a file for the guest is worth a remark.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checked {
    /// Bridges that the guest does not have: NCCL takes them as they are, which is how a file shows a switch that the guest hides.
    pub invented: Vec<Bdf>,
    /// GPUs and NICs of the guest that are not in the file, by their addresses in the guest.
    pub missing: Vec<Bdf>,
}

/// Holds a file that somebody wrote for the guest against the guest. `kept` is the host's document of the guest's devices ([`crate::nccl::keep`]).
///
/// # Errors
/// Devices that the guest does not have; ids that are no addresses, or there twice.
pub fn check(document: &Document, kept: &Document, guest: &Guest) -> Result<Checked, Foreign> {
    let all = ids(document)?;
    let is_there = |bdf: Bdf| guest.functions.iter().any(|f| f.bdf == bdf);
    let is_bridge = |e: &Element| !is_device(e) && e.named("pci").next().is_some();
    let absent: Vec<Bdf> = all.iter().filter(|(b, e)| !is_bridge(e) && !is_there(*b)).map(|(b, _)| *b).collect();
    let map = addresses(guest);
    let known: Vec<Bdf> =
        devices(&kept.system).filter_map(|(d, _)| Some(map.get(&d.get("busid")?.parse().ok()?)?.1)).collect();
    if !absent.is_empty() {
        return Err(Foreign::NotInGuest { absent, has: known });
    }
    Ok(Checked {
        invented: all.iter().filter(|(b, e)| is_bridge(e) && !is_there(*b)).map(|(b, _)| *b).collect(),
        missing: known.into_iter().filter(|g| !all.iter().any(|(b, _)| b == g)).collect(),
    })
}

/// Devices of the host in the guest: on the host, in the guest.
fn sources(guest: &Guest) -> impl Iterator<Item = (Bdf, Bdf)> {
    guest.functions.iter().filter_map(|f| match f.what {
        What::Host(Some(host)) => Some((host, f.bdf)),
        _ => None,
    })
}

/// PCI elements by their ids, in the order of the document.
fn ids(document: &Document) -> Result<Vec<(Bdf, &Element)>, Foreign> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for e in document.system.all().filter(|e| e.name == "pci") {
        let id = e.get("busid").unwrap_or_default();
        let line = e.at.line;
        let bdf: Bdf = id.parse().map_err(|_| Foreign::NoAddress { id: id.chars().take(40).collect(), line })?;
        if !seen.insert(bdf) {
            return Err(Foreign::Twice { id: bdf, line });
        }
        out.push((bdf, e));
    }
    Ok(out)
}

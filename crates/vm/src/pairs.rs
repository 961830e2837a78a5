//! Which function of a guest is which of its host: by the domain, else by what both snapshots show of the same device.

use crate::guest::{Guest, What};
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_node::pci::{FnId, Kind, PciFunction};
use std::collections::BTreeMap;
use std::fmt;

/// A function of the host, and what it is in the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// On the host.
    pub host: Bdf,
    /// In the guest.
    pub guest: Bdf,
    /// What shows it.
    pub by: By,
}

/// What shows that two functions are one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// The domain gives it this address.
    Domain,
    /// UUID of a GPU.
    Uuid,
    /// Node GUID of an RDMA device.
    NodeGuid,
    /// Serial number in the configuration space.
    Serial,
    /// Serial number of the board, as nvidia-smi prints it.
    BoardSerial,
    /// Serial number in the Vital Product Data.
    VpdSerial,
    /// No other device of this kind is on the host, and no other in the guest.
    Only,
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            By::Domain => "address in the domain",
            By::Uuid => "GPU UUID",
            By::NodeGuid => "node GUID",
            By::Serial => "PCI serial number",
            By::BoardSerial => "board's serial number",
            By::VpdSerial => "serial number in its VPD",
            By::Only => "vendor and device id, of which each side has one",
        })
    }
}

/// Why the functions of a guest are not known to be those of a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unpaired {
    /// Two facts name two devices.
    #[error("{guest} of the guest is {} by its {}, and {} by its {}: give the domain and the snapshots of one time", .first.0, .first.1, .second.0, .second.1)]
    Contradiction {
        /// In the guest.
        guest: Bdf,
        /// A function of the host, and what shows it.
        first: (Bdf, By),
        /// Another one.
        second: (Bdf, By),
    },
    /// A device of the guest that this host does not have.
    #[error(
        "{guest} of the guest is not a device of this host: its {by} is that of no device here; give the snapshot of the host that it runs on"
    )]
    Foreign {
        /// In the guest.
        guest: Bdf,
        /// What was compared.
        by: By,
    },
    /// Several devices of the host can be it.
    #[error("{guest} of the guest is one of {}, and neither UUID, GUID nor serial number shows which: give the guest's domain (--domain), or collect both as root without redaction", list(.candidates))]
    Ambiguous {
        /// In the guest.
        guest: Bdf,
        /// On the host.
        candidates: Vec<Bdf>,
    },
    /// The guest does not have what the domain says.
    #[error(
        "the domain gives {host} of the host the address {guest}, and the guest's snapshot has {found} there: give the domain that the guest was started with (`virsh dumpxml`)"
    )]
    NotThere {
        /// On the host.
        host: Bdf,
        /// In the guest, as the domain is numbered.
        guest: Bdf,
        /// What is there.
        found: &'static str,
    },
    /// A device of the guest that its domain does not give it.
    #[error(
        "{0} of the guest is a GPU or NIC that the domain does not give it: give the domain that the guest was started with (`virsh dumpxml`)"
    )]
    NotInDomain(Bdf),
    /// Nothing of the host is in the guest.
    #[error(
        "no GPU and no RDMA NIC of the host is in the guest's snapshot: give the snapshot of a guest with devices passed through"
    )]
    Nothing,
}

/// Addresses as words.
pub(crate) fn list(all: &[Bdf]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Facts of one device that another one of its kind does not share.
type Marks = Vec<(By, String)>;

/// What a device shows of itself.
fn marks(node: &Node<'_>, f: &PciFunction<'_>) -> Marks {
    let gpu = node.nvidia.gpu(f.bdf);
    let said = |text: Option<&String>| text.filter(|t| !matches!(t.as_str(), "" | "0" | "N/A" | "[N/A]")).cloned();
    let device = node.rdma.known().into_iter().flatten().find(|d| d.pci == Some(f.bdf));
    let guid =
        device.and_then(|d| d.node_guid.known()).map(|g| g.trim_start_matches("0x").replace(':', "").to_lowercase());
    let all = [
        (By::Uuid, said(gpu.and_then(|g| g.uuid.known()))),
        (By::NodeGuid, guid.filter(|g| g.bytes().any(|b| b != b'0'))),
        (By::Serial, f.serial.known().map(|s| format!("{s:016x}"))),
        (By::BoardSerial, said(gpu.and_then(|g| g.serial.known()))),
        (By::VpdSerial, said(f.vpd.known().and_then(|v| v.serial.as_ref()))),
    ];
    all.into_iter().filter_map(|(by, text)| Some((by, text?))).collect()
}

/// A device of either side.
struct Device {
    bdf: Bdf,
    /// Vendor, device and subsystem ids, as far as they are seen.
    ids: (Option<u16>, Option<u16>, Option<(u16, u16)>),
    /// It must be known: NCCL's conclusions hang on it.
    must: bool,
    marks: Marks,
}

fn devices(node: &Node<'_>, comparable: bool) -> Vec<Device> {
    let of = |(_, f): (FnId, &PciFunction<'_>)| {
        let fabric = matches!(f.kind, Kind::NvSwitch | Kind::NvlinkBridge | Kind::PerhapsNvlinkBridge);
        (f.is_endpoint_of_path() || fabric).then(|| Device {
            bdf: f.bdf,
            ids: (f.vendor.known().copied(), f.device.known().copied(), f.subsystem.known().copied()),
            must: f.is_endpoint_of_path(),
            marks: if comparable { marks(node, f) } else { Vec::new() },
        })
    };
    node.pci.iter().filter_map(of).collect()
}

impl Device {
    /// Its value of one kind of mark.
    fn mark(&self, by: By) -> Option<&str> {
        self.marks.iter().find(|m| m.0 == by).map(|m| m.1.as_str())
    }

    /// Whether both can be one device: what both show is equal.
    fn may_be(&self, other: &Device) -> bool {
        fn same<T: PartialEq>(a: Option<T>, b: Option<T>) -> bool {
            a.is_none() || b.is_none() || a == b
        }
        same(self.ids.0, other.ids.0) && same(self.ids.1, other.ids.1) && same(self.ids.2, other.ids.2)
    }

    /// The first mark that both show and that differs.
    fn differs(&self, other: &Device) -> Option<By> {
        self.marks.iter().find(|(by, text)| other.mark(*by).is_some_and(|t| t != text)).map(|m| m.0)
    }
}

/// Marks in the order in which they count.
const MARKS: [By; 5] = [By::Uuid, By::NodeGuid, By::Serial, By::BoardSerial, By::VpdSerial];

/// The one device with a mark; none where several have it, as functions of one card have its serial number.
fn with<'a>(all: &'a [Device], by: By, text: &str) -> Option<&'a Device> {
    let mut found = all.iter().filter(|d| d.mark(by) == Some(text));
    found.next().filter(|_| found.next().is_none())
}

/// Pairs of a host and its guest, by what both show. `comparable`: neither is redacted, or both with one key.
///
/// # Errors
/// A GPU or NIC of the guest that is none of the host's, or that several can be. It is never guessed: a domain may hand devices out in any order.
pub fn by_marks(host: &Node<'_>, guest: &Node<'_>, comparable: bool) -> Result<Vec<Pair>, Unpaired> {
    let (host, guest) = (devices(host, comparable), devices(guest, comparable));
    let mut found: BTreeMap<Bdf, (Bdf, By)> = BTreeMap::new();
    for by in MARKS {
        for d in &guest {
            let Some(text) = d.mark(by) else { continue };
            let (Some(h), Some(_)) = (with(&host, by, text), with(&guest, by, text)) else { continue };
            match found.get(&d.bdf) {
                Some(first) if first.0 != h.bdf => {
                    return Err(Unpaired::Contradiction { guest: d.bdf, first: *first, second: (h.bdf, by) });
                }
                Some(_) => {}
                None if !h.may_be(d) => return Err(Unpaired::Foreign { guest: d.bdf, by }),
                None => {
                    found.insert(d.bdf, (h.bdf, by));
                }
            }
        }
    }
    for d in guest.iter().filter(|d| d.must) {
        if found.contains_key(&d.bdf) {
            continue;
        }
        let taken = |h: &Device| found.values().any(|(bdf, _)| *bdf == h.bdf);
        let alike: Vec<&Device> = host.iter().filter(|h| h.may_be(d) && !taken(h)).collect();
        let can_be: Vec<&Device> = alike.iter().copied().filter(|h| h.differs(d).is_none()).collect();
        let twins = guest.iter().filter(|g| !found.contains_key(&g.bdf) && g.may_be(d)).count();
        match can_be.as_slice() {
            [] => {
                let by = alike.iter().find_map(|h| h.differs(d)).unwrap_or(By::Only);
                return Err(Unpaired::Foreign { guest: d.bdf, by });
            }
            [one] if twins == 1 => {
                found.insert(d.bdf, (one.bdf, By::Only));
            }
            many => {
                let candidates = many.iter().map(|h| h.bdf).collect();
                return Err(Unpaired::Ambiguous { guest: d.bdf, candidates });
            }
        }
    }
    let mut out: Vec<Pair> = found.into_iter().map(|(guest, (host, by))| Pair { host, guest, by }).collect();
    out.sort_unstable();
    // Two of the guest's that are one of the host's: marks that somebody copied.
    if let Some((first, second)) = out.iter().zip(out.iter().skip(1)).find(|(a, b)| a.host == b.host) {
        return Err(Unpaired::Contradiction {
            guest: second.guest,
            first: (second.host, second.by),
            second: (first.host, first.by),
        });
    }
    if out.is_empty() { Err(Unpaired::Nothing) } else { Ok(out) }
}

/// Pairs as a domain gives them, held against the guest's snapshot.
///
/// # Errors
/// The guest has another device at a predicted address, none, or one more than the domain gives it.
pub fn by_domain(
    host: &Node<'_>,
    guest: &Node<'_>,
    predicted: &Guest,
    comparable: bool,
) -> Result<Vec<Pair>, Unpaired> {
    let (on_host, in_guest) = (devices(host, comparable), devices(guest, comparable));
    let mut out = Vec::new();
    for f in &predicted.functions {
        let What::Host(Some(source)) = f.what else { continue };
        let refuse = |found| Unpaired::NotThere { host: source, guest: f.bdf, found };
        let Some(there) = guest.pci.find(f.bdf).map(|id| guest.pci.get(id)) else { return Err(refuse("nothing")) };
        if there.buses.is_some() {
            return Err(refuse("a bridge"));
        }
        let here = host.pci.find(source).map(|id| host.pci.get(id));
        let ids = |p: &PciFunction<'_>| Some((*p.vendor.known()?, *p.device.known()?));
        if let (Some(a), Some(b)) = (here.and_then(ids), ids(there))
            && a != b
        {
            return Err(refuse("another device"));
        }
        let (a, b) = (on_host.iter().find(|d| d.bdf == source), in_guest.iter().find(|d| d.bdf == f.bdf));
        if let (Some(a), Some(b)) = (a, b)
            && let Some(by) = b.differs(a)
        {
            let other = b.mark(by).and_then(|text| with(&on_host, by, text)).map(|d| d.bdf);
            return Err(match other {
                Some(other) => {
                    Unpaired::Contradiction { guest: f.bdf, first: (source, By::Domain), second: (other, by) }
                }
                None => Unpaired::Foreign { guest: f.bdf, by },
            });
        }
        out.push(Pair { host: source, guest: f.bdf, by: By::Domain });
    }
    if let Some(d) = in_guest.iter().find(|d| d.must && !out.iter().any(|p| p.guest == d.bdf)) {
        return Err(Unpaired::NotInDomain(d.bdf));
    }
    out.sort_unstable();
    if out.is_empty() { Err(Unpaired::Nothing) } else { Ok(out) }
}

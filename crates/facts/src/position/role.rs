//! What a device of a machine is for, in people's words.

use hashbrown::HashMap;
use linerate_formats::ranges::ranges;
use linerate_node::Node;
use linerate_node::pci::{FnId, Kind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// A kind of device that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Device {
    /// A GPU, in the order of addresses.
    Gpu,
    /// The NIC of a rail: nearest to some GPU; rails are counted by their first GPU.
    RailNic,
    /// Another NIC.
    Nic,
    /// An NVSwitch.
    NvSwitch,
    /// A non-volatile memory controller.
    Nvme,
    /// Anything else but a bridge.
    Other,
}

/// What a PCI function is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The first function of a device, and its number among those of its kind.
    Device(Device, u16),
    /// A further function of such a device, by its number.
    Function(Device, u16, u8),
    /// A virtual function, by its number among those of the device.
    Virtual(Device, u16, u16),
    /// A bridge, by the first device below it and how many bridges are between, from 1.
    Above(Device, u16, u8),
    /// A bridge with nothing below it.
    Bridge(u16),
}

impl Role {
    /// The kind of device that it is, belongs to, or is above.
    #[must_use]
    pub fn device(&self) -> Option<Device> {
        match self {
            Role::Device(d, _) | Role::Function(d, ..) | Role::Virtual(d, ..) | Role::Above(d, ..) => Some(*d),
            Role::Bridge(_) => None,
        }
    }
}

struct Numbered(Device, u16);

impl fmt::Display for Numbered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Numbered(device, n) = self;
        let (head, tail) = device.words();
        write!(f, "{head}{n}{tail}")
    }
}

impl Device {
    const ALL: [Device; 6] = [Device::Gpu, Device::RailNic, Device::Nic, Device::NvSwitch, Device::Nvme, Device::Other];

    /// What is written before and behind its number.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Device::Gpu => ("GPU ", ""),
            Device::RailNic => ("rail ", " NIC"),
            Device::Nic => ("NIC ", ""),
            Device::NvSwitch => ("NVSwitch ", ""),
            Device::Nvme => ("NVMe ", ""),
            Device::Other => ("device ", ""),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Role::Device(d, n) => Numbered(*d, *n).fmt(f),
            Role::Function(d, n, function) => write!(f, "{}, function {function}", Numbered(*d, *n)),
            Role::Virtual(d, n, vf) => write!(f, "VF {vf} of {}", Numbered(*d, *n)),
            Role::Above(d, n, level) => write!(f, "bridge {level} above {}", Numbered(*d, *n)),
            Role::Bridge(n) => write!(f, "bridge {n} without devices"),
        }
    }
}

/// Text that is no [`Role`], or no [`super::Path`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a position of a device: expected one of a layout of this version")]
pub struct NotAPosition(pub String);

impl FromStr for Role {
    type Err = NotAPosition;

    /// What [`fmt::Display`] writes.
    fn from_str(text: &str) -> Result<Self, NotAPosition> {
        parsed(text).ok_or_else(|| NotAPosition(text.to_owned()))
    }
}

fn parsed(text: &str) -> Option<Role> {
    if let Some(rest) = text.strip_prefix("VF ") {
        let (vf, of) = rest.split_once(" of ")?;
        let (d, n) = numbered(of)?;
        return Some(Role::Virtual(d, n, vf.parse().ok()?));
    }
    if let Some(rest) = text.strip_prefix("bridge ") {
        if let Some(n) = rest.strip_suffix(" without devices") {
            return Some(Role::Bridge(n.parse().ok()?));
        }
        let (level, of) = rest.split_once(" above ")?;
        let (d, n) = numbered(of)?;
        return Some(Role::Above(d, n, level.parse().ok()?));
    }
    if let Some((of, function)) = text.split_once(", function ") {
        let (d, n) = numbered(of)?;
        return Some(Role::Function(d, n, function.parse().ok()?));
    }
    let (d, n) = numbered(text)?;
    Some(Role::Device(d, n))
}

fn numbered(text: &str) -> Option<(Device, u16)> {
    Device::ALL.iter().find_map(|d| {
        let (head, tail) = d.words();
        Some((*d, text.strip_prefix(head)?.strip_suffix(tail)?.parse().ok()?))
    })
}

/// The roles of a node's PCI functions.
pub(super) struct Roles {
    by_id: HashMap<FnId, Role>,
    /// GPUs that have a number.
    pub(super) gpus: u16,
    /// NICs outside of rails that have a number.
    pub(super) nics: u16,
}

impl Roles {
    pub(super) fn of(&self, id: FnId) -> Role {
        self.by_id.get(&id).cloned().unwrap_or(Role::Bridge(u16::MAX))
    }
}

pub(super) fn roles(node: &Node<'_>) -> Roles {
    let rails = rail_nics(node);
    let mut counts: HashMap<Device, u16> = HashMap::new();
    let mut first: HashMap<(u32, u8, u8), (Device, u16)> = HashMap::new();
    let mut virtuals: HashMap<(Device, u16), u16> = HashMap::new();
    let mut by_id = HashMap::new();
    let device_of = |id: FnId, kind: Kind| match kind {
        Kind::Gpu | Kind::AmdGpu => Device::Gpu,
        Kind::RdmaNic if rails.contains(&id) => Device::RailNic,
        Kind::RdmaNic | Kind::Nic => Device::Nic,
        Kind::NvSwitch => Device::NvSwitch,
        Kind::Nvme => Device::Nvme,
        _ => Device::Other,
    };
    // Rails by their first GPU, everything else by address.
    // A virtual function whose physical one the source does not show is a device of its own, as in a guest.
    let physical = |id: &FnId| node.pci.get(*id).physfn.is_none_or(|p| node.pci.find(p).is_none());
    let mut order: Vec<FnId> = rails.clone();
    order.extend(node.pci.iter().map(|(id, _)| id).filter(|id| !rails.contains(id)));
    for id in order.iter().copied().filter(physical) {
        let f = node.pci.get(id);
        if f.kind == Kind::Bridge {
            continue;
        }
        let device = device_of(id, f.kind);
        let slot = (f.bdf.domain, f.bdf.bus, f.bdf.device);
        let role = match first.get(&slot) {
            // Functions of one device: a card with two ports, the audio function of a graphics card.
            Some((d, n)) if f.bdf.function > 0 => Role::Function(*d, *n, f.bdf.function),
            _ => {
                let next = counts.entry(device).or_default();
                first.insert(slot, (device, *next));
                *next += 1;
                Role::Device(device, *next - 1)
            }
        };
        by_id.insert(id, role);
    }
    for (id, f) in node.pci.iter() {
        let Some(of) = f.physfn.and_then(|p| node.pci.find(p)).and_then(|p| by_id.get(&p)) else { continue };
        let (Role::Device(d, n) | Role::Function(d, n, _)) = of else { continue };
        let (d, n) = (*d, *n);
        let next = virtuals.entry((d, n)).or_default();
        by_id.entry(id).or_insert(Role::Virtual(d, n, *next));
        *next += 1;
    }
    bridges(node, &mut by_id);
    Roles {
        by_id,
        gpus: counts.get(&Device::Gpu).copied().unwrap_or(0),
        nics: counts.get(&Device::Nic).copied().unwrap_or(0),
    }
}

/// NICs that are nearest to a GPU, by the first GPU that they are nearest to. Where there are several models, as with a storage NIC below
/// the switch of a GPU, those of the model that most of them have.
fn rail_nics(node: &Node<'_>) -> Vec<FnId> {
    let mut near: Vec<FnId> = Vec::new();
    for nic in node.rails.iter().filter(|r| r.shares_switch() || r.nics.len() == 1).flat_map(|r| &r.nics) {
        if !near.contains(nic) {
            near.push(*nic);
        }
    }
    let model = |id: &FnId| {
        let f = node.pci.get(*id);
        (f.vendor.known(), f.device.known(), f.name.as_str())
    };
    let of = |m: &_| near.iter().filter(|id| model(id) == *m).count();
    let Some(most) = near.iter().map(model).max_by_key(of) else { return near };
    near.iter().copied().filter(|id| model(id) == most).collect()
}

/// Each bridge by the first device below it.
fn bridges(node: &Node<'_>, by_id: &mut HashMap<FnId, Role>) {
    let mut best: HashMap<FnId, (Device, u16, u8)> = HashMap::new();
    for (id, role) in &*by_id {
        let Role::Device(d, n) = role else { continue };
        for (level, bridge) in node.pci.ancestors(*id).0.into_iter().enumerate() {
            let at = (*d, *n, u8::try_from(level + 1).unwrap_or(u8::MAX));
            let old = best.entry(bridge).or_insert(at);
            *old = (*old).min(at);
        }
    }
    let empty = node.pci.of_kind(Kind::Bridge).map(|(id, _)| id).filter(|id| !best.contains_key(id));
    let empty: Vec<FnId> = empty.collect();
    by_id.extend(best.into_iter().map(|(id, (d, n, level))| (id, Role::Above(d, n, level))));
    by_id.extend(empty.into_iter().enumerate().map(|(i, id)| (id, Role::Bridge(i as u16))));
}

/// Several roles in few words: `rail 0-7 NIC`, `bridges above GPU 0-3,5`.
#[must_use]
pub fn folded(roles: &[&Role]) -> String {
    let mut by: BTreeMap<(u8, Option<Device>), BTreeSet<u16>> = BTreeMap::new();
    for role in roles {
        let (class, number) = match role {
            Role::Device(_, n) => (0, *n),
            Role::Function(_, n, _) => (1, *n),
            Role::Virtual(_, n, _) => (2, *n),
            Role::Above(_, n, _) => (3, *n),
            Role::Bridge(n) => (4, *n),
        };
        by.entry((class, role.device())).or_default().insert(number);
    }
    let one = |((class, device), numbers): (&(u8, Option<Device>), &BTreeSet<u16>)| {
        let head = ["", "functions of ", "virtual functions of ", "bridges above ", "bridges without devices "];
        let head = head.get(usize::from(*class)).copied().unwrap_or_default();
        let (word, tail) = device.map_or(("", ""), Device::words);
        format!("{head}{word}{}{tail}", ranges(numbers.iter().copied()))
    };
    match roles {
        [role] => role.to_string(),
        _ => by.iter().map(one).collect::<Vec<_>>().join(", "),
    }
}

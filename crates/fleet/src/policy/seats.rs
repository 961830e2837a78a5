//! What a node's devices are called by a policy.
//!
//! A node numbers its own devices: without the NIC of rail 0, that of rail 3 is its rail 2. A policy that says where its devices are calls a
//! device by its place. One that does not cannot tell what its numbers mean on a node that lacks some.

use super::{Class, class_word};
use crate::Profile;
use crate::lost;
use crate::named::{devices, renamed};
use linerate_facts::position::{Device, Path, Role, Seat};
use linerate_node::pci::Kind;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The devices of one node, as one class of a policy calls them.
#[derive(Debug, Default)]
pub(super) struct Seating {
    /// Roles, by the numbers of the node's own list.
    pub(super) roles: Vec<Role>,
    /// The same, as they are displayed.
    pub(super) words: Vec<String>,
    /// Names of the policy by the node's own.
    names: HashMap<String, String>,
    /// How many devices of each kind the node has.
    pub(super) counts: BTreeMap<Device, u64>,
    /// Kinds of which the node certainly has fewer than the policy wants.
    short: BTreeSet<Device>,
    /// Those of which the number of devices is a finding of its own.
    counted: BTreeSet<Device>,
    /// Kinds of which the policy's numbers mean something on this node.
    placed: BTreeSet<Device>,
    /// Devices whose places the node has nothing at.
    pub(super) lost: Vec<Role>,
}

/// Kinds that sit in the same places: a NIC is one of a rail or not by what else is there.
fn sort(device: Device) -> Device {
    if device == Device::RailNic { Device::Nic } else { device }
}

fn sort_of(seat: &Seat) -> Option<Device> {
    match seat.kind {
        Kind::Gpu | Kind::AmdGpu => Some(Device::Gpu),
        Kind::RdmaNic | Kind::Nic => Some(Device::Nic),
        Kind::NvSwitch => Some(Device::NvSwitch),
        Kind::Nvme => Some(Device::Nvme),
        _ => None,
    }
}

impl Seating {
    pub(super) fn of(profile: &Profile, class: &Class, all_listed: impl Fn(Device) -> bool) -> Self {
        let seats = &profile.positions.seats;
        let mut out = Seating { roles: seats.iter().map(|s| s.role.clone()).collect(), ..Seating::default() };
        out.place(profile, class);
        out.words = out.roles.iter().map(ToString::to_string).collect();
        let own = seats.iter().map(|s| s.role.to_string());
        out.names = own.zip(&out.words).map(|(own, new)| (own, new.clone())).collect();
        for role in &out.roles {
            if let Role::Device(device, _) = role {
                *out.counts.entry(*device).or_default() += 1;
            }
        }
        for count in &class.devices {
            let n = out.counts.get(&count.device).copied().unwrap_or(0);
            if n < count.least && all_listed(count.device) {
                out.short.insert(count.device);
            }
        }
        if !profile.pci_is_whole {
            out.lost.clear();
        }
        out.counted = out.short.clone();
        out.short.extend(out.lost.iter().filter_map(Role::device));
        out
    }

    /// Calls devices by the places that the policy knows.
    fn place(&mut self, profile: &Profile, class: &Class) {
        let at: HashMap<(&Path, Device), (Device, u16)> = class
            .seats
            .iter()
            .filter_map(
                |(role, path)| if let Role::Device(d, n) = role { Some(((path, sort(*d)), (*d, *n))) } else { None },
            )
            .collect();
        let seats = &profile.positions.seats;
        let found = |seat: &Seat| at.get(&(seat.path.as_ref()?, sort_of(seat)?)).copied();
        let main = |seat: &&Seat| matches!(seat.role, Role::Device(..));
        let hits: BTreeSet<Device> = seats.iter().filter(main).filter_map(found).map(|(d, _)| sort(d)).collect();
        if hits.is_empty() {
            return;
        }
        // Numbers that the policy has not are those of devices in other places.
        let mut next: BTreeMap<Device, u16> = BTreeMap::new();
        for (d, n) in at.values() {
            let free = next.entry(*d).or_default();
            *free = (*free).max(n.saturating_add(1));
        }
        let mut new: HashMap<(Device, u16), (Device, u16)> = HashMap::new();
        for seat in seats.iter().filter(main) {
            let (Role::Device(d, n), Some(sort)) = (&seat.role, sort_of(seat)) else { continue };
            if !hits.contains(&sort) {
                continue;
            }
            let name = found(seat).unwrap_or_else(|| {
                let free = next.entry(*d).or_default();
                *free = free.saturating_add(1);
                (*d, free.saturating_sub(1))
            });
            new.insert((*d, *n), name);
        }
        let bridges = bridges(class);
        for (role, seat) in self.roles.iter_mut().zip(seats) {
            let of = |d: &Device, n: &u16| new.get(&(*d, *n)).copied().unwrap_or((*d, *n));
            let placed = match &seat.role {
                Role::Device(d, n) => Some(of(d, n)).map(|(d, n)| Role::Device(d, n)),
                Role::Function(d, n, f) => Some(of(d, n)).map(|(d, n)| Role::Function(d, n, *f)),
                Role::Virtual(d, n, vf) => Some(of(d, n)).map(|(d, n)| Role::Virtual(d, n, *vf)),
                Role::Above(..) => seat.path.as_ref().and_then(|p| bridges.get(p).cloned()),
                Role::Bridge(_) => None,
            };
            if let Some(placed) = placed {
                *role = placed;
            }
        }
        let there: BTreeSet<(Device, u16)> = new.values().copied().collect();
        let lost = at.values().filter(|(d, n)| hits.contains(&sort(*d)) && !there.contains(&(*d, *n)));
        self.lost = lost.map(|(d, n)| Role::Device(*d, *n)).collect();
        self.lost.sort();
        self.placed = at.values().map(|(d, _)| *d).filter(|d| hits.contains(&sort(*d))).collect();
    }

    /// A value with the policy's names.
    pub(super) fn value(&self, value: &str) -> String {
        renamed(value, |own| self.names.get(own).map(String::as_str))
    }

    /// Whether a device with this role can be one of those whose number is a finding already.
    pub(super) fn is_counted(&self, role: &Role) -> bool {
        role.device().is_some_and(|d| self.counted.contains(&d))
    }

    /// Why it cannot be told which device of this node a number of the policy means; `None`: it can.
    pub(super) fn numberless(&self, role: &Role) -> Option<String> {
        let device = role.device().filter(|d| self.short.contains(d) && !self.placed.contains(d))?;
        let word = class_word(device);
        Some(format!(
            "a {word} is missing, and it is not known which one: what the policy wants of each by its number is unknown"
        ))
    }

    /// Why a value that names devices is not comparable: it was wanted to name one that is missing.
    pub(super) fn robbed(&self, wanted: &str) -> Option<String> {
        let lost: Vec<String> = devices(wanted)
            .iter()
            .filter(|d| {
                let role: Option<Role> = d.parse().ok();
                role.is_some_and(|r| {
                    let whole = lost::whole(&r).unwrap_or(r);
                    self.lost.contains(&whole) || self.numberless(&whole).is_some()
                })
            })
            .map(ToString::to_string)
            .collect();
        match (lost.as_slice(), self.lost.is_empty()) {
            ([], _) => None,
            (lost, false) => Some(format!("{} missing", are(lost))),
            (_, true) => Some("a device is missing, and it is not known which one".to_owned()),
        }
    }

    /// Why how far the nearest NICs are says nothing; `None`: no NIC is missing.
    pub(super) fn far(&self) -> Option<String> {
        let nic = |d: &Device| sort(*d) == Device::Nic;
        self.short.iter().any(nic).then(|| "a NIC is missing: how far the next one is follows from that".to_owned())
    }

    /// Devices of a kind that are certainly not there, in words; empty: not known, or none.
    pub(super) fn lost_of(&self, device: Device) -> String {
        let all: Vec<String> =
            self.lost.iter().filter(|r| r.device() == Some(device)).map(ToString::to_string).collect();
        all.join(", ")
    }
}

fn are(names: &[String]) -> String {
    format!("{} {}", names.join(", "), if names.len() == 1 { "is" } else { "are" })
}

/// The bridges above the places of a policy: each is called by the first device below it.
fn bridges(class: &Class) -> HashMap<Path, Role> {
    let mut out: HashMap<Path, (Device, u16, u8)> = HashMap::new();
    for (role, path) in &class.seats {
        let Role::Device(d, n) = role else { continue };
        let above = std::iter::successors(path.above(), Path::above);
        for (path, level) in above.zip(1_u8..) {
            let at = (*d, *n, level);
            let known = out.entry(path).or_insert(at);
            *known = (*known).min(at);
        }
    }
    out.into_iter().map(|(path, (d, n, level))| (path, Role::Above(d, n, level))).collect()
}

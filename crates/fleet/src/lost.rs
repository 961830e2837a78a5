//! How bad it is that a node lacks a device which its like have, or a part of one. No rule judges that: of one node nothing says what it should have.

use crate::Owner;
use linerate_facts::position::{Device, Role};
use linerate_rules::Severity;

/// Of a device; `None`: nothing follows from its place alone.
pub(crate) fn severity(role: &Role) -> Option<Severity> {
    match role {
        Role::Device(Device::Gpu | Device::RailNic | Device::NvSwitch, _) => Some(Severity::High),
        // A port of a card.
        Role::Function(Device::RailNic | Device::Nic, ..) => Some(Severity::High),
        Role::Device(Device::Nic | Device::Nvme, _) => Some(Severity::Medium),
        _ => None,
    }
}

/// The device that a function, or a bridge above it, belongs to: where that is missing, they are.
pub(crate) fn whole(role: &Role) -> Option<Role> {
    match role {
        Role::Above(d, n, _) | Role::Function(d, n, _) | Role::Virtual(d, n, _) => Some(Role::Device(*d, *n)),
        _ => None,
    }
}

/// Of a part that its device has elsewhere: the driver of a GPU or of a NIC, and its ports.
pub(crate) fn part_severity(owner: &Owner, list: &str) -> Option<Severity> {
    let Owner::Device(role) = owner else { return None };
    of_part(role.parse().ok().as_ref(), list)
}

/// The same, by the role.
pub(crate) fn of_part(role: Option<&Role>, list: &str) -> Option<Severity> {
    let is_device = role.is_some_and(|r| severity(r).is_some());
    match list {
        "gpus" | "rdma" | "rdma.ports" if is_device => Some(Severity::High),
        _ => None,
    }
}

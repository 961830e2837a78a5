//! Devices that a value names. A value calls them by their roles in the layout of its own node; beside another node's it must call them as that
//! one does, and a device that one of the two lacks is a difference of its own.

use linerate_facts::{Form, defs};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Facts whose values are devices.
static IDS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| defs().filter(|d| matches!(d.form, Form::Address | Form::Addresses)).map(|d| d.id).collect());

/// A fact that says how far away the nearest NICs are, and the one that says which they are.
pub(crate) const FAR: &str = "gpus.distance";
/// Which the nearest NICs are.
pub(crate) const NEAREST: &str = "gpus.nearest_nics";

/// Whether the values of a fact name devices.
pub(crate) fn names_devices(id: &str) -> bool {
    IDS.contains(&id)
}

/// The devices that a value names. A role may hold a comma itself: `GPU 0, function 1`.
pub(crate) fn devices(value: &str) -> BTreeSet<Cow<'_, str>> {
    let mut all: Vec<&str> = Vec::new();
    let mut from = 0;
    let ends = value.match_indices(", ").map(|(at, _)| at).chain([value.len()]);
    for end in ends {
        let next = value.get(end..).unwrap_or_default();
        if !next.starts_with(", function ") {
            all.extend(value.get(from..end).filter(|d| !d.is_empty()));
            from = end + 2;
        }
    }
    all.into_iter().map(Cow::Borrowed).collect()
}

/// As a value.
pub(crate) fn joined(devices: &BTreeSet<Cow<'_, str>>) -> String {
    devices.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(", ")
}

/// The same value with other names; what has no other keeps its own.
pub(crate) fn renamed<'v>(value: &'v str, name: impl Fn(&str) -> Option<&'v str>) -> String {
    let new = |d: Cow<'v, str>| name(&d).map_or(d, Cow::Borrowed);
    joined(&devices(value).into_iter().map(new).collect())
}

/// What two values say of the same devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beside {
    /// The same, but for devices that one of the nodes lacks.
    Same,
    /// All that one of them names is lacking on one node: what is named instead follows from that.
    Robbed,
    /// Something else.
    Other,
}

/// Compares two values with the same names, apart from devices that one of the nodes lacks.
pub(crate) fn beside(a: &str, b: &str, is_lacking: impl Fn(&str) -> bool) -> Beside {
    let rest = |v| {
        let all = devices(v);
        let n = all.len();
        let rest: BTreeSet<_> = all.into_iter().filter(|d| !is_lacking(d)).collect();
        let is_robbed = n > 0 && rest.is_empty();
        (rest, is_robbed)
    };
    let ((a, a_robbed), (b, b_robbed)) = (rest(a), rest(b));
    match (a == b && !a_robbed, a_robbed || b_robbed) {
        (true, _) => Beside::Same,
        (_, true) => Beside::Robbed,
        _ => Beside::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_renamed_device_by_device() {
        let name = |d: &str| match d {
            "GPU 0" => Some("GPU 1"),
            "GPU 0, function 1" => Some("GPU 1, function 1"),
            _ => None,
        };
        assert_eq!(renamed("GPU 0, GPU 0, function 1, device 3", name), "GPU 1, GPU 1, function 1, device 3");
        assert_eq!(renamed("", name), "");
        assert_eq!(devices("rail 0 NIC, function 1, rail 1 NIC").len(), 2);
        assert!(names_devices("iommu.groups.devices") && names_devices(NEAREST) && !names_devices("net.mtu"));
        assert!(linerate_facts::defs().any(|d| d.id == FAR));
    }

    #[test]
    fn what_a_node_lacks_is_not_asked_of_it() {
        let lost = |d: &str| d == "rail 0 NIC";
        for (a, b, expected) in [
            ("rail 0 NIC, rail 1 NIC", "rail 1 NIC", Beside::Same),
            ("rail 0 NIC, rail 1 NIC", "rail 2 NIC", Beside::Other),
            ("rail 0 NIC", "rail 1 NIC", Beside::Robbed),
            ("rail 0 NIC", "", Beside::Robbed),
            ("", "", Beside::Same),
        ] {
            assert_eq!(beside(a, b, lost), expected, "{a} {b}");
        }
    }
}

//! Which values a fact can have.

use serde::Serialize;

/// The form of a fact's [`crate::Value`] as JSON. Its name, as it serializes, is that of its type in `$defs` of docs/schema/audit-2.json.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// An object of the facts whose ids begin with this one's and a dot; `true` where there are none.
    There,
    /// A list of objects: the members' facts.
    Members,
    /// Yes or no.
    Flag,
    /// A number that is not negative.
    Number,
    /// A number that may be negative.
    Signed,
    /// A measured number.
    Real,
    /// Hexadecimal digits.
    Hex,
    /// Text.
    Text,
    /// A PCI address.
    Address,
    /// Speed of a link.
    Speed,
    /// What a PCI function is.
    Kind,
    /// Type of a PCI Express port.
    PortType,
    /// How far two functions are from each other.
    Distance,
    /// State of an RDMA port.
    PortState,
    /// Link layer of an RDMA port.
    LinkLayer,
    /// Lockdown of the kernel.
    Lockdown,
    /// Kernel module of the NVIDIA driver.
    Flavour,
    /// Domain of an IOMMU group.
    Domain,
    /// What kind of node it is.
    Role,
    /// A limit in bytes, or `unlimited`.
    Limit,
    /// Several texts.
    Texts,
    /// Several numbers.
    Numbers,
    /// Several PCI addresses.
    Addresses,
    /// Values, and how many CPUs have each.
    Tally,
}

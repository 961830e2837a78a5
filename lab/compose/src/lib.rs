//! Composes the sysfs/procfs tree of a GPU/RDMA node from a short TOML description, as linerate's capture would have seen it.
//!
//! Invariants: pure except [`Description::load`] and [`Tree::write_to`]; the same description and seed give the same bytes;
//! every number in a description reaches both the sysfs files and the binary configuration space, so that they never disagree.
//! The format of descriptions is documented in `lab/nodes/README.md`.

mod build;
mod complex;
mod compose;
mod config;
mod cpu;
mod describe;
mod description;
mod error;
mod function;
mod glob;
mod hexdump;
mod host;
mod iommu;
mod layout;
mod mlxconfig;
mod models;
mod net;
mod nvidia;
mod patch;
mod pci;
mod platform;
mod rdma;
mod seed;
mod smi;
mod tree;
mod vpd;
mod whole;

pub use description::{
    Aer, Ats, Bond, Complex, Cpu, Description, Expect, Fabric, Gdr, Gid, Gpus, Group, Hypervisor, Iommu, IommuGroups,
    Layout, Modules, NetPatch, Nics, Node, Nvidia, PciPatch, RdmaPatch, Role, Scalar, Setting, Switch, Zoo,
};
pub use error::DescribeError;
pub use hexdump::hexdump;
pub use tree::{Entry, Tree};

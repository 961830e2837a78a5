//! The format of descriptions. Every field may be left out; `lab/nodes/README.md` tells it with examples.

mod node;
mod patches;
mod zoo;

pub use node::{Complex, Cpu, Fabric, Gpus, Group, Hypervisor, Iommu, IommuGroups, Layout, Nics, Node, Role, Switch};
pub use patches::{Aer, Ats, Bond, Gid, NetPatch, PciPatch, RdmaPatch};
pub use zoo::{Gdr, Zoo};

use crate::{DescribeError, Tree};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// A node, described.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Description {
    /// One line for people.
    pub title: String,
    /// Another description, by name (`healthy-8gpu`) or relative path, that this one patches.
    pub base: Option<String>,
    /// The machine without its PCI devices.
    pub node: Node,
    /// Which PCI devices there are, and how they hang together.
    pub layout: Layout,
    /// Patches of PCI functions by BDF, by symbolic name, or by a pattern of either (`switch*.down*`).
    pub pci: BTreeMap<String, PciPatch>,
    /// Patches of RDMA devices by name or pattern.
    pub rdma: BTreeMap<String, RdmaPatch>,
    /// Patches of network interfaces by name or pattern.
    pub net: BTreeMap<String, NetPatch>,
    /// The NVIDIA driver and what its tools print.
    #[serde(alias = "gpu")]
    pub nvidia: Nvidia,
    /// Kernel modules.
    pub modules: Modules,
    /// NIC firmware settings by NIC name (or pattern), then by setting.
    pub mlxconfig: BTreeMap<String, BTreeMap<String, Setting>>,
    /// The kernel log.
    pub dmesg: Dmesg,
    /// Raw files, made last: path (no leading slash) to content.
    pub files: BTreeMap<String, String>,
    /// Changes of the text of files, made after `files`, in their order.
    pub edit: Vec<Edit>,
    /// Patterns of paths that are not there.
    pub remove: Vec<String>,
    /// Patterns of files that exist but cannot be read (EACCES).
    pub denied: Vec<String>,
    /// Bonds of network interfaces, by name.
    pub bond: BTreeMap<String, Bond>,
    /// What is true of a healthy machine, or what is wrong with a broken sibling of one.
    pub zoo: Option<Zoo>,
    /// What the rules must say of this node. Not inherited.
    pub expect: Vec<Expect>,
}

/// `[nvidia]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Nvidia {
    /// Driver version; empty for no driver.
    pub driver: String,
    /// Open kernel modules.
    pub open: bool,
    /// `/proc/driver/nvidia/params`, in place of or besides the usual ones (names without `NVreg_`).
    pub params: BTreeMap<String, Scalar>,
    /// GPU memory, MiB, in place of the model's.
    pub fb_mib: Option<u64>,
    /// BAR1 as `nvidia-smi` prints it, MiB, in place of the function's.
    pub bar1_mib: Option<u64>,
    /// Whether `nvidia-smi` could be run.
    pub smi: bool,
}

impl Default for Nvidia {
    fn default() -> Self {
        Nvidia {
            driver: "570.133.20".into(),
            open: true,
            params: BTreeMap::new(),
            fb_mib: None,
            bar1_mib: None,
            smi: true,
        }
    }
}

/// `[[edit]]`: a change of a file's text. What it changes must be there.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Path of the file (no leading slash).
    pub file: String,
    /// What is replaced, each time that it is there.
    pub from: String,
    /// By what.
    pub to: String,
    /// The file that gets the changed text; without it the same.
    #[serde(default)]
    pub into: Option<String>,
}

impl Edit {
    pub(crate) fn apply(&self, tree: &mut Tree) -> Result<(), DescribeError> {
        let text = tree.get(&self.file).map(|t| String::from_utf8_lossy(t).into_owned()).unwrap_or_default();
        if !text.contains(&self.from) {
            return Err(DescribeError::impossible(
                format!("[[edit]] {:?} is not in {:?}", self.from, self.file),
                "the file is one of the tree, and has the text",
            ));
        }
        let into = self.into.as_ref().unwrap_or(&self.file);
        tree.file(super::compose::checked(into)?, text.replace(&self.from, &self.to));
        Ok(())
    }
}

/// `[modules]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Modules {
    /// Loaded besides the usual ones.
    pub add: Vec<String>,
    /// Not loaded.
    pub drop: Vec<String>,
    /// `/sys/module/M/version`.
    pub version: BTreeMap<String, String>,
    /// `/sys/module/M/parameters/P`.
    pub params: BTreeMap<String, BTreeMap<String, Scalar>>,
}

/// A firmware setting. What is left out keeps the model's value; `current` follows `default`, `next` follows `current`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setting {
    /// Factory value.
    pub default: Option<Scalar>,
    /// Value in force.
    pub current: Option<Scalar>,
    /// Value after the next reset.
    pub next: Option<Scalar>,
    /// The firmware does not show it.
    pub hidden: bool,
}

/// `[dmesg]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dmesg {
    /// Lines after those of the boot.
    pub lines: Vec<String>,
}

/// What a rule must say.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// `area/slug`.
    pub rule: String,
    /// `pass`, `fail`, `unknown`, `not-applicable`.
    pub status: String,
    /// Subject: a BDF, a device name, or a symbolic name (resolved by [`Description::subject`]).
    #[serde(default)]
    pub subject: Option<String>,
    /// Severity.
    #[serde(default)]
    pub severity: Option<String>,
    /// Text that the message must hold.
    #[serde(default)]
    pub message_has: Option<String>,
}

/// A value that may be written as text, number or boolean, kept as text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scalar(pub String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Any {
            Text(String),
            Integer(i64),
            Float(f64),
            Truth(bool),
        }
        Ok(Scalar(match Any::deserialize(d)? {
            Any::Text(t) => t,
            Any::Integer(n) => n.to_string(),
            Any::Float(n) => n.to_string(),
            Any::Truth(true) => "True(1)".into(),
            Any::Truth(false) => "False(0)".into(),
        }))
    }
}

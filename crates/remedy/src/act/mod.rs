//! The smallest change: done, seen to be done, undone.

mod bios;
mod file;
mod label;
mod nic_firmware;
mod run;
mod trial;
mod value;

pub use bios::BiosAct;
pub use file::{Content, FileAct, FileState};
pub use label::LabelAct;
pub use nic_firmware::NicFirmwareAct;
pub use run::RunAct;
pub use trial::{BootTrial, TrialAct};
pub use value::ValueAct;

use linerate_out::shell;
use serde::{Deserialize, Serialize};

/// One change. Every act can be looked at before (`before`), is the same when done twice, and says how it is undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Act {
    /// A file with a content.
    File(FileAct),
    /// A program.
    Run(RunAct),
    /// A value of the running kernel.
    Value(ValueAct),
    /// A start of the kernel that falls back by itself.
    Trial(TrialAct),
    /// A setting of a NIC's firmware.
    NicFirmware(NicFirmwareAct),
    /// A setting of the system's firmware.
    Bios(BiosAct),
    /// A label of the node's object in Kubernetes.
    Label(LabelAct),
}

impl Act {
    /// Whether the driver makes it from where it is, by another service than the node: the node's hand only notes it.
    #[must_use]
    pub fn is_elsewhere(&self) -> bool {
        matches!(self, Act::Bios(_) | Act::Label(_))
    }

    /// Whether it claims what the node does: it is made when all else is proven.
    #[must_use]
    pub fn is_claim(&self) -> bool {
        matches!(self, Act::Label(LabelAct { after: Some(_), .. }))
    }

    /// One line for people.
    #[must_use]
    pub fn summary(&self) -> String {
        match self {
            Act::File(FileAct { path, after: Some(_), before: FileState::Absent, .. }) => format!("create {path}"),
            Act::File(FileAct { path, after: Some(_), .. }) => format!("change {path}"),
            Act::File(FileAct { path, after: None, .. }) => format!("remove {path}"),
            Act::Run(RunAct { argv, .. }) => format!("run {}", shell::shown(argv)),
            Act::Value(ValueAct { path, before, after }) => format!("write {after} to {path} (now {before})"),
            Act::Trial(TrialAct { add, remove, .. }) => {
                let added = (!add.is_empty()).then(|| format!(" with {}", add.join(" ")));
                let removed = (!remove.is_empty()).then(|| format!(" without {}", remove.join(" ")));
                format!("start the kernel once{}{}", added.unwrap_or_default(), removed.unwrap_or_default())
            }
            Act::NicFirmware(NicFirmwareAct { device, parameter, before, after }) => {
                format!("set {parameter} of {device} to {after} (next boot: {before})")
            }
            Act::Bios(BiosAct { attribute, before, after }) => {
                format!("set the BIOS attribute {attribute} to {after} (now {before})")
            }
            Act::Label(LabelAct { node, key, before, after }) => {
                let now = before.as_ref().map_or("it has none".to_owned(), |b| format!("now {key}={b}"));
                match after {
                    Some(value) => format!("put the label {key}={value} on the Kubernetes node {node} ({now})"),
                    None => format!("take the label {key} off the Kubernetes node {node} ({now})"),
                }
            }
        }
    }
}

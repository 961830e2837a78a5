//! The smallest change: done, seen to be done, undone.

mod bios;
mod domain;
mod file;
mod label;
mod nic_firmware;
mod run;
mod trial;
mod value;

pub use bios::BiosAct;
pub use domain::{DomainAct, LineEdit};
pub(crate) use file::head;
pub use file::{Content, FileAct, FileState};
pub use label::LabelAct;
pub use nic_firmware::NicFirmwareAct;
pub use run::RunAct;
pub use trial::{BootTrial, TrialAct};
pub use value::ValueAct;

use crate::diff::Found;
use crate::effect::Effect;
use crate::export::Piece;
use crate::model::Step;
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
    /// The definition of a virtual machine.
    Domain(DomainAct),
}

/// How an act is shown, simulated, proven and exported.
pub(crate) trait ActShown {
    /// One line for people.
    fn summary(&self) -> String;

    /// What neither its line nor the difference of a file says.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// How what it changed comes back, in words; `None`: it ends by itself.
    fn rollback(&self) -> Option<String> {
        None
    }

    /// What it brings about. Programs that only make the system take what files say (`systemctl`, `update-grub`) have no effect of their own.
    fn effects(&self) -> Vec<Effect> {
        Vec::new()
    }

    /// Adds which differences between two snapshots it explains besides those of its effects.
    fn explains(&self, _: &mut Found) {}

    /// What it is in a script, a playbook, or the data of a node's first start. `step`: the one that it is of.
    fn deed(&self, step: &Step) -> Deed<'_>;
}

/// What an act is to those who make it themselves: the few forms that a script, a playbook and the data of a first start have.
pub(crate) enum Deed<'a> {
    /// A file is written.
    Write { path: &'a str, text: &'a str, mode: u32 },
    /// A file is removed.
    Remove { path: &'a str },
    /// A program is run; the files that it writes are kept before.
    Run { argv: &'a [String], writes: &'a [String] },
    /// A value of the kernel is written.
    Value(&'a ValueAct),
    /// A device is set by a program, shown before by another. For systems that take states; why it is nothing for a first start.
    Set { show: Vec<String>, set: Vec<String>, piece: Piece<'a>, first_start: &'static str },
    /// None of them. What it is called, where it is a state at all; why not, in a script, in a playbook, and in all other forms.
    Left { what: Option<String>, script: String, playbook: &'static str, others: &'static str },
}

impl Act {
    /// The act in the words of its own kind.
    pub(crate) fn shown(&self) -> &dyn ActShown {
        match self {
            Act::File(act) => act,
            Act::Run(act) => act,
            Act::Value(act) => act,
            Act::Trial(act) => act,
            Act::NicFirmware(act) => act,
            Act::Bios(act) => act,
            Act::Label(act) => act,
            Act::Domain(act) => act,
        }
    }

    /// One line for people.
    #[must_use]
    pub fn summary(&self) -> String {
        self.shown().summary()
    }

    /// What neither its line nor the difference of a file says; empty: nothing.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.shown().notes()
    }

    /// How what it changed comes back, in words; `None`: it ends by itself.
    #[must_use]
    pub fn rollback(&self) -> Option<String> {
        self.shown().rollback()
    }

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
}

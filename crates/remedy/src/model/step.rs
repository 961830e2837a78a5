//! A step: one fix, from what must be so before to what must be read after.

use super::{Act, FileAct};
use linerate_facts::Want;
use serde::{Deserialize, Serialize};

/// A fix of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Stable within the plan: `kernel-args`, `mtu-eth1`.
    pub id: String,
    /// Rules whose findings ask for it.
    pub rules: Vec<String>,
    /// One sentence in the imperative.
    pub summary: String,
    /// What those findings say.
    pub why: Vec<String>,
    /// What must hold before anything is changed.
    pub precondition: Vec<Condition>,
    /// Changes that hold for one start of the kernel only, to see whether it comes up. Empty where there is no such way, or no need.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trial: Vec<Act>,
    /// The change. With a trial it is made after the trial was proven, else before the reboot.
    pub change: Vec<Act>,
    /// What is read again, and must then be so.
    pub proof: Vec<Proof>,
    /// What it can break.
    pub risk: Risk,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub risk_note: String,
    /// When it holds, and how long.
    pub persistence: Permanence,
    /// What it disturbs.
    pub disruption: Disruption,
    /// What of its effects the simulation does not show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsimulated: Vec<String>,
}

impl Step {
    /// Its acts in order, those on trial first: an act's number counts them so.
    pub fn acts(&self) -> impl DoubleEndedIterator<Item = &Act> {
        self.trial.iter().chain(&self.change)
    }

    /// Files that its change writes or removes.
    pub(crate) fn files(&self) -> impl Iterator<Item = &FileAct> {
        self.change.iter().filter_map(|act| if let Act::File(file) = act { Some(file) } else { None })
    }
}

/// A condition on the node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Condition {
    /// A program is installed.
    Program {
        /// Name.
        name: String,
        /// Debian package or the like, for the message.
        package: String,
    },
    /// A file or directory is there.
    Exists {
        /// Path.
        path: String,
    },
    /// A file holds this value, without white space around it.
    Value {
        /// Path.
        path: String,
        /// Value.
        value: String,
    },
    /// Words of the running kernel's arguments.
    Cmdline {
        /// Are there.
        has: Vec<String>,
        /// Are not.
        lacks: Vec<String>,
    },
    /// The kernel does not forbid writing to configuration space (lockdown).
    NoLockdown,
}

impl Condition {
    /// A program of a package is installed.
    pub(crate) fn program(name: &str, package: &str) -> Condition {
        Condition::Program { name: name.to_owned(), package: package.to_owned() }
    }
}

/// What must be read after the change.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Proof {
    /// The rule passes for this subject, on the node read again.
    Rule {
        /// Rule.
        rule: String,
        /// Subject, as verdicts name it.
        subject: String,
    },
    /// A fact is as an expectation of a policy wants it, on the node read again.
    Fact {
        /// Id of the expectation: `policy/NAME`.
        expectation: String,
        /// One fact of the node: `net[eth2].mtu`.
        fact: String,
        /// Which word of a list; empty: the fact's value.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        part: String,
        /// What is wanted: all of these.
        wants: Vec<Want>,
    },
    /// A file of the kernel holds this value.
    Value {
        /// Path.
        path: String,
        /// Value, without white space around it.
        value: String,
    },
    /// Words of the running kernel's arguments.
    Cmdline {
        /// Are there.
        has: Vec<String>,
        /// Are not.
        lacks: Vec<String>,
    },
    /// The value in force of a NIC's firmware setting.
    NicFirmware {
        /// Device.
        device: String,
        /// Setting.
        parameter: String,
        /// Value, as the tool prints it.
        value: String,
    },
    /// The value in force of a BIOS attribute.
    Bios {
        /// Attribute.
        attribute: String,
        /// Value.
        value: serde_json::Value,
    },
    /// A label of the node's object in Kubernetes.
    Label {
        /// The object's name.
        node: String,
        /// Key, with its prefix.
        key: String,
        /// Value; `None`: there is no such label.
        value: Option<String>,
    },
    /// The guest of a domain shows its devices where the domain has them, read after its start.
    Guest {
        /// The domain's name.
        domain: String,
    },
}

/// What a fix can break (facts §13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    /// Nothing.
    None,
    /// An inconvenience.
    Low,
    /// Jobs or devices can fail. Whether the node is drained first, [`Disruption`] says.
    Medium,
    /// Can take the node or its network down.
    High,
    /// Removes isolation or can damage: has to be named on the command line.
    Dangerous,
}

impl Risk {
    /// In words, the same in the audit, the plan and its exports.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Risk::None => "none",
            Risk::Low => "low",
            Risk::Medium => "medium (jobs or devices can fail)",
            Risk::High => "high (can take the node or its network down)",
            Risk::Dangerous => "dangerous (has to be named on the command line)",
        }
    }
}

/// When a fix holds, and how long; the earliest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permanence {
    /// At once; lost at the next boot.
    Runtime,
    /// At once, and kept.
    Immediate,
    /// From the next start of a guest on: shut down and started.
    GuestStart,
    /// From the next boot on.
    NextBoot,
    /// After a reset of the device, or a reboot.
    DeviceReset,
}

impl Permanence {
    /// In words, the same everywhere.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Permanence::Runtime => "at once, lost at the next boot",
            Permanence::Immediate => "at once, and kept",
            Permanence::GuestStart => "from the next start of the guest on",
            Permanence::NextBoot => "from the next boot on",
            Permanence::DeviceReset => "after a reset of the device, or a reboot",
        }
    }
}

/// What a fix disturbs, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disruption {
    /// Nothing.
    None,
    /// Links, services or traffic between devices for moments: drain the node.
    Service,
    /// A reboot of the drained node.
    DrainReboot,
    /// Power off and on.
    PowerCycle,
}

impl Disruption {
    /// In words, the same everywhere.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Disruption::None => "nothing",
            Disruption::Service => "links, services or device traffic for moments: drain the node",
            Disruption::DrainReboot => "a reboot of the drained node",
            Disruption::PowerCycle => "power off and on of the drained node",
        }
    }
}

//! From desired states to acts: everything but kernel arguments (`crate::boot`).
//!
//! The planner groups the remedies of one kind into an [`Ask`], so that one file is written once, and [`render`] turns it into a change of
//! this platform, or says why it does not. Words in an [`Ask`] come from data: a renderer checks them by a strict character set first.

pub(crate) mod bios;
pub mod labels;
mod limits;
mod modules;
pub(crate) mod network;
pub(crate) mod nicfw;
mod ours;
mod registers;
mod unit;
pub(crate) mod values;
pub(crate) mod words;

use crate::address::Cidr;
use crate::model::{Act, Condition, Proof};
use crate::platform::Platform;
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_snapshot::Snapshot;

/// All desired states of one kind that findings ask for. No value is there twice, and none contradicts another: the planner has seen to that.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// Modules that are loaded at each boot.
    Modules(Vec<String>),
    /// Options of modules.
    ModuleOptions(Vec<ModuleOption>),
    /// MTUs and addresses of interfaces.
    Network(Vec<Link>),
    /// Files under `/sys` or `/proc/sys`.
    Sysfs(Vec<Sysfs>),
    /// Limits of resources.
    Limit(Vec<Limit>),
    /// ACS control bits of ports, written masked at each boot.
    AcsControl(Vec<AcsControl>),
    /// Fields of Device Control, written masked at each boot.
    DeviceControl(Vec<DeviceControl>),
    /// Settings of one NIC's firmware.
    NicFirmware {
        /// The NIC, as the rules name it.
        device: String,
        /// Settings and values.
        set: Vec<(String, String)>,
        /// Whether the card is reset for them: the planner has seen that this is enough ([`crate::terms`]).
        reset: bool,
    },
    /// That a NIC's pending settings become current.
    NicFirmwareReset {
        /// The NIC, as the rules name it.
        device: String,
        /// Whether the card is reset: the planner has seen that this is enough ([`crate::terms`]); else the reboot does it.
        reset: bool,
        /// Settings that another step sets back: they do not become current.
        except: Vec<String>,
    },
    /// A setting of the system's firmware, where no BMC was named: [`crate::bios`] has the other way.
    Bios {
        /// What vendors call it.
        setting: String,
        /// Wanted value, in words.
        value: String,
    },
}

/// An option of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleOption {
    /// Module.
    pub module: String,
    /// Option.
    pub option: String,
    /// Value; `None`: the option is removed.
    pub value: Option<String>,
}

/// What is wanted of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Interface.
    pub interface: String,
    /// Its MTU in bytes.
    pub mtu: Option<u32>,
    /// Addresses that it gets beside those that it has.
    pub addresses: Vec<Cidr>,
}

/// A value under `/sys` or `/proc/sys`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sysfs {
    /// Path or pattern (`*`), absolute.
    pub path: String,
    /// Value.
    pub value: String,
}

/// A limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// Limit, as `ulimit` and systemd name it, or `/dev/shm`.
    pub limit: String,
    /// Value.
    pub value: String,
}

/// ACS control bits of a port. `clear` and `set` have no bit in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcsControl {
    /// Port.
    pub port: Bdf,
    /// Bits to clear.
    pub clear: u16,
    /// Bits to set.
    pub set: u16,
}

/// A field of a function's Device Control register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceControl {
    /// Function.
    pub function: Bdf,
    /// `max-read-request`, `relaxed-ordering`, `ten-bit-tag`.
    pub field: String,
    /// Value, in the field's own unit.
    pub value: u32,
}

/// What a renderer makes: a step without what the planner knows (rules, reasons, [`crate::terms`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// Name of the step, stable, `[a-z0-9-]` only, the same for the same ask: `modules`, `nicfw-0000-81-00-0`.
    pub id: String,
    /// One sentence in the imperative; empty: the planner takes the remedy's.
    pub summary: String,
    /// What must hold before.
    pub precondition: Vec<Condition>,
    /// The acts, in order.
    pub change: Vec<Act>,
    /// What is read again besides the rules that ask: those the planner adds.
    pub proof: Vec<Proof>,
    /// What people should know of this way of doing it; is put behind the remedy's own risk note.
    pub note: String,
}

/// Why nothing is rendered.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// It must not or cannot be done.
    No {
        /// Why not.
        reason: String,
        /// What on the command line would plan it after all.
        unless: Option<String>,
    },
    /// It is left to people.
    ByHand {
        /// How, one a line.
        how: Vec<String>,
        /// What to read afterwards.
        reread: Vec<String>,
    },
    /// It is so already: the change is made and waits for a boot or a reset, or nothing is left to do.
    Already {
        /// What was found.
        reason: String,
    },
}

impl Refusal {
    /// A plain no.
    #[must_use]
    pub fn no(reason: impl Into<String>) -> Refusal {
        Refusal::No { reason: reason.into(), unless: None }
    }
}

/// What an ask becomes on this platform: one step, or several where the parts differ in when they hold or what they disturb. What cannot be
/// done here, or has a word that must not go into a file, is refused.
pub fn render(ask: &Ask, platform: &Platform, node: &Node<'_>, snapshot: &Snapshot) -> Vec<Result<Rendered, Refusal>> {
    if platform.container {
        return vec![Err(Refusal::no(
            "the source was read inside a container: nothing of the host can be changed from it",
        ))];
    }
    match ask {
        Ask::Modules(modules) => vec![modules::load(modules, node, snapshot)],
        Ask::ModuleOptions(options) => vec![modules::options(options, platform, snapshot)],
        Ask::Network(links) => network::network(links, platform, node, snapshot),
        Ask::Sysfs(values) => vec![values::values(values, snapshot)],
        Ask::Limit(limits) => limits.iter().map(|l| limits::limits(std::slice::from_ref(l), snapshot)).collect(),
        Ask::AcsControl(ports) => vec![registers::acs(ports, node, snapshot)],
        Ask::DeviceControl(fields) => vec![registers::device_control(fields, node, snapshot)],
        Ask::NicFirmware { device, set, reset } => nicfw::set(device, set, *reset, platform, &node.nic_firmware),
        Ask::NicFirmwareReset { device, reset, except } => {
            vec![nicfw::reset(device, *reset, except, platform, &node.nic_firmware)]
        }
        Ask::Bios { setting, value } => vec![Err(bios::by_hand(setting, value))],
    }
}

//! A fix is a desired state, not a command. The planner (`linerate-remedy`) turns it into files, commands or manifests of a platform; it alone says
//! when a fix holds, how long, what it disturbs and what it can break.

use linerate_formats::pci::Bdf;
use serde::Serialize;
use std::borrow::Cow;

/// Text that is mostly static.
pub type Text = Cow<'static, str>;

/// A desired state.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Action {
    /// Words to add to or remove from the kernel command line.
    KernelArgs {
        /// To add.
        add: Vec<Text>,
        /// To remove.
        remove: Vec<Text>,
    },
    /// An option of a kernel module.
    ModuleOption {
        /// Module.
        module: Text,
        /// Option.
        option: Text,
        /// Value; `None` removes the option.
        value: Option<Text>,
    },
    /// A module that must be loaded at each boot.
    LoadModule {
        /// Module.
        module: Text,
    },
    /// A module that must not take devices by itself, as another is to.
    BlockModule {
        /// Module.
        module: Text,
        /// The module that is to take them.
        instead: Text,
    },
    /// ACS control bits of a set of ports.
    AcsControl {
        /// Ports.
        ports: Vec<Bdf>,
        /// Mask of bits to clear.
        clear: u16,
        /// Mask of bits to set.
        set: u16,
    },
    /// A field of the Device Control register, written masked.
    DeviceControl {
        /// Function.
        function: Bdf,
        /// Field: `max-read-request`, `relaxed-ordering`, `ten-bit-tag`.
        field: Text,
        /// Value, in the field's own unit.
        value: u32,
    },
    /// A non-volatile setting of a NIC's firmware.
    NicFirmware {
        /// The NIC.
        device: Text,
        /// Setting.
        parameter: Text,
        /// Value.
        value: Text,
    },
    /// A reset that makes a NIC's pending settings current.
    NicFirmwareReset {
        /// The NIC.
        device: Text,
    },
    /// A setting of the firmware setup.
    Bios {
        /// What vendors call it.
        setting: Text,
        /// Wanted value.
        value: Text,
    },
    /// MTU of a network interface.
    Mtu {
        /// Interface.
        interface: Text,
        /// Bytes.
        mtu: u32,
    },
    /// Global pause (IEEE 802.3x) of a network interface is off, in both directions.
    PauseOff {
        /// Interface.
        interface: Text,
    },
    /// An IPv4 address for a network interface. Which one, people decide.
    Address {
        /// Interface.
        interface: Text,
    },
    /// A file under /sys or /proc/sys.
    Sysfs {
        /// Path, or a pattern for each device of a class.
        path: Text,
        /// Value.
        value: Text,
    },
    /// A resource limit.
    Limit {
        /// Limit, as `ulimit` and systemd name it.
        limit: Text,
        /// Value.
        value: Text,
    },
    /// A service of systemd that runs now and at each boot.
    Service {
        /// Its name, without `.service`.
        service: Text,
    },
    /// The devices of the host where a domain of libvirt has them at its next start: below the ports and in the NUMA nodes of the host.
    DomainLayout {
        /// The domain's name.
        domain: Text,
        /// Whether its CPUs, memory, pages and window are to be the layout's, too; else only where devices are.
        settings: bool,
    },
    /// Environment of the job.
    Environment {
        /// To set, NAME=value.
        set: Vec<Text>,
        /// To unset.
        unset: Vec<Text>,
    },
    /// Software to install, remove or change.
    Software {
        /// What.
        what: Text,
    },
    /// Hands on hardware: reseat, recable, move.
    Physical {
        /// What.
        what: Text,
    },
    /// To be done on the VM host, not here.
    HostSide {
        /// What.
        what: Text,
    },
    /// To be looked at or decided by a person.
    Investigate {
        /// What.
        what: Text,
    },
}

/// A fix.
#[derive(Debug, Clone, PartialEq)]
pub struct Remedy {
    /// One sentence in the imperative.
    pub summary: Text,
    /// The desired state.
    pub action: Action,
    /// What the rule knows that it can break; empty: nothing beyond what the planner says of every fix of this kind.
    pub risk_note: Text,
    /// What to read again to prove it.
    pub reread: Vec<Text>,
}

impl Remedy {
    /// A fix without risk note and rereads; see the builder methods.
    pub fn new(summary: impl Into<Text>, action: Action) -> Self {
        Remedy { summary: summary.into(), action, risk_note: Text::default(), reread: Vec::new() }
    }

    /// Asks a person to look at something, or to decide it.
    pub fn investigate(summary: impl Into<Text>, what: impl Into<Text>) -> Self {
        Self::new(summary, Action::Investigate { what: what.into() })
    }

    /// Asks for hands on hardware.
    pub fn physical(summary: impl Into<Text>, what: impl Into<Text>) -> Self {
        Self::new(summary, Action::Physical { what: what.into() })
    }

    /// Asks for software to be installed, removed or changed.
    pub fn software(summary: impl Into<Text>, what: impl Into<Text>) -> Self {
        Self::new(summary, Action::Software { what: what.into() })
    }

    /// Asks for something on the VM host.
    pub fn host_side(summary: impl Into<Text>, what: impl Into<Text>) -> Self {
        Self::new(summary, Action::HostSide { what: what.into() })
    }

    /// Asks for a setting of the firmware setup.
    pub fn bios(summary: impl Into<Text>, setting: impl Into<Text>, value: impl Into<Text>) -> Self {
        Self::new(summary, Action::Bios { setting: setting.into(), value: value.into() })
    }

    /// Asks for a value of a file under /sys or /proc/sys.
    pub fn sysfs(summary: impl Into<Text>, path: impl Into<Text>, value: impl Into<Text>) -> Self {
        Self::new(summary, Action::Sysfs { path: path.into(), value: value.into() })
    }

    /// Asks for a setting of a NIC's firmware.
    pub fn nic_firmware(
        summary: impl Into<Text>,
        device: impl Into<Text>,
        parameter: impl Into<Text>,
        value: impl Into<Text>,
    ) -> Self {
        let (device, parameter, value) = (device.into(), parameter.into(), value.into());
        Self::new(summary, Action::NicFirmware { device, parameter, value })
    }

    /// Asks for words of the kernel command line to be added and removed.
    pub fn kernel_args(summary: impl Into<Text>, add: &[&'static str], remove: &[&'static str]) -> Self {
        let texts = |words: &[&'static str]| words.iter().map(|w| Text::Borrowed(*w)).collect();
        Self::new(summary, Action::KernelArgs { add: texts(add), remove: texts(remove) })
    }

    /// Asks for a module to be loaded at each boot.
    pub fn load_module(summary: impl Into<Text>, module: impl Into<Text>) -> Self {
        Self::new(summary, Action::LoadModule { module: module.into() })
    }

    /// Says why it is risky.
    #[must_use]
    pub fn because(mut self, note: impl Into<Text>) -> Self {
        self.risk_note = note.into();
        self
    }

    /// Says what to read again.
    #[must_use]
    pub fn prove(mut self, reread: impl Into<Text>) -> Self {
        self.reread.push(reread.into());
        self
    }
}

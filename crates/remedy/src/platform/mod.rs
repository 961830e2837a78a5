//! What the node is, as far as changing it is concerned: distribution, boot loader, initramfs, network, tools.

mod detect;

/// The node's platform. What the source does not show is unknown, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Platform {
    /// `ID` of os-release, lower case: `debian`, `rhel`.
    pub id: Option<String>,
    /// `ID_LIKE`.
    pub like: Vec<String>,
    /// `PRETTY_NAME`, or the name and version.
    pub name: Option<String>,
    /// `VERSION_ID`.
    pub version: Option<String>,
    /// How kernel arguments get to the kernel.
    pub boot: Boot,
    /// What makes the initramfs.
    pub initramfs: Initramfs,
    /// Who sets addresses and MTUs.
    pub network: Network,
    /// Programs that are there.
    pub tools: Tools,
    /// Bare metal, VM host or guest.
    pub role: Option<linerate_node::context::Role>,
    /// What holds VMs here, in words, where the node is a VM host or may be.
    pub vms: Option<String>,
    /// The source was read inside a container: nothing of the host can be changed from it.
    pub container: bool,
    /// Why each of these is believed: what, and where it was read.
    pub because: Vec<(&'static str, String)>,
}

/// How kernel arguments get to the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Boot {
    /// GRUB with Debian's `update-grub` and `/etc/default/grub.d`.
    GrubDebian,
    /// Entries in `/boot/loader/entries`, changed by `grubby`.
    Grubby,
    /// systemd-boot, entries made by `kernel-install` of `/etc/kernel/cmdline`.
    SystemdBoot,
    /// A unified kernel image, arguments inside.
    Uki,
    /// rpm-ostree: `rpm-ostree kargs`.
    OsTree,
    /// Talos: machine configuration only.
    Talos,
    /// OpenShift's RHCOS: MachineConfig only.
    OpenShift,
    /// None that is known; why.
    Unknown(String),
}

/// What makes the initramfs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Initramfs {
    /// `update-initramfs`.
    InitramfsTools,
    /// `dracut`.
    Dracut,
    /// Not shown.
    Unknown,
}

/// Who sets addresses and MTUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// netplan, for networkd or NetworkManager.
    Netplan,
    /// NetworkManager.
    NetworkManager,
    /// systemd-networkd.
    Networkd,
    /// ifupdown.
    Ifupdown,
    /// Not shown.
    Unknown,
}

/// Programs that are there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tools {
    /// Names of those seen, sorted.
    pub seen: Vec<String>,
    /// Whether the source looked for tools: only then is one that was not seen missing.
    pub looked: bool,
}

impl Tools {
    /// Whether it is there; `None`: the source did not look.
    #[must_use]
    pub fn has(&self, name: &str) -> Option<bool> {
        let there = self.seen.iter().any(|t| t == name);
        (there || self.looked).then_some(there)
    }
}

impl Platform {
    /// Whether it is of a family: `ID` or one of `ID_LIKE`.
    #[must_use]
    pub fn is_like(&self, id: &str) -> bool {
        self.id.as_deref() == Some(id) || self.like.iter().any(|l| l == id)
    }

    /// In words, for [`crate::Plan::platform`]: `Debian GNU/Linux 12, GRUB, netplan, bare metal`.
    #[must_use]
    pub fn words(&self) -> String {
        let boot = match &self.boot {
            Boot::GrubDebian => "GRUB (update-grub)",
            Boot::Grubby => "boot entries (grubby)",
            Boot::SystemdBoot => "systemd-boot",
            Boot::Uki => "unified kernel image",
            Boot::OsTree => "rpm-ostree",
            Boot::Talos => "Talos machine configuration",
            Boot::OpenShift => "OpenShift MachineConfig",
            Boot::Unknown(_) => "boot loader not known",
        };
        let network = match self.network {
            Network::Netplan => Some("netplan"),
            Network::NetworkManager => Some("NetworkManager"),
            Network::Networkd => Some("systemd-networkd"),
            Network::Ifupdown => Some("ifupdown"),
            Network::Unknown => None,
        };
        let mut out = vec![self.name.clone().unwrap_or_else(|| "distribution not known".to_owned()), boot.to_owned()];
        out.extend(network.map(str::to_owned));
        out.extend(self.role.map(|r| r.to_string()));
        out.extend(self.container.then(|| "seen from inside a container".to_owned()));
        out.join(", ")
    }
}

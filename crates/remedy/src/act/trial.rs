//! A menu entry of the boot loader that is used once.

use serde::{Deserialize, Serialize};

/// A menu entry of the boot loader that is used once: if it does not come up, the next start takes the usual one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialAct {
    /// Way of this boot loader.
    pub boot: BootTrial,
    /// Words added to the kernel's arguments of the usual entry.
    pub add: Vec<String>,
    /// Words removed.
    pub remove: Vec<String>,
}

/// How a boot loader starts an entry once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BootTrial {
    /// An entry in `custom.cfg` beside `grub.cfg`, chosen by `grub-reboot` (Debian's names).
    GrubCustom,
    /// An entry of its own in `/boot/loader/entries`, chosen by `grub2-reboot` (RHEL).
    GrubBls,
    /// An entry of its own in the boot partition, chosen by `bootctl set-oneshot`.
    SystemdBoot,
}

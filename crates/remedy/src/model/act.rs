//! The smallest change: done, seen to be done, undone.

use crate::hash::sha256;
use linerate_out::shell;
use serde::{Deserialize, Serialize};

/// One change. Every act can be looked at before (`before`), is the same when done twice, and says how it is undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "snake_case", deny_unknown_fields)]
pub enum Act {
    /// A file with this content. Written beside, synced, renamed. Undone: the bytes, mode and owner that were there, or no file.
    File {
        /// Absolute path; none of its directories may be a link that leaves the root.
        path: String,
        /// What must be there now.
        before: FileState,
        /// What is there then; `None`: no file.
        after: Option<Content>,
        /// Permissions, octal digits as a number: `0o644`.
        mode: u32,
    },
    /// A program that makes other files of what was written, or makes the system take it: `update-grub`, `systemctl daemon-reload`. It is
    /// the same when run twice.
    Run {
        /// Program and arguments. The first is a name found in the system's directories, or an absolute path.
        argv: Vec<String>,
        /// Files that it writes. They are kept before, and put back when undone.
        writes: Vec<String>,
        /// What is run when undone, after the files are back; empty: nothing. Where somebody else wrote one of the files since, a program
        /// with an inverse is left as it is, and one without is run again.
        undo: Vec<String>,
        /// Seconds that it may take.
        limit: u32,
    },
    /// A value under `/sys` or `/proc/sys`, which lasts until the next boot.
    Value {
        /// Path.
        path: String,
        /// What is read there now, without white space around it.
        before: String,
        /// What is written, and then read. Where the kernel shows a choice, `[…]` marks it.
        after: String,
    },
    /// A menu entry of the boot loader that is used once: if it does not come up, the next start takes the usual one.
    Trial {
        /// Way of this boot loader.
        boot: BootTrial,
        /// Words added to the kernel's arguments of the usual entry.
        add: Vec<String>,
        /// Words removed.
        remove: Vec<String>,
    },
    /// A setting of a NIC's firmware, by `mstconfig` or `mlxconfig`. All settings are saved before the first. Undone: the value for the next
    /// boot that was there.
    NicFirmware {
        /// Device as the tool names it: its PCI address.
        device: String,
        /// Setting.
        parameter: String,
        /// Value for the next boot that must be there now, as the tool prints it.
        before: String,
        /// Value to set.
        after: String,
    },
    /// A setting of the system's firmware by Redfish: written to `Bios/Settings`, in force after the next start through POST.
    Bios {
        /// Attribute, as the service names it.
        attribute: String,
        /// Value in force now; as JSON writes it.
        before: serde_json::Value,
        /// Value to set.
        after: serde_json::Value,
    },
    /// A label of the node's object in Kubernetes. One that is taken off goes before anything else is made, one that is put comes when
    /// all else is proven: it says what the node does.
    Label {
        /// The object's name.
        node: String,
        /// Key, with its prefix.
        key: String,
        /// Value now; `None`: it has no such label.
        before: Option<String>,
        /// Value then; `None`: no such label.
        after: Option<String>,
    },
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

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content(pub String);

/// What must be at a path before it is changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileState {
    /// Nothing.
    Absent,
    /// A file with this content.
    Content(String),
    /// A file whose content has this SHA-256: it is not told in the plan.
    Digest(String),
}

impl FileState {
    /// Whether this is what is there; `None`: no file.
    #[must_use]
    pub fn is(&self, there: Option<&[u8]>) -> bool {
        match (self, there) {
            (FileState::Absent, None) => true,
            (FileState::Content(text), Some(bytes)) => text.as_bytes() == bytes,
            (FileState::Digest(digest), Some(bytes)) => *digest == sha256(bytes),
            _ => false,
        }
    }
}

impl Act {
    /// Whether the driver makes it from where it is, by another service than the node: the node's hand only notes it.
    #[must_use]
    pub fn is_elsewhere(&self) -> bool {
        matches!(self, Act::Bios { .. } | Act::Label { .. })
    }

    /// Whether it claims what the node does: it is made when all else is proven.
    #[must_use]
    pub fn is_claim(&self) -> bool {
        matches!(self, Act::Label { after: Some(_), .. })
    }

    /// One line for people.
    #[must_use]
    pub fn summary(&self) -> String {
        match self {
            Act::File { path, after: Some(_), before: FileState::Absent, .. } => format!("create {path}"),
            Act::File { path, after: Some(_), .. } => format!("change {path}"),
            Act::File { path, after: None, .. } => format!("remove {path}"),
            Act::Run { argv, .. } => format!("run {}", shell::shown(argv)),
            Act::Value { path, before, after } => format!("write {after} to {path} (now {before})"),
            Act::Trial { add, remove, .. } => {
                let added = (!add.is_empty()).then(|| format!(" with {}", add.join(" ")));
                let removed = (!remove.is_empty()).then(|| format!(" without {}", remove.join(" ")));
                format!("start the kernel once{}{}", added.unwrap_or_default(), removed.unwrap_or_default())
            }
            Act::NicFirmware { device, parameter, before, after } => {
                format!("set {parameter} of {device} to {after} (next boot: {before})")
            }
            Act::Bios { attribute, before, after } => {
                format!("set the BIOS attribute {attribute} to {after} (now {before})")
            }
            Act::Label { node, key, before, after } => {
                let now = before.as_ref().map_or("it has none".to_owned(), |b| format!("now {key}={b}"));
                match after {
                    Some(value) => format!("put the label {key}={value} on the Kubernetes node {node} ({now})"),
                    None => format!("take the label {key} off the Kubernetes node {node} ({now})"),
                }
            }
        }
    }
}

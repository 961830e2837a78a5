//! A setting of a NIC's firmware.

use serde::{Deserialize, Serialize};

/// A setting of a NIC's firmware, by `mstconfig` or `mlxconfig`. All settings are saved before the first. Undone: the value for the next
/// boot that was there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NicFirmwareAct {
    /// Device as the tool names it: its PCI address.
    pub device: String,
    /// Setting.
    pub parameter: String,
    /// Value for the next boot that must be there now, as the tool prints it.
    pub before: String,
    /// Value to set.
    pub after: String,
}

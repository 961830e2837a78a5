//! A setting of the system's firmware.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// A setting of the system's firmware by Redfish: written to `Bios/Settings`, in force after the next start through POST.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BiosAct {
    /// Attribute, as the service names it.
    pub attribute: String,
    /// Value in force now; as JSON writes it.
    pub before: Json,
    /// Value to set.
    pub after: Json,
}

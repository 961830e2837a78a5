//! A setting of the system's firmware.

use super::{ActShown, Deed};
use crate::effect::Effect;
use crate::model::Step;
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

impl ActShown for BiosAct {
    fn summary(&self) -> String {
        format!("set the BIOS attribute {} to {} (now {})", self.attribute, self.after, self.before)
    }

    fn rollback(&self) -> Option<String> {
        Some(format!("set the BIOS attribute {} to {}", self.attribute, self.before))
    }

    fn effects(&self) -> Vec<Effect> {
        vec![Effect::Bios { attribute: self.attribute.clone(), value: self.after.clone() }]
    }

    fn deed(&self, _: &Step) -> Deed<'_> {
        const BMC: &str = "it is set by Redfish, with the credentials of the BMC";
        let what = Some(format!("BIOS attribute {}={}", self.attribute, self.after));
        Deed::Left { what, script: BMC.into(), playbook: BMC, others: "the system's firmware is set by Redfish" }
    }
}

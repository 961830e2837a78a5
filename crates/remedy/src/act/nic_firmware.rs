//! A setting of a NIC's firmware.

use super::{ActShown, Deed};
use crate::effect::Effect;
use crate::export::Piece;
use crate::model::{Condition, Step};
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

impl ActShown for NicFirmwareAct {
    fn summary(&self) -> String {
        let NicFirmwareAct { device, parameter, before, after } = self;
        format!("set {parameter} of {device} to {after} (next boot: {before})")
    }

    fn rollback(&self) -> Option<String> {
        Some(format!("set {} of {} to {}", self.parameter, self.device, self.before))
    }

    fn effects(&self) -> Vec<Effect> {
        let NicFirmwareAct { device, parameter, after, .. } = self.clone();
        vec![Effect::NextNicFirmware { device, parameter, value: after }]
    }

    fn deed(&self, step: &Step) -> Deed<'_> {
        let (tool, set) = (tool(step), format!("{}={}", self.parameter, self.after));
        let words = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
        Deed::Set {
            show: words(&[tool, "-d", &self.device, "-e", "query", &self.parameter]),
            set: words(&[tool, "-y", "-d", &self.device, "set", &set]),
            piece: Piece::NicFirmware { device: &self.device, parameter: &self.parameter, value: &self.after },
            first_start: "settings stay in the card: set them once, by --format shell or nicconfig",
        }
    }
}

/// The program that sets a NIC's firmware on this node: the one that the step needs.
fn tool(step: &Step) -> &'static str {
    let mft = |c: &Condition| matches!(c, Condition::Program { name, .. } if name == "mlxconfig");
    if step.precondition.iter().any(mft) { "mlxconfig" } else { "mstconfig" }
}

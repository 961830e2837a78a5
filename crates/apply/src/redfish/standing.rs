//! Whether a setting holds.

use super::{Attributes, Outcome};
use serde_json::Value;

/// How one attribute stands.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// The value in force is the wanted one.
    Effective,
    /// The wanted value waits for the next start through POST.
    Pending,
    /// It was sent, and nothing shows it; only the reboot will tell. The service may not show what waits.
    Unconfirmed,
    /// It is not in force, and will not come into force.
    Ineffective(String),
}

/// How a wanted attribute stands: the value in force decides, whatever a task said.
#[must_use]
pub fn standing(attribute: &str, wanted: &Value, seen: &Outcome, rebooted: bool) -> Standing {
    let is = |all: &Attributes| all.get(attribute).is_some_and(|v| same(v, wanted));
    if is(&seen.active) {
        return Standing::Effective;
    }
    let waits = seen.pending.as_ref().is_some_and(is);
    let task = seen.task.as_ref().map(|t| t.state.as_str());
    match (rebooted, waits) {
        (false, true) => Standing::Pending,
        (false, false) => Standing::Unconfirmed,
        (true, true) => Standing::Ineffective(
            "it still waits after the reboot: the start did not go through POST, or the service wants a job or a power cycle"
                .to_owned(),
        ),
        (true, false) => {
            let there = seen.active.get(attribute).map_or("nothing".to_owned(), ToString::to_string);
            let claim = match task {
                Some(state) => format!("the service accepted a task ({state}) and changed nothing"),
                None => "the service accepted it and changed nothing".to_owned(),
            };
            Standing::Ineffective(format!("{claim}: {attribute} is {there} and nothing waits"))
        }
    }
}

/// Equal as values: 1 and 1.0 are.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    a == b || a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| a == b)
}

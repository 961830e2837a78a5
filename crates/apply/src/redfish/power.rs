//! `ComputerSystem.Reset`.

use super::{Client, Error, Method, Request, System, Transport};
use serde_json::json;

/// Kinds of reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ResetType {
    /// Switch on.
    On,
    /// Switch on, whatever state is claimed.
    ForceOn,
    /// Ask the operating system to stop, and switch off.
    GracefulShutdown,
    /// Ask the operating system to stop, and start again.
    GracefulRestart,
    /// Start again at once.
    ForceRestart,
    /// Switch off at once.
    ForceOff,
    /// Off and on again: values that need a power cycle.
    PowerCycle,
}

impl ResetType {
    /// As Redfish writes it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ResetType::On => "On",
            ResetType::ForceOn => "ForceOn",
            ResetType::GracefulShutdown => "GracefulShutdown",
            ResetType::GracefulRestart => "GracefulRestart",
            ResetType::ForceRestart => "ForceRestart",
            ResetType::ForceOff => "ForceOff",
            ResetType::PowerCycle => "PowerCycle",
        }
    }
}

impl<T: Transport> Client<T> {
    /// Resets a system. That it was accepted does not say that it happened: look for a new boot.
    ///
    /// # Errors
    /// The system does not take this kind, or the service refuses.
    pub fn reset(&self, system: &System, kind: ResetType) -> Result<(), Error> {
        let missing = |what: String| Error::Missing { path: system.path.clone(), what };
        let target = system.reset.as_deref().ok_or_else(|| missing("no ComputerSystem.Reset here".to_owned()))?;
        if !system.resets.is_empty() && !system.resets.iter().any(|r| r == kind.word()) {
            return Err(missing(format!("it does not take {}; it takes: {}", kind.word(), system.resets.join(", "))));
        }
        let body = Some(json!({ "ResetType": kind.word() }));
        let request = Request { method: Method::Post, path: target.to_owned(), body, if_match: None };
        self.send(&request)?.good(&request)
    }
}

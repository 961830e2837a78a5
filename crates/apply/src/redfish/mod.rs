//! Settings of the system's firmware over Redfish (DMTF DSP0266, `Bios` and `Settings` of DSP8010), at the operator's side.
//!
//! A service has two sets of attributes: those in force (`Bios`), and those that wait for the next start through POST (the object that
//! `@Redfish.Settings` names). Only the first say what the machine does: a task that was accepted, and even completed, changes nothing
//! by itself. So [`Client::set`] tells what it saw of all three, and [`standing()`] decides by the attributes in force after the reboot.
//!
//! [`Curl`] carries the requests: the program `curl`, never a shell; credentials on its standard input or in a netrc file, never in its
//! arguments; TLS verified; no redirects, no other hosts, nothing larger than a limit.

mod client;
mod curl;
mod error;
mod origin;
mod power;
mod registry;
mod settings;
mod standing;
#[cfg(test)]
mod tests;
mod wire;

pub use client::{Bios, Client, System};
pub use curl::{Credentials, Curl};
pub use error::Error;
pub use origin::Origin;
pub use power::ResetType;
pub use registry::{Entry, Registry};
pub use settings::{Outcome, Patience, Task};
pub(crate) use standing::same;
pub use standing::{Standing, standing};
pub use wire::{Method, Request, Response, Transport};

/// Attributes by the service's names, with values as JSON writes them.
pub type Attributes = std::collections::BTreeMap<String, serde_json::Value>;

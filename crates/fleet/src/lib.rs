//! Many nodes: what differs between them, in facts and in verdicts, by position and never by name.
//!
//! A [`Profile`] is what of a node can be compared. Pure: nothing here touches the system.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![forbid(unsafe_code)]

mod about;
mod addresses;
pub mod audit;
pub mod class;
pub mod cluster;
pub mod condition;
pub mod diff;
pub mod drift;
pub mod identity;
mod known;
mod lost;
mod named;
pub mod names;
pub mod nodeset;
pub mod policy;
mod profile;
mod record;
mod recorded;
pub mod since;

pub use about::about;
pub use addresses::{Addresses, Others};
pub use class::Traits;
pub use identity::Identity;
pub use known::{catalogue, id};
pub use linerate_rules::{Severity, Status};
pub use nodeset::NodeSet;
pub use profile::{Judged, Line, Profile, State, Thing, Whose};
pub use record::{Owner, Record, Row, Said, Seen, sort};

//! The bandwidth that a node or a cluster could reach, with the arithmetic behind it.
//!
//! ```text
//! topology ─► seen.rs
//! port ─► link.rs ──┐
//! PCIe ─► pcie.rs ──┼─► elements.rs ─► nic.rs  (one NIC; all NICs at once, lp.rs) ─┐
//! NVLink, CPUs ─────┘  (fabric.rs)     cuts.rs (rings within a node)             ─┼─► node.rs ─► Ceilings
//!                                      collective.rs (bytes that a node sends)   ─┘
//! ```
//!
//! Every ceiling is a [`Derivation`]: a range, the steps, the element that limits and the one behind it. A range is wide for one of two
//! reasons, and each step says which: a constant is an estimate, or something was not seen and everything possible is in it.
//! Ceilings are upper bounds of payload at the largest messages: latency, congestion and software are not in them.

pub mod collective;
mod cuts;
mod derive;
mod elements;
mod extra;
mod fabric;
pub mod link;
mod links;
mod lp;
mod nic;
mod node;
pub mod pcie;
mod seen;
mod words;

pub use collective::{Algorithm, Collective, Shape};
pub use derive::{Derivation, Element, ElementKind, Part, Quality, Range, Step, Unit};
pub use extra::{Extra, PcieSeen};
pub use link::{Port, Protocol};
pub use links::{Links, NotLinks};
pub use nic::{NicCeilings, NicTotal, adapter};
pub use node::{Ceilings, CollectiveCeiling, best, between, bottleneck, known_ceilings, node_ceilings};
pub use pcie::{Direction, PcieLink};
pub use words::{Name, Words};

//! The topology of a node as NCCL sees it: what it will conclude, and what the node could reach.
//!
//! ```text
//! Node (sysfs, NVML)  ─┐
//!                      ├─► xml::Document ─► System ─► Paths ─► GDR, P2P, local NICs ─► rings, trees
//! NCCL topology XML   ─┘        │                        │
//!                               └─► written again        └─► Ceiling
//! ```
//!
//! Everything is pure. The definition is NCCL's published source (`src/graph`, 2.30); what earlier releases do otherwise is in
//! [`Version`]. Bandwidths are in GB/s (10⁹ bytes per second, one direction) unless a name says otherwise.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![forbid(unsafe_code)]

mod analysis;
pub mod ceiling;
pub mod config;
mod env;
mod error;
mod fill;
pub mod from_matrix;
pub mod from_node;
pub mod gdr;
pub mod local;
mod number;
pub mod open;
pub mod p2p;
mod path;
mod paths;
pub mod search;
pub mod system;
mod tree;
mod version;
pub mod what_if;
pub mod xml;

pub use analysis::{Analysis, Whole};
pub use config::{Config, Input};
pub use env::Env;
pub use error::Error;
pub use fill::{Assumptions, Nvlink};
pub use number::bus_id_text;
pub use open::{Lack, Open};
pub use path::PathType;
pub use paths::{Path, Paths};
pub use search::Search;
pub use system::System;
pub use version::{NotAVersion, Version};
pub use xml::Document;

/// Channels of a communicator, at most (`MAXCHANNELS`).
pub(crate) const MAX_CHANNELS: i32 = 64;

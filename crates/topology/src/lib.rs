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

#![forbid(unsafe_code)]

pub mod path;
pub mod version;
pub mod xml;

pub use path::PathType;
pub use version::Version;

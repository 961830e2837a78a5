//! The rule catalogue. One rule, one file: metadata, documentation, check, remedy.
//!
//! Rules are pure functions from a [`linerate_node::Node`] to findings. The [`engine`] decides applicability from the node's
//! role, so that no rule judges a node in a context in which it does not hold.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod acs;
mod ats;
mod claims;
mod cmdline;
mod cpu;
pub mod engine;
pub mod finding;
mod gpu;
pub mod gpu_start;
mod gpumem;
mod grown;
mod iommu;
mod jobs;
mod log;
mod memory;
mod modules;
mod nicfw;
mod numa;
mod pcie;
mod pods;
mod rdma;
mod registry;
pub mod remedy;
pub mod rule;
mod sources;
pub mod survey;
pub mod terms;
mod topo;
mod vm;
pub mod xid;

pub use acs::{AcsAsked, acs_asked_for};
pub use cmdline::words::{domain_asked_for, iommu_turned_off};
pub use engine::{Audit, Causes, Verdict, answers, audit};
pub use finding::{About, DependsOn, Depth, Evidence, Finding, Findings, Status, Subject, Words};
pub use registry::{Area, areas, find, rules};
pub use remedy::{Action, Remedy};
pub use rule::{Cx, Effect, Myth, Quality, Roles, Rule, Severities, Severity, Source};
pub use survey::{Answer, Survey, survey};
pub use terms::{Suppression, Terms, Usage};
pub use vm::explain;

//! NCCL's environment, and that of what it works with: what each variable does in which release, settings read from wherever people keep
//! them, a judgement of each, and what a node really needs.
//!
//! ```text
//! environment, script, manifest, nccl.conf, log ── read ──► Setting ─┐
//! Node ── NodeFacts ─► Context ──────────────────────────────────────┴─ judge ──► Judgement
//!                         └──────────────────────────────────────────── recommend ► Recommendation
//! ```
//!
//! Pure. What the context does not tell is not guessed: the judgement says what would decide it.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![forbid(unsafe_code)]

mod context;
mod facts;
mod inputs;
mod judge;
mod near;
mod nearness;
pub mod read;
mod recommend;
mod registry;
mod setting;
pub mod value;

pub use context::{Context, Fabric};
pub use facts::{Distance, Interface, Link, Nic, NodeFacts, Port, Selection};
pub use inputs::{Inputs, Text};
pub use judge::{Change, Judgement, Kind, Severity, judge, worst};
pub use near::near;
pub use recommend::{Recommendation, Recommended, recommend};
pub use registry::{
    Default as DefaultValue, Kind as ValueKind, Legal, NotReleased, Owner, Span, Variable, lookup, nearest, newest,
    released, releases, variables,
};
pub use setting::{Elsewhere, Origin, OriginKind, Setting};

pub use linerate_topology::Version;

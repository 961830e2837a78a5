//! From findings to a node that shows that they are gone. Pure: what is planned, what a plan looks like in another system's words, and
//! what a node that was read again says about it. Who changes a node is `linerate-apply`.
//!
//! A plan is data: [`Plan`] holds steps in order, a step its [`Act`]s, each with what was there before, so that it can be checked, done
//! twice without harm, and undone byte for byte. Nothing in a plan is a line for a shell.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod act;
pub mod address;
pub mod bios;
pub mod boot;
pub mod change;
pub mod diff;
pub mod effect;
pub mod export;
mod hash;
pub mod model;
pub mod plan;
pub mod platform;
mod see;
pub mod simulate;
pub mod terms;
pub mod verify;
mod wished;

pub use act::*;
pub use hash::sha256;
pub use model::{
    ByHand, Changed, Condition, Counts, Disruption, KubeNode, NodeId, Permanence, Plan, PlanError, Proof, Refused,
    Risk, SCHEMA, Simulation, State, Step,
};
pub use simulate::{Simulated, simulate};
pub use terms::{On, Terms, terms};
pub use wished::Wished;

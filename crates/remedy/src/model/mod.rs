//! What a plan is.

mod plan;
mod simulation;
mod step;

pub use crate::act::*;
pub use plan::{ByHand, KubeNode, NodeId, Plan, PlanError, Refused, SCHEMA};
pub use simulation::{Changed, Counts, Simulation, State};
pub use step::{Condition, Disruption, Permanence, Proof, Risk, Step};

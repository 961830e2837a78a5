//! What a plan is.

mod act;
mod plan;
mod step;

pub use act::{Act, BootTrial, Content, FileState};
pub use plan::{ByHand, KubeNode, NodeId, Plan, PlanError, Refused, SCHEMA};
pub use step::{Condition, Disruption, Permanence, Proof, Risk, Step};

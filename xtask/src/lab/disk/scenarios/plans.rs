//! Plans of the lab's own, where no rule asks for what is to be seen.

use linerate_remedy::{Disruption, NodeId, Permanence, Plan, Risk, SCHEMA, Step};

/// A step that does nothing yet.
pub(super) fn step(id: &str, summary: &str) -> Step {
    Step {
        id: id.to_owned(),
        rules: Vec::new(),
        summary: summary.to_owned(),
        why: vec!["the lab wants to see it".to_owned()],
        precondition: Vec::new(),
        trial: Vec::new(),
        change: Vec::new(),
        proof: Vec::new(),
        risk: Risk::Low,
        risk_note: String::new(),
        persistence: Permanence::Immediate,
        disruption: Disruption::None,
        unsimulated: Vec::new(),
    }
}

/// A plan for this node.
pub(super) fn plan(node: NodeId, steps: Vec<Step>) -> Plan {
    let plan = Plan {
        schema: SCHEMA.to_owned(),
        hash: String::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        node,
        role: None,
        kubernetes: None,
        source: "the lab".to_owned(),
        platform: "Debian, GRUB".to_owned(),
        steps,
        by_hand: Vec::new(),
        refused: Vec::new(),
        simulation: None,
    };
    plan.sealed()
}

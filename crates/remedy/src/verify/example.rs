//! Plans for tests.

use crate::model::{Disruption, NodeId, Permanence, Plan, Risk, SCHEMA, Step};

pub(crate) fn step(id: &str) -> Step {
    Step {
        id: id.into(),
        rules: Vec::new(),
        summary: "do it".into(),
        why: Vec::new(),
        precondition: Vec::new(),
        trial: Vec::new(),
        change: Vec::new(),
        proof: Vec::new(),
        risk: Risk::Low,
        risk_note: String::new(),
        persistence: Permanence::NextBoot,
        disruption: Disruption::DrainReboot,
        unsimulated: Vec::new(),
    }
}

pub(crate) fn plan(steps: Vec<Step>) -> Plan {
    Plan {
        schema: SCHEMA.into(),
        hash: String::new(),
        version: "0".into(),
        node: NodeId { host: Some("n1".into()), boot: Some("boot-1".into()), ..NodeId::default() },
        role: None,
        kubernetes: None,
        source: "t".into(),
        platform: "Debian 12, GRUB".into(),
        steps,
        by_hand: Vec::new(),
        refused: Vec::new(),
        simulation: None,
    }
    .sealed()
}

//! The desired state of NMState: MTUs. For `nmstatectl apply`, or below `spec.desiredState` of a NodeNetworkConfigurationPolicy.

use super::pieces::{Piece, pieces};
use super::yaml::Y;
use super::{Export, Rest};
use crate::model::Plan;

/// What of the plan is the network's configuration.
#[must_use]
pub fn nmstate(plan: &Plan) -> Export {
    let mut rest = Rest::of(plan);
    let mut interfaces = Vec::new();
    for (step, piece) in pieces(plan) {
        match piece {
            // Without a type: NMState takes that of the interface that is there.
            Piece::Mtu { interface, mtu } => interfaces.push(Y::map([
                ("name", Y::str(interface)),
                ("state", Y::str("up")),
                ("mtu", Y::Num(i64::from(mtu))),
            ])),
            other => rest.leave(&step.id, other.what(), "it is no configuration of the network"),
        }
    }
    let head = rest.head(
        plan,
        "Desired state of NMState: nmstatectl apply, or spec.desiredState of a NodeNetworkConfigurationPolicy.",
    );
    let document = Y::map([("interfaces", Y::List(interfaces))]);
    rest.done(format!("{head}{}", document.document()))
}

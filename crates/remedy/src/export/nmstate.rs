//! The desired state of NMState: MTUs and addresses. For `nmstatectl apply`, or below `spec.desiredState` of a NodeNetworkConfigurationPolicy.

use super::pieces::{Piece, named, pieces};
use super::yaml::Y;
use super::{Export, Rest};
use crate::address::Cidr;
use crate::model::Plan;

/// What is wanted of an interface.
#[derive(Default)]
struct Link {
    mtu: Option<u32>,
    addresses: Vec<Cidr>,
}

/// What of the plan is the network's configuration.
#[must_use]
pub fn nmstate(plan: &Plan) -> Export {
    let mut rest = Rest::of(plan);
    let mut links: Vec<(String, Link)> = Vec::new();
    for (step, piece) in pieces(plan) {
        let name = match &piece {
            Piece::Mtu { interface, .. } | Piece::Address { interface, .. } => *interface,
            other => {
                rest.leave(&step.id, other.what(), "it is not a network setting");
                continue;
            }
        };
        let link = named(&mut links, name);
        match piece {
            Piece::Mtu { mtu, .. } => link.mtu = Some(mtu),
            Piece::Address { cidr, .. } => link.addresses.push(cidr),
            _ => {}
        }
    }
    let mut head = rest.head(
        plan,
        "Desired state of NMState: nmstatectl apply, or spec.desiredState of a NodeNetworkConfigurationPolicy.",
    );
    if !links.is_empty() {
        head.push_str(
            "#\n# Names and addresses of interfaces are those of this node: a NodeNetworkConfigurationPolicy with them selects it alone\n\
             # (spec.nodeSelector, kubernetes.io/hostname).\n",
        );
    }
    if links.iter().any(|(_, l)| !l.addresses.is_empty()) {
        head.push_str(
            "#\n# NMState puts these IPv4 addresses in the place of all that an interface has, and ends its DHCP for IPv4. An address is\n\
             # planned only where the port had none when the plan was made: see that it is still so.\n",
        );
    }
    let document = Y::map([("interfaces", Y::List(links.iter().map(interface).collect()))]);
    rest.done(format!("{head}{}", document.document()))
}

/// Without a type: NMState takes that of the interface that is there.
fn interface((name, link): &(String, Link)) -> Y {
    let mut entries = vec![("name".to_owned(), Y::str(name)), ("state".to_owned(), Y::str("up"))];
    entries.extend(link.mtu.map(|mtu| ("mtu".to_owned(), Y::Num(i64::from(mtu)))));
    if !link.addresses.is_empty() {
        let address =
            |c: &Cidr| Y::map([("ip", Y::str(c.address.to_string())), ("prefix-length", Y::Num(i64::from(c.prefix)))]);
        let ipv4 = Y::map([
            ("enabled", Y::Bool(true)),
            ("dhcp", Y::Bool(false)),
            ("address", Y::List(link.addresses.iter().map(address).collect())),
        ]);
        entries.push(("ipv4".to_owned(), ipv4));
    }
    Y::Map(entries)
}

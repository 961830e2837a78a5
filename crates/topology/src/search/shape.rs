//! Whether two analyses are one to a search: all that it reads is equal.

use super::lists::first_of_id;
use crate::Analysis;
use crate::system::{Cpu, Gpu, Net, Node, NodeData, NodeKind};

/// Places of nodes and links are compared as they are: the order of choices is theirs.
pub(super) fn alike(a: &Analysis, b: &Analysis) -> bool {
    let (nodes, others) = (a.system.nodes(), b.system.nodes());
    a.env == b.env
        && a.domains == b.domains
        && a.local_nets == b.local_nets
        && a.system.links() == b.system.links()
        && a.system.hosts() == b.system.hosts()
        && nodes.len() == others.len()
        && nodes.iter().zip(others).all(|(a, b)| is_alike(a, b))
        && [NodeKind::Gpu, NodeKind::Net].into_iter().all(|kind| firsts(a, kind) == firsts(b, kind))
        && a.paths == b.paths
}

/// The same node, but for what it is called.
fn is_alike(a: &Node, b: &Node) -> bool {
    let data = match (&a.data, &b.data) {
        (NodeData::Gpu(a), NodeData::Gpu(b)) => {
            let Gpu { rank, dev: _, sm, gdr, mlopart, parent, busid: _ } = a;
            (rank, sm, gdr, mlopart, parent) == (&b.rank, &b.sm, &b.gdr, &b.mlopart, &b.parent)
        }
        (NodeData::Dev { sm: a, .. }, NodeData::Dev { sm: b, .. }) => a == b,
        (NodeData::Cpu(a), NodeData::Cpu(b)) => {
            let Cpu { numa: _, arch, vendor, model, affinity: _ } = a;
            (arch, vendor, model) == (&b.arch, &b.vendor, &b.model)
        }
        (NodeData::Net(a), NodeData::Net(b)) => {
            let named = Net { name: b.name.clone(), busid: b.busid.clone(), ..a.clone() };
            named == *b
        }
        (NodeData::Pci(_), NodeData::Pci(_))
        | (NodeData::Plugin(_), NodeData::Plugin(_))
        | (NodeData::Plain, NodeData::Plain) => true,
        _ => false,
    };
    data && (a.kind, a.index, a.host()) == (b.kind, b.index, b.host())
}

/// Of each node of a kind, the first that has its identity.
fn firsts(of: &Analysis, kind: NodeKind) -> Vec<u16> {
    of.system.of(kind).iter().map(|id| first_of_id(&of.system, kind, *id)).collect()
}

//! Which interfaces carry RDMA: those of ports, with their bonds, the members of these, and the VLANs on them.

use super::super::{common, gid_ndev};
use crate::{Cx, Severity};
use linerate_formats::net_config::Kind;
use linerate_snapshot::{Place, Reading};
use std::collections::{HashMap, HashSet};

/// What the node shows of it.
pub(super) enum Kin<'a> {
    /// The node has no RDMA device.
    None(Place),
    /// It does not show its RDMA devices.
    Unseen,
    /// Some or all of the interfaces.
    Of(Carriers<'a>),
}

/// Interfaces that carry RDMA.
pub(super) struct Carriers<'a> {
    /// Each with what a fault of it counts, where it is medium for a port that a GPU depends on.
    worst: HashMap<&'a str, Severity>,
    /// The interface of every port is known: others carry none.
    all: bool,
}

impl<'a> Kin<'a> {
    pub(super) fn of(cx: &Cx<'a>) -> Kin<'a> {
        match &cx.node.rdma {
            Reading::Absent(place) => Kin::None(*place),
            Reading::Unreadable(..) => Kin::Unseen,
            Reading::Known(_, place) if common::ports_with_software(cx).next().is_none() => Kin::None(*place),
            Reading::Known(..) => Kin::Of(Carriers::of(cx)),
        }
    }

    /// Whether an interface carries none, as far as the node shows.
    pub(super) fn excludes(&self, cx: &Cx<'_>, name: &str) -> bool {
        match self {
            Kin::None(_) => true,
            Kin::Unseen => false,
            Kin::Of(c) => !c.worst.contains_key(name) && (c.all || is_other_hardware(cx, name)),
        }
    }

    /// What a fault counts that is medium where a GPU depends on it.
    pub(super) fn weigh(&self, name: &str) -> Severity {
        let worst = match self {
            Kin::Of(c) => c.worst.get(name).copied(),
            _ => None,
        };
        worst.unwrap_or(Severity::Low).max(Severity::Low)
    }
}

impl<'a> Carriers<'a> {
    fn of(cx: &Cx<'a>) -> Self {
        let (mut worst, mut all) = (HashMap::new(), true);
        let mut own = Vec::new();
        for (d, p) in common::ports_with_software(cx) {
            let listed = gid_ndev::netdev(cx, d, p).map(|n| n.name);
            match listed.or_else(|| p.netdev.known().map(String::as_str)) {
                Some(name) => own.push((name, common::usage(cx, d).weigh(Severity::Medium))),
                None => all = false,
            }
        }
        // The worst first: what is reached from it needs no second visit.
        own.sort_by_key(|(_, severity)| std::cmp::Reverse(*severity));
        let joined = joined(cx);
        for (name, severity) in own {
            let mut todo = vec![name];
            while let Some(name) = todo.pop() {
                if worst.contains_key(name) {
                    continue;
                }
                worst.insert(name, severity);
                todo.extend(joined.get(name).into_iter().flatten().copied());
            }
        }
        Carriers { worst, all }
    }
}

/// Members and bonds, VLANs and what is below them, both ways: as they run, and as they are written.
fn joined<'a>(cx: &Cx<'a>) -> HashMap<&'a str, Vec<&'a str>> {
    let mut out: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut join = |a: &'a str, b: &'a str| {
        out.entry(a).or_default().push(b);
        out.entry(b).or_default().push(a);
    };
    let node = cx.node;
    let nets = || node.net.known().into_iter().flatten();
    for net in nets().filter(|n| n.bond_mode.known().is_some()) {
        nets().filter(|n| n.master == Some(net.name)).for_each(|member| join(net.name, member.name));
    }
    let is_bond = |name: &str| {
        let kind = node.net_shown.iter().find(|n| n.name == name).and_then(|n| n.kind.known());
        kind.is_some_and(|k| k == "bond")
    };
    for shown in &node.net_shown {
        if let Some(master) = shown.master.known().filter(|m| is_bond(m)) {
            join(&shown.name, master);
        }
    }
    let bonds: HashSet<&str> =
        node.net_written.iter().filter(|w| w.interface.kind == Kind::Bond).filter_map(|w| w.written_name()).collect();
    for w in &node.net_written {
        let Some(name) = w.written_name() else { continue };
        if let Some(parent) = &w.parent {
            join(name, &parent.value);
        }
        if let Some((master, _)) = w.master.as_ref().filter(|(m, _)| bonds.contains(m.as_str())) {
            join(name, master);
        }
    }
    out
}

/// Whether an interface is of a PCI function that has no RDMA device.
fn is_other_hardware(cx: &Cx<'_>, name: &str) -> bool {
    let net = cx.node.net.known().and_then(|all| all.iter().find(|n| n.name == name));
    let Some(own) = net.and_then(|n| n.pci) else { return false };
    let mut devices = cx.node.rdma.known().into_iter().flatten();
    devices.all(|d| d.pci.is_some_and(|b| (b.domain, b.bus, b.device) != (own.domain, own.bus, own.device)))
}

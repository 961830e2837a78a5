//! MTU of interfaces: now, and as whoever configures the network here keeps it.

use super::unit::{Pair, Unit, escaped};
use super::{Mtu, Refusal, Rendered, networkd, ours, words};
use crate::model::{Act, Condition, Disruption, FileState, Permanence, Proof};
use crate::platform::{Network, Platform};
use linerate_node::Node;
use linerate_node::net::NetDev;
use linerate_snapshot::Snapshot;

const NETPLAN: &str = "/etc/netplan/90-linerate.yaml";

/// MTUs of interfaces.
pub(super) fn mtu(asked: &[Mtu], platform: &Platform, node: &Node<'_>, s: &Snapshot) -> Vec<Result<Rendered, Refusal>> {
    let (mut good, mut out) = (Vec::new(), Vec::new());
    for m in asked {
        match now(m, node) {
            Ok((dev, before)) => {
                good.push(Want { name: &m.interface, mtu: m.mtu, before, physical: dev.pci.is_some() })
            }
            Err(refusal) => out.push(Err(refusal)),
        }
    }
    if good.is_empty() {
        return out;
    }
    match platform.network {
        Network::Netplan => out.push(netplan(&good, s)),
        Network::NetworkManager => out.push(Err(network_manager(&good))),
        Network::Networkd => out.extend(networkd::mtu(&good, s)),
        Network::Ifupdown => out.push(by_unit(&good, s)),
        Network::Unknown => out.push(Err(unknown(&good))),
    }
    out
}

/// An interface that is there, and its MTU now.
#[derive(Debug, Clone)]
pub(super) struct Want<'w> {
    pub(super) name: &'w str,
    pub(super) mtu: u32,
    pub(super) before: u32,
    pub(super) physical: bool,
}

impl Want<'_> {
    /// At once; undone, it has the old one again.
    pub(super) fn act(&self) -> Option<Act> {
        let value = || Act::Value {
            path: format!("/sys/class/net/{}/mtu", self.name),
            before: self.before.to_string(),
            after: self.mtu.to_string(),
        };
        (self.before != self.mtu).then(value)
    }
}

fn now<'n, 's>(m: &Mtu, node: &'n Node<'s>) -> Result<(&'n NetDev<'s>, u32), Refusal> {
    words::interface(&m.interface)?;
    if !(1280..=65_535).contains(&m.mtu) {
        return Err(Refusal::no(format!("an MTU of {} bytes is none for {}", m.mtu, m.interface)));
    }
    let dev = node.net.known().into_iter().flatten().find(|d| d.name == m.interface);
    let known = dev.and_then(|d| Some((d, *d.mtu.known()?)));
    known.ok_or_else(|| Refusal::no(format!("the source does not show {} and its MTU", m.interface)))
}

pub(super) fn rendered(good: &[Want<'_>], precondition: Vec<Condition>, change: Vec<Act>, note: &str) -> Rendered {
    let names: Vec<String> = good.iter().map(|w| format!("{} to {}", w.name, w.mtu)).collect();
    Rendered {
        id: "mtu".into(),
        summary: format!("set the MTU of {}, now and at each boot", names.join(", ")),
        precondition,
        change,
        persistence: Permanence::Immediate,
        disruption: Disruption::Service,
        proof: good
            .iter()
            .map(|w| Proof::Value { path: format!("/sys/class/net/{}/mtu", w.name), value: w.mtu.to_string() })
            .collect(),
        note: format!("{note}; switches and the other ends must carry frames of this size"),
    }
}

/// A file of ours with nothing but the MTU: netplan reads the files one over the other.
fn netplan(good: &[Want<'_>], s: &Snapshot) -> Result<Rendered, Refusal> {
    if let Some(w) = good.iter().find(|w| !w.physical) {
        return Err(Refusal::ByHand {
            how: vec![format!("in the netplan file that defines {}: mtu: {}, then netplan apply", w.name, w.mtu)],
            reread: vec![format!("sys/class/net/{}/mtu", w.name)],
        });
    }
    // Files of netplan can hold secrets: of those only names are collected.
    if !matches!(ours::there(s, NETPLAN), Ok(None)) {
        return Err(Refusal::no(format!("{NETPLAN} is there from an earlier plan: linerate rollback first")));
    }
    let mut text = ours::head("mtu");
    text.push_str("network:\n  version: 2\n  ethernets:\n");
    for w in good {
        text.push_str(&format!("    \"{}\":\n      mtu: {}\n", w.name, w.mtu));
    }
    let Some(Act::File { path, after, .. }) = ours::written(s, NETPLAN, text, 0o600)? else {
        return Err(Refusal::Already { reason: format!("{NETPLAN} says so") });
    };
    // Undone last, the first makes netplan apply what is there by then.
    let mut change = vec![ours::run(&["netplan", "generate"], &["netplan", "apply"], 120)];
    change.extend(good.iter().filter_map(Want::act));
    change.push(Act::File { path, before: FileState::Absent, after, mode: 0o600 });
    change.push(ours::run(&["netplan", "generate"], &[], 120));
    change.push(ours::run(&["netplan", "apply"], &[], 120));
    let program = Condition::Program { name: "netplan".into(), package: "netplan.io".into() };
    let note = "netplan applies all of its configuration; an interface that another file knows by a name of its own (match:) \
                has to get its mtu there";
    Ok(rendered(good, vec![program], change, note))
}

/// The connection's name and its old setting are in files with secrets, which are not collected.
fn network_manager(good: &[Want<'_>]) -> Refusal {
    let mut how =
        vec!["which connection an interface uses: nmcli -g GENERAL.CONNECTION device show INTERFACE".to_owned()];
    for w in good {
        how.push(format!("nmcli connection modify CONNECTION-OF-{} 802-3-ethernet.mtu {}", w.name, w.mtu));
        how.push(format!("nmcli device reapply {}", w.name));
    }
    Refusal::ByHand { how, reread: good.iter().map(|w| format!("sys/class/net/{}/mtu", w.name)).collect() }
}

fn unknown(good: &[Want<'_>]) -> Refusal {
    let mut how = vec![
        "the source does not show who configures the network here (netplan, NetworkManager, networkd, ifupdown)"
            .to_owned(),
    ];
    how.extend(good.iter().map(|w| format!("until the next boot: ip link set dev {} mtu {}", w.name, w.mtu)));
    Refusal::ByHand { how, reread: good.iter().map(|w| format!("sys/class/net/{}/mtu", w.name)).collect() }
}

/// A unit after ifupdown: `/etc/network/interfaces` is the user's, and a second stanza for an interface would bring it up twice.
pub(super) fn by_unit(good: &[Want<'_>], s: &Snapshot) -> Result<Rendered, Refusal> {
    let mut order = vec!["After=networking.service systemd-networkd.service".to_owned()];
    let mut pairs = Vec::new();
    for w in good {
        let device = format!("sys-subsystem-net-devices-{}.device", escaped(w.name));
        order.push(format!("Wants={device}"));
        order.push(format!("After={device}"));
        let key = format!("ip link set dev {} mtu", w.name);
        pairs.push(Pair { start: format!("{key} {}", w.mtu), stop: format!("{key} {}", w.before), mask: None, key });
    }
    let unit = Unit {
        name: "linerate-mtu.service",
        step: "mtu",
        description: "MTU of interfaces, set by linerate",
        order: &order,
        pairs,
    };
    let change = unit.acts(s)?;
    if change.is_empty() {
        return Err(Refusal::Already {
            reason: "linerate-mtu.service does it at each boot: is it enabled, and did it run?".into(),
        });
    }
    let program = Condition::Program { name: "ip".into(), package: "iproute2".into() };
    let note = "a unit of its own sets it after the network is up: ifdown and ifup put the old one back until the unit is started again";
    Ok(rendered(good, vec![program], change, note))
}

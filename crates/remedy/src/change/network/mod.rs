//! MTUs and addresses of interfaces: at once, and as whoever configures the network here keeps them. Both together, because both go into the
//! same file.

mod by_unit;
pub(crate) mod files;
mod manager;
mod netplan;
mod networkd;

use super::{Change, INTERRUPTS, Kind, Refusal, Setting, ours, words};
use crate::address::{Cidr, Given, of_interface};
use crate::model::{Act, Condition, Proof, ValueAct};
use crate::platform::{Boot, Network, Platform};
use crate::terms::{On, Terms};
use linerate_node::Node;
use linerate_rules::Action;
use linerate_snapshot::Snapshot;

/// The step, and the first line of its files.
const STEP: &str = "network";

/// MTUs and addresses of interfaces.
pub(super) struct Interfaces;

impl Kind for Interfaces {
    fn takes(&self, action: &Action) -> Option<String> {
        matches!(action, Action::Mtu { .. } | Action::Address { .. }).then(String::new)
    }

    fn terms(&self, _: &Action, _: &On<'_>) -> Terms {
        INTERRUPTS
    }

    fn claims(&self, action: &Action) -> Vec<(String, String)> {
        match action {
            Action::Mtu { interface, mtu } => vec![(format!("MTU of {interface}"), mtu.to_string())],
            _ => Vec::new(),
        }
    }

    fn open(&self, action: &Action, on: &Setting<'_, '_>) -> Option<String> {
        match action {
            Action::Address { interface } => crate::address::open(&on.options.addresses, interface),
            _ => None,
        }
    }

    fn changes(&self, actions: &[&Action], on: &Setting<'_, '_>) -> Vec<Result<Change, Refusal>> {
        network(&links(actions, &on.options.addresses), on.platform, on.node, on.snapshot)
    }
}

/// What is wanted of an interface.
struct Link<'a> {
    interface: &'a str,
    mtu: Option<u32>,
    /// Addresses that it gets beside those that it has.
    addresses: Vec<Cidr>,
}

/// One entry for each interface, with what is asked of it. Which address it gets, people say.
fn links<'a>(actions: &[&'a Action], given: &[Given]) -> Vec<Link<'a>> {
    let mut out: Vec<Link<'a>> = Vec::new();
    for action in actions {
        let (interface, mtu, addresses) = match action {
            Action::Mtu { interface, mtu } => (interface, Some(*mtu), Vec::new()),
            Action::Address { interface } => {
                (interface, None, of_interface(given, interface).filter_map(Given::v4).collect())
            }
            _ => continue,
        };
        let at = out.iter().position(|l| l.interface == &**interface).unwrap_or_else(|| {
            out.push(Link { interface, mtu: None, addresses: Vec::new() });
            out.len() - 1
        });
        if let Some(link) = out.get_mut(at) {
            link.mtu = link.mtu.or(mtu);
            let new: Vec<Cidr> = addresses.into_iter().filter(|a| !link.addresses.contains(a)).collect();
            link.addresses.extend(new);
        }
    }
    out
}

fn network(asked: &[Link<'_>], platform: &Platform, node: &Node<'_>, s: &Snapshot) -> Vec<Result<Change, Refusal>> {
    let (mut good, mut out) = (Vec::new(), Vec::new());
    for link in asked {
        match want(link, node, s) {
            Ok(want) => good.push(want),
            Err(refusal) => out.push(Err(refusal)),
        }
    }
    if good.is_empty() {
        return out;
    }
    let elsewhere = matches!(platform.boot, Boot::Talos | Boot::OpenShift);
    match platform.network {
        Network::Netplan => out.extend(netplan::render(&good, s)),
        Network::NetworkManager => out.extend(manager::render(&good, s)),
        Network::Networkd => out.extend(networkd::render(&good, node, s)),
        Network::Ifupdown => out.push(by_unit::render(&good, s)),
        // Whoever it is, a unit after it sets both.
        Network::Unknown if platform.tools.has("systemctl") == Some(true) && !elsewhere => {
            out.push(by_unit::render(&good, s));
        }
        Network::Unknown => out.extend(good.iter().map(|w| Err(unknown(w)))),
    }
    out
}

/// An interface that is there, and what is wanted of it.
#[derive(Debug, Clone)]
struct Want<'w> {
    name: &'w str,
    mtu: Option<Mtu>,
    addresses: &'w [Cidr],
    physical: bool,
    /// Its MAC, where the source shows it.
    address: Option<&'w str>,
    /// The kernel's number of it, where the source shows it.
    index: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Mtu {
    before: u32,
    after: u32,
}

impl Want<'_> {
    /// What makes it so at once. Undone, it is as it was.
    fn now(&self) -> Vec<Act> {
        let mtu = self.mtu.filter(|m| m.before != m.after).map(|m| {
            Act::Value(ValueAct {
                path: format!("/sys/class/net/{}/mtu", self.name),
                before: m.before.to_string(),
                after: m.after.to_string(),
            })
        });
        let addresses = self.addresses.iter().map(|c| {
            let (cidr, one) = (c.to_string(), format!("{}/32", c.address));
            // `del` fails where it is gone already, with the file that gave it or over a reboot; `flush` does not.
            ours::run(
                &["ip", "address", "replace", &cidr, "dev", self.name],
                &["ip", "address", "flush", "dev", self.name, "to", &one],
                30,
            )
        });
        mtu.into_iter().chain(addresses).collect()
    }

    /// In words: `mtu: 9000, addresses: [10.7.0.1/24]`.
    fn yaml(&self) -> String {
        let mtu = self.mtu.map(|m| format!("mtu: {}", m.after));
        let addresses = (!self.addresses.is_empty()).then(|| format!("addresses: [{}]", self.list(", ")));
        mtu.into_iter().chain(addresses).collect::<Vec<_>>().join(", ")
    }

    fn list(&self, between: &str) -> String {
        self.addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
    }

    /// What shows it afterwards.
    fn reread(&self) -> Vec<String> {
        let mtu = self.mtu.map(|_| format!("sys/class/net/{}/mtu", self.name));
        let addresses = (!self.addresses.is_empty()).then(|| format!("ip address show dev {}", self.name));
        mtu.into_iter().chain(addresses).collect()
    }

    fn by_hand(&self, how: Vec<String>) -> Refusal {
        Refusal::ByHand { how, reread: self.reread() }
    }
}

fn want<'w>(link: &'w Link<'_>, node: &'w Node<'_>, s: &'w Snapshot) -> Result<Want<'w>, Refusal> {
    let name = words::interface(link.interface)?;
    let dev = node.net.known().into_iter().flatten().find(|d| d.name == name);
    let dev = dev.ok_or_else(|| Refusal::no(format!("the source does not show {name}")))?;
    let mtu = match link.mtu {
        None => None,
        Some(after) if !(1280..=65_535).contains(&after) => {
            return Err(Refusal::no(format!("MTU {after} is not valid for {name}")));
        }
        Some(after) => {
            let before = dev.mtu.known().copied();
            let before = before.ok_or_else(|| Refusal::no(format!("the source does not show {name} and its MTU")))?;
            Some(Mtu { before, after })
        }
    };
    if let Some(master) = dev.master.filter(|_| !link.addresses.is_empty()) {
        let master: String = master.chars().take(15).flat_map(char::escape_default).collect();
        return Err(Refusal::no(format!("{name} is a part of {master}: an address belongs to {master}")));
    }
    Ok(Want {
        name,
        mtu,
        addresses: &link.addresses,
        // Bonds, bridges and VLANs have none; what virtio makes has one that is no PCI function.
        physical: s.child(dev.home, "device").is_some(),
        address: s.text(dev.home, "address").known().copied(),
        index: s.text(dev.home, "ifindex").known().and_then(|i| i.parse().ok()),
    })
}

fn rendered(good: &[Want<'_>], mut precondition: Vec<Condition>, change: Vec<Act>, note: &str) -> Change {
    let mut parts: Vec<String> = Vec::new();
    let mut notes = vec![note];
    let mtus: Vec<String> = good.iter().filter_map(|w| Some(format!("{} to {}", w.name, w.mtu?.after))).collect();
    if !mtus.is_empty() {
        parts.push(format!("set the MTU of {}", mtus.join(", ")));
        notes.push("switches and the other ends must carry frames of this size");
    }
    let given: Vec<String> =
        good.iter().filter(|w| !w.addresses.is_empty()).map(|w| format!("{} {}", w.name, w.list(", "))).collect();
    if !given.is_empty() {
        parts.push(format!("give {}", given.join(", ")));
        notes.push("it is not checked whether another machine has this address");
        let ip = Condition::program("ip", "iproute2");
        if !precondition.contains(&ip) {
            precondition.push(ip);
        }
    }
    Change {
        id: STEP.into(),
        summary: format!("{}, now and at each boot", parts.join("; ")),
        precondition,
        acts: change,
        // Addresses are proven by the rule that asks: the port's GIDs are made of them.
        proof: good
            .iter()
            .filter_map(|w| {
                let value = w.mtu?.after.to_string();
                Some(Proof::Value { path: format!("/sys/class/net/{}/mtu", w.name), value })
            })
            .collect(),
        note: notes.join("; "),
        ..Change::default()
    }
}

fn unknown(w: &Want<'_>) -> Refusal {
    let mut how = vec![
        "the source does not show who configures the network here (netplan, NetworkManager, networkd, ifupdown)"
            .to_owned(),
    ];
    how.extend(w.mtu.map(|m| format!("until the next boot: ip link set dev {} mtu {}", w.name, m.after)));
    how.extend(w.addresses.iter().map(|c| format!("until the next boot: ip address replace {c} dev {}", w.name)));
    w.by_hand(how)
}

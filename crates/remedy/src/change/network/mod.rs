//! MTUs and addresses of interfaces: at once, and as whoever configures the network here keeps them. Both together, because both go into the
//! same file.

mod by_unit;
pub(crate) mod files;
mod manager;
mod netplan;
mod networkd;

use super::{Link, Refusal, Rendered, ours, words};
use crate::address::Cidr;
use crate::model::{Act, Condition, Proof};
use crate::platform::{Boot, Network, Platform};
use linerate_node::Node;
use linerate_snapshot::Snapshot;

/// The step, and the first line of its files.
const STEP: &str = "network";

/// What is asked of interfaces.
pub(super) fn network(
    asked: &[Link],
    platform: &Platform,
    node: &Node<'_>,
    s: &Snapshot,
) -> Vec<Result<Rendered, Refusal>> {
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
        let mtu = self.mtu.filter(|m| m.before != m.after).map(|m| Act::Value {
            path: format!("/sys/class/net/{}/mtu", self.name),
            before: m.before.to_string(),
            after: m.after.to_string(),
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

fn want<'w>(link: &'w Link, node: &'w Node<'_>, s: &'w Snapshot) -> Result<Want<'w>, Refusal> {
    let name = words::interface(&link.interface)?;
    let dev = node.net.known().into_iter().flatten().find(|d| d.name == name);
    let dev = dev.ok_or_else(|| Refusal::no(format!("the source does not show {name}")))?;
    let mtu = match link.mtu {
        None => None,
        Some(after) if !(1280..=65_535).contains(&after) => {
            return Err(Refusal::no(format!("an MTU of {after} bytes is none for {name}")));
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

fn rendered(good: &[Want<'_>], mut precondition: Vec<Condition>, change: Vec<Act>, note: &str) -> Rendered {
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
        notes.push("nothing looks whether another machine has this address");
        let ip = Condition::Program { name: "ip".into(), package: "iproute2".into() };
        if !precondition.contains(&ip) {
            precondition.push(ip);
        }
    }
    Rendered {
        id: STEP.into(),
        summary: format!("{}, now and at each boot", parts.join("; ")),
        precondition,
        change,
        // Addresses are proven by the rule that asks: the port's GIDs are made of them.
        proof: good
            .iter()
            .filter_map(|w| {
                let value = w.mtu?.after.to_string();
                Some(Proof::Value { path: format!("/sys/class/net/{}/mtu", w.name), value })
            })
            .collect(),
        note: notes.join("; "),
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

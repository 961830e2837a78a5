//! Addresses that people give interfaces (`--address`): which finding they are for, and what speaks against them.

use super::Cx;
use super::wish::Wish;
use crate::address::{Cidr, Given, OPTION, of_interface};
use crate::change::network::files::{self, Fit};
use crate::model::Refused;
use linerate_rules::Action;
use std::net::Ipv6Addr;

/// Why two ports do not share a subnet.
const SHARED: &str = "two RoCE ports in one subnet need arp_announce and arp_ignore set, or subnets of their own";

/// What speaks against the address that an interface is given.
pub(super) fn refused(cx: &Cx<'_, '_>, interface: &str) -> Option<String> {
    let all: Vec<&Given> = of_interface(&cx.options.addresses, interface).collect();
    let one = all.first()?;
    if let Some(other) = all.get(1) {
        return Some(format!("{OPTION} {one} and {OPTION} {other} give {interface} two addresses: name one"));
    }
    let Some(cidr) = one.v4() else {
        return Some(format!(
            "{OPTION} {one} is IPv6, but the finding asks for IPv4: if the network is IPv6, set NCCL_IB_ADDR_FAMILY=AF_INET6 instead"
        ));
    };
    if cx.snapshot.manifest.redacted && !cidr.address.is_private() {
        return Some(format!(
            "the source is redacted: it is not known whether {cidr} conflicts with an existing address; plan from the node, or collect with --no-redact"
        ));
    }
    of_others(cx, interface, cidr).or_else(|| of_ports(cx, interface, cidr)).or_else(|| of_files(cx, interface, cidr))
}

/// Other addresses that are given.
fn of_others(cx: &Cx<'_, '_>, interface: &str, cidr: Cidr) -> Option<String> {
    let meets = |g: &&Given| g.interface != interface && g.v4().is_some_and(|c| c.overlaps(cidr));
    let other = cx.options.addresses.iter().find(meets)?;
    Some(format!("{OPTION} {other} is in the same subnet as {cidr}: {SHARED}"))
}

/// Addresses that RDMA ports have: their GIDs show them, without a prefix.
fn of_ports(cx: &Cx<'_, '_>, interface: &str, cidr: Cidr) -> Option<String> {
    let ports = cx.node.rdma.known().into_iter().flatten().flat_map(|d| &d.ports);
    let gids = ports.flat_map(|p| p.gids.known().into_iter().flatten().map(move |g| (p, g)));
    gids.filter_map(|(p, g)| Some((p, g, g.gid.parse::<Ipv6Addr>().ok()?.to_ipv4_mapped()?))).find_map(
        |(p, g, address)| {
            let of = g.netdev.known().or(p.netdev.known()).map_or("another port", String::as_str);
            (of != interface && cidr.holds(address))
                .then(|| format!("{of} has {address}, in the same subnet as {cidr}: {SHARED}"))
        },
    )
}

/// Addresses that files give, as far as the source shows them.
fn of_files(cx: &Cx<'_, '_>, interface: &str, cidr: Cidr) -> Option<String> {
    files::configured(cx.snapshot, interface).into_iter().find_map(|c| match c.fit {
        Fit::Yes => Some(format!(
            "{} gives {interface} {} already, and the port has no GID of it: find out why that is not in force (ip address show dev {interface})",
            c.path, c.cidr
        )),
        Fit::No | Fit::Maybe if c.cidr.overlaps(cidr) => {
            Some(format!("{} gives {}, in the same subnet as {cidr}: {SHARED}", c.path, c.cidr))
        }
        _ => None,
    })
}

/// Addresses that no finding asks for are refused, never dropped without a word.
pub(super) fn unasked(cx: &Cx<'_, '_>, wishes: &[Wish], out: &mut Vec<Refused>) {
    let asks: Vec<&str> = wishes
        .iter()
        .filter_map(|w| match &w.remedy.action {
            Action::Address { interface } => Some(interface.as_ref()),
            _ => None,
        })
        .collect();
    for g in cx.options.addresses.iter().filter(|g| !asks.contains(&g.interface.as_str())) {
        let there = cx.node.net.known().into_iter().flatten().any(|d| d.name == g.interface);
        let why =
            if there { "no finding asks for an address for it" } else { "the source does not show this interface" };
        let those =
            if asks.is_empty() { "none does".to_owned() } else { format!("those that do: {}", asks.join(", ")) };
        out.push(Refused {
            rules: vec!["rdma/gid-table".to_owned()],
            summary: format!("give {} the address {}/{}", g.interface, g.address, g.prefix),
            reason: format!("{why} ({those}): an address is planned only for a RoCE port without an IPv4 address"),
            unless: None,
        });
    }
}

//! `net/wrong-interface`.

use super::without_device;
use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, ENV_RST, Found};
use crate::observe::groups::Group;
use crate::observe::keys::{DeviceList, Listed, Named};
use crate::observe::trouble::Trouble;
use linerate_formats::nccl_log::SocketTrouble;
use linerate_rules::Severity;
use std::collections::{BTreeMap, BTreeSet};

pub(super) static CAUSE: Cause = Cause {
    id: "net/wrong-interface",
    title: "Ranks bootstrap over an interface on which they cannot reach each other",
    what: "Ranks offer addresses for the bootstrap that the other ranks cannot reach.",
    shows: &[
        "`Bootstrap : Using …` names a bridge (docker, virbr, veth, cni), lo, or addresses of several subnets",
        "connections that time out, or find no route",
        "`Cannot assign requested address`",
    ],
    why: "Without NCCL_SOCKET_IFNAME NCCL takes the first interface that is not lo or docker, with ib* before \
          others. That can be a bridge of containers or VMs, or a network that not all hosts share.",
    confirm: &[
        "`ip -brief address` on both hosts; `nc -zv ADDRESS PORT` from the other one",
        "set NCCL_SOCKET_IFNAME to the interface of the cluster's network",
    ],
    refute: &["the addresses can be reached from the other hosts"],
    remedy: Advice::Environment("Set NCCL_SOCKET_IFNAME to the interface that reaches all nodes", &[], &[]),
    sources: &[ENV_RST],
    severity: Severity::Critical,
    rules: &[],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    if let Some(found) = foreign_address(c) {
        return Some(found);
    }
    let failed = c.failures(|t| matches!(t, Trouble::Socket(s) if s.is_unconnected()));
    let Some((_, g)) = failed.first() else { return loopback(c).or_else(|| bridges(c)) };
    let mut subnets: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let (mut interfaces, mut files) = (BTreeSet::new(), BTreeSet::new());
    let mut local = None;
    for (_, p) in c.processes() {
        let Some(Named { name: list, at: place }) = p.bootstrap else { continue };
        let text = c.name(list).trim_start_matches("[0]");
        let (interface, _) = text.split_once(':').unwrap_or((text, ""));
        subnets.entry(prefix(text)).or_default().insert(c.name(p.host).to_owned());
        interfaces.insert(interface);
        files.insert(p.first.file.0);
        if LOCAL.iter().any(|l| interface.starts_with(l)) {
            local = Some((interface.to_owned(), place));
        }
    }
    // Data goes over all interfaces that are listed, the bridges of containers too.
    let listed = c.processes().filter_map(|(_, p)| p.nics).find_map(
        |Listed { devices: DeviceList { net, list }, at: place, .. }| {
            let names = c.name(list).split(' ').filter(|_| Case::is_socket(c.name(net)));
            let name = names.into_iter().find(|n| LOCAL.iter().any(|l| n.starts_with(l)))?;
            Some((name.to_owned(), place))
        },
    );
    let local = local.or(listed);
    let local = local.filter(|_| c.multi_node() != Some(false));
    if let Some((interface, place)) = local {
        let words = format!("{interface} is used, which other hosts do not reach");
        let line = c.at(place, format!("Using {interface}"));
        return Some(
            Found::new(Likely, words, "such interfaces are local to a host, and connections fail")
                .with([line])
                .with(c.quotes(g)),
        );
    }
    if subnets.len() > 1 && c.job.hosts(c.o).len() > 1 {
        // Without a communicator in common they may be different jobs: then the address that failed has to be of another network.
        let all = c.failures(|t| matches!(t, Trouble::Socket(_)));
        let apart = all.iter().any(|(_, g)| {
            let own = g.first_process.and_then(|p| c.o.process(p)?.bootstrap).map(|b| prefix(c.name(b.name)));
            let words = ["onnect to ", "remote peer ", "recv from "];
            let peer =
                g.quotes.first().and_then(|q| words.iter().find_map(|w| q.text.split_once(w))).map(|(_, r)| prefix(r));
            own.zip(peer).is_some_and(|(own, peer)| own != peer && own.contains('.') && peer.contains('.'))
        });
        let of = |r: &usize| c.o.process(c.o.ranks.all.get(*r)?.process)?.bootstrap.map(|b| prefix(c.name(b.name)));
        // Who refuses was reached.
        let refused = failed.iter().all(|(t, _)| matches!(t, Trouble::Socket(SocketTrouble::Refused)));
        if refused {
            return None;
        }
        let members: BTreeSet<String> =
            c.job.world().map(|w| w.members.values().filter_map(of).collect()).unwrap_or_default();
        // Before 2.10 the peer is not printed: then interfaces of other names, in the log of one launcher, are as much as it shows.
        let shown = files.len() == 1 && interfaces.len() > 1;
        let sure = if apart || members.len() > 1 || shown { Likely } else { Possible };
        let words = format!(
            "hosts bootstrap over different networks: {}.x",
            subnets.keys().cloned().collect::<Vec<_>>().join(".x, ")
        );
        return Some(
            Found::new(sure, words, "the first two numbers of their addresses differ, and connections fail")
                .with(c.quotes(g)),
        );
    }
    None
}

/// An address that this host does not have, or that is in no subnet of its own: NCCL_COMM_ID or the root's address names another network.
fn foreign_address(c: &Case<'_>) -> Option<Found> {
    let not_local = c.failures(|t| matches!(t, Trouble::Socket(SocketTrouble::NotLocal)));
    let subnet = c.failures(|t| matches!(t, Trouble::Socket(SocketTrouble::OtherSubnet)));
    let lines = |of: &[(Trouble, &Group)]| of.iter().flat_map(|(_, g)| c.first_quote(g)).collect::<Vec<_>>();
    if let Some((_, g)) = not_local.first() {
        let words = "a rank is to use an address that none of its host's interfaces has";
        let why = "the kernel refuses the address (EADDRNOTAVAIL): NCCL_COMM_ID, or the interface that was chosen, belongs to another network than this container or host";
        return Some(Found::new(Likely, words, why).shown(c, g).with(lines(&subnet)));
    }
    let (_, g) = subnet.first().filter(|_| !c.ran())?;
    let failed = c.failures(|t| matches!(t, Trouble::Socket(s) if s.is_unconnected()));
    let (sure, why) = if failed.is_empty() {
        (Possible, "NCCL warns of it; if the routing table has a route, it is harmless")
    } else {
        (Likely, "no interface is in the subnet of the other rank's address, and connections fail")
    };
    let words = "a rank's address is in no subnet that this host has";
    Some(Found::new(sure, words, why).shown(c, g).with(lines(&failed)))
}

/// The bootstrap's address is the loopback's, and the job has several hosts; no failure is shown.
fn loopback(c: &Case<'_>) -> Option<Found> {
    if c.ran() || c.job.hosts(c.o).len() < 2 {
        return None;
    }
    let bootstrap =
        c.processes().filter_map(|(_, p)| p.bootstrap).find_map(|Named { name: list, at: place, .. }| {
            let text = c.name(list).trim_start_matches("[0]");
            text.strip_prefix("lo:").filter(|address| address.starts_with("127.")).map(|_| place)
        });
    // Of an interface NCCL takes the first address, which on lo is this one.
    let data = || {
        c.processes().filter_map(|(_, p)| p.nics).find_map(
            |Listed { devices: DeviceList { net, list }, at: place, .. }| {
                (Case::is_socket(c.name(net)) && c.name(list) == "lo").then_some(place)
            },
        )
    };
    let place = bootstrap.or_else(data)?;
    let words = "NCCL takes the loopback address, which other hosts do not reach";
    let why =
        "the job's lines are of several hosts; where these are containers of one host that share its network, it works";
    Some(Found::new(Possible, words, why).with([c.at(place, "Using lo")]))
}

/// Data over interfaces of containers, where no failure is shown.
fn bridges(c: &Case<'_>) -> Option<Found> {
    // Within a host they do no harm.
    let within = match c.multi_node() {
        Some(many) => !many,
        None => c.job.hosts(c.o).len() == 1,
    };
    if c.ran() || within || !c.rdma_processes().is_empty() || !without_device(c).is_empty() {
        return None;
    }
    let (names, place) = c.processes().filter_map(|(_, p)| p.nics).find_map(
        |Listed { devices: DeviceList { net, list }, at: place, .. }| {
            let names = c.name(list).split(' ').filter(|n| BRIDGES.iter().any(|b| n.starts_with(b)));
            let names: Vec<String> = names.filter(|_| Case::is_socket(c.name(net))).map(str::to_owned).collect();
            (!names.is_empty()).then_some((names, place))
        },
    )?;
    let words = format!("sockets use {}, which are local to a host", crate::ranges::some(&names, 3));
    let line = c.at(place, format!("NET/Socket : Using {}", names.join(" ")));
    let why = "NCCL spreads connections over all interfaces in this list; no failed connection is shown";
    Some(Found::new(Possible, words, why).with([line]))
}

/// Interfaces that containers make.
const BRIDGES: &[&str] = &["veth", "br-", "virbr", "cni", "flannel", "vxlan", "cali"];

/// The first two numbers of an address, after the name of an interface or without.
fn prefix(text: &str) -> String {
    let word = text.split([' ', '<']).next().unwrap_or_default();
    let address = word.rsplit_once(':').map_or(word, |(_, address)| address);
    address.split('.').take(2).collect::<Vec<_>>().join(".")
}

/// Interfaces over which no other host is reached, as a rule.
const LOCAL: &[&str] = &["docker", "virbr", "veth", "cni", "br-", "lo", "flannel", "vxlan", "tailscale", "usb"];

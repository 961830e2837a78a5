//! What all sources say, together.

use super::config::{Carrier, Config, PodsOf, WayOf};
use super::found::{Found, Place, Wrong};
use super::{Host, Inventory, groups};
use crate::Target;
use linerate_fleet::NodeSet;
use linerate_fleet::cluster::Lists;
use linerate_fleet::nodeset::NodeSetError;
use linerate_formats::bounds::{INVENTORY_MEMBERS, INVENTORY_NODES, INVENTORY_REMARKS};
use linerate_transport::{HostError, HostSpec, Pods, Way};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

/// What does not fit together, or was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Remark {
    /// Something wrong in a source.
    #[error("{place}: {wrong}")]
    Source {
        /// Where.
        place: Place,
        /// What.
        wrong: Wrong,
    },
    /// One name, two addresses.
    #[error("{name} is {first} in {} and {second} in {}: are these two nodes?", .places[0], .places[1])]
    Addresses {
        /// The name.
        name: String,
        /// Address in the first place.
        first: String,
        /// Address in the second.
        second: String,
        /// Both places.
        places: [Place; 2],
    },
    /// One address, two names.
    #[error("{names} have one address, {address}: is this one node?")]
    Names {
        /// The names, folded.
        names: String,
        /// The address.
        address: String,
    },
    /// A name, and the same with a domain.
    #[error("{short} and {long} are in different sources: is this one node?")]
    Domain {
        /// Without.
        short: String,
        /// With.
        long: String,
    },
    /// A group that is no set of nodes.
    #[error("{place}: the group {group}: {why}")]
    Group {
        /// Which: `name`, or `source:name`.
        group: String,
        /// Where.
        place: Place,
        /// Why.
        why: NodeSetError,
    },
    /// Two groups of `linerate.toml` that say different ways to one node.
    #[error("{name} is in groups that set different ways to it ({groups}): the first one is used")]
    Ways {
        /// Node.
        name: String,
        /// Groups.
        groups: String,
    },
    /// A reference node that no source names.
    #[error("the reference {0:?} is in no source")]
    Reference(String),
    /// A name that is no host.
    #[error("{name} in {place} cannot be reached by that name: {why}")]
    Host {
        /// Name.
        name: String,
        /// Where.
        place: Place,
        /// Why.
        why: String,
    },
    /// Groups with so many nodes in all that not all are listed.
    #[error(
        "all groups together have more than {INVENTORY_MEMBERS} members: {0} are not listed, and are read only where a set names them"
    )]
    Groups(usize),
    /// Nodes that only groups name, beyond the limit.
    #[error("the limit INVENTORY_NODES ({INVENTORY_NODES}) is reached: {0} nodes of groups are left out")]
    Nodes(usize),
    /// There are more of them.
    #[error("{0} further remarks are left out")]
    More(usize),
}

/// Puts together what was found.
pub(super) fn merge(config: Config, found: Found, sources: Vec<Place>, options: Vec<String>, sudo: bool) -> Inventory {
    let mut remarks: Vec<Remark> =
        found.wrong.into_iter().map(|(place, wrong)| Remark::Source { place, wrong }).collect();
    let mut names: NodeSet = found.nodes.iter().map(|n| n.name.as_str()).collect();
    let (mut table, wrong, unread) = groups::Table::new(found.groups, found.default_groups, &names);
    let wrong =
        wrong.into_iter().map(|(g, why)| Remark::Group { group: group_name(&g.source, &g.name), place: g.place, why });
    remarks.extend(wrong);
    remarks.extend((unread > 0).then_some(Remark::Groups(unread)));
    let mut places: BTreeMap<String, Vec<(Option<String>, Place)>> = BTreeMap::new();
    for node in found.nodes {
        places.entry(node.name).or_default().push((node.address, node.place));
    }
    // Nodes of a group are nodes.
    let mut beyond = 0;
    for (group, set) in table.resolved() {
        for name in set.iter() {
            if !places.contains_key(&name) {
                if places.len() >= INVENTORY_NODES {
                    beyond += 1;
                    continue;
                }
                names.insert(&name);
                places.insert(name, vec![(None, group.place.clone())]);
            }
        }
    }
    remarks.extend((beyond > 0).then_some(Remark::Nodes(beyond)));
    table.know(&names);
    disagreements(&places, &mut remarks);
    let mut of: BTreeMap<String, Vec<Arc<str>>> = BTreeMap::new();
    for (group, set) in table.resolved() {
        let name: Arc<str> = group_name(&group.source, &group.name).into();
        for node in set.iter().filter(|n| places.contains_key(n)) {
            of.entry(node).or_default().push(Arc::clone(&name));
        }
    }
    let mut hosts = BTreeMap::new();
    for (name, places) in places {
        let groups = of.remove(&name).unwrap_or_default();
        match target(&name, &groups, &config, &options, sudo, &mut remarks) {
            Ok(target) => {
                let mut places: Vec<Place> = places.into_iter().map(|(_, place)| place).collect();
                places.dedup();
                hosts.insert(name, Host { target, places, groups });
            }
            Err(why) => {
                let place = places.into_iter().next().map(|(_, place)| place);
                remarks.extend(place.map(|place| Remark::Host { name, place, why: why.to_string() }));
            }
        }
    }
    let reference = config.reference.clone();
    let of_groups = config.references().map(|(_, node)| node.to_owned());
    let references = reference.iter().cloned().chain(of_groups);
    remarks.extend(references.filter(|r| !hosts.contains_key(r)).map(Remark::Reference));
    if remarks.len() > INVENTORY_REMARKS {
        let more = remarks.len() - INVENTORY_REMARKS;
        remarks.truncate(INVENTORY_REMARKS);
        remarks.push(Remark::More(more));
    }
    Inventory { hosts, groups: table, config, options, sudo, reference, sources, remarks, lists: Lists::default() }
}

fn group_name(source: &str, name: &str) -> String {
    if source.is_empty() { name.to_owned() } else { format!("{source}:{name}") }
}

/// One name with two addresses, one address with two names, a name with and without its domain.
fn disagreements(places: &BTreeMap<String, Vec<(Option<String>, Place)>>, remarks: &mut Vec<Remark>) {
    let mut by_address: BTreeMap<&str, NodeSet> = BTreeMap::new();
    for (name, seen) in places {
        let mut with = seen.iter().filter_map(|(address, place)| Some((address.as_deref()?, place)));
        let Some((first, place)) = with.next() else { continue };
        by_address.entry(first).or_default().insert(name);
        // What a name stands for is not asked: addresses are compared with addresses, names with names.
        let form = |a: &str| a.parse::<IpAddr>().is_ok();
        let other = with.find(|(a, _)| *a != first && form(a) == form(first) && *a != name && first != name);
        if let Some((second, other)) = other {
            by_address.entry(second).or_default().insert(name);
            remarks.push(Remark::Addresses {
                name: name.clone(),
                first: first.to_owned(),
                second: second.to_owned(),
                places: [place.clone(), other.clone()],
            });
        }
    }
    for (address, names) in by_address.iter().filter(|(_, names)| names.len() > 1) {
        remarks.push(Remark::Names { names: names.to_string(), address: (*address).to_owned() });
    }
    for (long, seen) in places {
        let Some((short, _)) = long.split_once('.') else { continue };
        let kind = |seen: &[(Option<String>, Place)]| seen.first().map(|(_, p)| p.kind);
        if places.get(short).is_some_and(|other| kind(other) != kind(seen)) {
            remarks.push(Remark::Domain { short: short.to_owned(), long: long.clone() });
        }
    }
}

/// The way to a node: what is written for it, for its groups, for all.
fn target(
    name: &str,
    groups: &[Arc<str>],
    config: &Config,
    options: &[String],
    sudo: bool,
    remarks: &mut Vec<Remark>,
) -> Result<Target, HostError> {
    let mut way = config.hosts.get(name).cloned().unwrap_or_default();
    let of: Vec<(&str, &WayOf)> = config.ways().filter(|(g, _)| groups.iter().any(|n| **n == **g)).collect();
    let plain = |w: &WayOf| WayOf { address: None, ..w.clone() };
    let said: Vec<&(&str, &WayOf)> = of.iter().filter(|(_, w)| plain(w) != WayOf::default()).collect();
    if said.iter().skip(1).any(|(_, w)| said.first().is_some_and(|(_, first)| conflict(first, w))) {
        let groups = said.iter().map(|(g, _)| *g).collect::<Vec<_>>().join(", ");
        remarks.push(Remark::Ways { name: name.to_owned(), groups });
    }
    of.iter().for_each(|(_, w)| fill(&mut way, &plain(w)));
    fill(&mut way, &plain(&config.way));
    let spec = spec(name, &way)?;
    let sudo = sudo || way.sudo == Some(true);
    Ok(Target { name: name.to_owned(), spec, sudo, ssh_options: self::options(options, &way) })
}

/// The way to a name.
pub(super) fn spec(name: &str, way: &WayOf) -> Result<HostSpec, HostError> {
    let at = way.address.as_deref().unwrap_or(name);
    match way.transport {
        Some(Carrier::Local) => Ok(HostSpec { way: Way::Local, address: None }),
        Some(Carrier::Srun) => {
            let options = way.srun_options.clone().unwrap_or_default();
            HostSpec::scheduled(at, |node| Way::Srun { node, options })
        }
        Some(Carrier::Kubectl) => {
            let why = "transport = \"kubectl\" needs kubectl = { selector = \"LABEL=VALUE\" }";
            let of = way.kubectl.clone().ok_or_else(|| HostError { text: name.to_owned(), why })?;
            let PodsOf { context, namespace, selector, container, root } = of;
            let namespace = namespace.unwrap_or_else(|| "default".to_owned());
            let pods = Pods { context, namespace, selector, container, root };
            HostSpec::scheduled(at, |node| Way::Kubectl { node, pods })
        }
        Some(Carrier::Ssh) | None => {
            let mut spec = at.parse()?;
            widen(&mut spec, way);
            Ok(spec)
        }
    }
}

/// Two ways that say different things of the same.
fn conflict(a: &WayOf, b: &WayOf) -> bool {
    fn differ<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
        a.is_some() && b.is_some() && a != b
    }
    differ(a.user.as_ref(), b.user.as_ref())
        || differ(a.port.as_ref(), b.port.as_ref())
        || differ(a.transport.as_ref(), b.transport.as_ref())
        || differ(a.sudo.as_ref(), b.sudo.as_ref())
        || differ(a.ssh_options.as_ref(), b.ssh_options.as_ref())
        || differ(a.srun_options.as_ref(), b.srun_options.as_ref())
        || differ(a.kubectl.as_ref(), b.kubectl.as_ref())
}

/// What is not said yet.
fn fill(way: &mut WayOf, from: &WayOf) {
    way.transport = way.transport.or(from.transport);
    way.port = way.port.or(from.port);
    way.sudo = way.sudo.or(from.sudo);
    way.user = way.user.take().or_else(|| from.user.clone());
    way.ssh_options = way.ssh_options.take().or_else(|| from.ssh_options.clone());
    way.srun_options = way.srun_options.take().or_else(|| from.srun_options.clone());
    way.kubectl = way.kubectl.take().or_else(|| from.kubectl.clone());
}

/// User and port, where a host's name does not say them.
pub(super) fn widen(spec: &mut HostSpec, way: &WayOf) {
    if let Way::Ssh { destination, port } = &mut spec.way {
        *port = port.or(way.port);
        if let Some(user) = way.user.as_deref().filter(|u| !u.is_empty() && !destination.contains('@')) {
            *destination = format!("{user}@{destination}");
        }
    }
}

/// Those of the command line first: of an option that `ssh` is given twice, the first counts.
pub(super) fn options(given: &[String], way: &WayOf) -> Vec<String> {
    given.iter().chain(way.ssh_options.iter().flatten()).cloned().collect()
}

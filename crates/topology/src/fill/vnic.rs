//! Fusion of ports into one network device (`ncclTopoMakeVNics`): by default those of one adapter.

use crate::Version;
use crate::config::Config;
use crate::env::Env;
use crate::error::Error;
use crate::number::{bus_id, bus_id_text};
use crate::path::PathType;
use crate::tree::{Tag, Tree};
use crate::xml::name;

/// Devices that a release fuses into one, at most. Before 2.24 it is the plugin that does it, and before 2.20 nobody.
fn max_devices(version: Version) -> usize {
    match version {
        v if v.since(2, 30) => 8,
        v if v.since(2, 24) => 4,
        v if v.since(2, 20) => 2,
        _ => 1,
    }
}

/// Fuses what is near enough, and puts the fused devices into the tree.
pub(super) fn fuse_ports(
    tree: &mut Tree,
    nets: &[u32],
    config: &Config,
    assumed: &mut Vec<String>,
) -> Result<(), Error> {
    let env = &config.env;
    let max = max_devices(config.version);
    let level = if config.version.since(2, 24) { env.merge_level } else { PathType::Nvl };
    let mut placed: Vec<bool> = nets.iter().map(|n| fused_already(tree, *n)).collect();
    let mut groups = forced(tree, nets, env, max, &mut placed)?;
    let reach: Vec<Vec<u32>> = nets.iter().map(|n| chain(tree, *n)).collect();
    let rail = |n: usize| nets.get(n).and_then(|n| tree.get(*n, "rail"));
    for i in 0..nets.len() {
        if placed.get(i).copied().unwrap_or(true) {
            continue;
        }
        let mut group = vec![i];
        for j in 0..nets.len() {
            // The plugin refuses to fuse at all: everything stays as it is.
            if group.len() == max || !env.merge_nics {
                break;
            }
            let (Some(a), Some(b)) = (reach.get(i), reach.get(j)) else { continue };
            if j == i || placed.get(j).copied().unwrap_or(true) || between(tree, &[a, b]).0 > level {
                continue;
            }
            if env.merge_rail && (rail(i).is_none() || rail(i) != rail(j)) {
                continue;
            }
            group.push(j);
        }
        for n in &group {
            if let Some(p) = placed.get_mut(*n) {
                *p = true;
            }
        }
        if group.len() > 1 {
            groups.push(group);
        }
    }
    for group in &groups {
        for net in group.iter().filter_map(|g| nets.get(*g).copied()) {
            tree.set(net, "net", "0");
            if tree.int_or(net, "gin", 0) == 0 && tree.int_or(net, "coll", 0) == 0 {
                if let Some(n) = tree.nodes.get_mut(net as usize) {
                    n.keep = false;
                }
                tree.set(net, "keep", "0");
            }
        }
    }
    for (n, group) in groups.iter().enumerate() {
        let members: Vec<u32> = group.iter().filter_map(|g| nets.get(*g).copied()).collect();
        let text = make(tree, &members, nets.len() + n)?;
        assumed.push(format!("{text}: fused into one device, as the InfiniBand plugin does"));
    }
    Ok(())
}

/// A device that a dump has fused already.
pub(super) fn fused_already(tree: &Tree, net: u32) -> bool {
    tree.get(net, "name").is_some_and(|n| n.contains('+'))
}

/// Groups that `NCCL_NET_FORCE_MERGE` names.
fn forced(tree: &Tree, nets: &[u32], env: &Env, max: usize, placed: &mut [bool]) -> Result<Vec<Vec<usize>>, Error> {
    let mut groups = Vec::new();
    for names in &env.force_merge {
        let wanted = |n: &u32| {
            let name = tree.get(*n, "name").unwrap_or_default();
            let port = tree.get(*n, "port").unwrap_or_default();
            names.iter().any(|w| w.split_once(':').map_or(w == name, |(w, p)| w == name && p == port))
        };
        let group: Vec<usize> = nets.iter().enumerate().filter(|(_, n)| wanted(n)).map(|(i, _)| i).collect();
        let nics: String = names.join(",").chars().take(80).collect();
        if group.len() != names.len() {
            let why = "NCCL_NET_FORCE_MERGE names devices that are not there, and NCCL stops: correct it";
            return Err(Error::Fusion { nics, why });
        }
        if group.len() > max {
            let why = "more than this release fuses into one: name fewer in NCCL_NET_FORCE_MERGE";
            return Err(Error::Fusion { nics, why });
        }
        for i in &group {
            if let Some(p) = placed.get_mut(*i) {
                *p = true;
            }
        }
        if group.len() > 1 {
            groups.push(group);
        }
    }
    Ok(groups)
}

/// Elements from `<system>` down to one.
fn chain(tree: &Tree, id: u32) -> Vec<u32> {
    let mut chain: Vec<u32> = std::iter::successors(Some(id), |p| tree.parent(*p)).collect();
    chain.reverse();
    chain
}

/// How far devices are apart, and the last element that they share. [`PathType::Nvl`] stands for PORT.
fn between(tree: &Tree, chains: &[&Vec<u32>]) -> (PathType, Option<u32>) {
    let Some((first, others)) = chains.split_first() else { return (PathType::Dis, None) };
    let mut common = None;
    for (i, here) in first.iter().enumerate() {
        if others.iter().all(|o| o.get(i) == Some(here)) {
            common = Some(*here);
            continue;
        }
        // Functions of one adapter: bus ids that differ in their last character only.
        let stem = |id: u32| tree.get(id, "busid").map(|b| (b.len(), b.as_bytes().split_last().map(|(_, s)| s)));
        let mine = stem(*here);
        if mine.is_some() && others.iter().all(|o| o.get(i).is_none_or(|o| stem(*o) == mine)) {
            return (PathType::Nvl, common);
        }
        break;
    }
    let kind = match common.and_then(|c| tree.tag(c)) {
        None => PathType::Dis,
        Some(Tag::System) => PathType::Sys,
        Some(Tag::Cpu) => PathType::Phb,
        Some(Tag::Nic | Tag::Net) => PathType::Nvl,
        _ if chains.iter().all(|c| directly_below(tree, c, common)) => PathType::Pix,
        _ => PathType::Pxb,
    };
    (kind, common)
}

fn directly_below(tree: &Tree, chain: &[u32], common: Option<u32>) -> bool {
    let Some(function) = chain.len().checked_sub(3).and_then(|n| chain.get(n)) else { return false };
    tree.tag(*function) != Some(Tag::Pci) || tree.parent(*function) == common
}

/// Puts a fused device into the tree; gives its name.
fn make(tree: &mut Tree, members: &[u32], dev: usize) -> Result<String, Error> {
    let names: Vec<&str> = members.iter().map(|m| tree.get(*m, "name").unwrap_or("?")).collect();
    let fused = names.join("+");
    let chains: Vec<Vec<u32>> = members.iter().map(|m| chain(tree, *m)).collect();
    let (kind, common) = between(tree, &chains.iter().collect::<Vec<_>>());
    let fail = |why| Error::Fusion { nics: fused.clone(), why };
    // The nearest PCIe device upwards holds it, else what they share.
    let Some(common) = common else { return Err(fail("they share nothing: give them one <system>")) };
    let up = std::iter::successors(Some(common), |c| tree.parent(*c)).find(|c| tree.tag(*c) == Some(Tag::Pci));
    let shared = up.unwrap_or(common);
    let mut width = 0;
    if matches!(kind, PathType::Phb | PathType::Pxb | PathType::Pix) {
        width = tree.children(shared).iter().filter_map(|c| lanes(tree, *c, members)).fold(0, i32::wrapping_add);
    }
    // A switch or CPU holds no devices itself: a function is made up for them.
    let apart = match tree.tag(shared) {
        Some(Tag::Pci) => tree.need(shared, "class")? == "0x060400",
        Some(Tag::Cpu) => true,
        Some(Tag::System) => {
            return Err(fail("they are on different NUMA nodes, and NCCL stops: lower NCCL_NET_MERGE_LEVEL"));
        }
        _ => false,
    };
    let holder = match apart {
        true => own_function(tree, shared, members).ok_or_else(|| fail("the first has no bus id"))?,
        false => shared,
    };
    if width > 0 {
        let mut at = Some(holder);
        while let Some(id) = at {
            if tree.tag(id) == Some(Tag::Pci) {
                tree.set(id, "link_width", width.to_string());
            }
            at = if id == shared { None } else { tree.parent(id) };
        }
    }
    add_net(tree, holder, members, &fused, dev);
    Ok(fused)
}

fn add_net(tree: &mut Tree, holder: u32, members: &[u32], fused: &str, dev: usize) {
    let first = |key: &str| members.first().and_then(|m| tree.get(*m, key)).unwrap_or_default().to_owned();
    let speed = members.iter().map(|m| tree.int_or(*m, "speed", 0)).fold(0, i32::wrapping_add);
    let rail = first("rail");
    let one_rail = !rail.is_empty() && members.iter().all(|m| tree.get(*m, "rail") == Some(&rail));
    let mut attributes = vec![
        (name("name"), fused.to_owned()),
        (name("dev"), dev.to_string()),
        (name("latency"), "0".to_owned()),
        (name("speed"), speed.to_string()),
        (name("port"), first("port")),
    ];
    if one_rail {
        attributes.push((name("rail"), rail));
    }
    for (key, value) in
        [("guid", first("guid")), ("maxconn", first("maxconn")), ("gdr", first("gdr")), ("net", "1".to_owned())]
    {
        attributes.push((name(key), value));
    }
    // Under a `<nic>` that no `<pci>` holds, this makes a `<nic>` within a `<nic>`: the device vanishes, as in NCCL.
    let nic = tree.child(holder, Tag::Nic).unwrap_or_else(|| tree.make(Tag::Nic, holder, Vec::new()));
    let net = tree.make(Tag::Net, nic, attributes);
    if let Some(n) = tree.nodes.get_mut(net as usize) {
        n.keep = true;
    }
}

/// A function that is not there, below a switch or CPU, as the first member's own.
fn own_function(tree: &mut Tree, under: u32, members: &[u32]) -> Option<u32> {
    let function = tree.parent(tree.parent(*members.first()?)?)?;
    if tree.tag(function) != Some(Tag::Pci) {
        return None;
    }
    let from = bus_id(tree.get(function, "busid")?);
    let free = |b: &String| !tree.all(Tag::Pci).any(|p| tree.get(p, "busid") == Some(b));
    let busid = (1..=100).map(|n| bus_id_text(from.wrapping_add(n))).find(free)?;
    let mut attributes = vec![(name("busid"), busid)];
    attributes.extend(tree.node(function)?.attributes.iter().filter(|(k, _)| k != "busid").cloned());
    Some(tree.make(Tag::Pci, under, attributes))
}

/// Lanes below an element that lead to members; `None` where none does.
fn lanes(tree: &Tree, id: u32, members: &[u32]) -> Option<i32> {
    let own = if tree.tag(id) == Some(Tag::Pci) { tree.int_or(id, "link_width", 0) } else { 0 };
    let below: Vec<i32> = tree.children(id).iter().filter_map(|c| lanes(tree, *c, members)).collect();
    if below.is_empty() && !members.contains(&id) {
        return None;
    }
    let sum = below.into_iter().fold(0, i32::wrapping_add);
    Some(match (own, sum) {
        (own, 0) => own,
        (1.., sum) => own.min(sum),
        (_, sum) => sum,
    })
}

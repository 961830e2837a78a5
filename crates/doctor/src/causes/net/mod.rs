//! Which network is used, and why not the one that was wanted.

mod efa_without_plugin;
mod fewer_nics;
mod hca_filter_matches_nothing;
mod hca_filter_too_narrow;
mod hca_filter_too_wide;
mod ib_disabled_by_env;
mod library_missing;
mod no_interface;
mod no_libibverbs;
mod no_rdma_device;
pub(crate) mod plugin;
mod plugin_init_failed;
mod socket_forced;
mod ucx_unreachable;
mod wrong_interface;

use crate::answer::Evidence;
use crate::case::Case;
use crate::causes::{Cause, nccl};
use crate::observe::keys::DeviceList;
use crate::observe::trouble::Trouble;
use linerate_rules::Source;
use std::collections::{BTreeMap, BTreeSet};

pub(super) static CAUSES: &[&Cause] = &[
    &ib_disabled_by_env::CAUSE,
    &socket_forced::CAUSE,
    &no_libibverbs::CAUSE,
    &efa_without_plugin::CAUSE,
    &plugin_init_failed::CAUSE,
    &library_missing::CAUSE,
    &hca_filter_matches_nothing::CAUSE,
    &no_rdma_device::CAUSE,
    &hca_filter_too_narrow::CAUSE,
    &hca_filter_too_wide::CAUSE,
    &fewer_nics::CAUSE,
    &no_interface::CAUSE,
    &wrong_interface::CAUSE,
    &ucx_unreachable::CAUSE,
];

const NET_CC: Source = nccl(
    "NCCL, src/net.cc and src/plugin/net.cc: which network is taken",
    "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/plugin/net.cc",
);

const IB_CC: Source = nccl(
    "NCCL, src/transport/net_ib: which devices are used",
    "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/transport/net_ib/init.cc",
);

/// The lines that say that sockets are used.
fn socket_lines(c: &Case<'_>) -> Vec<Evidence> {
    let chosen = c.of(&c.o.networks).filter(|(n, _)| Case::is_socket(c.name(*n)));
    let using = c.of(&c.o.devices).filter(|(d, _)| Case::is_socket(c.name(d.net))).map(|(_, g)| g);
    chosen.map(|(_, g)| g).chain(using).take(1).flat_map(|g| c.first_quote(g)).collect()
}

/// `NET/IB : No device found.`
fn no_device_lines(c: &Case<'_>) -> Vec<Evidence> {
    c.of(&c.o.no_device).flat_map(|(_, g)| c.first_quote(g)).collect()
}

/// Processes that found no RDMA device, or list none.
fn without_device(c: &Case<'_>) -> BTreeSet<usize> {
    let told = c.processes().filter(|(_, p)| p.no_device.is_some()).map(|(i, _)| i);
    let empty = c.processes().filter(|(_, p)| {
        p.nics.is_some_and(|n| !Case::is_socket(c.name(n.devices.net)) && c.name(n.devices.list).is_empty())
    });
    told.chain(empty.map(|(i, _)| i)).collect()
}

fn disabled(c: &Case<'_>) -> bool {
    c.env_number("NCCL_IB_DISABLE").is_some_and(|(v, _)| v != 0)
        || c.env("NCCL_NET").is_some_and(|(v, _)| Case::is_socket(v))
}

fn verbs_missing(c: &Case<'_>) -> bool {
    !c.failures(|t| matches!(t, Trouble::Library(n) if c.name(*n).contains("libibverbs"))).is_empty()
}

/// NIC lists of RDMA networks by host.
fn lists<'a>(c: &Case<'a>) -> BTreeMap<String, BTreeSet<&'a str>> {
    let mut by_host: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (_, p) in c.processes() {
        if let Some(DeviceList { net, list }) = p.nics.map(|n| n.devices)
            && !Case::is_socket(c.name(net))
        {
            let names = c.name(list).split(' ').filter(|n| !n.is_empty());
            by_host.entry(c.name(p.host).to_owned()).or_default().extend(names);
        }
    }
    by_host
}

/// Hosts with fewer NICs than most, how many they have, how many most have. A list whose end is missing shows no number, nor one of which
/// the host is not known.
fn fewer(c: &Case<'_>) -> Option<(Vec<String>, usize, usize)> {
    let mut by_host = lists(c);
    let cut = c.processes().filter(|(_, p)| p.nics.is_some_and(|n| n.cut));
    let cut: BTreeSet<&str> = cut.map(|(_, p)| c.name(p.host)).collect();
    by_host.retain(|host, _| !host.is_empty() && !cut.contains(host.as_str()));
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    by_host.values().for_each(|l| *counts.entry(l.len()).or_default() += 1);
    let (most, _) = counts.iter().max_by_key(|(n, hosts)| (**hosts, **n))?;
    let less: Vec<String> = by_host.iter().filter(|(_, l)| l.len() < *most).map(|(h, _)| h.clone()).collect();
    let least = by_host.values().map(BTreeSet::len).min()?;
    (!less.is_empty()).then_some((less, least, *most))
}

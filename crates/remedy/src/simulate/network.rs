//! MTUs and addresses, and what RDMA ports make of them.

use super::Sim;
use crate::address::Cidr;
use linerate_formats::ibv_devinfo;
use linerate_node::roce;
use linerate_snapshot::{EntryKind, OutputKind, Snapshot};

/// An interface has another MTU: `ibv_devinfo` shows what its RoCE ports then use.
pub(super) fn mtu(sim: &mut Sim<'_>, interface: &str, value: &str) {
    let Some(mtu) = value.parse().ok().and_then(roce::mtu) else { return };
    for (device, port, _) in ports(sim, interface) {
        active_mtu(sim, &device, port, mtu);
    }
}

/// RDMA ports of an interface: device, port, where sysfs shows it.
fn ports(sim: &Sim<'_>, interface: &str) -> Vec<(String, u32, String)> {
    let devices = sim.node.rdma.known().into_iter().flatten();
    let own = |netdev: Option<&String>| netdev.is_some_and(|n| n == interface);
    devices
        .flat_map(|d| d.ports.iter().map(move |p| (d, p)))
        .filter(|(_, p)| own(p.netdev.known()) || p.gids.known().into_iter().flatten().any(|g| own(g.netdev.known())))
        .map(|(d, p)| (d.name.clone(), p.number, sim.before.path(p.home)))
        .collect()
}

/// Writes the `active_mtu` of a port into every query that shows it.
fn active_mtu(sim: &mut Sim<'_>, device: &str, port: u32, mtu: u32) {
    let queries: Vec<_> = sim.s.outputs.iter().filter(|o| o.kind == OutputKind::IbvDevinfo).map(|o| o.entry).collect();
    for entry in queries {
        let Ok(text) = std::str::from_utf8(sim.s.data(entry)) else { continue };
        let hcas = ibv_devinfo::parse(text.as_bytes());
        let line = hcas.iter().filter(|h| h.name == device).flat_map(|h| &h.ports);
        let Some(line) = line.filter(|p| p.number == port).find_map(|p| Some(p.active_mtu.as_ref()?.line)) else {
            continue;
        };
        let code = mtu.ilog2().saturating_sub(7);
        let new: Vec<String> = (1..)
            .zip(text.lines())
            .map(|(n, l)| match l.find("active_mtu").filter(|_| n == line) {
                Some(at) => format!("{}active_mtu:\t\t{mtu} ({code})", l.get(..at).unwrap_or_default()),
                None => l.to_owned(),
            })
            .collect();
        let path = sim.s.path(entry);
        sim.write(&path, &format!("{}\n", new.join("\n")));
    }
}

/// An interface has an address: its RoCE ports have GIDs of it, for each version one.
pub(super) fn address(sim: &mut Sim<'_>, interface: &str, cidr: Cidr) {
    let [a, b, c, d] = cidr.address.octets();
    let gid = format!("0000:0000:0000:0000:0000:ffff:{a:02x}{b:02x}:{c:02x}{d:02x}");
    for (device, _, home) in ports(sim, interface) {
        let free = free(&sim.s, &home, 2);
        if free.len() < 2 {
            sim.cannot(format!("the GIDs of {device} that follow from {cidr}: the source does not show its table"));
            continue;
        }
        for (n, kind) in free.iter().zip(["IB/RoCE v1", "RoCE v2"]) {
            sim.write(&format!("{home}/gids/{n}"), &format!("{gid}\n"));
            sim.write(&format!("{home}/gid_attrs/types/{n}"), &format!("{kind}\n"));
            sim.write(&format!("{home}/gid_attrs/ndevs/{n}"), &format!("{interface}\n"));
        }
    }
}

/// The first unused entries of a port's table.
fn free(s: &Snapshot, home: &str, count: usize) -> Vec<u32> {
    let dir = format!("{home}/gids");
    let mut used: Vec<(u32, bool)> = crate::see::names(s, &dir)
        .into_iter()
        .filter_map(|n| {
            let text = crate::see::text(s, &format!("{dir}/{n}"));
            Some((n.parse().ok()?, text.is_none_or(|t| t.trim().bytes().any(|b| !matches!(b, b'0' | b':')))))
        })
        .collect();
    used.sort_unstable();
    used.into_iter().filter(|(_, used)| !used).map(|(n, _)| n).take(count).collect()
}

/// Whether an entry is a text that was kept whole.
pub(super) fn is_whole(s: &Snapshot, entry: linerate_snapshot::EntryId) -> bool {
    *s.kind(entry) == EntryKind::File
}

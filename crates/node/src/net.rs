//! Network interfaces, from `/sys/class/net`.

use linerate_formats::pci::Bdf;
use linerate_snapshot::{EntryId, Reading, Snapshot};

/// An interface.
#[derive(Debug, Clone)]
pub struct NetDev<'s> {
    /// Name.
    pub name: &'s str,
    /// Its directory.
    pub home: EntryId,
    /// PCI function; `None` for virtual interfaces.
    pub pci: Option<Bdf>,
    /// MTU in bytes.
    pub mtu: Reading<u32>,
    /// `up`, `down`, `unknown`…
    pub operstate: Reading<&'s str>,
    /// Mb/s. The kernel answers EINVAL or -1 for a link that is down.
    pub speed_mbps: Reading<u32>,
    /// Interface above it: a bond or a bridge.
    pub master: Option<&'s str>,
    /// `bonding/mode`, for bonds: `802.3ad 4`.
    pub bond_mode: Reading<&'s str>,
    /// `bonding/slaves`.
    pub bond_slaves: Reading<&'s str>,
}

pub(crate) fn decode(s: &Snapshot) -> Reading<Vec<NetDev<'_>>> {
    s.dir("sys/class/net").map(|dir| {
        s.children(dir)
            .into_iter()
            .filter_map(|(name, e)| {
                let home = s.follow(e)?;
                matches!(s.kind(home), linerate_snapshot::EntryKind::Dir).then(|| netdev(s, name, home))
            })
            .collect()
    })
}

fn netdev<'s>(s: &'s Snapshot, name: &'s str, home: EntryId) -> NetDev<'s> {
    let above = s.parent(home).and_then(|net| s.parent(net)).map(|p| s.name(p)).unwrap_or_default();
    let device = s.link_name(home, "device");
    NetDev {
        name,
        home,
        pci: device.known().and_then(|n| n.parse().ok()).or_else(|| above.parse().ok()),
        mtu: s.text(home, "mtu").parse("not a number", |t| t.parse().ok()),
        operstate: s.text(home, "operstate"),
        speed_mbps: s.text(home, "speed").parse("no speed (link down)", |t| t.parse().ok()),
        master: s.link_name(home, "master").known().copied(),
        bond_mode: s.text(home, "bonding/mode"),
        bond_slaves: s.text(home, "bonding/slaves"),
    }
}

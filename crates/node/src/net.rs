//! Network interfaces, from `/sys/class/net`.

use linerate_formats::pci::Bdf;
use linerate_formats::{ethtool, mlnx_qos};
use linerate_snapshot::{EntryId, OutputKind, Place, Reading, Snapshot, Why};
use std::collections::HashMap;

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
    /// `Priority trust state` of mlnx_qos: `pcp` or `dscp`.
    pub trust: Reading<String>,
    /// Priorities with priority flow control, from mlnx_qos.
    pub pfc: Reading<Vec<u8>>,
}

pub(crate) fn decode(s: &Snapshot) -> Reading<Vec<NetDev<'_>>> {
    let qos = qos(s);
    s.dir("sys/class/net").map(|dir| {
        s.children(dir)
            .into_iter()
            .filter_map(|(name, e)| {
                let home = s.follow(e)?;
                matches!(s.kind(home), linerate_snapshot::EntryKind::Dir).then(|| netdev(s, name, home, &qos))
            })
            .collect()
    })
}

fn netdev<'s>(s: &'s Snapshot, name: &'s str, home: EntryId, qos: &HashMap<&str, Qos>) -> NetDev<'s> {
    let above = s.parent(home).and_then(|net| s.parent(net)).map(|p| s.name(p)).unwrap_or_default();
    let device = s.link_name(home, "device");
    let Qos { trust, pfc } = qos.get(name).cloned().unwrap_or_else(|| Qos::unasked(s));
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
        trust,
        pfc,
    }
}

/// What mlnx_qos says of an interface.
#[derive(Debug, Clone)]
struct Qos {
    trust: Reading<String>,
    pfc: Reading<Vec<u8>>,
}

impl Qos {
    fn unasked(s: &Snapshot) -> Self {
        let place = Place::below(s.root(), "mlnx_qos -i");
        Qos { trust: Reading::Unreadable(place, Why::NotCollected), pfc: Reading::Unreadable(place, Why::NotCollected) }
    }

    fn read(s: &Snapshot, entry: EntryId) -> Self {
        let (mut out, q) = (Qos::unasked(s), mlnx_qos::parse(s.data(entry)));
        let at = |line| Place::of(entry).line(line);
        if let Some(t) = q.trust {
            out.trust = Reading::Known(t.value, at(t.line));
        }
        if let Some(p) = q.pfc_enabled {
            let on = p.value.iter().zip(0..).filter(|(on, _)| **on).map(|(_, n)| n).collect();
            out.pfc = Reading::Known(on, at(p.line));
        }
        out
    }
}

/// The answers of mlnx_qos, by the interface that each command names last.
fn qos(s: &Snapshot) -> HashMap<&str, Qos> {
    let asked = s.outputs.iter().filter(|o| o.kind == OutputKind::MlnxQos);
    asked.filter_map(|o| Some((o.argv.last()?.as_str(), Qos::read(s, o.entry)))).collect()
}

/// Flow control of an interface, from the outputs of tools.
#[derive(Debug, Clone)]
pub struct FlowControl {
    /// `Priority trust state` of mlnx_qos: `pcp` or `dscp`.
    pub trust: Reading<String>,
    /// Priorities with priority flow control, from mlnx_qos.
    pub pfc: Reading<Vec<u8>>,
    /// Global pause, receive and transmit, from `ethtool -a`.
    pub pause: Reading<(bool, bool)>,
}

/// Reads what the tools said of an interface. Outputs are known by their last argument, or by the name in their title.
#[must_use]
pub fn flow_control(s: &Snapshot, interface: &str) -> FlowControl {
    let unsaid = |what| Place::below(s.root(), what);
    let mut out = FlowControl {
        trust: Reading::Unreadable(unsaid("mlnx_qos -i"), Why::NotCollected),
        pfc: Reading::Unreadable(unsaid("mlnx_qos -i"), Why::NotCollected),
        pause: Reading::Unreadable(unsaid("ethtool -a"), Why::NotCollected),
    };
    for o in &s.outputs {
        let named = o.argv.last().is_some_and(|a| a == interface);
        let at = |line| Place::of(o.entry).line(line);
        match o.kind {
            OutputKind::MlnxQos if named => {
                let q = Qos::read(s, o.entry);
                out.trust = q.trust.or(|| out.trust.clone());
                out.pfc = q.pfc.or(|| out.pfc.clone());
            }
            OutputKind::EthtoolPause => {
                let p = ethtool::parse_pause(s.data(o.entry));
                let titled = p.interface.as_ref().is_some_and(|i| i.value == interface);
                if let (Some(rx), Some(tx), true) = (p.rx, p.tx, named || titled) {
                    out.pause = Reading::Known((rx.value, tx.value), at(rx.line));
                }
            }
            _ => {}
        }
    }
    out
}

/// Whether RoCE congestion control (ECN) reacts on a priority: `ecn/roce_rp/enable/N`. The file exists with OFED only.
#[must_use]
pub fn ecn_reaction(s: &Snapshot, net: &NetDev<'_>, priority: u8) -> Reading<bool> {
    const LEAVES: [&str; 8] = [
        "ecn/roce_rp/enable/0",
        "ecn/roce_rp/enable/1",
        "ecn/roce_rp/enable/2",
        "ecn/roce_rp/enable/3",
        "ecn/roce_rp/enable/4",
        "ecn/roce_rp/enable/5",
        "ecn/roce_rp/enable/6",
        "ecn/roce_rp/enable/7",
    ];
    let Some(leaf) = LEAVES.get(usize::from(priority)) else { return s.missing(net.home, "ecn/roce_rp/enable") };
    s.text(net.home, leaf).parse("neither 0 nor 1", |t| match t {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    })
}

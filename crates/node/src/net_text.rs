//! Interfaces as texts of tools show them: `ip link`, `ip addr`, `ethtool IF`, `ethtool -i IF`, `mst status -v`. What sysfs lists is the list; a text
//! rarely shows all interfaces, so nothing is absent from these.

use crate::cut::{self, Cut};
use crate::net::NetDev;
use crate::rdma_text::put;
use hashbrown::HashMap;
use linerate_formats::bounds::NET_FUNCTIONS;
use linerate_formats::pci::Bdf;
use linerate_formats::text::At;
use linerate_formats::{ethtool, ip, mst};
use linerate_snapshot::{EntryId, Output, OutputKind, Place, Reading, Snapshot, Why};

/// An interface that a text shows. What no text shows of it is unreadable.
#[derive(Debug, Clone)]
pub struct NetShown {
    /// Name.
    pub name: String,
    /// Where it is shown first.
    pub place: Place,
    /// PCI function (`ip -d link` of newer versions, `ethtool -i`).
    pub pci: Reading<Bdf>,
    /// MTU in bytes.
    pub mtu: Reading<u32>,
    /// `up`, `down`, `unknown` …
    pub operstate: Reading<&'static str>,
    /// Mb/s.
    pub speed_mbps: Reading<u32>,
    /// `Link detected` of `ethtool IF`.
    pub link: Reading<bool>,
    /// Interface above it.
    pub master: Reading<String>,
    /// Hardware address.
    pub mac: Reading<String>,
    /// Kind of a virtual interface: `bond`, `vlan`.
    pub kind: Reading<String>,
    /// Number of a VLAN.
    pub vlan: Reading<u16>,
    /// Driver, from `ethtool -i`.
    pub driver: Reading<String>,
    /// IP addresses with the lengths of their prefixes.
    pub addresses: Vec<(String, Place)>,
}

/// The interfaces of all texts, in the order of their first sight. The first value of each fact counts.
pub(crate) fn decode(s: &Snapshot, cuts: &mut Vec<Cut>) -> Vec<NetShown> {
    let mut all = Shown::default();
    for o in &s.outputs {
        let bytes = s.data(o.entry);
        match o.kind {
            OutputKind::IpLink => {
                let listed = ip::read(bytes);
                cut::note(cuts, o.entry, &listed.left_out);
                listed.items.into_iter().for_each(|i| all.interface(i, o.entry));
            }
            OutputKind::EthtoolSettings => {
                let listed = ethtool::read_settings(bytes);
                cut::note(cuts, o.entry, &listed.left_out);
                listed.items.into_iter().for_each(|i| all.settings(i, o.entry));
            }
            OutputKind::EthtoolDriver => {
                let listed = ethtool::driver::read(bytes);
                cut::note(cuts, o.entry, &listed.left_out);
                listed.items.into_iter().for_each(|d| all.driver(d, o));
            }
            OutputKind::MstStatus => {
                let listed = mst::read(bytes);
                cut::note(cuts, o.entry, &listed.left_out);
                listed.items.into_iter().for_each(|d| all.mst(&d, o.entry));
            }
            _ => {}
        }
    }
    all.list
}

/// Gives to the interfaces of sysfs what only texts show.
pub(crate) fn fill(nets: &mut Reading<Vec<NetDev<'_>>>, shown: &[NetShown]) {
    let Reading::Known(nets, _) = nets else { return };
    let by_name: HashMap<&str, &NetShown> = shown.iter().map(|n| (n.name.as_str(), n)).collect();
    for net in nets {
        let Some(text) = by_name.get(net.name) else { continue };
        second(&mut net.mtu, &text.mtu);
        second(&mut net.speed_mbps, &text.speed_mbps);
        second(&mut net.operstate, &text.operstate);
    }
}

/// The kernel's own file comes first.
fn second<T: Clone>(first: &mut Reading<T>, text: &Reading<T>) {
    if first.known().is_none() && text.known().is_some() {
        *first = text.clone();
    }
}

#[derive(Default)]
struct Shown {
    list: Vec<NetShown>,
    index: HashMap<String, usize>,
}

impl Shown {
    fn get(&mut self, name: &str, place: Place) -> Option<&mut NetShown> {
        if let Some(at) = self.index.get(name) {
            return self.list.get_mut(*at);
        }
        if self.list.len() >= NET_FUNCTIONS {
            return None;
        }
        self.index.insert(name.to_owned(), self.list.len());
        self.list.push(blank(name, place));
        self.list.last_mut()
    }

    fn interface(&mut self, i: ip::Interface, entry: EntryId) {
        let Some(n) = self.get(&i.name, Place::of(entry).line(i.line)) else { return };
        put(&mut n.mtu, i.mtu, entry);
        put(&mut n.operstate, i.state, entry);
        put(&mut n.master, i.master, entry);
        put(&mut n.mac, i.mac, entry);
        put(&mut n.kind, i.kind, entry);
        put(&mut n.vlan, i.vlan, entry);
        put(&mut n.pci, i.bdf, entry);
        for a in i.addresses {
            if !n.addresses.iter().any(|(have, _)| *have == a.value) && n.addresses.len() < 256 {
                n.addresses.push((a.value, Place::of(entry).line(a.line)));
            }
        }
    }

    fn settings(&mut self, i: ethtool::Settings, entry: EntryId) {
        let Some(n) = self.get(&i.interface, Place::of(entry).line(i.line)) else { return };
        let speed = i.speed_mbps.and_then(|a| Some(At::new(u32::try_from(a.value).ok()?, a.line)));
        put(&mut n.speed_mbps, speed, entry);
        put(&mut n.link, i.link, entry);
    }

    fn mst(&mut self, d: &mst::Device, entry: EntryId) {
        for name in &d.netdevs {
            let Some(n) = self.get(name, Place::of(entry).line(d.line)) else { return };
            put(&mut n.pci, Some(At::new(d.bdf, d.line)), entry);
        }
    }

    /// Of a block whose interface neither the text nor the command names, nothing is kept.
    fn driver(&mut self, d: ethtool::driver::Driver, o: &Output) {
        let asked = || o.argv.last().cloned();
        let Some(name) = d.interface.map(|i| i.value).or_else(asked) else { return };
        let Some(n) = self.get(&name, Place::of(o.entry).line(d.line)) else { return };
        put(&mut n.pci, d.bdf, o.entry);
        put(&mut n.driver, Some(At::new(d.driver, d.line)).filter(|d| !d.value.is_empty()), o.entry);
    }
}

fn blank(name: &str, place: Place) -> NetShown {
    macro_rules! unsaid {
        () => {
            Reading::Unreadable(place, Why::NotCollected)
        };
    }
    NetShown {
        name: name.to_owned(),
        place,
        pci: unsaid!(),
        mtu: unsaid!(),
        operstate: unsaid!(),
        speed_mbps: unsaid!(),
        link: unsaid!(),
        master: unsaid!(),
        mac: unsaid!(),
        kind: unsaid!(),
        vlan: unsaid!(),
        driver: unsaid!(),
        addresses: Vec::new(),
    }
}

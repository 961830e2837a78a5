//! RDMA devices as tools print them: joins `ibv_devinfo`, `ibstat`, `ibdev2netdev`, `show_gids`, `rdma` and tools of firmware and links to
//! what sysfs shows. A device that only a text knows is built from the text; what the text does not say stays unreadable.

use crate::cut::{self, Cut};
use crate::rdma::{Counters, Gid, LinkLayer, PortState, Purpose, RdmaDevice, RdmaPort, Unshown};
use crate::rdma_card;
use hashbrown::HashSet;
use linerate_formats::bounds::NET_FUNCTIONS;
use linerate_formats::text::At;
use linerate_formats::{ib_port, ibdev2netdev, ibstat, ibv_devinfo, mst, rdma_dev, rdma_json, show_gids};
use linerate_snapshot::{EntryId, OutputKind, Place, Reading, Snapshot, Why};

/// Counters that one line adds to a port; the kernel has some hundred.
const COUNTERS: usize = 1024;
/// GIDs of a port that are read.
const GIDS: usize = 4096;

pub(crate) fn join(s: &Snapshot, listed: Reading<Vec<RdmaDevice>>, cuts: &mut Vec<Cut>) -> Reading<Vec<RdmaDevice>> {
    let known = |k: OutputKind| {
        use OutputKind::{Ibdev2netdev, Ibstat, IbvDevices, IbvDevinfo};
        use OutputKind::{MstStatus, RdmaDev, RdmaLink, RdmaStatistic, ShowGids};
        matches!(
            k,
            IbvDevinfo | Ibstat | Ibdev2netdev | ShowGids | RdmaLink | RdmaDev | RdmaStatistic | IbvDevices | MstStatus
        )
    };
    let Some(first) = s.outputs.iter().find(|o| known(o.kind)) else {
        return listed.map(|mut devices| {
            rdma_card::join(s, &mut devices, cuts);
            devices
        });
    };
    let mut all = Joined { devices: Vec::new(), grow: true };
    let listed = listed.map(|devices| all = Joined { devices, grow: false });
    for o in s.outputs.iter().filter(|o| known(o.kind)) {
        let bytes = s.data(o.entry);
        match o.kind {
            OutputKind::IbvDevinfo => {
                let listed = ibv_devinfo::read(bytes);
                cut::note(cuts, o.entry, &listed.left_out);
                listed.items.into_iter().for_each(|h| all.hca(h, o.entry));
            }
            OutputKind::Ibstat => {
                let listed = ibstat::read(bytes);
                cut::note(cuts, o.entry, &listed.left_out);
                listed.items.into_iter().for_each(|c| all.ca(c, o.entry));
            }
            OutputKind::Ibdev2netdev => ibdev2netdev::parse(bytes).into_iter().for_each(|l| all.netdev(l, o.entry)),
            OutputKind::ShowGids => {
                let listed = show_gids::parse(bytes);
                cut::note(cuts, o.entry, &listed.entries.left_out);
                // Rules look for what a table lacks: a part of the text shows none.
                if listed.is_whole() {
                    all.gids(&listed.entries.items, o.entry);
                }
            }
            OutputKind::RdmaDev => {
                let listed = rdma_dev::read(bytes);
                cut::note(cuts, o.entry, &listed.left_out);
                listed.items.into_iter().for_each(|d| all.rdma_dev(d, o.entry));
            }
            OutputKind::IbvDevices => {
                let listed = rdma_dev::read_list(bytes);
                cut::note(cuts, o.entry, &listed.left_out);
                listed.items.into_iter().for_each(|d| all.rdma_dev(d, o.entry));
            }
            OutputKind::MstStatus => {
                let listed = mst::read(bytes);
                cut::note(cuts, o.entry, &listed.left_out);
                listed.items.into_iter().for_each(|d| all.mst(d, o.entry));
            }
            OutputKind::RdmaStatistic => {
                rdma_json::parse_statistics(bytes).into_iter().flatten().for_each(|c| all.counters(c, o.entry));
            }
            _ => rdma_json::parse_links(bytes).into_iter().flatten().for_each(|l| all.link(l, o.entry)),
        }
    }
    rdma_card::join(s, &mut all.devices, cuts);
    match listed {
        // What sysfs lists is the list, texts only add details.
        Reading::Known(_, p) => Reading::Known(all.devices, p),
        _ if !all.devices.is_empty() => Reading::Known(all.devices, Place::of(first.entry)),
        other => other.map(|()| Vec::new()),
    }
}

/// What texts say of devices that they do not show.
pub(crate) fn unshown(s: &Snapshot) -> Unshown {
    let mut out = Unshown::default();
    for o in &s.outputs {
        let (bytes, text) = (s.data(o.entry), Place::of(o.entry));
        match o.kind {
            OutputKind::IbvDevinfo => {
                let refused = ibv_devinfo::refused(bytes);
                out.none = out.none.or(refused.none.map(|l| text.line(l)));
                let opened = ibv_devinfo::parse(bytes);
                out.opened = out.opened.or(opened.first().map(|d| (opened.len(), text.line(d.line))));
                out.refused = out.refused.or((refused.devices > 0).then(|| (refused.devices, text.line(refused.line))));
            }
            OutputKind::Ibstat => out.none = out.none.or(ibstat::none(bytes).map(|l| text.line(l))),
            OutputKind::ShowGids => {
                let listed = show_gids::parse(bytes);
                let is_empty = listed.is_whole() && listed.entries.items.is_empty();
                out.no_gid = out.no_gid.or(is_empty.then_some(text));
            }
            _ => {}
        }
    }
    out
}

struct Joined {
    devices: Vec<RdmaDevice>,
    /// Whether devices may be added: not where sysfs listed them.
    grow: bool,
}

impl Joined {
    fn device(&mut self, name: &str, entry: EntryId, line: u32) -> Option<&mut RdmaDevice> {
        if let Some(i) = self.devices.iter().position(|d| d.name == name) {
            return self.devices.get_mut(i);
        }
        if !self.grow || self.devices.len() >= NET_FUNCTIONS {
            return None;
        }
        self.devices.push(blank_device(name, entry, line));
        self.devices.last_mut()
    }

    fn hca(&mut self, h: ibv_devinfo::Hca, entry: EntryId) {
        let (grow, Some(d)) = (self.grow, self.device(&h.name, entry, h.line)) else { return };
        put(&mut d.firmware, h.firmware, entry);
        put(&mut d.sys_image_guid, h.sys_image_guid, entry);
        put(&mut d.node_guid, h.node_guid, entry);
        put(&mut d.board_id, h.board_id, entry);
        put(&mut d.hca_type, h.vendor_part_id.map(|a| At::new(format!("MT{}", a.value), a.line)), entry);
        for p in h.ports {
            let rate = match (&p.active_width, &p.active_speed_gbps) {
                (Some(w), Some(s)) => Some(At::new(f64::from(w.value) * s.value, s.line)),
                _ => None,
            };
            let Some(port) = port(d, p.number, entry, p.line, grow) else { continue };
            put(&mut port.state, p.state.and_then(state), entry);
            put(&mut port.link_layer, p.link_layer.and_then(layer), entry);
            put(&mut port.active_mtu, p.active_mtu, entry);
            put(&mut port.lid, p.port_lid.and_then(small), entry);
            put(&mut port.sm_lid, p.sm_lid.and_then(small), entry);
            put(&mut port.rate_gbps, rate, entry);
            if port.gids.known().is_none() && !p.gids.is_empty() {
                let gids = p.gids.into_iter().take(GIDS).map(|g| gid(g, entry)).filter(|g| !g.is_zero()).collect();
                port.gids = Reading::Known(gids, Place::of(entry).line(p.line));
            }
        }
    }

    fn ca(&mut self, c: ibstat::Ca, entry: EntryId) {
        let (grow, Some(d)) = (self.grow, self.device(&c.name, entry, c.line)) else { return };
        put(&mut d.firmware, c.firmware, entry);
        put(&mut d.hca_type, c.ca_type, entry);
        for p in c.ports {
            let Some(port) = port(d, p.number, entry, p.line, grow) else { continue };
            put(&mut port.state, p.state.and_then(state), entry);
            put(&mut port.phys_state, p.physical_state.map(|a| At::new((phys(&a.value), a.value), a.line)), entry);
            put(&mut port.link_layer, p.link_layer.and_then(layer), entry);
            put(&mut port.lid, p.base_lid.and_then(small), entry);
            put(&mut port.sm_lid, p.sm_lid.and_then(small), entry);
            put(&mut port.rate_gbps, p.rate_gbps, entry);
        }
    }

    fn netdev(&mut self, l: ibdev2netdev::IbNetdev, entry: EntryId) {
        let (grow, Some(d)) = (self.grow, self.device(&l.device, entry, l.line)) else { return };
        d.pci = d.pci.or(l.bdf);
        if let Some(port) = port(d, l.port, entry, l.line, grow) {
            put(&mut port.netdev, Some(At::new(l.netdev, l.line)), entry);
            let is_down = l.state.is_some_and(|s| s.eq_ignore_ascii_case("down"));
            port.netdev_down = port.netdev_down.or(is_down.then(|| Place::of(entry).line(l.line)));
        }
    }

    fn gids(&mut self, entries: &[show_gids::Entry], entry: EntryId) {
        let grow = self.grow;
        // The script prints port after port, and a table to its end.
        for table in entries.chunk_by(|a, b| (&a.device, a.port) == (&b.device, b.port)) {
            let Some(first) = table.first() else { continue };
            let Some(d) = self.device(&first.device, entry, first.line) else { continue };
            let Some(port) = port(d, first.port, entry, first.line, grow) else { continue };
            put(&mut port.netdev, first.netdev.clone().map(|n| At::new(n, first.line)), entry);
            if port.gids.known().is_none() {
                let gids = table.iter().take(GIDS).map(|e| shown_gid(e, entry)).collect();
                port.gids = Reading::Known(gids, Place::of(entry).line(first.line));
            }
        }
    }

    fn rdma_dev(&mut self, d: rdma_dev::RdmaDev, entry: EntryId) {
        let Some(device) = self.device(&d.name, entry, d.line) else { return };
        let at = |v: Option<String>| v.map(|v| At::new(v, d.line));
        put(&mut device.firmware, at(d.firmware), entry);
        put(&mut device.node_guid, at(d.node_guid), entry);
        put(&mut device.sys_image_guid, at(d.sys_image_guid), entry);
    }

    /// The table has a row for a function: a NIC of today has one port on each.
    fn mst(&mut self, m: mst::Device, entry: EntryId) {
        let (grow, Some(name)) = (self.grow, m.rdma) else { return };
        let Some(d) = self.device(&name, entry, m.line) else { return };
        d.pci = d.pci.or(Some(m.bdf));
        let [netdev] = m.netdevs.as_slice() else { return };
        if let Some(port) = port(d, 1, entry, m.line, grow) {
            put(&mut port.netdev, Some(At::new(netdev.clone(), m.line)), entry);
        }
    }

    fn counters(&mut self, c: rdma_json::RdmaCounters, entry: EntryId) {
        let (grow, Some(d)) = (self.grow, self.device(&c.device, entry, c.line)) else { return };
        let Some(port) = port(d, c.port, entry, c.line, grow) else { return };
        let have: HashSet<String> = port.counters.iter().map(|(n, ..)| n.to_owned()).collect();
        for (name, value) in c.counters.iter().filter(|(n, _)| !have.contains(n)).take(COUNTERS) {
            port.counters.push(name, *value, Place::of(entry).line(c.line));
        }
    }

    fn link(&mut self, l: rdma_json::RdmaLink, entry: EntryId) {
        let (grow, Some(d)) = (self.grow, self.device(&l.device, entry, l.line)) else { return };
        if let Some(port) = port(d, l.port, entry, l.line, grow) {
            put(&mut port.state, l.state.and_then(|v| state(At::new(v, l.line))), entry);
            put(&mut port.phys_state, l.physical_state.map(|v| At::new((phys(&v), v), l.line)), entry);
            put(&mut port.netdev, l.netdev.map(|v| At::new(v, l.line)), entry);
            // The kernel has LIDs of InfiniBand ports only (nldev.c, fill_port_info: rdma_protocol_ib).
            put(&mut port.link_layer, l.lid.map(|_| At::new(LinkLayer::InfiniBand, l.line)), entry);
            put(&mut port.lid, l.lid.map(|v| At::new(v, l.line)), entry);
            put(&mut port.sm_lid, l.sm_lid.map(|v| At::new(v, l.line)), entry);
        }
    }
}

fn port(d: &mut RdmaDevice, number: u32, entry: EntryId, line: u32, grow: bool) -> Option<&mut RdmaPort> {
    if let Some(i) = d.ports.iter().position(|p| p.number == number) {
        return d.ports.get_mut(i);
    }
    if !grow || d.ports.len() >= 256 {
        return None;
    }
    d.ports.push(blank_port(number, entry, line));
    d.ports.last_mut()
}

/// Keeps what is known already.
pub(crate) fn put<T>(slot: &mut Reading<T>, value: Option<At<T>>, entry: EntryId) {
    if let (Some(v), true) = (value, slot.known().is_none()) {
        *slot = Reading::Known(v.value, Place::of(entry).line(v.line));
    }
}

fn state(a: At<ib_port::PortState>) -> Option<At<PortState>> {
    let v = match a.value {
        ib_port::PortState::Down => PortState::Down,
        ib_port::PortState::Initialize => PortState::Init,
        ib_port::PortState::Armed => PortState::Armed,
        ib_port::PortState::Active => PortState::Active,
        ib_port::PortState::ActiveDefer => PortState::ActiveDefer,
        ib_port::PortState::Other(_) => return None,
    };
    Some(At::new(v, a.line))
}

fn layer(a: At<ib_port::LinkLayer>) -> Option<At<LinkLayer>> {
    let v = match a.value {
        ib_port::LinkLayer::InfiniBand => LinkLayer::InfiniBand,
        ib_port::LinkLayer::Ethernet => LinkLayer::Ethernet,
        ib_port::LinkLayer::Other(other) if other == "Unspecified" || other == "Unknown" => LinkLayer::Unspecified,
        ib_port::LinkLayer::Other(_) => return None,
    };
    Some(At::new(v, a.line))
}

fn small(a: At<u64>) -> Option<At<u32>> {
    Some(At::new(u32::try_from(a.value).ok()?, a.line))
}

/// The kernel's number of a physical state; 0 for a word that it does not use.
pub(crate) fn phys(word: &str) -> u32 {
    // As sysfs, infiniband-diags and iproute2 write them.
    const NAMES: [(&str, u32); 7] = [
        ("sleep", 1),
        ("polling", 2),
        ("disabled", 3),
        ("linkup", 5),
        ("link_up", 5),
        ("linkerrorrecovery", 6),
        ("link_error_recover", 6),
    ];
    let word = word.to_ascii_lowercase();
    NAMES.iter().find(|(n, _)| *n == word).map_or(0, |(_, v)| *v)
}

fn gid(g: ibv_devinfo::GidEntry, entry: EntryId) -> Gid {
    let place = Place::of(entry).line(g.line);
    let unsaid = || Reading::Unreadable(place, Why::NotCollected);
    let kind = match g.kind {
        Some(k) => Reading::Known(k, place),
        None => unsaid(),
    };
    Gid { index: g.index, gid: g.gid.to_string(), kind, netdev: unsaid(), place }
}

fn shown_gid(e: &show_gids::Entry, entry: EntryId) -> Gid {
    let place = Place::of(entry).line(e.line);
    let said = |word: Option<&str>| match word {
        Some(w) => Reading::Known(w.to_owned(), place),
        None => Reading::Unreadable(place, Why::NotCollected),
    };
    let kind = e.version.map(|v| match v {
        show_gids::Version::V1 => "IB/RoCE v1",
        show_gids::Version::V2 => "RoCE v2",
    });
    Gid { index: e.index, gid: e.gid.to_string(), kind: said(kind), netdev: said(e.netdev.as_deref()), place }
}

fn blank_device(name: &str, entry: EntryId, line: u32) -> RdmaDevice {
    let place = Place::of(entry).line(line);
    let unsaid = || Reading::Unreadable(place, Why::NotCollected);
    RdmaDevice {
        name: name.to_owned(),
        home: entry,
        pci: None,
        firmware: unsaid(),
        sys_image_guid: unsaid(),
        node_guid: unsaid(),
        board_id: unsaid(),
        hca_type: unsaid(),
        is_virtual: false,
        purpose: Purpose::Network,
        ports: Vec::new(),
    }
}

fn blank_port(number: u32, entry: EntryId, line: u32) -> RdmaPort {
    let place = Place::of(entry).line(line);
    macro_rules! unsaid {
        () => {
            Reading::Unreadable(place, Why::NotCollected)
        };
    }
    RdmaPort {
        number,
        home: entry,
        state: unsaid!(),
        phys_state: unsaid!(),
        rate_gbps: unsaid!(),
        rate_text: unsaid!(),
        link_layer: unsaid!(),
        lid: unsaid!(),
        sm_lid: unsaid!(),
        active_mtu: unsaid!(),
        netdev: unsaid!(),
        netdev_down: None,
        gids: unsaid!(),
        counters: Counters::default(),
    }
}

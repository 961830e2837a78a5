//! RDMA devices and their ports, from `/sys/class/infiniband`.

use linerate_formats::pci::Bdf;
use linerate_formats::rdma_json::{self, NetnsMode};
use linerate_snapshot::{EntryId, OutputKind, Place, Reading, Snapshot, Why};

/// Link layer of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub enum LinkLayer {
    /// InfiniBand.
    InfiniBand,
    /// RoCE (or iWARP).
    Ethernet,
    /// Neither: AWS EFA. The kernel prints `Unknown` (`core/sysfs.c`, `link_layer_show`), libibverbs `Unspecified`.
    Unspecified,
}

/// What an RDMA device is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// A network card, or software on one; what nothing says otherwise of.
    #[default]
    Network,
    /// Manages NVLink switches: its InfiniBand port ends in the NVLink fabric, and NVLSM is its subnet manager.
    NvlinkManagement,
    /// A network card, or what manages NVLink switches: the source does not tell ([`crate::pci::Kind::PerhapsNvlinkBridge`]).
    PerhapsNvlinkManagement,
    /// AWS' Elastic Fabric Adapter: used through libfabric.
    Efa,
}

/// Logical state of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PortState {
    /// 0.
    Nop,
    /// 1.
    Down,
    /// 2: physical link is up, no subnet manager configured it.
    Init,
    /// 3.
    Armed,
    /// 4.
    Active,
    /// 5.
    ActiveDefer,
}

/// One entry of the GID table.
#[derive(Debug, Clone)]
pub struct Gid {
    /// Index.
    pub index: u32,
    /// As text, `fe80:0000:…`; redacted snapshots keep its form.
    pub gid: String,
    /// `IB/RoCE v1` or `RoCE v2`. Unreadable for an unused index (the kernel answers EINVAL).
    pub kind: Reading<String>,
    /// Network interface.
    pub netdev: Reading<String>,
    /// Where.
    pub place: Place,
}

impl Gid {
    /// All zero: an unused index.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        is_zero(&self.gid)
    }

    /// `::ffff:a.b.c.d`: an IPv4 address.
    #[must_use]
    pub fn is_ipv4(&self) -> bool {
        self.gid.starts_with("0000:0000:0000:0000:0000:ffff:") || self.gid.starts_with("::ffff:")
    }

    /// fe80::/10.
    #[must_use]
    pub fn is_link_local(&self) -> bool {
        self.gid.starts_with("fe8")
    }

    /// Type is RoCE v2.
    #[must_use]
    pub fn is_roce_v2(&self) -> bool {
        self.kind.known().is_some_and(|k| k == "RoCE v2")
    }
}

/// A port.
#[derive(Debug, Clone)]
pub struct RdmaPort {
    /// Number, from 1.
    pub number: u32,
    /// Its directory (or the text that tells of it).
    pub home: EntryId,
    /// Logical state.
    pub state: Reading<PortState>,
    /// Physical state: number and name.
    pub phys_state: Reading<(u32, String)>,
    /// Rate, Gb/s over all lanes.
    pub rate_gbps: Reading<f64>,
    /// Rate as the kernel words it, `400 Gb/sec (4X NDR)`.
    pub rate_text: Reading<String>,
    /// Link layer.
    pub link_layer: Reading<LinkLayer>,
    /// Local identifier; 0 on RoCE.
    pub lid: Reading<u32>,
    /// Subnet manager's; 0 when there is none.
    pub sm_lid: Reading<u32>,
    /// Active MTU in bytes, from ibv_devinfo (sysfs does not show it).
    pub active_mtu: Reading<u32>,
    /// Network interface of the port: that of its first GID, or as `rdma link` tells.
    pub netdev: Reading<String>,
    /// Where a text says that this interface is down (`ibdev2netdev`).
    pub netdev_down: Option<Place>,
    /// Used entries of the GID table.
    pub gids: Reading<Vec<Gid>>,
    /// Counters by name, from `counters/` and `hw_counters/`.
    pub counters: Counters,
}

/// Counters of a port. A port has dozens and few are asked for: their names are kept in one text.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    names: String,
    /// End of the name in `names`, value, place.
    list: Vec<(usize, u64, Place)>,
}

impl Counters {
    pub(crate) fn push(&mut self, name: &str, value: u64, place: Place) {
        self.names.push_str(name);
        self.list.push((self.names.len(), value, place));
    }

    /// All of them: name, value, place.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64, Place)> {
        let mut start = 0;
        self.list.iter().filter_map(move |(end, value, place)| {
            let name = self.names.get(std::mem::replace(&mut start, *end)..*end)?;
            Some((name, *value, *place))
        })
    }
}

impl RdmaPort {
    /// A counter.
    #[must_use]
    pub fn counter(&self, name: &str) -> Option<(u64, Place)> {
        self.counters.iter().find(|(n, ..)| *n == name).map(|(_, v, p)| (v, p))
    }

    /// What the port carries after line encoding, Gb/s. The kernel prints the signalling rate of the old InfiniBand speeds: SDR,
    /// DDR and QDR are 8b/10b, FDR and FDR10 are 64b/66b; from EDR on, and on Ethernet, the name is the data rate.
    #[must_use]
    pub fn data_rate_gbps(&self) -> Option<f64> {
        let rate = *self.rate_gbps.known()?;
        let name = self.rate_text.known().map(String::as_str).unwrap_or_default();
        let has = |n: &str| name.split(|c: char| !c.is_ascii_alphanumeric()).any(|w| w == n);
        let encoding = if self.is_roce() {
            1.0
        } else if has("SDR") || has("DDR") || has("QDR") {
            0.8
        } else if has("FDR") || has("FDR10") {
            64.0 / 66.0
        } else {
            1.0
        };
        Some(rate * encoding)
    }

    /// RoCE.
    #[must_use]
    pub fn is_roce(&self) -> bool {
        self.link_layer.known() == Some(&LinkLayer::Ethernet)
    }
}

/// An RDMA device.
#[derive(Debug, Clone)]
pub struct RdmaDevice {
    /// Name: `mlx5_0`, `rxe0`.
    pub name: String,
    /// Its directory, or the text that tells of it.
    pub home: EntryId,
    /// PCI function it belongs to; `None` for software devices or where not visible.
    pub pci: Option<Bdf>,
    /// Firmware version.
    pub firmware: Reading<String>,
    /// GUID of the card, `b8ce:f603:00aa:0001`: equal for its functions. Redacted snapshots keep its form.
    pub sys_image_guid: Reading<String>,
    /// GUID of the device.
    pub node_guid: Reading<String>,
    /// Board id (PSID).
    pub board_id: Reading<String>,
    /// Hardware type, `MT4129`.
    pub hca_type: Reading<String>,
    /// Whether it has no hardware: its directory is below /sys/devices/virtual.
    pub is_virtual: bool,
    /// What it is for.
    pub purpose: Purpose,
    /// Ports.
    pub ports: Vec<RdmaPort>,
}

impl RdmaDevice {
    /// Emulated in software: Soft-RoCE (rxe) or siw. Their names are free; what has a PCI function is not one of them.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.pci.is_none() && (self.is_virtual || self.name.starts_with("rxe") || self.name.starts_with("siw"))
    }
}

fn is_zero(gid: &str) -> bool {
    gid.bytes().all(|b| matches!(b, b'0' | b':'))
}

/// What texts say of RDMA devices that they do not show.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unshown {
    /// How many devices `ibv_devinfo` could not open, and its first such line.
    pub refused: Option<(u32, Place)>,
    /// How many it could open, and its text.
    pub opened: Option<(usize, Place)>,
    /// Where a tool that lists devices says that there is none.
    pub none: Option<Place>,
    /// Where `show_gids` ends its table without an entry: no port has a GID.
    pub no_gid: Option<Place>,
}

pub(crate) fn decode(s: &Snapshot, cuts: &mut Vec<crate::Cut>) -> Reading<Vec<RdmaDevice>> {
    let listed = s.dir("sys/class/infiniband").map(|dir| {
        s.children(dir)
            .into_iter()
            .filter_map(|(name, e)| {
                let home = s.follow(e)?;
                Some(device(s, name, home))
            })
            .collect()
    });
    crate::rdma_text::join(s, listed, cuts)
}

/// Whether network namespaces share RDMA devices (`rdma system`, or ib_core's parameter). Known(false): each device belongs to
/// one namespace.
#[must_use]
pub fn netns_shared(s: &Snapshot) -> Reading<bool> {
    let said = s.outputs.iter().filter(|o| o.kind == OutputKind::RdmaSystem).find_map(|o| {
        let system = rdma_json::parse_system(s.data(o.entry))?;
        let shared = match system.netns {
            NetnsMode::Shared => true,
            NetnsMode::Exclusive => false,
            NetnsMode::Other(_) => return None,
        };
        Some(Reading::Known(shared, Place::of(o.entry).line(system.line)))
    });
    said.unwrap_or_else(|| {
        s.text(s.root(), "sys/module/ib_core/parameters/netns_mode").parse("neither Y nor N", |t| match t {
            "Y" | "1" => Some(true),
            "N" | "0" => Some(false),
            _ => None,
        })
    })
}

/// Global traffic class of a device (`tc/1/traffic_class`, OFED only): `Global tclass=106`, or a bare number.
#[must_use]
pub fn traffic_class(s: &Snapshot, device: &RdmaDevice) -> Reading<u32> {
    s.text(device.home, "tc/1/traffic_class").parse("no traffic class set", |t| {
        let line = t.lines().next()?;
        parse_number(line.rsplit('=').next()?.trim())
    })
}

fn device(s: &Snapshot, name: &str, home: EntryId) -> RdmaDevice {
    let own = |leaf| s.text(home, leaf).map(str::to_owned);
    let ports = match s.child(home, "ports") {
        Some(p) => s.children(p).into_iter().filter_map(|(n, e)| Some(port(s, n.parse().ok()?, e))).collect(),
        None => Vec::new(),
    };
    RdmaDevice {
        name: name.to_owned(),
        home,
        pci: s.link_name(home, "device").known().and_then(|n| n.parse().ok()).or_else(|| pci_above(s, home)),
        firmware: own("fw_ver"),
        sys_image_guid: own("sys_image_guid"),
        node_guid: own("node_guid"),
        board_id: own("board_id"),
        hca_type: own("hca_type"),
        is_virtual: s.parent(home).and_then(|p| s.parent(p)).is_some_and(|p| s.name(p) == "virtual"),
        purpose: Purpose::Network,
        ports,
    }
}

/// `…/0000:1a:00.0/infiniband/mlx5_0`: the function is two levels up.
fn pci_above(s: &Snapshot, home: EntryId) -> Option<Bdf> {
    let class = s.parent(home)?;
    s.name(s.parent(class)?).parse().ok()
}

fn port(s: &Snapshot, number: u32, home: EntryId) -> RdmaPort {
    let hex = |leaf| s.text(home, leaf).parse("not a number", parse_number);
    let mut counters = Counters::default();
    for dir in ["counters", "hw_counters"] {
        let Some(d) = s.child(home, dir) else { continue };
        let files = s.children(d);
        counters.names.reserve(files.iter().map(|(name, _)| name.len()).sum());
        counters.list.reserve(files.len());
        for (name, e) in files {
            if let Some(v) = count(s.data(e)) {
                counters.push(name, v, Place::of(e));
            }
        }
    }
    let gids = gids(s, home);
    let rate = s.text(home, "rate");
    let netdev = gids.part(|g| g.first()?.netdev.known().cloned());
    RdmaPort {
        number,
        home,
        state: s.text(home, "state").parse("not a port state", |t| parse_state(leading_number(t)?)),
        phys_state: s
            .text(home, "phys_state")
            .parse("not a physical state", |t| Some((leading_number(t)?, t.split_once(':')?.1.trim().to_owned()))),
        rate_gbps: rate.as_ref().parse("not a rate", |t| t.split_whitespace().next()?.parse().ok()),
        rate_text: rate.map(str::to_owned),
        link_layer: s.text(home, "link_layer").parse("not a link layer", |t| match t {
            "InfiniBand" => Some(LinkLayer::InfiniBand),
            "Ethernet" => Some(LinkLayer::Ethernet),
            "Unknown" => Some(LinkLayer::Unspecified),
            _ => None,
        }),
        lid: hex("lid"),
        sm_lid: hex("sm_lid"),
        active_mtu: s.missing_always(home, "(active_mtu is not in sysfs)"),
        netdev,
        netdev_down: None,
        gids,
        counters,
    }
}

/// A counter's file: decimal digits and the end of the line. There are hundreds on a node.
pub(crate) fn count(file: &[u8]) -> Option<u64> {
    let digits = file.trim_ascii();
    let step = |n: u64, b: &u8| n.checked_mul(10)?.checked_add(u64::from(b.checked_sub(b'0').filter(|d| *d < 10)?));
    digits.iter().try_fold(0, step).filter(|_| !digits.is_empty())
}

/// After so many unused GIDs in a row an audit takes the rest of the table for unused.
const UNUSED_GIDS: u32 = 32;

fn gids(s: &Snapshot, home: EntryId) -> Reading<Vec<Gid>> {
    let Some(dir) = s.child(home, "gids") else { return s.missing(home, "gids") };
    let mut out = Vec::new();
    let attribute = |dir_leaf: &'static str, index: &str| -> Reading<String> {
        let dir = match s.resolve_from(home, dir_leaf) {
            linerate_snapshot::Lookup::Found(d) => d,
            _ => return s.missing(home, dir_leaf),
        };
        match s.child(dir, index) {
            Some(e) => match s.kind(e) {
                linerate_snapshot::EntryKind::Failed(w) => Reading::Unreadable(Place::of(e), w.clone()),
                _ => Reading::Known(s.data(e), Place::of(e))
                    .parse("not text", |b| Some(std::str::from_utf8(b).ok()?.trim().to_owned())),
            },
            None => s.missing(home, dir_leaf),
        }
    };
    let mut stopped: Option<(u32, EntryId)> = None;
    for (index, e) in s.children(dir) {
        // An entry that could not be read is not an empty one.
        if let linerate_snapshot::EntryKind::Failed(why) = s.kind(e) {
            match (why, index.parse()) {
                (Why::NotCollected, Ok(n)) => stopped = Some((n, e)),
                _ => return Reading::Unreadable(Place::of(e), why.clone()),
            }
            continue;
        }
        let (Ok(n), Ok(text)) = (index.parse(), std::str::from_utf8(s.data(e))) else { continue };
        // Most of the table is unused.
        let gid = text.trim();
        if is_zero(gid) {
            continue;
        }
        out.push(Gid {
            index: n,
            gid: gid.to_owned(),
            kind: attribute("gid_attrs/types", index),
            netdev: attribute("gid_attrs/ndevs", index),
            place: Place::of(e),
        });
    }
    out.sort_unstable_by_key(|g| g.index);
    // An audit leaves off after a long run of unused entries; anything shorter is a table of which part was not seen.
    let next = out.last().map_or(0, |g| g.index.saturating_add(1));
    match stopped {
        Some((n, e)) if n < next.saturating_add(UNUSED_GIDS) => Reading::Unreadable(Place::of(e), Why::NotCollected),
        _ => Reading::Known(out, Place::of(dir)),
    }
}

pub(crate) fn parse_state(n: u32) -> Option<PortState> {
    use PortState::{Active, ActiveDefer, Armed, Down, Init, Nop};
    [Nop, Down, Init, Armed, Active, ActiveDefer].get(n as usize).copied()
}

fn leading_number(t: &str) -> Option<u32> {
    t.split(':').next()?.trim().parse().ok()
}

/// Decimal, or hexadecimal after 0x.
fn parse_number(t: &str) -> Option<u32> {
    match t.strip_prefix("0x") {
        Some(h) => u32::from_str_radix(h, 16).ok(),
        None => t.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `last`: index of the last GID in use; `mark`: index at which the capture left off.
    fn table(last: u32, mark: u32, why: Why) -> Reading<Vec<Gid>> {
        let mut s = Snapshot::new("test");
        let port = "sys/class/infiniband/rxe0/ports/1";
        for n in 0..=last {
            s.add_file(&format!("{port}/gids/{n}"), b"0000:0000:0000:0000:0000:ffff:0a00:020f\n");
        }
        s.add_failed(&format!("{port}/gids/{mark}"), why);
        let linerate_snapshot::Lookup::Found(home) = s.resolve(port) else { panic!("no port") };
        gids(&s, home)
    }

    #[test]
    fn a_long_run_of_unused_gids_ends_the_table_and_nothing_else_does() {
        assert_eq!(table(1, 34, Why::NotCollected).known().map(Vec::len), Some(2));
        assert!(table(1, 33, Why::NotCollected).is_unreadable(), "too short a run");
        assert!(table(1, 34, Why::Denied).is_unreadable(), "could not be read");
    }
}

//! By which addresses a node is reached, as far as a snapshot shows them, so that the same node with others is told from a node with others.
//!
//! Shown are the hardware addresses of interfaces of physical PCI functions, and the IPv4 addresses that an Ethernet port of an RDMA device has in its table of
//! GIDs. Nothing else in a snapshot is an address of the node. Left out is what moves by itself: virtual functions and virtual interfaces (the kernel
//! draws their addresses by lot), and what is in a bond or a bridge (it bears the bond's address).

use linerate_formats::pci::Bdf;
use linerate_snapshot::{EntryId, Snapshot};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::Ipv6Addr;

/// Addresses that are kept of one node.
const KEPT: usize = 128;
/// What the kernel writes before an IPv4 address in a GID.
const MAPPED: &[u8] = b"0000:0000:0000:0000:0000:ffff:";
/// Length of a name of an interface or a device. The kernel's are shorter.
const NAME: usize = 64;

/// Addresses of a node, as digests too short to be read back: they are compared only. Empty: none is shown, or they were hashed with a key that
/// nobody kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Addresses(String);

/// Interfaces with other addresses than before.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Others {
    /// Interfaces with another hardware address.
    pub hardware: BTreeSet<String>,
    /// Ports of RDMA devices, `mlx5_0/1`, with other IPv4 addresses.
    pub network: BTreeSet<String>,
}

impl Others {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hardware.is_empty() && self.network.is_empty()
    }
}

impl Addresses {
    /// Of a snapshot.
    #[must_use]
    pub fn of(s: &Snapshot) -> Self {
        let mut out = Addresses::default();
        if s.manifest.redacted && s.manifest.redact_key.is_none() {
            return out;
        }
        let mut kept = 0;
        let alone = physical(s, "sys/class/net").into_iter().filter(|(_, home)| s.child(*home, "master").is_none());
        let own: Vec<(&str, &str)> = alone
            .filter_map(|(name, home)| {
                Some((name, hardware(std::str::from_utf8(s.data(s.child(home, "address")?)).ok()?)?))
            })
            .take(KEPT)
            .collect();
        // A bond that a source does not show: its members have one address.
        let is_only = |address: &str| own.iter().filter(|(_, a)| *a == address).count() == 1;
        own.iter().filter(|(_, a)| is_only(a)).for_each(|(name, address)| out.add(name, address, &mut kept));
        for (name, home) in physical(s, "sys/class/infiniband") {
            for (port, at) in s.child(home, "ports").map(|p| s.children(p)).unwrap_or_default() {
                let gids = s.child(at, "gids").map(|g| s.children(g)).unwrap_or_default();
                let all: BTreeSet<String> = gids.iter().filter_map(|(_, gid)| ipv4(s.data(*gid))).collect();
                all.iter().for_each(|ip| out.add(&format!("{name}/{port}"), ip, &mut kept));
            }
        }
        out
    }

    fn add(&mut self, of: &str, address: &str, kept: &mut usize) {
        let is_name = of.len() <= NAME && of.bytes().all(|b| b.is_ascii_graphic() && b != b'=');
        if *kept >= KEPT || !is_name {
            return;
        }
        *kept += 1;
        let digest = Sha256::new_with_prefix(b"linerate address\0").chain_update(address).finalize();
        let space = if self.0.is_empty() { "" } else { " " };
        // Writing to a string never fails.
        let _ = write!(self.0, "{space}{of}=");
        digest.iter().take(3).for_each(|b| _ = write!(self.0, "{b:02x}"));
    }

    /// As an index has them.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// By name, the digests.
    fn by_name(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut out: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (name, digest) in self.0.split(' ').filter_map(|item| item.split_once('=')) {
            out.entry(name).or_default().insert(digest);
        }
        out
    }

    /// Where both show addresses and have none in common. What moved from one interface to another of the node is no other address.
    fn others(&self, before: &Addresses) -> BTreeSet<String> {
        if self == before {
            return BTreeSet::new();
        }
        let (now, then) = (self.by_name(), before.by_name());
        let all = |of: &BTreeMap<&str, BTreeSet<&str>>| of.values().flatten().map(|d| (*d).to_owned()).collect();
        let (all_now, all_then): (BTreeSet<String>, BTreeSet<String>) = (all(&now), all(&then));
        let is_other = |(name, new): &(&&str, &BTreeSet<&str>)| {
            let old = then.get(**name);
            old.is_some_and(|old| old.iter().all(|d| !all_now.contains(*d)))
                && new.iter().all(|d| !all_then.contains(*d))
        };
        now.iter().filter(is_other).map(|(name, _)| (*name).to_owned()).collect()
    }
}

impl From<&str> for Addresses {
    fn from(text: &str) -> Self {
        Addresses(text.to_owned())
    }
}

/// What of a node's addresses became others, in the order of time; and whether earlier ones came back, which one machine's rarely do.
pub(crate) fn changes(all: &[&Addresses]) -> (Others, bool) {
    let known: Vec<&&Addresses> = all.iter().filter(|a| !a.0.is_empty()).collect();
    let (mut out, mut came_back) = (Others::default(), false);
    for (at, pair) in known.windows(2).enumerate() {
        let [then, now] = pair else { continue };
        let names = now.others(then);
        let earlier = known.iter().take(at);
        came_back |= !names.is_empty() && earlier.into_iter().any(|e| e.0 == now.0);
        for name in names {
            if name.contains('/') {
                out.network.insert(name)
            } else {
                out.hardware.insert(name)
            };
        }
    }
    (out, came_back)
}

/// Names and directories of a class of devices that are physical PCI functions.
fn physical<'s>(s: &'s Snapshot, class: &'static str) -> Vec<(&'s str, EntryId)> {
    let all = s.dir(class).known().map(|dir| s.children(*dir)).unwrap_or_default();
    let homes = all.into_iter().filter_map(|(name, entry)| Some((name, s.follow(entry)?)));
    let is_physical = |home: EntryId| {
        let function = s.parent(home).and_then(|class| s.parent(class))?;
        let is_function = s.name(function).parse::<Bdf>().is_ok();
        Some(is_function && s.child(function, "physfn").is_none())
    };
    homes.filter(|(_, home)| is_physical(*home) == Some(true)).collect()
}

/// What of a hardware address is the device's own: of IPoIB the port's GUID, as queue pairs and subnets are given out anew.
fn hardware(text: &str) -> Option<&str> {
    let text = text.trim();
    let own = match text.len() {
        17 => text,
        59 => text.get(36..)?,
        _ => return None,
    };
    own.bytes().any(|b| !matches!(b, b'0' | b':')).then_some(own)
}

/// An IPv4 address that a GID stands for.
fn ipv4(gid: &[u8]) -> Option<String> {
    // Most of a table's entries are empty.
    if !gid.starts_with(MAPPED) {
        return None;
    }
    let ip: Ipv6Addr = std::str::from_utf8(gid).ok()?.trim().parse().ok()?;
    ip.to_ipv4_mapped().filter(|ip| !ip.is_unspecified() && !ip.is_link_local()).map(|ip| ip.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FUNCTION: &str = "sys/devices/pci0000:18/0000:18:00.0";

    fn node(mac: &str, ip: &str) -> Snapshot {
        let mut s = Snapshot::new("n1");
        let mut file = |path: &str, text: &str| _ = s.add_file(path, format!("{text}\n").as_bytes());
        file(&format!("{FUNCTION}/net/eth0/address"), mac);
        file(&format!("{FUNCTION}/net/ib0/address"), "00:00:10:29:fe:80:00:00:00:00:00:00:b8:3f:d2:03:00:ab:cd:ef");
        file(&format!("{FUNCTION}/infiniband/mlx5_0/ports/1/gids/0"), "fe80:0000:0000:0000:ba3f:d2ff:fe00:0001");
        file(&format!("{FUNCTION}/infiniband/mlx5_0/ports/1/gids/2"), &format!("0000:0000:0000:0000:0000:ffff:{ip}"));
        file(&format!("{FUNCTION}/infiniband/mlx5_0/ports/1/gids/3"), &format!("0000:0000:0000:0000:0000:ffff:{ip}"));
        file("sys/devices/pci0000:18/0000:18:00.1/net/eth1/address", "02:00:00:00:00:01");
        file("sys/devices/virtual/net/docker0/address", "02:42:00:00:00:01");
        s.add_link("sys/devices/pci0000:18/0000:18:00.1/physfn", b"../0000:18:00.0");
        for (class, name, at) in [
            ("net", "eth0", "0000:18:00.0/net/eth0"),
            ("net", "ib0", "0000:18:00.0/net/ib0"),
            ("net", "eth1", "0000:18:00.1/net/eth1"),
            ("infiniband", "mlx5_0", "0000:18:00.0/infiniband/mlx5_0"),
        ] {
            let to = format!("../../devices/pci0000:18/{at}");
            s.add_link(&format!("sys/class/{class}/{name}"), to.as_bytes());
        }
        s.add_link("sys/class/net/docker0", b"../../devices/virtual/net/docker0");
        s
    }

    fn names(set: &BTreeSet<String>) -> Vec<&str> {
        set.iter().map(String::as_str).collect()
    }

    #[test]
    fn what_a_node_shows_of_its_addresses() {
        let s = node("b8:3f:d2:00:00:01", "0a00:0001");
        let shown = Addresses::of(&s);
        let items: Vec<&str> = shown.text().split(' ').filter_map(|i| i.split_once('=')).map(|(n, _)| n).collect();
        assert_eq!(items, ["eth0", "ib0", "mlx5_0/1"]);
        assert!(!shown.text().contains("b8:3f") && Addresses::from(shown.text()) == shown);
        let mut hashed = node("b8:3f:d2:00:00:01", "0a00:0001");
        hashed.manifest.redacted = true;
        assert_eq!(Addresses::of(&hashed), Addresses::default());
        hashed.manifest.redact_key = Some("k".to_owned());
        assert_eq!(Addresses::of(&hashed), shown);
        let mut bonded = node("b8:3f:d2:00:00:01", "0a00:0001");
        bonded.add_link(&format!("{FUNCTION}/net/eth0/master"), b"../../../../virtual/net/bond0");
        assert!(!Addresses::of(&bonded).text().contains("eth0="));
        // The bond is not shown, but that two have one address.
        let mut like = node("b8:3f:d2:00:00:01", "0a00:0001");
        like.add_file("sys/devices/pci0000:18/0000:18:00.2/net/eth2/address", b"b8:3f:d2:00:00:01\n");
        like.add_link("sys/class/net/eth2", b"../../devices/pci0000:18/0000:18:00.2/net/eth2");
        assert!(!Addresses::of(&like).text().contains("eth"), "{}", Addresses::of(&like).text());
    }

    #[test]
    fn other_addresses_are_told_from_those_that_are_not_shown() {
        let of = |text: &str| Addresses::from(text);
        let first = Addresses::of(&node("b8:3f:d2:00:00:01", "0a00:0001"));
        let card = Addresses::of(&node("b8:3f:d2:00:00:02", "0a00:0001"));
        let moved = Addresses::of(&node("b8:3f:d2:00:00:01", "0a00:0002"));
        let none = Addresses::default();
        let said = |all: &[&Addresses]| {
            let (others, came_back) = changes(all);
            (names(&others.hardware).join(","), names(&others.network).join(","), came_back)
        };
        let is = |a: &str, b: &str, c: bool| (a.to_owned(), b.to_owned(), c);
        assert_eq!(said(&[&first, &first, &none, &first]), is("", "", false));
        assert_eq!(said(&[&first, &card]), is("eth0", "", false));
        // What one of them does not show is not another address.
        assert_eq!(said(&[&first, &none, &moved]), is("", "mlx5_0/1", false));
        assert_eq!(said(&[&first, &card, &first]), is("eth0", "", true));
        for (then, now, other) in [
            ("a=1 b=2", "a=2 b=1", ""),
            ("a=1", "b=2", ""),
            ("m/1=1 m/1=2", "m/1=2 m/1=3", ""),
            ("a=1 b=2", "a=2", ""),
            ("a=1 b=2", "a=3 b=2", "a"),
            ("", "=", ""),
        ] {
            assert_eq!(names(&of(now).others(&of(then))).join(","), other, "{then} | {now}");
        }
    }
}

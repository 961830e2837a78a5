//! What others' files of networks say of interfaces, as far as a capture keeps it: `.network` files of systemd-networkd, profiles of
//! NetworkManager.

use crate::address::Cidr;
use crate::see;
use linerate_formats::wildcard;
use linerate_snapshot::{EntryKind, Lookup, Snapshot};

/// Whether a file is for an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// By its name alone.
    Yes,
    No,
    /// It asks for something that is not in the source, or was not readable.
    Maybe,
}

/// Sections, keys and values.
#[derive(Debug, Default)]
pub(crate) struct Ini<'s>(Vec<(&'s str, &'s str, &'s str)>);

impl<'s> Ini<'s> {
    pub(crate) fn read(text: &'s str) -> Ini<'s> {
        let (mut section, mut out) = ("", Vec::new());
        for line in text.lines().map(str::trim).filter(|l| !l.starts_with(['#', ';'])) {
            if let Some(s) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
                section = s;
            } else if let Some((key, value)) = line.split_once('=') {
                out.push((section, key.trim(), value.trim()));
            }
        }
        Ini(out)
    }

    /// The last value of a key, in any of the sections.
    pub(crate) fn get(&self, sections: &[&str], key: &str) -> Option<&'s str> {
        self.all(sections).filter(|(k, _)| *k == key).last().map(|(_, v)| v)
    }

    fn all<'i>(&'i self, sections: &'i [&str]) -> impl Iterator<Item = (&'s str, &'s str)> + 'i {
        self.0.iter().filter(|(s, ..)| sections.contains(s)).map(|(_, k, v)| (*k, *v))
    }

    /// Whether the `[Match]` section fits. `address`: the interface's MAC, where the source shows it.
    pub(crate) fn fits(&self, interface: &str, address: Option<&str>) -> Fit {
        let mut named = None;
        let mut sure = true;
        for (key, value) in self.all(&["Match"]) {
            match key {
                // An empty one forgets those before it.
                "Name" if value.is_empty() => named = None,
                "Name" => named = Some(named.unwrap_or(Fit::No).or(name_fits(value, interface))),
                "MACAddress" | "PermanentMACAddress" if same_address(value, address) => {}
                _ => sure = false,
            }
        }
        match named {
            Some(Fit::Yes) if !sure => Fit::Maybe,
            Some(fit) => fit,
            None => Fit::Maybe,
        }
    }

    /// IPv4 addresses that it gives.
    pub(crate) fn addresses(&self) -> Vec<Cidr> {
        let networkd = self.all(&["Network", "Address"]).filter(|(k, _)| *k == "Address").map(|(_, v)| v);
        // `address1=10.0.0.1/24,10.0.0.254`, and the older `addresses=10.0.0.1/24;`.
        let profile = self
            .all(&["ipv4"])
            .filter(|(k, _)| k.starts_with("address"))
            .flat_map(|(_, v)| v.split(';').filter_map(|one| one.split(',').next()));
        networkd.chain(profile).filter_map(Cidr::read).collect()
    }
}

impl Fit {
    fn or(self, other: Fit) -> Fit {
        match (self, other) {
            (Fit::Yes, _) | (_, Fit::Yes) => Fit::Yes,
            (Fit::Maybe, _) | (_, Fit::Maybe) => Fit::Maybe,
            _ => Fit::No,
        }
    }
}

fn same_address(value: &str, address: Option<&str>) -> bool {
    address.is_some_and(|a| value.split_ascii_whitespace().any(|v| v.replace('-', ":").eq_ignore_ascii_case(a)))
}

/// Whether one of the names, some with `*` and `?`, is the interface's.
fn name_fits(names: &str, interface: &str) -> Fit {
    if names.contains(['!', '[', '\\', '"', '(']) {
        return Fit::Maybe;
    }
    let fits = names.split_ascii_whitespace().any(|n| wildcard::glob(n.as_bytes(), interface.as_bytes()));
    if fits { Fit::Yes } else { Fit::No }
}

/// A file, and what is known of it; `None`: its content is not in the source.
pub(crate) struct NetFile<'s> {
    /// From the root, absolute.
    pub(crate) path: String,
    pub(crate) name: &'s str,
    pub(crate) ini: Option<Ini<'s>>,
}

impl NetFile<'_> {
    /// Whether a `.network` file is for an interface.
    pub(crate) fn fits(&self, interface: &str, address: Option<&str>) -> Fit {
        self.ini.as_ref().map_or(Fit::Maybe, |ini| ini.fits(interface, address))
    }
}

/// Files of a directory whose names end so.
pub(crate) fn within<'s>(s: &'s Snapshot, dir: &str, end: &str) -> Vec<NetFile<'s>> {
    let Lookup::Found(home) = s.resolve(dir) else { return Vec::new() };
    let named = s.children(home).into_iter().filter(|(name, _)| name.ends_with(end));
    let file = |(name, entry)| {
        let entry = s.follow(entry);
        if entry.is_some_and(|e| matches!(s.kind(e), EntryKind::Dir)) {
            return None;
        }
        let text = entry.map(|e| s.data(e)).filter(|d| !d.is_empty()).and_then(|d| std::str::from_utf8(d).ok());
        Some(NetFile { path: format!("/{dir}/{name}"), name, ini: text.map(Ini::read) })
    };
    named.filter_map(file).collect()
}

/// Where systemd-networkd looks, the first first: a name that is there hides it in those behind.
const NETWORKD: [&str; 3] = ["etc/systemd/network", "run/systemd/network", "usr/lib/systemd/network"];
/// Where NetworkManager looks.
pub(super) const PROFILES: [&str; 3] = [
    "etc/NetworkManager/system-connections",
    "run/NetworkManager/system-connections",
    "usr/lib/NetworkManager/system-connections",
];

/// The `.network` files in networkd's order.
pub(crate) fn networks(s: &Snapshot) -> Vec<NetFile<'_>> {
    let mut out: Vec<NetFile<'_>> = Vec::new();
    for dir in NETWORKD {
        for file in within(s, dir, ".network") {
            if !out.iter().any(|f| f.name == file.name) {
                out.push(file);
            }
        }
    }
    out.sort_by_key(|f| f.name);
    out
}

/// Whether the source looked for the files that netplan, networkd and NetworkManager make and read.
pub(super) fn looked(s: &Snapshot) -> bool {
    let at = |dir: &str, name: &str| see::looked(s, &format!("{dir}/{name}"));
    NETWORKD.iter().all(|d| at(d, "10-netplan-x.network")) && PROFILES.iter().all(|d| at(d, "x.nmconnection"))
}

/// An address that a file gives.
pub(crate) struct Configured {
    pub(crate) path: String,
    pub(crate) cidr: Cidr,
    /// Whether it is for the interface that was asked for.
    pub(crate) fit: Fit,
}

/// All addresses that files give, and whether they give them to this interface.
pub(crate) fn configured(s: &Snapshot, interface: &str) -> Vec<Configured> {
    let mut out = Vec::new();
    let mut add = |path: &str, ini: &Ini<'_>, fit: Fit| {
        out.extend(ini.addresses().into_iter().map(|cidr| Configured { path: path.to_owned(), cidr, fit }));
    };
    for file in networks(s) {
        let fit = file.fits(interface, None);
        if let Some(ini) = &file.ini {
            add(&file.path, ini, fit);
        }
        for dir in NETWORKD {
            for more in within(s, &format!("{dir}/{}.d", file.name), ".conf") {
                if let Some(ini) = &more.ini {
                    add(&more.path, ini, fit);
                }
            }
        }
    }
    for file in PROFILES.iter().flat_map(|dir| within(s, dir, "")) {
        if let Some(ini) = &file.ini {
            let fit = match ini.get(&["connection"], "interface-name") {
                Some(name) if name == interface => Fit::Yes,
                Some(_) => Fit::No,
                None => Fit::Maybe,
            };
            add(&file.path, ini, fit);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_match_section_asks_for() {
        let mac = Some("52:54:00:00:00:01");
        for (text, fit) in [
            ("[Match]\nName=eth1\n", Fit::Yes),
            ("[Match]\nName=eth0 eth1\n", Fit::Yes),
            ("[Match]\nName=eth*\n", Fit::Yes),
            ("[Match]\nName=e?h1\n", Fit::Yes),
            ("[Match]\nName=eth0\nName=eth1\n", Fit::Yes),
            ("[Match]\nName=eth1\nName=\nName=eth0\n", Fit::No),
            ("[Match]\nName=eth0\nDriver=mlx5_core\n", Fit::No),
            ("[Match]\nName=eth1\nDriver=mlx5_core\n", Fit::Maybe),
            ("[Match]\nName=eth1\nPermanentMACAddress=52:54:00:00:00:01\n", Fit::Yes),
            ("[Match]\nName=eth1\nPermanentMACAddress=52:54:00:00:00:02\n", Fit::Maybe),
            ("[Match]\nMACAddress=52:54:00:00:00:01\n", Fit::Maybe),
            ("[Match]\nName=!eth0\n", Fit::Maybe),
            ("[Match]\nName=(continued)\n", Fit::Maybe),
            ("[Network]\nName=eth1\n", Fit::Maybe),
            ("", Fit::Maybe),
        ] {
            assert_eq!(Ini::read(text).fits("eth1", mac), fit, "{text}");
        }
    }

    #[test]
    fn addresses_of_both_kinds_of_files() {
        let of = |t: &str| Ini::read(t).addresses().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            of("[Network]\nAddress=10.0.0.1/24\nAddress=fd00::1/64\n[Address]\nAddress=10.1.0.1/24\n"),
            ["10.0.0.1/24", "10.1.0.1/24"]
        );
        assert_eq!(
            of("[ipv4]\naddress1=10.0.0.1/24,10.0.0.254\naddresses=10.1.0.1/24;10.2.0.1/24,0.0.0.0;\nmethod=manual\n"),
            ["10.0.0.1/24", "10.1.0.1/24", "10.2.0.1/24"]
        );
    }
}

//! `ip link` and `ip addr` of iproute2: as text, brief (`-br`), and as JSON (`-j`).

mod brief;
mod json;
mod text;

use crate::bounds::{Kept, Limit, NET_FUNCTIONS, TEXT_ITEMS, leave_out};
use crate::pci::Bdf;
use crate::text::{At, decode};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::Serialize;

/// `ip link`, `ip addr`.
pub const TOOL: Tool = Tool {
    name: "ip-link",
    called: "ip link, ip addr",
    run: "ip -d link; ip addr",
    gives: Gives::Facts,
    marks: &[
        Mark::line(|l| text::header(l).is_some() || brief::link(l).is_some() || brief::address(l).is_some())
            .holds(LITERALS),
        // Other programs put the list into an object of theirs.
        Mark::json(|text| {
            !text.trim_start().starts_with('{')
                && ["\"ifindex\"", "\"operstate\"", "\"flags\""].iter().all(|w| text.contains(w))
        }),
    ],
    commands: &[Command::with("ip", &["link"]), Command::with("ip", &["addr"]), Command::with("ip", &["a"])],
    files: &["ip_link", "ip-link", "ip_addr", "ip-addr"],
    documents: &["ip_link", "ip-link", "ip_addr", "ip-addr"],
    read: Some(|b| seen(read(b))),
    samples: &[
        "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP mode DEFAULT group default qlen 1000\n",
        "eth0             UP             02:00:00:00:00:01 <BROADCAST,MULTICAST,UP,LOWER_UP> \n",
        "eth0             UP             192.0.2.1/24 fe80::1/64 \n",
        "[{\"ifindex\":2,\"ifname\":\"eth0\",\"flags\":[\"UP\"],\"mtu\":9000,\"operstate\":\"UP\"}]",
    ],
    ..Tool::NONE
};

/// An interface.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Interface {
    /// 1-based line.
    pub line: u32,
    /// Name.
    pub name: String,
    /// What stands behind `@`: the interface below it, or its other end.
    pub below: Option<String>,
    /// `UP`, `LOWER_UP`, `NO-CARRIER` …
    pub flags: Vec<String>,
    /// MTU in bytes.
    pub mtu: Option<At<u32>>,
    /// State of operation, as the kernel words it in sysfs: `up`, `down`, `unknown` …
    pub state: Option<At<&'static str>>,
    /// Interface above it.
    pub master: Option<At<String>>,
    /// Hardware address.
    pub mac: Option<At<String>>,
    /// Kind of a virtual interface, as `-d` prints it: `bond`, `vlan`, `veth`.
    pub kind: Option<At<String>>,
    /// Number of a VLAN.
    pub vlan: Option<At<u16>>,
    /// PCI function, which newer versions print with `-d`.
    pub bdf: Option<At<Bdf>>,
    /// IP addresses with the lengths of their prefixes.
    pub addresses: Vec<At<String>>,
}

/// Reads any of the forms. An interface that comes again, as in `ip link; ip addr`, is another entry.
pub fn read(bytes: &[u8]) -> Kept<Interface> {
    let text = decode(bytes);
    // `[root@n1 ~]# ip addr` opens no document.
    let opens = |l: &str| l == "[" || l.strip_prefix('[').is_some_and(|r| r.trim_start().starts_with('{'));
    if text.lines().map(str::trim).any(opens) {
        return json::read(&text);
    }
    text::read(&text)
}

/// Interfaces and addresses so far.
#[derive(Default)]
struct List {
    kept: Kept<Interface>,
    addresses: usize,
    /// What follows belongs to an interface that was left out.
    full: bool,
}

impl List {
    fn push(&mut self, interface: Interface) {
        self.full = self.kept.items.len() >= NET_FUNCTIONS;
        if self.full {
            leave_out(&mut self.kept.left_out, Limit::NET_FUNCTIONS, interface.line);
        } else {
            self.kept.items.push(interface);
        }
    }

    /// The interface that is being read.
    fn last(&mut self) -> Option<&mut Interface> {
        self.kept.items.last_mut().filter(|_| !self.full)
    }

    fn address(&mut self, address: &str, line: u32) {
        if self.full {
            return;
        }
        if self.addresses >= TEXT_ITEMS {
            leave_out(&mut self.kept.left_out, Limit::TEXT_ITEMS, line);
        } else if let Some(interface) = self.kept.items.last_mut() {
            self.addresses += 1;
            interface.addresses.push(At::new(address.to_owned(), line));
        }
    }
}

/// A header's flags, and a state, without which no row is brief.
const LITERALS: &[&str] = &[": <", "UNKNOWN", "NOTPRESENT", "DOWN", "DORMANT", "TESTING", "UP"];

/// The kernel's word for a state that `ip` prints.
fn state(word: &str) -> Option<&'static str> {
    const STATES: [(&str, &str); 7] = [
        ("UNKNOWN", "unknown"),
        ("NOTPRESENT", "notpresent"),
        ("DOWN", "down"),
        ("LOWERLAYERDOWN", "lowerlayerdown"),
        ("TESTING", "testing"),
        ("DORMANT", "dormant"),
        ("UP", "up"),
    ];
    STATES.iter().find(|(w, _)| *w == word).map(|(_, s)| *s)
}

/// `<BROADCAST,MULTICAST,UP>`.
fn flags(word: &str) -> Option<Vec<String>> {
    let inside = word.strip_prefix('<')?.strip_suffix('>')?;
    let good = |f: &str| {
        f.len() <= 16 && f.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b"-_".contains(&b))
    };
    let all: Vec<&str> = inside.split(',').take(32).collect();
    all.iter().all(|f| good(f)).then(|| all.iter().filter(|f| !f.is_empty()).map(|f| (*f).to_owned()).collect())
}

/// A name, and what is behind its `@`.
fn name(word: &str) -> Option<(&str, Option<&str>)> {
    let (name, below) = word.split_once('@').map_or((word, None), |(n, b)| (n, Some(b)));
    let good = !name.is_empty() && name.len() <= 15 && name.bytes().all(|b| b.is_ascii_graphic() && b != b'/');
    good.then_some((name, below))
}

fn is_mac(word: &str) -> bool {
    let parts = word.split(':').count();
    (parts == 6 || parts == 20) && word.split(':').all(|p| p.len() == 2 && p.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// `192.0.2.1/24`, `fe80::1/64`.
fn is_address(word: &str) -> bool {
    let (address, length) = word.split_once('/').unwrap_or((word, "0"));
    address.parse::<std::net::IpAddr>().is_ok() && length.parse::<u8>().is_ok_and(|l| l <= 128)
}

#[cfg(test)]
mod tests;

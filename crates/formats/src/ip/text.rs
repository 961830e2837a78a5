//! The long text form: a line that begins an interface, and indented lines below it.

use super::{Interface, List, brief, flags, is_address, is_mac, name, state};
use crate::bounds::Kept;
use crate::text::{At, lines, unended};

pub(super) fn read(text: &str) -> Kept<Interface> {
    let mut list = List::default();
    let unended = unended(text);
    for (line, raw) in lines(text) {
        let raw = raw.trim_start_matches(['>', ' ', '\t']).trim_end();
        // Half a word may be another one: `mtu 15` of 1500.
        let raw = if Some(line) == unended { raw.rsplit_once(' ').map_or("", |(before, _)| before) } else { raw };
        if let Some(interface) = header(raw) {
            list.push(at(interface, line));
        } else if let Some(interface) = brief::link(raw) {
            list.push(at(interface, line));
        } else if let Some(interface) = brief::address(raw) {
            let addresses: Vec<_> = interface.addresses.iter().map(|a| a.value.clone()).collect();
            list.push(at(Interface { addresses: Vec::new(), ..interface }, line));
            addresses.iter().for_each(|a| list.address(a, line));
        } else {
            detail(raw, line, &mut list);
        }
    }
    list.kept
}

/// `2: eth0@if3: <BROADCAST,UP> mtu 9000 qdisc mq master bond0 state UP group default`.
pub(super) fn header(line: &str) -> Option<Interface> {
    let (number, rest) = line.split_once(": ")?;
    number.parse::<u32>().ok()?;
    let (named, rest) = rest.split_once(": ")?;
    let (name, below) = name(named)?;
    let mut words = rest.split_whitespace();
    let flags = flags(words.next()?)?;
    let below = below.map(str::to_owned);
    let mut out = Interface { name: name.to_owned(), below, flags, ..Interface::default() };
    while let Some(word) = words.next() {
        match word {
            "mtu" => out.mtu = words.next().and_then(|m| m.parse().ok()).map(|m| At::new(m, 0)),
            "master" => out.master = words.next().map(|m| At::new(m.to_owned(), 0)),
            "state" => out.state = words.next().and_then(state).map(|s| At::new(s, 0)),
            _ => {}
        }
    }
    out.mtu.is_some().then_some(out)
}

/// A line below.
fn detail(raw: &str, line: u32, list: &mut List) {
    let mut words = raw.split_whitespace();
    let Some(first) = words.next() else { return };
    match first {
        "inet" | "inet6" => {
            if let Some(address) = words.next().filter(|a| is_address(a)) {
                list.address(address, line);
            }
        }
        _ if first.starts_with("link/") => {
            let Some(out) = list.last() else { return };
            let mac = words.next().filter(|m| is_mac(m));
            out.mac = mac.map(|m| At::new(m.to_owned(), line)).or(out.mac.take());
            let device = words.skip_while(|w| *w != "parentdev").nth(1).and_then(|d| d.parse().ok());
            out.bdf = device.map(|d| At::new(d, line)).or(out.bdf);
        }
        "bond" | "vlan" | "veth" | "bridge" | "vxlan" | "macvlan" | "ipvlan" | "dummy" | "tun" | "team" | "vrf"
        | "ipoib" => {
            let Some(out) = list.last().filter(|o| o.kind.is_none()) else { return };
            out.kind = Some(At::new(first.to_owned(), line));
            if first == "vlan" {
                let id = words.skip_while(|w| *w != "id").nth(1).and_then(|v| v.parse().ok());
                out.vlan = id.map(|v| At::new(v, line));
            }
        }
        _ => {}
    }
}

/// Every fact of a row at its line.
fn at(mut i: Interface, line: u32) -> Interface {
    i.line = line;
    for slot in [&mut i.master, &mut i.mac].into_iter().flatten() {
        slot.line = line;
    }
    if let Some(mtu) = &mut i.mtu {
        mtu.line = line;
    }
    if let Some(state) = &mut i.state {
        state.line = line;
    }
    i
}

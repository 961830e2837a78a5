//! Names, one on a line, in the syntax of node sets, with `#` comments; and `/etc/hosts`, whose lines begin with an address.

use super::found::{Found, Kind, Text};
use std::net::IpAddr;

/// Reads such a file. Of a line of `/etc/hosts` the first name counts; addresses that are no single other host's are passed over.
#[must_use]
pub fn read(text: &str, what: &str) -> Found {
    let text_of = Text { kind: Kind::Hosts, what };
    let mut found = Found::default();
    for (n, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { continue };
        match first.parse::<IpAddr>() {
            Ok(address) if is_ones_own(address) => {}
            Ok(_) => {
                if let Some(name) = words.next() {
                    found.node(name, Some(first), text_of.at(n));
                }
            }
            // Files of hosts for mpirun have `slots=8` behind the name.
            Err(_) if words.clone().all(|w| w.contains('=')) => found.set(first, &text_of.at(n)),
            Err(_) => found.set(line, &text_of.at(n)),
        }
    }
    found
}

fn is_ones_own(address: IpAddr) -> bool {
    let local = match address {
        IpAddr::V4(a) => a.is_broadcast(),
        IpAddr::V6(a) => a.segments()[0] & 0xfe00 == 0xfe00,
    };
    local || address.is_loopback() || address.is_multicast() || address.is_unspecified()
}

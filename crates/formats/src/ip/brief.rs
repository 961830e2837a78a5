//! The brief form: a row for each interface.

use super::{Interface, flags, is_address, is_mac, name, state};
use crate::text::At;

/// Name and state, with which each row begins.
fn row(line: &str) -> Option<(Interface, std::str::SplitWhitespace<'_>)> {
    let mut words = line.split_whitespace();
    let (name, below) = name(words.next()?)?;
    let state = state(words.next()?)?;
    let below = below.map(str::to_owned);
    let interface = Interface { name: name.to_owned(), below, state: Some(At::new(state, 0)), ..Interface::default() };
    Some((interface, words))
}

/// `eth0  UP  02:00:00:00:00:01 <BROADCAST,UP>` of `ip -br link`.
pub(super) fn link(line: &str) -> Option<Interface> {
    let (mut interface, mut words) = row(line)?;
    let first = words.next()?;
    if is_mac(first) {
        interface.mac = Some(At::new(first.to_owned(), 0));
        interface.flags = flags(words.next()?)?;
    } else {
        interface.flags = flags(first)?;
    }
    words.next().is_none().then_some(interface)
}

/// `eth0  UP  192.0.2.1/24 fe80::1/64` of `ip -br addr`, with at least one address.
pub(super) fn address(line: &str) -> Option<Interface> {
    let (mut interface, words) = row(line)?;
    let mut after_peer = true;
    for word in words {
        if is_address(word) && word.contains('/') {
            interface.addresses.push(At::new(word.to_owned(), 0));
            after_peer = true;
        } else if word == "peer" || word == "metric" {
            after_peer = false;
        } else if after_peer {
            return None;
        } else {
            after_peer = true;
        }
    }
    (!interface.addresses.is_empty()).then_some(interface)
}

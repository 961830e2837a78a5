//! Addresses of interfaces, as people give them: a plan invents none.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// An IPv4 address with the length of its network's prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cidr {
    /// Address.
    pub address: Ipv4Addr,
    /// Bits of the network.
    pub prefix: u8,
}

impl Cidr {
    fn mask(self) -> u32 {
        u32::MAX.checked_shl(32 - u32::from(self.prefix.min(32))).unwrap_or(0)
    }

    /// Whether an address is in the network.
    #[must_use]
    pub fn holds(self, other: Ipv4Addr) -> bool {
        (u32::from(self.address) ^ u32::from(other)) & self.mask() == 0
    }

    /// Whether one network is, or holds, the other.
    #[must_use]
    pub fn overlaps(self, other: Cidr) -> bool {
        self.holds(other.address) || other.holds(self.address)
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl Cidr {
    /// As files of networks write it; `None`: it is none. Any address passes: what is there is there.
    pub(crate) fn read(text: &str) -> Option<Cidr> {
        let (address, prefix) = text.trim().split_once('/')?;
        let (address, prefix) = (address.parse().ok()?, prefix.parse().ok()?);
        (prefix <= 32).then_some(Cidr { address, prefix })
    }
}

/// How one gives an address.
pub(crate) const OPTION: &str = "--address";

/// What an interface is given.
pub(crate) fn of_interface<'a>(given: &'a [Given], interface: &'a str) -> impl Iterator<Item = &'a Given> {
    given.iter().filter(move |g| g.interface == interface)
}

/// Where nobody said which: how one does.
pub(crate) fn open(given: &[Given], interface: &str) -> Option<String> {
    of_interface(given, interface).next().is_none().then(|| {
        format!("choose an address in a subnet that no other RoCE port of the node has: linerate plan {OPTION} {interface}=ADDR/PREFIX")
    })
}

/// An address that somebody gives an interface: `eth1=10.7.0.1/24`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Interface.
    pub interface: String,
    /// Address.
    pub address: IpAddr,
    /// Bits of the network.
    pub prefix: u8,
}

impl Given {
    /// The address, where it is one of IPv4.
    #[must_use]
    pub fn v4(&self) -> Option<Cidr> {
        match self.address {
            IpAddr::V4(address) => Some(Cidr { address, prefix: self.prefix }),
            IpAddr::V6(_) => None,
        }
    }
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}/{}", self.interface, self.address, self.prefix)
    }
}

/// Why a text gives no interface an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}; write INTERFACE=ADDRESS/PREFIX")]
pub struct NotGiven(#[from] Wrong);

/// What is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// No interface is named.
    #[error("there is no = after the interface")]
    NoInterface,
    /// A name that no interface can have.
    #[error("{0:?} is not a name of a network interface")]
    Interface(String),
    /// An address alone.
    #[error("{0:?} has no prefix: without it the network is not known")]
    NoPrefix(String),
    /// No address.
    #[error("{0:?} is not an IP address")]
    Address(String),
    /// No number behind the slash.
    #[error("{0:?} is not a prefix")]
    Prefix(String),
    /// A prefix that no interface's network has.
    #[error("a prefix of {prefix} is not valid for the network of an interface: 8 to {longest}")]
    Length {
        /// Bits of the network.
        prefix: u8,
        /// The most that there may be.
        longest: u8,
    },
    /// An IPv4 address that is not one interface's.
    #[error("{0} is not the address of one interface: give a unicast address")]
    NotUnicast(Ipv4Addr),
    /// The first address of a network.
    #[error("{address} is the address of the network {0} itself", address = .0.address)]
    Network(Cidr),
    /// The last address of a network.
    #[error("{address} is the broadcast address of {0}", address = .0.address)]
    Broadcast(Cidr),
    /// An IPv6 address that is not for people to give.
    #[error("{0} cannot be given to an interface: give a global or unique local unicast address")]
    NotGlobal(Ipv6Addr),
}

impl FromStr for Given {
    type Err = NotGiven;

    fn from_str(text: &str) -> Result<Given, NotGiven> {
        let (interface, rest) = text.split_once('=').ok_or(Wrong::NoInterface)?;
        if crate::change::words::interface(interface).is_err() {
            return Err(Wrong::Interface(interface.to_owned()).into());
        }
        let (address, prefix) = rest.split_once('/').ok_or_else(|| Wrong::NoPrefix(rest.to_owned()))?;
        let address: IpAddr = address.parse().map_err(|_| Wrong::Address(address.to_owned()))?;
        let digits = !prefix.is_empty() && prefix.bytes().all(|b| b.is_ascii_digit());
        let prefix = prefix.parse().ok().filter(|_| digits).ok_or_else(|| Wrong::Prefix(prefix.to_owned()))?;
        match address {
            IpAddr::V4(v4) => host4(Cidr { address: v4, prefix }),
            IpAddr::V6(v6) => host6(v6, prefix),
        }?;
        Ok(Given { interface: interface.to_owned(), address, prefix })
    }
}

/// Whether a host may have it.
fn host4(c: Cidr) -> Result<(), Wrong> {
    let Cidr { address: a, prefix } = c;
    if !(8..=31).contains(&prefix) {
        return Err(Wrong::Length { prefix, longest: 31 });
    }
    // 0/8 is this host, 127/8 the loopback, 224/4 groups, 240/4 reserved with the broadcast address (RFC 6890).
    if matches!(a.octets().first(), Some(0 | 127 | 224..)) {
        return Err(Wrong::NotUnicast(a));
    }
    let host = u32::from(a) & !c.mask();
    // Both addresses of a /31 are hosts (RFC 3021).
    match prefix {
        31 => Ok(()),
        _ if host == 0 => Err(Wrong::Network(c)),
        _ if host == !c.mask() => Err(Wrong::Broadcast(c)),
        _ => Ok(()),
    }
}

fn host6(a: Ipv6Addr, prefix: u8) -> Result<(), Wrong> {
    if !(8..=127).contains(&prefix) {
        return Err(Wrong::Length { prefix, longest: 127 });
    }
    let link_local = a.segments().first().is_some_and(|s| s & 0xffc0 == 0xfe80);
    if a.is_unspecified() || a.is_loopback() || a.is_multicast() || a.to_ipv4_mapped().is_some() || link_local {
        return Err(Wrong::NotGlobal(a));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_addresses_of_hosts_pass() {
        for good in ["eth1=10.7.0.1/24", "ens1f0np0=192.168.1.0/31", "eth1=172.16.0.1/8", "eth1=fd00::1/64"] {
            assert_eq!(good.parse::<Given>().map(|g| g.to_string()).as_deref(), Ok(good));
        }
        for (bad, why) in [
            ("eth1", "no ="),
            ("eth1=10.7.0.1", "no prefix"),
            ("eth1=10.7.0.1/", "not a prefix"),
            ("eth1=10.7.0.1/+24", "not a prefix"),
            ("eth1=10.7.0/24", "not an IP address"),
            ("eth1=010.7.0.1/24", "not an IP address"),
            ("eth1=10.7.0.1/32", "8 to 31"),
            ("eth1=10.7.0.1/7", "8 to 31"),
            ("eth1=10.7.0.1/300", "not a prefix"),
            ("eth1=10.7.0.0/24", "network"),
            ("eth1=10.7.0.255/24", "broadcast"),
            ("eth1=255.255.255.255/24", "unicast"),
            ("eth1=224.0.0.1/24", "unicast"),
            ("eth1=127.0.0.1/8", "unicast"),
            ("eth1=0.0.0.0/8", "unicast"),
            ("eth1=fe80::1/64", "unicast"),
            ("eth1=ff02::1/64", "unicast"),
            ("eth1=::ffff:10.0.0.1/96", "unicast"),
            ("eth 1=10.7.0.1/24", "network interface"),
            ("-eth1=10.7.0.1/24", "network interface"),
            ("=10.7.0.1/24", "network interface"),
        ] {
            let said = bad.parse::<Given>().map_err(|e| e.to_string()).expect_err(bad);
            assert!(said.contains(why) && said.contains("INTERFACE=ADDRESS/PREFIX"), "{bad}: {said}");
        }
    }

    #[test]
    fn networks() {
        let c = |t: &str| Cidr::read(t).expect(t);
        assert!(c("10.7.0.1/24").overlaps(c("10.7.0.9/24")) && c("10.7.0.1/24").overlaps(c("10.0.0.1/8")));
        assert!(c("10.0.0.1/8").overlaps(c("10.7.0.1/24")) && !c("10.7.0.1/24").overlaps(c("10.7.1.1/24")));
        assert!(c("0.0.0.0/0").holds(Ipv4Addr::BROADCAST) && !c("10.0.0.1/32").holds(Ipv4Addr::new(10, 0, 0, 2)));
    }

    proptest! {
        #[test]
        fn what_passes_has_no_letter_but_an_address(text in "(eth1=)?[ -~]{0,24}") {
            if let Ok(g) = text.parse::<Given>() {
                let word = g.to_string();
                prop_assert!(word.bytes().all(|b| b.is_ascii_alphanumeric() || b"=./:-_".contains(&b)), "{word}");
                prop_assert_eq!(word.parse::<Given>(), Ok(g));
            }
        }
    }
}

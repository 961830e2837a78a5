//! Global identifiers of RDMA ports.

use serde::{Serialize, Serializer};
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A 128-bit GID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gid(pub [u8; 16]);

/// What a GID stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum GidClass {
    /// All zero: an unused entry.
    Zero,
    /// `fe80::/64`: derived from the MAC address on RoCE, the default subnet prefix on InfiniBand.
    LinkLocal,
    /// `::ffff:a.b.c.d`: RoCE over this IPv4 address.
    Ipv4Mapped(Ipv4Addr),
    /// Another IPv6 address or InfiniBand subnet prefix.
    Other,
}

/// A text that is not a GID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a GID (expected eight groups of hexadecimal digits, or an IPv6 address)")]
pub struct ParseGidError;

impl Gid {
    /// What this GID stands for.
    pub fn class(&self) -> GidClass {
        match self.0 {
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] => GidClass::Zero,
            [0xfe, 0x80, 0, 0, 0, 0, 0, 0, ..] => GidClass::LinkLocal,
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d] => GidClass::Ipv4Mapped(Ipv4Addr::new(a, b, c, d)),
            _ => GidClass::Other,
        }
    }
}

impl FromStr for Gid {
    type Err = ParseGidError;

    fn from_str(s: &str) -> Result<Self, ParseGidError> {
        s.trim().parse::<Ipv6Addr>().map(|a| Gid(a.octets())).map_err(|_| ParseGidError)
    }
}

impl fmt::Display for Gid {
    /// The form of sysfs: eight groups, not compressed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, group) in Ipv6Addr::from(self.0).segments().iter().enumerate() {
            write!(f, "{}{group:04x}", if i == 0 { "" } else { ":" })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for Gid {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_and_round_trip() {
        for (text, class) in [
            ("0000:0000:0000:0000:0000:0000:0000:0000", GidClass::Zero),
            ("fe80:0000:0000:0000:0e42:a103:0001:65fc", GidClass::LinkLocal),
            ("0000:0000:0000:0000:0000:ffff:ac14:0101", GidClass::Ipv4Mapped(Ipv4Addr::new(172, 20, 1, 1))),
            ("2001:0db8:0000:0000:0000:0000:0000:0001", GidClass::Other),
            ("fe80:0000:0000:0001:0000:0000:0000:0001", GidClass::Other),
        ] {
            let gid: Gid = text.parse().unwrap();
            assert_eq!((gid.class(), gid.to_string().as_str()), (class, text));
        }
        assert_eq!("::ffff:10.0.0.1".parse::<Gid>().unwrap().class(), GidClass::Ipv4Mapped(Ipv4Addr::new(10, 0, 0, 1)));
        assert!("fe80".parse::<Gid>().is_err());
    }
}

//! Links that a user names, where no snapshot tells them: `4x400G`, `100G,roce,mtu=1024`.

use super::{Port, Protocol};
use std::str::FromStr;
use thiserror::Error;

/// Equal network ports of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Links {
    /// How many a node has.
    pub count: u32,
    /// Each of them. What was not said is not known, and the ceiling a range.
    pub port: Port,
    /// MTU of IP packets, for TCP.
    pub ip_mtu: Option<u32>,
}

/// A text that names no links.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{text}`: {why}; links are written as 4x400G, followed by what is known: ,ib ,roce ,roce1 ,mtu=4096 (RDMA) ,ipmtu=9000"
)]
pub struct NotLinks {
    text: String,
    why: &'static str,
}

/// Most ports that a node may be said to have.
const MOST: u32 = 256;

impl FromStr for Links {
    type Err = NotLinks;

    fn from_str(text: &str) -> Result<Self, NotLinks> {
        let no = |why| NotLinks { text: text.to_owned(), why };
        let mut parts = text.split(',').map(str::trim);
        let first = parts.next().unwrap_or_default().to_ascii_lowercase();
        let (count, rate) = match first.split_once('x') {
            Some((count, rate)) => {
                (count.trim().parse().map_err(|_| no("the number of ports is not a whole number"))?, rate.trim())
            }
            None => (1, first.as_str()),
        };
        let number = ["gbit/s", "gb/s", "gbps", "g"].iter().find_map(|unit| rate.strip_suffix(unit)).unwrap_or(rate);
        let rate: f64 = number.trim().parse().map_err(|_| no("the rate is not a number of Gb/s"))?;
        if !(1..=MOST).contains(&count) || !(0.1..=10_000.0).contains(&rate) {
            return Err(no("a node has 1 to 256 ports of 0.1 to 10000 Gb/s"));
        }
        let mut links = Links { count, port: Port { rate: Some(rate), ..Port::default() }, ip_mtu: None };
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let mtu =
                || value.parse::<u32>().ok().filter(|m| (256..=65_536).contains(m)).ok_or(no("an MTU is 256 to 65536"));
            match key {
                "ib" | "infiniband" => links.port.infiniband = Some(true),
                "eth" | "ethernet" => links.port.infiniband = Some(false),
                "roce" | "roce2" => links.port.protocol = Some(Protocol::RoceV2),
                "roce1" => links.port.protocol = Some(Protocol::RoceV1),
                "vlan" => links.port.vlan = true,
                "mtu" => links.port.mtu = Some(mtu()?),
                "ipmtu" => links.ip_mtu = Some(mtu()?),
                _ => return Err(no("a part of it is not known")),
            }
        }
        Ok(links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_named_in_a_few_words() {
        let links: Links = "4x400G,roce,mtu=4096".parse().expect("links");
        assert_eq!((links.count, links.port.rate, links.port.mtu), (4, Some(400.0), Some(4096)));
        assert_eq!("40Gb/s".parse::<Links>().map(|l| (l.count, l.port.rate)), Ok((1, Some(40.0))));
        assert_eq!("2 x 100 Gbps, ib".parse::<Links>().map(|l| l.port.infiniband), Ok(Some(true)));
        for bad in ["", "x400G", "0x400G", "4x", "4xNaN", "4x400G,mtu=1", "4x400G,fast", "-1x100G", "1x1e30"] {
            assert!(bad.parse::<Links>().is_err(), "{bad}");
        }
    }
}

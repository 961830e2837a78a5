//! What of a network port's rate is left for payload: encoding, then headers.
//!
//! ```text
//! payload = rate × MTU / (MTU + headers of a packet)
//! ```
//!
//! The packets are the middle ones of a long RDMA write on a reliable connection: those at both ends of a message carry a few bytes more
//! (RETH 16, AETH 4), once a message. Acknowledgements go the other way. Not counted, because they depend on the fabric: InfiniBand's
//! flow-control packets, pause frames, a VLAN tag unless it is said to be there.

use super::derive::{Derivation, Element, ElementKind, Part, Quality, Range, Step, Unit};
use super::words::{Words, listed};
use std::fmt;

/// How RDMA packets are framed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub enum Protocol {
    /// InfiniBand, within a subnet: no global route header.
    InfiniBand,
    /// RoCE v1: a global route header straight on Ethernet.
    RoceV1,
    /// RoCE v2 on IPv4.
    RoceV2,
    /// RoCE v2 on IPv6.
    RoceV2Ipv6,
}

/// A part of every packet that is not payload: its name, bytes, and who defines it.
pub type Header = (&'static str, u32, &'static str);

const IEEE: &str = "IEEE 802.3";
const IBTA: &str = "IBTA vol. 1";
const ETHERNET: [Header; 4] = [
    ("preamble and start delimiter", 8, IEEE),
    ("interpacket gap", 12, IEEE),
    ("Ethernet header", 14, IEEE),
    ("frame check sequence", 4, IEEE),
];
const TRANSPORT: [Header; 2] = [("BTH", 12, IBTA), ("ICRC", 4, IBTA)];

impl Protocol {
    /// All.
    pub const ALL: [Protocol; 4] = [Self::InfiniBand, Self::RoceV1, Self::RoceV2, Self::RoceV2Ipv6];
    /// Those on Ethernet.
    pub(crate) const ROCE: [Protocol; 3] = [Self::RoceV1, Self::RoceV2, Self::RoceV2Ipv6];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::InfiniBand => "InfiniBand",
            Self::RoceV1 => "RoCE v1",
            Self::RoceV2 => "RoCE v2",
            Self::RoceV2Ipv6 => "RoCE v2 on IPv6",
        }
    }

    /// Everything of a packet that is not payload.
    #[must_use]
    pub fn headers(self) -> Vec<Header> {
        self.parts().concat()
    }

    /// Of Ethernet, of the network layer, of InfiniBand's transport.
    fn parts(self) -> [&'static [Header]; 3] {
        let middle: &[Header] = match self {
            Self::InfiniBand => &[("LRH", 8, IBTA), ("VCRC", 2, IBTA)],
            Self::RoceV1 => &[("GRH", 40, IBTA)],
            Self::RoceV2 => &[("IPv4", 20, "RFC 791"), ("UDP", 8, "RFC 768")],
            Self::RoceV2Ipv6 => &[("IPv6", 40, "RFC 8200"), ("UDP", 8, "RFC 768")],
        };
        let ethernet: &[Header] = if self == Self::InfiniBand { &[] } else { &ETHERNET };
        [ethernet, middle, &TRANSPORT]
    }

    /// Bytes of a packet that are not payload.
    #[must_use]
    pub fn overhead(self) -> u32 {
        self.parts().into_iter().flatten().map(|h| h.1).sum()
    }
}

/// Share of a link's data rate that is payload.
#[must_use]
pub fn efficiency(protocol: Protocol, vlan: bool, mtu: u32) -> f64 {
    let tag = if vlan && protocol != Protocol::InfiniBand { 4 } else { 0 };
    let mtu = f64::from(mtu);
    mtu / (mtu + f64::from(protocol.overhead() + tag))
}

/// What is known about a port. `None` is what was not seen: the ceiling is then a range over what is possible.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Port {
    /// Rate as the system prints it, in Gb/s: 40, 56, 100, 400.
    pub rate: Option<f64>,
    /// Whether the link layer is InfiniBand.
    pub infiniband: Option<bool>,
    /// How packets are framed; says the link layer, too.
    pub protocol: Option<Protocol>,
    /// The path's RDMA MTU in bytes: 256 to 4096.
    pub mtu: Option<u32>,
    /// A VLAN tag in every frame.
    pub vlan: bool,
}

/// RDMA MTUs (IBTA).
pub const MTUS: [u32; 5] = [256, 512, 1024, 2048, 4096];

impl Port {
    fn protocols(&self) -> &[Protocol] {
        match (&self.protocol, self.infiniband) {
            (Some(p), _) => std::slice::from_ref(p),
            (None, Some(true)) => &Protocol::ALL[..1],
            (None, Some(false)) => &Protocol::ROCE,
            (None, None) => &Protocol::ALL,
        }
    }

    /// Bits of data per second on the wire, after the line's encoding, in Gb/s. `None` without a rate.
    ///
    /// Ethernet's rates are data rates, and so are InfiniBand's from EDR on. SDR, DDR and QDR count signals (8b/10b); FDR is
    /// 14.0625 Gb/s a lane with 64b/66b, though it is printed as 56 for four lanes. 40 is QDR (32 of data) or FDR10 (40).
    #[must_use]
    pub(crate) fn data_rate(&self) -> Option<Range> {
        let rate = self.rate.filter(|r| r.is_finite() && *r > 0.0)?;
        let all = self.protocols().iter().map(|p| match p {
            Protocol::InfiniBand => infiniband_data_rate(rate),
            _ => Range::exact(rate),
        });
        Range::hull(all)
    }

    fn headers_of(&self, f: &mut fmt::Formatter<'_>, p: Protocol) -> fmt::Result {
        write!(f, "{} B in {} (", p.overhead(), p.name())?;
        listed(f, &p.headers(), ", ", |f, (name, bytes, _)| write!(f, "{name} {bytes}"))?;
        f.write_str(if self.vlan { " + 4 of VLAN tag)" } else { ")" })
    }

    /// What the port can carry of payload, in Gb/s. `None` without a rate.
    #[must_use]
    pub fn payload(&self, name: &str) -> Option<Derivation> {
        let (rate, data) = (self.rate?, self.data_rate()?);
        let port = *self;
        let protocols = self.protocols();
        let named = |what: &'static str| {
            let name = name.to_owned();
            Words::of(move |f| write!(f, "{what} of {name}"))
        };
        let exactly = |known: bool| if known { Quality::Exact } else { Quality::Unseen };
        let mut steps = vec![Step {
            what: named("data rate"),
            formula: Words::of(move |f| {
                write!(f, "{} Gb/s printed, ", Range::exact(rate))?;
                listed(f, port.protocols(), " or ", |f, p| f.write_str(p.name()))
            }),
            value: data,
            unit: Unit::Gigabits,
            source: "IEEE 802.3, IBTA vol. 2 (InfiniBand: 8b/10b up to QDR, 64b/66b in FDR)",
            quality: exactly(protocols.len() == 1 && data.low == data.high),
        }];
        let mtu = self.mtu.filter(|m| *m > 0);
        let mtus: &[u32] = mtu.as_ref().map_or(&MTUS, std::slice::from_ref);
        steps.push(Step {
            what: "headers of a packet".into(),
            formula: Words::of(move |f| listed(f, port.protocols(), ", or ", |f, p| port.headers_of(f, *p))),
            value: Range::hull(protocols.iter().map(|p| Range::exact(p.overhead().into())))?,
            unit: Unit::Bytes,
            source: "IEEE 802.3, RFC 791/8200/768, IBTA vol. 1 (annexes A16, A17: RoCE)",
            quality: exactly(protocols.len() == 1),
        });
        let shares = protocols.iter().flat_map(|p| mtus.iter().map(|m| Range::exact(efficiency(*p, self.vlan, *m))));
        let share = Range::hull(shares)?;
        steps.push(Step {
            what: "payload's share".into(),
            formula: match mtu {
                Some(m) => Words::of(move |f| write!(f, "{m} / ({m} + headers)")),
                None => "MTU / (MTU + headers), MTU not seen: 256 to 4096".into(),
            },
            value: share,
            unit: Unit::Ratio,
            source: "arithmetic; middle packets of a long write",
            quality: exactly(protocols.len() == 1 && mtu.is_some()),
        });
        // Combined case by case: the encoding belongs to the same protocol as the headers.
        let cases = protocols.iter().flat_map(|p| {
            let data = if *p == Protocol::InfiniBand { infiniband_data_rate(rate) } else { Range::exact(rate) };
            mtus.iter().map(move |m| data.map(|d| d * efficiency(*p, self.vlan, *m)))
        });
        let limit = Range::hull(cases)?;
        steps.push(Step {
            what: named("payload"),
            formula: Words::of(move |f| write!(f, "{data} Gb/s × {share}")),
            value: limit,
            unit: Unit::Gigabits,
            source: "arithmetic",
            quality: exactly(protocols.len() == 1 && mtu.is_some() && data.low == data.high),
        });
        let part = Part::Nic(name.into());
        let name = format!("{name}: {} Gb/s port", Range::exact(rate)).into();
        Derivation::of(Unit::Gigabits, vec![Element { name, kind: ElementKind::Port, part, limit }], steps)
    }
}

fn infiniband_data_rate(rate: f64) -> Range {
    let is = |list: &[f64]| list.iter().any(|r| (r - rate).abs() < 0.01);
    if is(&[2.5, 5.0, 10.0, 20.0, 30.0, 60.0]) {
        return Range::exact(rate * 0.8);
    }
    if is(&[14.0, 56.0, 112.0, 168.0]) {
        return Range::exact(rate * 14.0625 / 14.0 * 64.0 / 66.0);
    }
    if is(&[25.0, 50.0, 100.0, 200.0, 400.0, 800.0, 1600.0]) {
        return Range::exact(rate);
    }
    // 40 is QDR or FDR10; other sums of lanes are read the same way.
    Range::new(rate * 0.8, rate)
}

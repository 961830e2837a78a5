//! What of a PCIe link's rate is left for data: encoding, then what goes with each packet.
//!
//! ```text
//! write = lanes × GT/s × encoding × MPS / (MPS + 24) × (1 − link-layer packets)
//! read  = the same with completions: header 12 instead of 16
//! ```

use super::derive::{Derivation, Element, ElementKind, Part, Quality, Range, Step, Unit};
use super::words::{Name, Words};
use linerate_formats::pci::LinkSpeed;

/// Payload sizes that a device can be set to, in bytes.
pub const PAYLOADS: [u32; 6] = [128, 256, 512, 1024, 2048, 4096];

/// Bytes around a TLP before FLITs: Gen1/2 frame 2 + sequence 2 + LCRC 4; Gen3–5 STP token 4 + LCRC 4.
const FRAME: f64 = 8.0;
/// Share of a link that acknowledgements, flow-control updates and skip sets leave to TLPs: of nothing and of all of it.
const LINK_LAYER: Range = Range { low: 0.92, high: 1.0 };

/// Bits of the line that TLPs and link-layer packets get, and of how many.
///
/// PCI Express Base Specification: 8b/10b in Gen1 and Gen2, 128b/130b from Gen3 on. Of a FLIT's 256 bytes in Gen6, 236 are TLPs: 6 of link
/// layer, 8 of CRC and 6 of error correction are not. (Counting the link layer's six, too, as [`LinkSpeed::bandwidth`] does, gives
/// the 121 GB/s that one reads for x16.)
fn encoding(speed: LinkSpeed) -> (u32, u32) {
    match speed {
        LinkSpeed::Gen1 | LinkSpeed::Gen2 => (8, 10),
        LinkSpeed::Gen3 | LinkSpeed::Gen4 | LinkSpeed::Gen5 => (128, 130),
        LinkSpeed::Gen6 => (236, 256),
    }
}

/// Which way data goes, as the device that starts the transfer sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub enum Direction {
    /// The device writes: a NIC receives.
    Write,
    /// The device reads: a NIC sends. Data comes in completions.
    Read,
}

/// A link. `None` is what was not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PcieLink {
    /// Generation that it runs at.
    pub speed: LinkSpeed,
    /// Lanes.
    pub width: u32,
    /// Max Payload Size in force, in bytes.
    pub mps: Option<u32>,
    /// Bytes in the completions of reads. Completers may cut them at each 64 or 128 bytes (the read completion boundary) and may fill
    /// them up to the payload size: which they do is seldom known.
    pub completion: Option<u32>,
}

impl PcieLink {
    /// A link of which only speed and width are known.
    #[must_use]
    pub fn new(speed: LinkSpeed, width: u32) -> Self {
        PcieLink { speed, width, mps: None, completion: None }
    }

    /// GB/s after encoding.
    #[must_use]
    pub fn raw(&self) -> f64 {
        let (data, all) = encoding(self.speed);
        f64::from(self.width) * self.speed.gigatransfers() * (f64::from(data) / f64::from(all)) / 8.0
    }

    /// As it is called.
    #[must_use]
    pub fn name(&self) -> String {
        format!("PCIe Gen{} x{}", self.speed.generation(), self.width)
    }

    fn payloads(&self, direction: Direction) -> Range {
        let mps = self.mps.filter(|m| *m > 0);
        let max = mps.map_or(Range::new(128.0, 4096.0), |m| Range::exact(m.into()));
        match (direction, self.completion.filter(|c| *c > 0)) {
            (Direction::Write, _) => max,
            (Direction::Read, Some(c)) => max.min(Range::exact(c.into())),
            (Direction::Read, None) => Range::new(64.0_f64.min(max.low), max.high),
        }
    }

    /// Bytes that go with each packet: header of 4 double words for writes to 64-bit addresses, of 3 for completions, and the frame.
    fn overhead(&self, direction: Direction) -> Range {
        let header = if direction == Direction::Write { 16.0 } else { 12.0 };
        // FLITs carry no frame, and up to a double word of what a header may need besides.
        if self.speed == LinkSpeed::Gen6 { Range::new(header, header + 4.0) } else { Range::exact(header + FRAME) }
    }

    /// Share of the raw rate that is data, between the pessimistic and the optimistic reading of what is not known.
    #[must_use]
    pub fn efficiency(&self, direction: Direction) -> Range {
        let (payload, overhead) = (self.payloads(direction), self.overhead(direction));
        let layer = if self.speed == LinkSpeed::Gen6 { Range::exact(1.0) } else { LINK_LAYER };
        Range {
            low: payload.low / (payload.low + overhead.high) * layer.low,
            high: payload.high / (payload.high + overhead.low) * layer.high,
        }
    }

    /// GB/s of data.
    #[must_use]
    pub fn data(&self, direction: Direction) -> Range {
        self.efficiency(direction).map(|e| e * self.raw())
    }

    /// GB/s of data with the arithmetic. `element` is what the link is called.
    #[must_use]
    pub fn derive(&self, direction: Direction, element: &str, kind: ElementKind) -> Option<Derivation> {
        let (name, limit) = (Name::from(element), self.data(direction));
        let steps = self.steps(direction, &name);
        Derivation::of(Unit::Gigabytes, vec![Element { name, kind, part: Part::Other, limit }], steps)
    }

    /// The arithmetic.
    #[must_use]
    pub fn steps(&self, direction: Direction, element: &Name) -> Vec<Step> {
        let g = self.speed;
        let (coded, all) = encoding(g);
        let (payload, overhead) = (self.payloads(direction), self.overhead(direction));
        let (what, unseen) = match direction {
            Direction::Write => ("writes", self.mps.is_none()),
            Direction::Read => ("reads", self.completion.is_none()),
        };
        let (layer, quality) = match (g, unseen) {
            (LinkSpeed::Gen6, true) => ("", Quality::Unseen),
            (LinkSpeed::Gen6, false) => ("", Quality::Estimate),
            (_, true) => (" × 0.92 to 1 for link-layer packets", Quality::Unseen),
            (_, false) => (" × 0.92 to 1 for link-layer packets", Quality::Estimate),
        };
        let note = if unseen { ", packet size not seen" } else { "" };
        let raw = Range::exact(self.raw());
        let (width, rate) = (self.width, g.gigatransfers());
        let s = if width == 1 { "" } else { "s" };
        let named = |what: &'static str| {
            let element = element.clone();
            Words::of(move |f| write!(f, "{element}, {what}"))
        };
        vec![
            Step {
                what: named("encoded"),
                formula: Words::of(move |f| write!(f, "{width} lane{s} × {rate} GT/s × {coded}/{all} / 8")),
                value: raw,
                unit: Unit::Gigabytes,
                source: "PCI Express Base Specification",
                quality: Quality::Exact,
            },
            Step {
                what: named(what),
                formula: Words::of(move |f| write!(f, "{raw} × {payload} B / (the same + {overhead} B){layer}{note}")),
                value: self.data(direction),
                unit: Unit::Gigabytes,
                source: "PCI Express Base Specification (headers, frames); link-layer share: Neugebauer et al., SIGCOMM 2018 (8 to 10 %)",
                quality,
            },
        ]
    }
}

//! Binary configuration space: the header and the two capability lists.
//!
//! Offsets and bits are those of the PCI Express base specification (chapter 7) and of the kernel's `uapi/linux/pci_regs.h`.
//! Decoding allocates nothing.

mod edit;
mod registers;

pub use edit::{drop_extended, give_extended, set_register};

use super::caps::{Cap, Capabilities, Spot, Unseen};
use super::class::Class;
use serde::Serialize;

/// How much of a configuration space could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Extent {
    /// 64 bytes: the standard header, all that sysfs gives without privileges.
    Header,
    /// 256 bytes: conventional PCI, or PCIe read through a mechanism that does not reach the extended space.
    Conventional,
    /// 4096 bytes: the whole space of a PCIe function.
    Extended,
    /// Any other number of bytes: the source was cut.
    Other(usize),
}

/// The standard header (64 bytes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Header {
    /// Vendor id. A virtual function reads as 0xffff here: its id is its physical function's.
    pub vendor: u16,
    /// Device id. 0xffff for a virtual function.
    pub device: u16,
    /// Command register.
    pub command: u16,
    /// Status register.
    pub status: u16,
    /// Revision id.
    pub revision: u8,
    /// Class code.
    pub class: Class,
    /// Header type bit 7.
    pub multifunction: bool,
    /// The part that depends on the header type.
    pub layout: Layout,
}

/// What follows the common part of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Layout {
    /// Type 0: endpoints.
    Endpoint {
        /// Base address registers, raw.
        bars: [u32; 6],
        /// Subsystem vendor id.
        subsystem_vendor: u16,
        /// Subsystem id.
        subsystem_device: u16,
    },
    /// Type 1: PCI-to-PCI bridges, which every PCIe port is.
    Bridge {
        /// Base address registers, raw.
        bars: [u32; 2],
        /// Bus on the upstream side.
        primary: u8,
        /// Bus directly below.
        secondary: u8,
        /// Highest bus below.
        subordinate: u8,
    },
    /// Any other header type (2 is CardBus).
    Other(u8),
}

/// Configuration space of one function, as read from sysfs' `config` or from the hex dump of `lspci -xxxx`.
#[derive(Debug, Clone, Copy)]
pub struct ConfigSpace<'a> {
    bytes: &'a [u8],
}

const HEADER_LEN: usize = 64;
const CONVENTIONAL_LEN: usize = 256;
const EXTENDED_LEN: usize = 4096;

const STATUS_CAPABILITY_LIST: u16 = 0x10;
const CAPABILITY_BRIDGE_SUBSYSTEM: u8 = 0x0d;
const CAPABILITY_EXPRESS: u8 = 0x10;

impl<'a> ConfigSpace<'a> {
    /// A view of the bytes; those past 4096 do not belong to a configuration space and are ignored.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes: bytes.get(..EXTENDED_LEN).unwrap_or(bytes) }
    }

    /// How much could be read.
    #[must_use]
    pub fn extent(&self) -> Extent {
        match self.bytes.len() {
            HEADER_LEN => Extent::Header,
            CONVENTIONAL_LEN => Extent::Conventional,
            EXTENDED_LEN => Extent::Extended,
            n => Extent::Other(n),
        }
    }

    /// Every byte of the header reads 0xff: the device fell off the bus, its link is down, or the read was refused.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        let header = self.bytes.get(..HEADER_LEN).unwrap_or(self.bytes);
        !header.is_empty() && header.iter().all(|&b| b == 0xff)
    }

    /// The standard header; `None` when fewer than 64 bytes could be read or the function does not answer.
    #[must_use]
    pub fn header(&self) -> Option<Header> {
        if self.bytes.len() < HEADER_LEN || self.is_dead() {
            return None;
        }
        let class = u32::from_le_bytes([self.byte(0x09)?, self.byte(0x0a)?, self.byte(0x0b)?, 0]);
        let kind = self.byte(0x0e)?;
        let layout = match kind & 0x7f {
            0 => {
                let mut bars = [0; 6];
                for (i, bar) in bars.iter_mut().enumerate() {
                    *bar = self.dword(0x10 + 4 * i)?;
                }
                Layout::Endpoint { bars, subsystem_vendor: self.word(0x2c)?, subsystem_device: self.word(0x2e)? }
            }
            1 => Layout::Bridge {
                bars: [self.dword(0x10)?, self.dword(0x14)?],
                primary: self.byte(0x18)?,
                secondary: self.byte(0x19)?,
                subordinate: self.byte(0x1a)?,
            },
            other => Layout::Other(other),
        };
        Some(Header {
            vendor: self.word(0x00)?,
            device: self.word(0x02)?,
            command: self.word(0x04)?,
            status: self.word(0x06)?,
            revision: self.byte(0x08)?,
            class: Class(class),
            multifunction: kind & 0x80 != 0,
            layout,
        })
    }

    /// Decodes every capability this project knows. What a cut or broken list hides is [`Cap::Unseen`].
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        if self.is_dead() {
            return Capabilities::unseen(Unseen::Malformed);
        }
        let (found, end) = self.find(CAPABILITY_EXPRESS);
        let express = found.map_or(end.missing(), |at| {
            let express = self.express(at);
            let len = if self.express_version(at) >= 2 { 0x3c } else { 0x14 };
            Cap::Present(express, self.spot(at, len))
        });
        // Without this capability there is no extended space (PCI-X mode 2 aside): some chipsets mirror the first 256 bytes there, so it
        // must not be walked.
        let more = if found.is_some() { self.extended() } else { end.settled(Capabilities::default()) };
        Capabilities { express, ..more }
    }

    /// Subsystem vendor and device of a bridge, which are in a capability of its own; zeros where the list ends without one.
    /// `None`: the list cannot be seen to its end.
    #[must_use]
    pub fn bridge_subsystem(&self) -> Option<(u16, u16)> {
        match self.find(CAPABILITY_BRIDGE_SUBSYSTEM) {
            (Some(at), _) => Some((self.word(at + 4)?, self.word(at + 6)?)),
            (None, End::Complete) => Some((0, 0)),
            (None, End::Cut(_) | End::Malformed) => None,
        }
    }

    /// Offset of a capability of the conventional list.
    #[must_use]
    pub fn capability(&self, id: u8) -> Option<usize> {
        self.find(id).0
    }

    /// Offset of a capability of the extended list.
    #[must_use]
    pub fn extended_capability(&self, id: u16) -> Option<usize> {
        self.extended_list().into_iter().find(|(_, found)| *found == id).map(|(at, _)| at)
    }

    /// The serial number of the device (extended capability 0x0003), and the offset of its registers. All zeros and all ones are no number.
    #[must_use]
    pub fn serial(&self) -> Option<(u64, u16)> {
        let at = self.extended_capability(0x0003)?;
        let [low, high] = [4, 8].map(|offset| self.dword(at + offset));
        let serial = u64::from(high?) << 32 | u64::from(low?);
        Some((serial, u16::try_from(at + 4).ok()?)).filter(|found| !matches!(found.0, 0 | u64::MAX))
    }

    /// The extended list: offset and id of each, as far as it can be walked; empty for a function without one.
    fn extended_list(&self) -> Vec<(usize, u16)> {
        let mut out: Vec<(usize, u16)> = Vec::new();
        if self.find(CAPABILITY_EXPRESS).0.is_none() {
            return out;
        }
        let mut at = CONVENTIONAL_LEN;
        while at >= CONVENTIONAL_LEN
            && let Some(header) = self.dword(at).filter(|h| *h != 0 && *h != u32::MAX)
            && !out.iter().any(|(seen, _)| *seen == at)
        {
            out.push((at, header as u16));
            at = (header >> 20) as usize & 0xffc;
        }
        out
    }

    /// Walks the conventional list up to a capability.
    fn find(&self, wanted: u8) -> (Option<usize>, End) {
        let cut = End::Cut(self.bytes.len() as u16);
        let (Some(status), Some(kind)) = (self.word(0x06), self.byte(0x0e)) else { return (None, cut) };
        if status & STATUS_CAPABILITY_LIST == 0 {
            return (None, End::Complete);
        }
        // CardBus bridges keep the pointer elsewhere.
        let Some(mut at) = self.byte(if kind & 0x7f == 2 { 0x14 } else { 0x34 }) else { return (None, cut) };
        let mut visited = 0u64;
        loop {
            at &= 0xfc;
            if at == 0 {
                return (None, End::Complete);
            }
            let bit = 1u64 << (at >> 2);
            if usize::from(at) < HEADER_LEN || visited & bit != 0 {
                return (None, End::Malformed);
            }
            visited |= bit;
            let (Some(id), Some(next)) = (self.byte(at.into()), self.byte(usize::from(at) + 1)) else {
                return (None, cut);
            };
            match id {
                id if id == wanted => return (Some(at.into()), End::Complete),
                0xff => return (None, End::Malformed),
                _ => at = next,
            }
        }
    }

    /// Walks the extended list, which starts at 0x100.
    fn extended(&self) -> Capabilities {
        let mut found = Capabilities::default();
        let mut visited = [0u64; EXTENDED_LEN / 4 / 64];
        let mut at = CONVENTIONAL_LEN;
        let end = loop {
            let (word, bit) = (at / 256, 1u64 << (at / 4 % 64));
            match visited.get_mut(word) {
                Some(w) if *w & bit == 0 => *w |= bit,
                _ => break End::Malformed,
            }
            let Some(header) = self.dword(at) else { break End::Cut(self.bytes.len() as u16) };
            if header == 0xffff_ffff {
                break End::Malformed;
            }
            self.decode_extended(header as u16, at, &mut found);
            at = (header >> 20) as usize & 0xffc;
            match at {
                0 => break End::Complete,
                1..CONVENTIONAL_LEN => break End::Malformed,
                _ => {}
            }
        };
        end.settled(found)
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn word(&self, at: usize) -> Option<u16> {
        Some(u16::from_le_bytes(*self.bytes.get(at..)?.first_chunk()?))
    }

    fn dword(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(*self.bytes.get(at..)?.first_chunk()?))
    }

    /// A byte range, clipped to the space.
    fn spot(&self, offset: usize, len: usize) -> Spot {
        Spot::Bytes { offset: offset as u16, len: len.min(self.bytes.len().saturating_sub(offset)) as u16 }
    }
}

/// How the walk of a list ended, which decides what can be said about what was not in it.
#[derive(Clone, Copy)]
enum End {
    Complete,
    Cut(u16),
    Malformed,
}

impl End {
    fn missing<T>(self) -> Cap<T> {
        match self {
            End::Complete => Cap::NotPresent,
            End::Cut(len) => Cap::Unseen(Unseen::Cut(len)),
            End::Malformed => Cap::Unseen(Unseen::Malformed),
        }
    }

    /// What was not found among the extended capabilities is missing.
    fn settled(self, mut found: Capabilities) -> Capabilities {
        fn settle<T: PartialEq>(cap: &mut Cap<T>, end: End) {
            if *cap == Cap::NotLooked {
                *cap = end.missing();
            }
        }
        settle(&mut found.acs, self);
        settle(&mut found.ats, self);
        settle(&mut found.aer, self);
        settle(&mut found.sriov, self);
        settle(&mut found.ari, self);
        settle(&mut found.rebar, self);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsystem_of_a_bridge() {
        let of = |bytes: &[u8]| ConfigSpace::new(bytes).bridge_subsystem();
        let mut c = vec![0; 256];
        c[0x06] = 0x10;
        (c[0x34], c[0x40], c[0x41], c[0x50]) = (0x40, 0x10, 0x50, 0x0d);
        (c[0x54], c[0x55], c[0x56], c[0x57]) = (0x28, 0x10, 0x4b, 0x22);
        assert_eq!(of(&c), Some((0x1028, 0x224b)));
        c[0x50] = 0x05;
        assert_eq!(of(&c), Some((0, 0)), "the list ends without one");
        c[0x51] = 0x40;
        assert_eq!(of(&c), None, "a loop");
        assert_eq!(of(&c[..64]), None, "cut");
        c[0x06] = 0;
        assert_eq!(of(&c), Some((0, 0)), "no list");
        assert_eq!(of(&[]), None);
    }
}

//! NCCL's releases, in order.

use std::fmt;
use std::str::FromStr;

/// A release of NCCL: major, minor, patch. Packaging revisions (`-1`, `-2`) print the same lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release(pub u8, pub u8, pub u8);

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl FromStr for Release {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let mut parts = s.split('.').map(str::parse::<u8>);
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(Ok(major)), Some(Ok(minor)), Some(Ok(patch)), None) => Ok(Self(major, minor, patch)),
            _ => Err(format!("{s}: not a release of NCCL; write it as 2.21.5")),
        }
    }
}

/// Every release whose sources were measured.
pub fn releases() -> &'static [Release] {
    &RELEASES
}

#[rustfmt::skip]
static RELEASES: [Release; 59] = [
    Release(2, 4, 2), Release(2, 4, 6), Release(2, 4, 7), Release(2, 4, 8), Release(2, 5, 6), Release(2, 5, 7),
    Release(2, 6, 4), Release(2, 7, 3), Release(2, 7, 5), Release(2, 7, 6), Release(2, 7, 8), Release(2, 8, 3),
    Release(2, 8, 4), Release(2, 9, 6), Release(2, 9, 8), Release(2, 9, 9), Release(2, 10, 3), Release(2, 11, 4),
    Release(2, 12, 7), Release(2, 12, 10), Release(2, 12, 12), Release(2, 13, 4), Release(2, 14, 3), Release(2, 15, 1),
    Release(2, 15, 5), Release(2, 16, 2), Release(2, 16, 5), Release(2, 17, 1), Release(2, 18, 1), Release(2, 18, 3),
    Release(2, 18, 5), Release(2, 18, 6), Release(2, 19, 1), Release(2, 19, 3), Release(2, 19, 4), Release(2, 20, 3),
    Release(2, 20, 5), Release(2, 21, 5), Release(2, 22, 3), Release(2, 23, 4), Release(2, 24, 3), Release(2, 25, 1),
    Release(2, 26, 2), Release(2, 26, 3), Release(2, 26, 5), Release(2, 26, 6), Release(2, 27, 3), Release(2, 27, 5),
    Release(2, 27, 6), Release(2, 27, 7), Release(2, 28, 3), Release(2, 28, 7), Release(2, 28, 9), Release(2, 29, 2),
    Release(2, 29, 3), Release(2, 29, 7), Release(2, 30, 3), Release(2, 30, 4), Release(2, 30, 7),
];

/// How far a GPU is from a NIC, by NCCL's names, nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Deserialize)]
pub enum Distance {
    /// The same device.
    LOC,
    /// One bridge.
    PIX,
    /// Several bridges.
    PXB,
    /// GPU to CPU by C2C, then PCIe (Grace).
    P2C,
    /// Through a host bridge.
    PHB,
    /// From CPU to CPU.
    SYS,
}

impl Release {
    /// The number that this release prints for a distance. `P2C` is a host bridge to releases that do not know it.
    pub fn distance(self, distance: Distance) -> u32 {
        use Distance::{LOC, P2C, PHB, PIX, PXB, SYS};
        let numbers: [u32; 6] = if self <= Release(2, 5, 7) {
            // 2.4 and 2.5 counted from PIX, and had NODE between PHB and SYS.
            [0, 0, 1, 2, 2, 4]
        } else if self <= Release(2, 7, 8) {
            [0, 2, 3, 4, 4, 5]
        } else if self <= Release(2, 11, 4) {
            [0, 3, 4, 5, 5, 6]
        } else if self <= Release(2, 25, 1) {
            [0, 3, 4, 6, 6, 7]
        } else if self <= Release(2, 26, 6) {
            [0, 4, 5, 7, 7, 8]
        } else {
            [0, 4, 5, 6, 8, 9]
        };
        let index = match distance {
            LOC => 0,
            PIX => 1,
            PXB => 2,
            P2C => 3,
            PHB => 4,
            SYS => 5,
        };
        numbers.get(index).copied().unwrap_or(0)
    }

    /// Whether a distance is near enough at a level. 2.4 and 2.5 ask for less than the level, later releases for at most the level.
    pub fn within(self, distance: Distance, level: Distance) -> bool {
        let (d, l) = (self.distance(distance), self.distance(level));
        if self <= Release(2, 5, 7) { d < l } else { d <= l }
    }

    /// The level at which GPUDirect RDMA ends where the environment says nothing.
    pub fn default_gdr_level(self) -> Distance {
        if self <= Release(2, 5, 7) {
            Distance::PHB
        } else if self >= Release(2, 29, 2) {
            Distance::P2C
        } else {
            Distance::PXB
        }
    }

    /// Subsystems that are shown without `NCCL_DEBUG_SUBSYS`.
    pub fn default_subsystems(self) -> &'static [&'static str] {
        if self < Release(2, 16, 5) {
            &["INIT"]
        } else if self < Release(2, 23, 4) {
            &["INIT", "ENV"]
        } else {
            &["INIT", "ENV", "BOOTSTRAP"]
        }
    }

    /// `NCCL_DMABUF_ENABLE` exists.
    pub fn knows_dmabuf(self) -> bool {
        self >= Release(2, 13, 4)
    }

    /// `22105` for 2.21.5, `2708` for 2.7.8: NCCL_VERSION_CODE.
    pub fn code(self) -> u32 {
        let (a, b, c) = (u32::from(self.0), u32::from(self.1), u32::from(self.2));
        if b <= 8 { a * 1000 + b * 100 + c } else { a * 10000 + b * 100 + c }
    }
}

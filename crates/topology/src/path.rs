//! Types of paths, in NCCL's order: the smaller, the closer.

use crate::Version;
use std::fmt;
use std::str::FromStr;

/// How two devices are connected. The order is that of NCCL 2.27 and later (`src/include/graph.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PathType {
    /// The same device.
    Loc,
    /// NVLink.
    Nvl,
    /// NVLink through another GPU.
    Nvb,
    /// Chip-to-chip, between CPU and GPU.
    C2c,
    /// At most one PCIe switch.
    Pix,
    /// Several PCIe switches, and no host bridge.
    Pxb,
    /// GPU, C2C, CPU, PCIe, NIC.
    P2c,
    /// To the NIC by way of another GPU.
    Pxn,
    /// A PCIe host bridge: a CPU.
    Phb,
    /// The interconnect between NUMA nodes.
    Sys,
    /// The network.
    Net,
    /// Not connected.
    Dis,
}

/// All of them, in order.
pub(crate) const ALL: [PathType; 12] = {
    use PathType::*;
    [Loc, Nvl, Nvb, C2c, Pix, Pxb, P2c, Pxn, Phb, Sys, Net, Dis]
};

impl PathType {
    /// NCCL's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Loc => "LOC",
            Self::Nvl => "NVL",
            Self::Nvb => "NVB",
            Self::C2c => "C2C",
            Self::Pix => "PIX",
            Self::Pxb => "PXB",
            Self::P2c => "P2C",
            Self::Pxn => "PXN",
            Self::Phb => "PHB",
            Self::Sys => "SYS",
            Self::Net => "NET",
            Self::Dis => "DIS",
        }
    }

    /// Whether a release knows this type (facts §7.1).
    #[must_use]
    pub(crate) fn known_to(self, v: Version) -> bool {
        match self {
            Self::Nvb => v.since(2, 8),
            Self::Pxn => v.since(2, 12),
            Self::C2c => v.since(2, 26),
            Self::P2c => v.since(2, 27),
            _ => true,
        }
    }

    /// The number that a release prints for it. `None` where it does not know it.
    #[must_use]
    pub fn number(self, v: Version) -> Option<u8> {
        // 2.26 has C2C and, unlike its successors, no P2C.
        let known = |t: &&PathType| t.known_to(v);
        ALL.iter().filter(known).position(|t| *t == self).and_then(|n| u8::try_from(n).ok())
    }
}

impl fmt::Display for PathType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for PathType {
    type Err = ();

    fn from_str(s: &str) -> Result<Self, ()> {
        ALL.into_iter().find(|t| t.name() == s).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_depend_on_the_release() {
        let v = |s: &str| s.parse::<Version>().unwrap();
        for (release, names) in [
            ("2.7", "LOC NVL PIX PXB PHB SYS"),
            ("2.11", "LOC NVL NVB PIX PXB PHB SYS"),
            ("2.21", "LOC NVL NVB PIX PXB PXN PHB SYS"),
            ("2.26", "LOC NVL NVB C2C PIX PXB PXN PHB SYS"),
            ("2.30", "LOC NVL NVB C2C PIX PXB P2C PXN PHB SYS"),
        ] {
            for (n, name) in names.split(' ').enumerate() {
                let t: PathType = name.parse().unwrap();
                assert_eq!(t.number(v(release)), Some(n as u8), "{release} {name}");
            }
        }
        assert_eq!(PathType::C2c.number(v("2.21")), None);
    }
}

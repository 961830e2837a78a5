//! PCIe link speed and width, and what they carry.

use crate::units::GBps;
use serde::{Serialize, Serializer};
use std::fmt;

/// PCIe link speed as transfer rate per lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkSpeed {
    /// 2.5 GT/s, 8b/10b.
    Gen1,
    /// 5 GT/s, 8b/10b.
    Gen2,
    /// 8 GT/s, 128b/130b.
    Gen3,
    /// 16 GT/s, 128b/130b.
    Gen4,
    /// 32 GT/s, 128b/130b.
    Gen5,
    /// 64 GT/s, PAM4 in FLIT mode.
    Gen6,
}

impl LinkSpeed {
    /// All speeds, slowest first.
    pub const ALL: [LinkSpeed; 6] =
        [LinkSpeed::Gen1, LinkSpeed::Gen2, LinkSpeed::Gen3, LinkSpeed::Gen4, LinkSpeed::Gen5, LinkSpeed::Gen6];

    /// From the encoding in LnkCap/LnkSta bits 3:0 (1 = 2.5 GT/s … 6 = 64 GT/s).
    #[must_use]
    pub fn from_register(v: u8) -> Option<Self> {
        Self::ALL.get(usize::from(v).checked_sub(1)?).copied()
    }

    /// From `32.0 GT/s PCIe`, `32GT/s`, `8 GT/s`, `2.5 GT/s`.
    #[must_use]
    pub fn parse(s: &str) -> Option<Self> {
        let number = s.trim().split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
        match number {
            "2.5" => Some(Self::Gen1),
            "5" | "5.0" => Some(Self::Gen2),
            "8" | "8.0" => Some(Self::Gen3),
            "16" | "16.0" => Some(Self::Gen4),
            "32" | "32.0" => Some(Self::Gen5),
            "64" | "64.0" => Some(Self::Gen6),
            _ => None,
        }
    }

    /// PCIe generation, 1..=6.
    #[must_use]
    pub fn generation(self) -> u8 {
        self as u8 + 1
    }

    /// 10⁹ transfers per second and lane.
    #[must_use]
    pub fn gigatransfers(self) -> f64 {
        [2.5, 5.0, 8.0, 16.0, 32.0, 64.0][self as usize]
    }

    /// One direction after line encoding, before TLP overhead: 8b/10b for Gen1–2, 128b/130b for Gen3–5 (PCIe base
    /// specification §4.2); Gen6 sends 256-byte FLITs of which 242 bytes are TLP/DLLP (236 TLP).
    #[must_use]
    pub fn bandwidth(self, width: LinkWidth) -> GBps {
        let efficiency = match self {
            Self::Gen1 | Self::Gen2 => 8.0 / 10.0,
            Self::Gen3 | Self::Gen4 | Self::Gen5 => 128.0 / 130.0,
            Self::Gen6 => 242.0 / 256.0,
        };
        GBps(self.gigatransfers() * efficiency * f64::from(width.0) / 8.0)
    }
}

impl fmt::Display for LinkSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Each node says it hundreds of times.
        f.write_str(match self {
            Self::Gen1 => "2.5 GT/s",
            Self::Gen2 => "5 GT/s",
            Self::Gen3 => "8 GT/s",
            Self::Gen4 => "16 GT/s",
            Self::Gen5 => "32 GT/s",
            Self::Gen6 => "64 GT/s",
        })
    }
}

impl Serialize for LinkSpeed {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

/// Number of lanes of a PCIe link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct LinkWidth(pub u8);

impl LinkWidth {
    /// A width that a link can have; 0, 63 and 255 are what virtual functions and guests report for "none".
    #[must_use]
    pub fn plausible(self) -> bool {
        matches!(self.0, 1 | 2 | 4 | 8 | 12 | 16 | 32)
    }
}

impl fmt::Display for LinkWidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::LinkSpeed;

    #[test]
    fn speeds_as_linux_lspci_and_nccl_write_them() {
        for (text, want) in [
            ("16.0 GT/s PCIe", Some(LinkSpeed::Gen4)),
            ("2.5 GT/s", Some(LinkSpeed::Gen1)),
            ("32GT/s", Some(LinkSpeed::Gen5)),
            ("8", Some(LinkSpeed::Gen3)),
            ("Unknown", None),
            ("", None),
            ("3 GT/s", None),
        ] {
            assert_eq!(LinkSpeed::parse(text), want, "{text:?}");
        }
        for speed in LinkSpeed::ALL {
            assert_eq!(speed.to_string(), format!("{} GT/s", speed.gigatransfers()));
        }
    }
}

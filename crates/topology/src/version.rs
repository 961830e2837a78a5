//! Releases of NCCL: what one decides is not what another does.

use std::fmt;
use std::str::FromStr;

/// A release, as `2.21` or `2.21.5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// 2.
    pub major: u16,
    /// Minor number, which decides about everything here.
    pub minor: u16,
    /// Patch; 0 where it was not said.
    pub patch: u16,
}

impl Version {
    /// The release whose source is the definition of this crate.
    pub const REFERENCE: Version = Version { major: 2, minor: 30, patch: 7 };

    /// The oldest release whose decisions are rebuilt: its path types have the numbers that the later ones build on.
    pub const OLDEST: Version = Version { major: 2, minor: 7, patch: 0 };

    /// Whether it is `major.minor` or later.
    #[must_use]
    pub fn since(self, major: u16, minor: u16) -> bool {
        (self.major, self.minor) >= (major, minor)
    }
}

impl Default for Version {
    fn default() -> Self {
        Self::REFERENCE
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        if self.patch > 0 { write!(f, ".{}", self.patch) } else { Ok(()) }
    }
}

/// Not a release of NCCL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a release of NCCL, such as 2.21 or 2.21.5")]
pub struct NotAVersion(String);

impl FromStr for Version {
    type Err = NotAVersion;

    /// `2.21`, `2.21.5`, `2.21.5+cuda12.4`, `v2.21.5-1`.
    fn from_str(s: &str) -> Result<Self, NotAVersion> {
        let bad = || NotAVersion(s.chars().take(40).collect());
        let t = s.trim();
        let t = t.strip_prefix('v').unwrap_or(t);
        let end = t.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(t.len());
        let mut numbers = t.get(..end).unwrap_or_default().split('.').map(str::parse::<u16>);
        let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else { return Err(bad()) };
        let patch = numbers.next().transpose().map_err(|_| bad())?.unwrap_or(0);
        if numbers.next().is_some() || major < 2 {
            return Err(bad());
        }
        Ok(Version { major, minor, patch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read() {
        for (text, want) in
            [("2.21", "2.21"), ("2.21.5", "2.21.5"), ("v2.30.7-1", "2.30.7"), ("2.18.3+cuda12.2", "2.18.3")]
        {
            assert_eq!(text.parse::<Version>().unwrap().to_string(), want);
        }
        for bad in ["", "2", "2.", "x", "2.21.5.1", "1.3", "2.99999999"] {
            assert!(bad.parse::<Version>().is_err(), "{bad}");
        }
        assert!("2.9".parse::<Version>().unwrap() < "2.21".parse().unwrap());
    }
}

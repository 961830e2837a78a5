//! Kernel releases, as `uname -r` prints them.

use serde::Serialize;
use std::fmt;

/// A kernel release. Distributions backport: the number alone does not prove that a fix is missing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct KernelVersion {
    /// First number.
    pub major: u32,
    /// Second number.
    pub minor: u32,
    /// Third number, 0 where there is none.
    pub patch: u32,
    /// What follows, e.g. `-41-generic`, `-rc1`, `-427.13.1.el9_4.x86_64`.
    pub rest: String,
}

impl KernelVersion {
    /// Whether the mainline version is at least `major.minor`. Release candidates count as their release.
    pub fn at_least(&self, major: u32, minor: u32) -> bool {
        (self.major, self.minor) >= (major, minor)
    }
}

impl fmt::Display for KernelVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}{}", self.major, self.minor, self.patch, self.rest)
    }
}

/// Parses a release; also the whole of `/proc/version`.
pub fn parse(text: &str) -> Option<KernelVersion> {
    let text = text.trim();
    let release = text.strip_prefix("Linux version ").unwrap_or(text).split_whitespace().next()?;
    let (major, rest) = number(release)?;
    let (minor, rest) = number(rest.strip_prefix('.')?)?;
    let (patch, rest) = rest.strip_prefix('.').and_then(number).unwrap_or((0, rest));
    Some(KernelVersion { major, minor, patch, rest: rest.to_owned() })
}

fn number(text: &str) -> Option<(u32, &str)> {
    let end = text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases() {
        let k = parse("6.8.0-41-generic\n").unwrap();
        assert_eq!((k.major, k.minor, k.patch, k.rest.as_str()), (6, 8, 0, "-41-generic"));
        assert!(k.at_least(6, 8) && k.at_least(5, 15) && !k.at_least(6, 11) && !k.at_least(7, 0));
        assert_eq!(k.to_string(), "6.8.0-41-generic");
        assert_eq!(
            parse("Linux version 3.10.0-862.el7.x86_64 (mockbuild@x) #1").map(|k| k.rest),
            Some("-862.el7.x86_64".into())
        );
        assert_eq!(parse("6.11-rc1").map(|k| (k.patch, k.rest)), Some((0, "-rc1".into())));
        assert!(parse("5.4") < parse("5.15") && parse("x").is_none() && parse("6").is_none());
    }
}

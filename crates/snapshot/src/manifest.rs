//! What a source holds, and how it came to be.

use linerate_formats::bounds::MANIFEST_TRIED as MAX_TRIED;
use linerate_formats::wildcard::star;
use serde::{Deserialize, Serialize};

/// Whether a path that is not in the snapshot does not exist, or was merely not collected.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Coverage {
    /// The capture tried everything in the catalogue, except these patterns: elsewhere, not there means not there.
    Full {
        /// Patterns of today's catalogue that the capture (an older one) did not know.
        not_tried: Vec<String>,
    },
    /// Somebody else's tree or text: not there says nothing.
    #[default]
    Partial,
}

/// The manifest of a snapshot. `linerate/manifest.json` in the archive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Schema of this file.
    #[serde(default)]
    pub schema: u32,
    /// Version of linerate that captured.
    #[serde(default)]
    pub linerate: String,
    /// Host name (hashed when redacted).
    #[serde(default)]
    pub host: String,
    /// Unix time of the capture, seconds.
    #[serde(default)]
    pub time: u64,
    /// Kernel's boot id.
    #[serde(default)]
    pub boot_id: String,
    /// Effective user id of the capture.
    #[serde(default)]
    pub uid: Option<u32>,
    /// `live`, or the root directory's role.
    #[serde(default)]
    pub origin: String,
    /// Whether identifying values were hashed.
    #[serde(default)]
    pub redacted: bool,
    /// Which key they were hashed with, where the operator keeps one: hashes of one key can be compared. Not the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redact_key: Option<String>,
    /// Patterns of the catalogue that were tried.
    #[serde(default)]
    pub tried: Vec<String>,
    /// What could not be read: path and reason.
    #[serde(default)]
    pub unread: Vec<Unread>,
    /// What went wrong during the capture, for people.
    #[serde(default)]
    pub problems: Vec<String>,
    /// Part of the source was left out: a limit, or damage.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

/// Something that the capture saw but could not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// Path, without the leading slash.
    pub path: String,
    /// `denied`, `timed-out`, `too-large`, or the error's text.
    pub why: String,
}

/// Schema of the manifests that this version writes.
pub(crate) const SCHEMA: u32 = 1;

/// Patterns of today's catalogue that a capture which tried these did not know.
pub(crate) fn not_tried(tried: &[String]) -> Vec<String> {
    let all = || crate::catalogue::catalogue().patterns.iter().map(|(p, _)| p);
    // Captures of the same version tried the same.
    if tried.iter().any(|t| t == "**") || tried.iter().eq(all()) {
        return Vec::new();
    }
    let same: std::collections::HashSet<&str> = tried.iter().map(String::as_str).collect();
    let wider = |p: &str| tried.iter().take(MAX_TRIED).any(|t| t.contains('*') && covers_pattern(t, p));
    all().filter(|p| !same.contains(p.as_str()) && !wider(p)).cloned().collect()
}

/// Whether every path of a pattern is one of a wider pattern.
fn covers_pattern(wide: &str, narrow: &str) -> bool {
    let (mut w, mut n) = (wide.split('/'), narrow.split('/'));
    loop {
        match (w.next(), n.next()) {
            (Some("**"), _) | (None, None) => return true,
            // A `*` of the narrow one is an ordinary byte here, which only a `*` of the wide one takes.
            (Some(a), Some(b)) if b != "**" && star(a.as_bytes(), b.as_bytes()) => {}
            _ => return false,
        }
    }
}

/// Directories of links into `sys/devices`: what is below them is recorded at its real place.
const LINKED: &[&str] =
    &["sys/bus/pci/devices/*/", "sys/class/infiniband/*/", "sys/class/net/*/", "sys/bus/pci/slots/*/"];

/// Whether a catalogue pattern (`*` within one name, `**` for any rest) covers a path, given as it was looked for or as it
/// really is below `sys/devices`.
#[must_use]
pub fn covers(pattern: &str, path: &str) -> bool {
    if covers_exactly(pattern, path) {
        return true;
    }
    let Some(rest) = LINKED.iter().find_map(|l| pattern.strip_prefix(l)).filter(|_| path.starts_with("sys/devices/"))
    else {
        return false;
    };
    // The real place ends with the same names; how deep it lies depends on the machine.
    let skip = path.split('/').count().saturating_sub(rest.split('/').count());
    let tail = path.splitn(skip + 1, '/').last().unwrap_or(path);
    skip > 2 && covers_exactly(rest, tail)
}

fn covers_exactly(pattern: &str, path: &str) -> bool {
    let (mut p, mut n) = (pattern.split('/'), path.split('/'));
    loop {
        match (p.next(), n.next()) {
            (Some("**"), _) | (None, None) => return true,
            (Some(a), Some(b)) if star(a.as_bytes(), b.as_bytes()) => {}
            // A missing directory on the way to the pattern is covered too.
            (Some(_), None) => return true,
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_patterns_count_as_tried() {
        assert!(covers_pattern("**", "sys/bus/pci/devices/*/iommu_group"));
        assert!(covers_pattern("sys/**", "sys/bus/pci/devices/*/iommu_group"));
        assert!(covers_pattern("sys/*/pci/devices/*/sriov_*", "sys/bus/pci/devices/*/sriov_*"));
        assert!(covers_pattern("proc/config*", "proc/config.gz"));
        assert!(!covers_pattern("proc/**", "sys/bus/pci/devices/*/iommu_group"));
        assert!(!covers_pattern("sys/bus/pci/devices/0000*", "sys/bus/pci/devices/*"));
        assert!(!covers_pattern("sys/bus/*", "sys/bus/pci/devices/*/driver"));
        assert!(!covers_pattern("sys/*", "sys/**"));
        let all = |t: &str| not_tried(&[t.to_owned()]);
        assert!(all("**").is_empty());
        let rest = all("sys/**");
        assert!(rest.iter().all(|p| !p.starts_with("sys/")) && rest.contains(&"proc/cmdline".to_owned()));
        assert_eq!(not_tried(&[]).len(), crate::catalogue::catalogue().patterns.len());
    }
}

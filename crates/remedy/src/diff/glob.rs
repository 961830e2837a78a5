//! Patterns of paths: `*` is any run of characters within a name, `**` any number of names.

use linerate_formats::wildcard;

/// Whether a pattern covers the whole path.
pub(super) fn covers(pattern: &str, path: &str) -> bool {
    match pattern.split_once('/') {
        Some(("**", rest)) => {
            covers(rest, path)
                || path.match_indices('/').any(|(at, _)| path.get(at + 1..).is_some_and(|p| covers(rest, p)))
        }
        Some((name, rest)) => path.split_once('/').is_some_and(|(n, p)| within(name, n) && covers(rest, p)),
        None if pattern == "**" => true,
        None => !path.contains('/') && within(pattern, path),
    }
}

/// Whether a pattern covers a text in which `/` is a character like others.
pub(super) fn within(pattern: &str, text: &str) -> bool {
    wildcard::star(pattern.as_bytes(), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_runs_of_names() {
        for (pattern, path) in [
            ("proc/cmdline", "proc/cmdline"),
            ("sys/kernel/iommu_groups/*/type", "sys/kernel/iommu_groups/7/type"),
            ("sys/kernel/iommu_groups/**", "sys/kernel/iommu_groups/7/devices/0000:01:00.0"),
            ("**/net/*/mtu", "sys/devices/pci0000:00/0000:00:01.0/net/eth1/mtu"),
            ("**/iommu_group", "sys/devices/pci0000:00/0000:00:01.0/iommu_group"),
            ("**/a*b*c", "x/aXXbYYc"),
            ("**", "anything/at/all"),
        ] {
            assert!(covers(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("proc/cmdline", "proc/cmdline2"),
            ("proc/cmdline/x", "proc/cmdline"),
            ("sys/*/type", "sys/a/b/type"),
            ("**/net/*/mtu", "sys/net/mtu"),
            ("**/a*b", "x/ab/c"),
            ("a*a", "a"),
        ] {
            assert!(!covers(pattern, path), "{pattern} {path}");
        }
    }
}

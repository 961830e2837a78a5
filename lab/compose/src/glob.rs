//! Patterns of `remove`, `denied` and of patch names: `*` within one name, `**` for any number of names.

use linerate_formats::wildcard::star;

/// Whether `pattern` matches the whole of `path`.
pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.trim_start_matches('/').split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    names(&pattern, &path)
}

fn names(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => (0..=path.len()).any(|n| names(rest, path.get(n..).unwrap_or_default())),
        (Some((p, rest)), Some((n, tail))) => name(p, n) && names(rest, tail),
        _ => false,
    }
}

/// `*` matches any run of characters.
pub(crate) fn name(pattern: &str, text: &str) -> bool {
    star(pattern.as_bytes(), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_within_a_name_and_double_stars_across() {
        for (pattern, path, want) in [
            ("sys/class/**", "sys/class/net/eth0", true),
            ("sys/class/*", "sys/class/net/eth0", false),
            ("**/scaling_governor", "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", true),
            ("sys/devices/*/config", "sys/devices/a/config", true),
            ("/proc/cmdline", "proc/cmdline", true),
            ("proc", "proc/cmdline", false),
            ("switch*.down*", "switch1.down0", true),
            ("gpu*", "gpu", true),
            ("g*u*0", "gpu00", true),
            ("ab*b", "ab", false),
        ] {
            assert_eq!(matches(pattern, path), want, "{pattern} {path}");
        }
    }
}

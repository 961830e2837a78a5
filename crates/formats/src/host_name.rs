//! Names of machines, as logs and command lines print them.

use std::net::IpAddr;

/// Names that a machine has before it has its own, and the kernel's, which stands where a name was left out.
const NO_NAMES: [&str; 4] = ["localhost", "linux", "debian", "kernel"];
/// Bytes of a name.
const MOST: usize = 64;

/// The name without its domain, in small letters: programs of one machine print it with and without. An address is a name as a whole. `None` of
/// what names no machine: `localhost`, `(none)`.
#[must_use]
pub fn short(name: &str) -> Option<String> {
    let whole = name.parse::<IpAddr>().is_ok();
    let name = if whole { name } else { name.split('.').next().unwrap_or(name) };
    let good = !name.is_empty()
        && name.len() <= MOST
        && (whole || name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)));
    (good && !NO_NAMES.iter().any(|n| n.eq_ignore_ascii_case(name))).then(|| name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn names_of_machines() {
        for (name, want) in [
            ("gpu-1.example.org", Some("gpu-1")),
            ("GPU_3", Some("gpu_3")),
            ("10.0.0.1", Some("10.0.0.1")),
            ("fe80::1", Some("fe80::1")),
            ("localhost.localdomain", None),
            ("Localhost", None),
            ("(none)", None),
            ("kernel", None),
            ("a b", None),
            ("", None),
        ] {
            assert_eq!(short(name).as_deref(), want, "{name}");
        }
    }
}

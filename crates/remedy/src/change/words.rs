//! What words of data must be before they go into a file or an argument. A word that is not is refused, never quoted and hoped for.

use super::Refusal;

/// Checks a word: at most `most` bytes, the first letter and the others from a set.
fn check<'w>(
    word: &'w str,
    what: &str,
    most: usize,
    first: fn(u8) -> bool,
    rest: fn(u8) -> bool,
) -> Result<&'w str, Refusal> {
    let bytes = word.as_bytes();
    let good = bytes.len() <= most && bytes.first().is_some_and(|b| first(*b)) && bytes.iter().all(|b| rest(*b));
    if good { Ok(word) } else { Err(refusal(word, what)) }
}

fn refusal(word: &str, what: &str) -> Refusal {
    let shown: String = word.chars().take(40).flat_map(char::escape_default).collect();
    Refusal::no(format!("\"{shown}\" is not a valid {what}: it is not written to a file or given to a program"))
}

fn alnum(b: u8) -> bool {
    b.is_ascii_alphanumeric()
}

fn name(b: u8) -> bool {
    alnum(b) || matches!(b, b'_' | b'-')
}

/// Name of a kernel module.
pub(super) fn module(word: &str) -> Result<&str, Refusal> {
    check(word, "name of a kernel module", 64, alnum, name)
}

/// Name of a domain of libvirt: a file is called so. Stricter than libvirt: no spaces.
pub(super) fn domain(word: &str) -> Result<&str, Refusal> {
    check(word, "name of a domain that linerate changes", 128, alnum, |b| name(b) || matches!(b, b'.' | b'+'))
}

/// A service of systemd, without `.service`.
pub(super) fn service(word: &str) -> Result<&str, Refusal> {
    check(word, "name of a service", 64, alnum, name)
}

/// Name of a module's option.
pub(super) fn option(word: &str) -> Result<&str, Refusal> {
    check(word, "name of a module option", 64, alnum, name)
}

/// Value of a module's option: no spaces, quotes, `#` and backslashes, which modprobe reads.
pub(super) fn option_value(word: &str) -> Result<&str, Refusal> {
    let letter = |b: u8| alnum(b) || matches!(b, b'_' | b'-' | b'.' | b',' | b':' | b';' | b'=' | b'/' | b'+');
    check(word, "value of a module option", 256, letter, letter)
}

/// Name of a network interface. Stricter than the kernel: no spaces, quotes, `:` (aliases) and `@`.
pub(crate) fn interface(word: &str) -> Result<&str, Refusal> {
    check(word, "name of a network interface", 15, alnum, |b| name(b) || b == b'.')
}

/// Setting of a NIC's firmware, with its index where it is an array's.
pub(super) fn nic_parameter(word: &str) -> Result<&str, Refusal> {
    let letter = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    let bare = match word.strip_suffix(']').and_then(|w| w.split_once('[')) {
        Some((bare, index)) if index.len() <= 4 && !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()) => {
            bare
        }
        Some(_) => return Err(refusal(word, "setting of NIC firmware")),
        None => word,
    };
    check(bare, "setting of NIC firmware", 80, |b| b.is_ascii_uppercase(), letter).map(|_| word)
}

/// Value of a setting of a NIC's firmware.
pub(super) fn nic_value(word: &str) -> Result<&str, Refusal> {
    check(word, "value of a setting of NIC firmware", 64, alnum, name)
}

/// Value below `/sys` or `/proc/sys`: one word.
pub(super) fn value(word: &str) -> Result<&str, Refusal> {
    check(
        word,
        "value of a kernel file",
        64,
        |b| alnum(b) || b == b'-',
        |b| name(b) || matches!(b, b'.' | b',' | b':' | b'+'),
    )
}

/// Path below `/sys` or `/proc/sys`, `*` within a name where patterns are allowed.
pub(super) fn kernel_path(word: &str, pattern: bool) -> Result<&str, Refusal> {
    let letter = |b: u8| name(b) || matches!(b, b'.' | b':' | b',' | b'+' | b'=');
    let below = word.strip_prefix("/sys/").or_else(|| word.strip_prefix("/proc/sys/"));
    let names = |rest: &str| {
        rest.split('/').all(|n| {
            !n.is_empty()
                && n.len() <= 255
                && n != "."
                && n != ".."
                && n.bytes().all(|b| letter(b) || (pattern && matches!(b, b'*' | b'[' | b']')))
        })
    };
    match below {
        Some(rest) if word.len() <= 1024 && names(rest) => Ok(word),
        _ => Err(refusal(word, "path below /sys or /proc/sys")),
    }
}

/// Name below which objects of Kubernetes are known, and the prefix of a label: a DNS-1123 subdomain.
pub(super) fn subdomain<'w>(word: &'w str, what: &str) -> Result<&'w str, Refusal> {
    let end = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let part = |p: &str| {
        let ends = p.bytes().next().is_some_and(end) && p.bytes().last().is_some_and(end);
        ends && p.bytes().all(|b| end(b) || b == b'-')
    };
    if word.len() <= 253 && word.split('.').all(part) { Ok(word) } else { Err(refusal(word, what)) }
}

/// Key of a label of Kubernetes: `[PREFIX/]NAME`.
pub(super) fn label_key(word: &str) -> Result<&str, Refusal> {
    const WHAT: &str = "key of a label of Kubernetes";
    let (prefix, name) = word.split_once('/').map_or((None, word), |(p, n)| (Some(p), n));
    prefix.map_or(Ok(word), |p| subdomain(p, WHAT)).map_err(|_| refusal(word, WHAT))?;
    label_name(name, WHAT).map(|_| word).map_err(|_| refusal(word, WHAT))
}

/// Value of a label of Kubernetes; it may be empty.
pub(super) fn label_value(word: &str) -> Result<&str, Refusal> {
    if word.is_empty() { Ok(word) } else { label_name(word, "value of a label of Kubernetes") }
}

fn label_name<'w>(word: &'w str, what: &str) -> Result<&'w str, Refusal> {
    check(word, what, 63, alnum, |b| name(b) || b == b'.')?;
    if word.bytes().last().is_some_and(alnum) { Ok(word) } else { Err(refusal(word, what)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn good_words_pass_and_hostile_ones_do_not() {
        for good in ["nvidia_peermem", "nvidia-peermem", "mlx5_core", "8021q"] {
            assert_eq!(module(good), Ok(good));
        }
        for bad in ["", "-r", "a b", "a\nb", "../x", "a;b", "ä", &"x".repeat(65)] {
            assert!(module(bad).is_err(), "{bad:?}");
        }
        assert!(interface("eth0.100").is_ok() && interface("ibp1s0f0np0").is_ok());
        for bad in ["..", ".", "-eth0", "eth0:1", "eth0 ", "e\"th0", "0123456789abcdef", "eth0/.."] {
            assert!(interface(bad).is_err(), "{bad:?}");
        }
        assert!(option_value("a=1;b=0x2").is_ok());
        for bad in ["", "a b", "a\"b", "a\\", "a#b", "$(x)", "`x`", "a\n"] {
            assert!(option_value(bad).is_err(), "{bad:?}");
        }
        assert!(nic_parameter("ATS_ENABLED").is_ok() && nic_parameter("PCI_DOWNSTREAM_PORT_OWNER[3]").is_ok());
        for bad in ["ats", "A=B", "A[]", "A[x]", "A]", "[1]", "-d", "A[1]["] {
            assert!(nic_parameter(bad).is_err(), "{bad:?}");
        }
        assert!(kernel_path("/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", true).is_ok());
        assert!(kernel_path("/sys/devices/system/cpu/cpu*/x", false).is_err());
        for good in ["a", "iommu-passthrough-u12-u25", "gpu.example.com/iommu", "A_b.c-1", &"x".repeat(63)] {
            assert_eq!(label_key(good), Ok(good));
        }
        let (long, longest) = ("x".repeat(64), format!("{}/a", "x".repeat(254)));
        for bad in [
            "", "/", "a/", "/a", "a/b/c", "-a", "a-", ".a", "a b", "a=b", "A.io/b", "a..b/c", "a-/b", "a\n", "ä",
            &long, &longest,
        ] {
            assert!(label_key(bad).is_err(), "{bad:?}");
        }
        assert!(["", "pt", "1.2-3_b"].iter().all(|v| label_value(v).is_ok()));
        for bad in ["-", "a-", "a/b", "a b", "$(x)", "--all", &long] {
            assert!(label_value(bad).is_err(), "{bad:?}");
        }
        assert!(subdomain("gpu-17.rack-3.example.com", "x").is_ok());
        for bad in ["", "--all", "N1", "n1.", "n1/..", "n1 n2", "n_1"] {
            assert!(subdomain(bad, "x").is_err(), "{bad:?}");
        }
        for bad in ["/etc/passwd", "/sys/../etc/passwd", "/sys//x", "/sys/a b", "/proc/self/mem", "/sys/", "/sys/x\n"] {
            assert!(kernel_path(bad, true).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn what_passes_has_no_letter_that_a_reader_takes_for_more(w in ".{0,40}") {
            let words = [module(&w), option(&w), option_value(&w), interface(&w), nic_parameter(&w), nic_value(&w), value(&w), kernel_path(&w, true),
                subdomain(&w, "x"), label_key(&w), label_value(&w)];
            for word in words.into_iter().flatten() {
                let active = |c: char| c.is_whitespace() || c.is_control() || "\"'`\\$&|<>#(){}!?~%^@".contains(c);
                prop_assert!(!word.contains(active), "{word:?}");
            }
        }
    }
}

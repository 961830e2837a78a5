//! Sizes as each writes them: the same letters do not mean the same.

use crate::size::parse;

/// `32Gi`, `64Mi`, `1G`: quantities of Kubernetes.
pub(super) fn quantity(text: &str) -> Option<u64> {
    let decimal = [("k", 1_000_u64), ("M", 1_000_000), ("G", 1_000_000_000), ("T", 1_000_000_000_000)];
    if let Some((n, unit)) = decimal.iter().find_map(|(suffix, unit)| Some((text.strip_suffix(suffix)?, unit))) {
        return n.parse::<u64>().ok()?.checked_mul(*unit);
    }
    match text.strip_suffix('i') {
        Some(binary) => parse(binary),
        None => text.parse().ok(),
    }
}

/// `64m`, `16gb`, `17179869184`: Docker's byte values, with units of 1024 in each spelling (docker/go-units `RAMInBytes`).
pub(super) fn ram(text: &str) -> Option<u64> {
    let small = text.trim().to_ascii_lowercase();
    let bare = small.strip_suffix("ib").or_else(|| small.strip_suffix('b')).unwrap_or(&small);
    parse(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_both() {
        type Row = (&'static str, Option<u64>, Option<u64>);
        let rows: [Row; 10] = [
            ("64Mi", Some(64 << 20), None),
            ("32Gi", Some(32 << 30), None),
            ("1G", Some(1_000_000_000), Some(1 << 30)),
            ("512", Some(512), Some(512)),
            ("{{ x }}", None, None),
            ("${SHM}", None, None),
            ("64m", None, Some(64 << 20)),
            ("16gb", None, Some(16 << 30)),
            ("1.5GiB", None, Some(3 << 29)),
            ("", None, None),
        ];
        for (text, kubernetes, docker) in rows {
            assert_eq!((quantity(text), ram(text)), (kubernetes, docker), "{text}");
        }
    }
}

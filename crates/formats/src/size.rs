//! Sizes that people write: a number of bytes and a unit.
//!
//! | unit | bytes |
//! |---|---|
//! | none, `B` | 1 |
//! | `kB`, `MB`, `GB`, `TB` | powers of 1000 |
//! | `KiB`, `MiB`, `GiB`, `TiB` | powers of 1024 |
//! | `K`, `M`, `G`, `T` | powers of 1024, as the kernel's and the benchmarks' options take them |
//!
//! Letter case is ignored. Texts of tools in which the same letters mean something else have their own readers: `nvidia-smi` prints `MB`
//! and lspci's resizable BARs `256MB` for powers of 1024, tables of benchmarks keep the unit that they were written in (`units.rs`).

/// How many bytes a unit is. `None` for a unit that is not in the list.
#[must_use]
pub fn unit(name: &str) -> Option<u64> {
    let name = name.to_ascii_lowercase();
    if matches!(name.as_str(), "" | "b") {
        return Some(1);
    }
    let mut letters = name.chars();
    let power = 1 + "kmgt".find(letters.next()?)? as u32;
    match letters.as_str() {
        "" | "ib" => 1024_u64.checked_pow(power),
        "b" => 1000_u64.checked_pow(power),
        _ => None,
    }
}

/// `8388608`, `64 KiB`, `1.5GB`: bytes, a part of one left out. `None` for anything else, and beyond 64 bits.
#[must_use]
pub fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, name) = text.split_at_checked(end)?;
    let factor = unit(name.trim_start())?;
    let Some((whole, part)) = number.split_once('.') else {
        return number.parse::<u64>().ok()?.checked_mul(factor);
    };
    // Exact: a fraction of a double would not be.
    let digits = |t: &str| (!t.is_empty() && t.len() <= 18).then(|| t.parse::<u64>().ok()).flatten();
    let (whole, tenths) = (digits(whole)?, digits(part)?);
    let below = u128::from(tenths) * u128::from(factor) / 10_u128.checked_pow(part.len() as u32)?;
    whole.checked_mul(factor)?.checked_add(u64::try_from(below).ok()?)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn one_word_has_one_meaning() {
        for (text, bytes) in [
            ("0", 0),
            ("1", 1),
            ("2k", 2048),
            ("65536k", 1 << 26),
            ("3MiB", 3 << 20),
            ("3mib", 3 << 20),
            ("4G", 4 << 30),
            ("1T", 1 << 40),
            ("1TiB", 1 << 40),
            ("1TB", 1_000_000_000_000),
            ("2 GB", 2_000_000_000),
            ("7 kB", 7000),
            ("7KB", 7000),
            (" 512 B ", 512),
            ("1.5G", 3 << 29),
            ("1.5GB", 1_500_000_000),
            ("0.001k", 1),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse(text), Some(bytes), "{text}");
        }
        for bad in [
            "",
            "G",
            "-1",
            "+1",
            "1x",
            "1.G",
            ".5G",
            "1.2.3",
            "1e3",
            "8Mi",
            "1 K B",
            "99999999T",
            "18446744073709551616",
            "20000000T",
            "1.0000000000000000000000001",
            "1µ",
            "1 GiB/s",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}

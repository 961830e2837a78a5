//! What packed input may become in this command: one budget for all its inputs, and the option that sets it.

use crate::not_a_value::NotAValue;
use linerate_snapshot::Budget;
use linerate_snapshot::capture::{Options, Purpose};
use std::path::PathBuf;
use std::sync::OnceLock;

static BUDGET: OnceLock<Budget> = OnceLock::new();

/// Sets it, before anything is read.
pub(crate) fn set(max_input: Option<u64>) {
    let _ = BUDGET.set(Budget::new(max_input));
}

/// That of this command.
pub(crate) fn budget() -> Budget {
    BUDGET.get_or_init(Budget::default).clone()
}

/// The usual options, within the budget.
pub(crate) fn options(root: impl Into<PathBuf>, purpose: Purpose) -> Options {
    Options { budget: budget(), ..Options::new(root, purpose) }
}

/// A size: a number of bytes, with K, M, G or T for powers of 1024, and perhaps `iB` or `B` behind it.
pub(crate) fn size(text: &str) -> Result<u64, NotAValue> {
    let bad = || NotAValue::Size(text.to_owned());
    let lower = text.trim().to_ascii_lowercase();
    let short = lower.strip_suffix("ib").or_else(|| lower.strip_suffix('b')).unwrap_or(&lower);
    let (digits, shift) = match short.char_indices().next_back() {
        Some((at, 'k')) => (short.get(..at), 10),
        Some((at, 'm')) => (short.get(..at), 20),
        Some((at, 'g')) => (short.get(..at), 30),
        Some((at, 't')) => (short.get(..at), 40),
        _ => (Some(short), 0),
    };
    let number: u64 = digits.unwrap_or_default().parse().map_err(|_| bad())?;
    number.checked_mul(1 << shift).filter(|n| *n > 0).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_powers_of_1024() {
        for (text, bytes) in [("1", 1), ("2k", 2048), ("3MiB", 3 << 20), ("4G", 4 << 30), ("1TB", 1 << 40)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for bad in ["", "G", "-1", "1.5G", "1x", "0", "99999999T"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}

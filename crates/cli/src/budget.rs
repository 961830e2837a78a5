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

/// A size, as `linerate_formats::size` reads it, above zero.
pub(crate) fn size(text: &str) -> Result<u64, NotAValue> {
    let bytes = linerate_formats::size::parse(text).filter(|n| *n > 0);
    bytes.ok_or_else(|| NotAValue::Size(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_those_of_formats() {
        for (text, bytes) in [("1", 1), ("2k", 2048), ("3MiB", 3 << 20), ("4G", 4 << 30), ("1TB", 1_000_000_000_000)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for bad in ["", "G", "-1", "1x", "0", "99999999T"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}

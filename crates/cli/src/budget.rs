//! What holds for all inputs of a command, and the options that set it: what packed ones may become, and whose texts are.

use crate::not_a_value::NotAValue;
use linerate_snapshot::capture::{Options, Purpose};
use linerate_snapshot::{Budget, HostOf};
use std::path::PathBuf;
use std::sync::OnceLock;

static BUDGET: OnceLock<Budget> = OnceLock::new();
static HOST_OF: OnceLock<HostOf> = OnceLock::new();

/// Sets both, before anything is read.
pub(crate) fn set(max_input: Option<u64>, said: Vec<(PathBuf, String)>) {
    let _ = BUDGET.set(Budget::new(max_input));
    let _ = HOST_OF.set(HostOf::new(said));
}

/// Whose texts are.
pub(crate) fn hosts() -> HostOf {
    HOST_OF.get().cloned().unwrap_or_default()
}

/// That of this command.
pub(crate) fn budget() -> Budget {
    BUDGET.get_or_init(Budget::default).clone()
}

/// The usual options, within the budget.
pub(crate) fn options(root: impl Into<PathBuf>, purpose: Purpose) -> Options {
    Options { budget: budget(), host_of: hosts(), ..Options::new(root, purpose) }
}

/// A size, as `linerate_formats::size` reads it, above zero.
pub(crate) fn size(text: &str) -> Result<u64, NotAValue> {
    let bytes = linerate_formats::size::parse(text).filter(|n| *n > 0);
    bytes.ok_or_else(|| NotAValue::Size(text.to_owned()))
}

/// `FILE=NAME`. A file's name may hold an equals sign; a node's does not.
pub(crate) fn host_of(text: &str) -> Result<(PathBuf, String), NotAValue> {
    let pair = text.rsplit_once('=').filter(|(file, host)| !file.is_empty() && is_name(host));
    let (file, host) = pair.ok_or_else(|| NotAValue::HostOf(text.to_owned()))?;
    Ok((file.into(), host.to_owned()))
}

/// It becomes part of paths and of tables.
fn is_name(host: &str) -> bool {
    let plain = host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':'));
    plain && host.starts_with(|c: char| c.is_ascii_alphanumeric()) && host.len() <= 253
}

#[cfg(test)]
mod tests {
    use super::{host_of, size};

    #[test]
    fn a_file_and_its_node() {
        assert_eq!(host_of("a=b/x.txt=gpu-1.site"), Ok(("a=b/x.txt".into(), "gpu-1.site".into())));
        for bad in ["x", "x=", "=x", "x=../y", "x=a b", "x=-"] {
            assert!(host_of(bad).is_err(), "{bad}");
        }
    }

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

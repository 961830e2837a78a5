//! What a text is, in the terms of a snapshot.

use crate::OutputKind;
use linerate_formats::{Gives, Kind, sniff};

/// Bytes that show what a text is.
pub(crate) const HEAD: usize = 64 << 10;

/// By the beginning of the text, and by its name.
pub(crate) fn recognise(name: &str, bytes: &[u8]) -> Kind {
    sniff::sniff(name, bytes.get(..bytes.len().min(HEAD)).unwrap_or_default())
}

/// The kind of the output that a text is, where decoders read it as one.
pub(crate) fn output(kind: Kind) -> OutputKind {
    if matches!(kind.gives(), Gives::Facts | Gives::KernelLog) { kind } else { OutputKind::Other }
}

/// Whether this is what Git has in place of a file that Git LFS stores.
pub(crate) fn is_lfs_stub(bytes: &[u8]) -> bool {
    bytes.starts_with(b"version https://git-lfs.github.com/spec/") && bytes.len() < 1024
}

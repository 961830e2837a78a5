//! Configuration space as `lspci -xxxx` prints it, so that `lspci -F` reads it back.

use linerate_formats::pci::Bdf;
use std::fmt::Write;

/// The dump of one function: a heading, then sixteen bytes a line.
#[must_use]
pub fn hexdump(bdf: Bdf, config: &[u8]) -> String {
    let mut out = format!("{bdf} composed\n");
    for (line, bytes) in config.chunks(16).enumerate() {
        let _ = write!(out, "{:02x}:", line * 16);
        for b in bytes {
            let _ = write!(out, " {b:02x}");
        }
        out.push('\n');
    }
    out.push('\n');
    out
}

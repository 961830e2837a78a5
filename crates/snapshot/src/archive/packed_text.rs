//! A single text that somebody packed: `dmesg.gz`, `lspci.txt.xz`.

use super::is_archive_head;
use super::stream::Packing;
use crate::Budget;
use std::io::Read;

/// What came out.
pub(crate) struct PackedText {
    /// The text: one byte more than the limit where it is longer.
    pub(crate) bytes: Vec<u8>,
    /// Why it ends before its end.
    pub(crate) damage: Option<String>,
}

/// Endings that name a packing.
const ENDINGS: [&str; 6] = [".gz", ".xz", ".zst", ".zstd", ".bz2", ".bz"];

impl PackedText {
    /// The name without the ending that names the packing.
    pub(crate) fn name(name: &str) -> &str {
        ENDINGS.iter().find_map(|e| name.strip_suffix(e)).filter(|n| !n.is_empty()).unwrap_or(name)
    }
}

/// Unpacks a file that holds a text and no archive, at most `max` bytes of it and one, whatever it claims to hold. `None`: it is
/// not packed, holds an archive, or cannot be unpacked at all: the reader of archives says what is wrong then.
pub(crate) fn packed_text(from: impl Read, max: u64, budget: &Budget) -> Option<PackedText> {
    let mut from = from;
    let mut head = Vec::new();
    from.by_ref().take(16).read_to_end(&mut head).ok()?;
    let packing = Packing::of(&head);
    if packing == Packing::Plain {
        return None;
    }
    let mut unpacked = packing.unpack(std::io::Cursor::new(head).chain(from), budget).ok()?.take(max.saturating_add(1));
    let mut bytes = Vec::new();
    let mut damage = read_some(&mut unpacked, 512, &mut bytes);
    // Zeros are an archive without entries, not a text.
    if is_archive_head(&bytes) || bytes.first().is_none_or(|b| *b == 0) {
        return None;
    }
    if damage.is_none() {
        damage = read_some(&mut unpacked, usize::MAX, &mut bytes);
    }
    Some(PackedText { bytes, damage })
}

/// Reads until so many bytes are there, or no more come; the error that ended it.
fn read_some(from: &mut impl Read, until: usize, to: &mut Vec<u8>) -> Option<String> {
    let mut chunk = [0; 16 << 10];
    while to.len() < until {
        let room = chunk.len().min(until - to.len());
        match from.read(chunk.get_mut(..room).unwrap_or_default()) {
            Ok(0) => return None,
            Ok(n) => to.extend_from_slice(chunk.get(..n).unwrap_or_default()),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Some(e.to_string()),
        }
    }
    None
}

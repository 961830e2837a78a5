//! The pack: the archive's entries once more, in the form that is quickest to read, behind the tar.
//!
//! A tar of a node is 6 MB of headers and padding around 1 MB of content; unpacking that is most of the time that a fleet of
//! snapshots takes to read. The pack is a skippable frame after the tar's frame: every zstd passes over it, and so does our
//! own reader when it does not fit the tar before it. It is as untrusted as the tar.
//!
//! Directories come in breadth-first order, and the children of each lie together, sorted by name: a snapshot can search them
//! as they are, and unpacked bytes become the snapshot's own memory. The body is little-endian columns over the entries: how
//! many children (the root's first), kinds, lengths of names, lengths of contents; then names; then contents.

use super::write::Plain;
use crate::Snapshot;
use crate::index::{Packed, PackedKind};
use linerate_formats::bounds::PATH_DEPTH;

/// Magic of the skippable frame.
const FRAME: u32 = 0x184d_2a5e;
/// Magic and version of what is in it.
const MAGIC: [u8; 4] = *b"LRP2";
/// Frame header, magic, length of the tar's frame, its checksum, the pack's (CRC-32).
const HEAD: usize = 8 + 4 + 8 + 4 + 4;
/// Children, kind, length of the name, length of the content.
const COLUMNS: usize = 4 + 1 + 2 + 4;

/// Appends the pack of the entries to an archive that is one frame with a checksum. Where they do not fit a pack, the archive
/// does without.
pub(super) fn append(archive: &mut Vec<u8>, entries: &[Plain<'_>], level: i32) -> std::io::Result<()> {
    let Some(sum) = archive.last_chunk::<4>().copied() else { return Ok(()) };
    let Some(body) = body(entries) else { return Ok(()) };
    let packed = zstd::bulk::compress(&body, level)?;
    let tar_len = archive.len() as u64;
    let Ok(len) = u32::try_from(HEAD - 8 + packed.len()) else { return Ok(()) };
    archive.extend(FRAME.to_le_bytes());
    archive.extend(len.to_le_bytes());
    archive.extend(MAGIC);
    archive.extend(tar_len.to_le_bytes());
    archive.extend(sum);
    archive.extend(crc32fast::hash(&packed).to_le_bytes());
    archive.extend(packed);
    Ok(())
}

/// Whether an unpacked body is that of these entries.
pub(super) fn is_of(unpacked: &[u8], entries: &[Plain<'_>]) -> bool {
    body(entries).is_some_and(|body| body == unpacked)
}

/// The columns. `None` where a number does not fit its column.
fn body(entries: &[Plain<'_>]) -> Option<Vec<u8>> {
    let mut children = vec![Vec::new(); entries.len() + 1];
    for (i, e) in entries.iter().enumerate() {
        children.get_mut(e.parent as usize)?.push((e.name, i));
    }
    let mut order = Vec::with_capacity(entries.len());
    let mut counts = u32::try_from(entries.len()).ok()?.to_le_bytes().to_vec();
    let mut next = 0;
    let mut dir = 0;
    loop {
        let of = children.get_mut(dir)?;
        of.sort_unstable();
        order.extend(of.iter().map(|(_, i)| *i));
        counts.extend((of.len() as u32).to_le_bytes());
        let Some(i) = order.get(next) else { break };
        dir = i + 1;
        next += 1;
    }
    let sorted: Vec<&Plain<'_>> = order.iter().filter_map(|i| entries.get(*i)).collect();
    let mut body = counts;
    body.extend(sorted.iter().map(|e| e.kind));
    for e in &sorted {
        body.extend(u16::try_from(e.name.len()).ok()?.to_le_bytes());
    }
    for e in &sorted {
        body.extend(u32::try_from(e.data.len()).ok()?.to_le_bytes());
    }
    sorted.iter().for_each(|e| body.extend(e.name.as_bytes()));
    sorted.iter().for_each(|e| body.extend(e.data));
    (u32::try_from(body.len()).is_ok() && sorted.len() == entries.len()).then_some(body)
}

/// The compressed pack of an archive whose first frame has this length, if it belongs to it.
pub(super) fn find(archive: &[u8], tar_len: usize) -> Option<&[u8]> {
    let rest = archive.get(tar_len..)?;
    let (head, packed) = rest.split_at_checked(HEAD)?;
    let len = u32::try_from(rest.len() - 8).ok()?;
    let sum = archive.get(tar_len.checked_sub(4)?..tar_len)?;
    let own = crc32fast::hash(packed).to_le_bytes();
    let want =
        [&FRAME.to_le_bytes()[..], &len.to_le_bytes(), &MAGIC, &(tar_len as u64).to_le_bytes(), sum, &own].concat();
    (head == want).then_some(packed)
}

/// What a pack may hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) entries: usize,
    /// Bytes of one file.
    pub(super) file: usize,
    /// Bytes in all.
    pub(super) kept: usize,
}

/// Fills an empty snapshot with an unpacked pack, whose bytes become its memory (`body` gets the memory that it had). False if
/// the pack is not well formed; then the snapshot is of no use.
pub(super) fn read(body: &mut Vec<u8>, to: &mut Snapshot, bounds: Bounds) -> bool {
    let mut packed = to.take_packed();
    let good =
        body.len() <= bounds.kept && u32::try_from(body.len()).is_ok() && fill(body, &mut packed, bounds).is_some();
    to.adopt(packed, body);
    good
}

fn fill(body: &[u8], to: &mut Packed, bounds: Bounds) -> Option<()> {
    let (n, rest) = body.split_first_chunk::<4>()?;
    let n = u32::from_le_bytes(*n) as usize;
    if n > rest.len() / COLUMNS || n > bounds.entries {
        return None;
    }
    let (counts, rest) = rest.split_at_checked((n + 1) * 4)?;
    let (kinds, rest) = rest.split_at_checked(n)?;
    let (name_lens, rest) = rest.split_at_checked(n * 2)?;
    let (lens, rest) = rest.split_at_checked(n * 4)?;
    let counts = || counts.as_chunks().0.iter().map(|c| u32::from_le_bytes(*c));
    if counts().map(u64::from).sum::<u64>() != n as u64 {
        return None;
    }
    let name_lens = || name_lens.as_chunks().0.iter().map(|c| u32::from(u16::from_le_bytes(*c)));
    let lens = || lens.as_chunks().0.iter().map(|c| u32::from_le_bytes(*c));
    let names_at = body.len() - rest.len();
    let data_at = names_at.checked_add(name_lens().map(|l| l as usize).sum())?;
    // All names at once: text, none with a slash. Each then has to begin where a character does
    // (`are_text`).
    let text = std::str::from_utf8(body.get(names_at..data_at)?).ok()?;
    if text.contains('/') || !kinds.iter().all(|k| PackedKind::of(*k).is_some()) {
        return None;
    }
    let whole = data_at as u64 + lens().map(u64::from).sum::<u64>() == body.len() as u64;
    if !whole || !lens().all(|l| l as usize <= bounds.file) {
        return None;
    }
    let mut next_name = names_at as u32;
    let mut next_data = data_at as u32;
    let columns = kinds.iter().zip(name_lens()).zip(lens());
    to.entries(
        n,
        columns.map(|((kind, name_len), len)| {
            let (name, data) = ((next_name, name_len), (next_data, len));
            (next_name, next_data) = (next_name + name_len, next_data + len);
            (PackedKind::of(*kind).unwrap_or(PackedKind::File), name, data)
        }),
        body,
    );
    if !to.are_text(text, names_at) {
        return None;
    }
    // Each level comes after the one above it: whoever lies behind the last of a level begins the next.
    let (mut first, mut depth, mut level_end) = (1, 1, 0);
    for (dir, count) in counts().enumerate().filter(|(_, count)| *count > 0) {
        if dir > level_end {
            (depth, level_end) = (depth + 1, first as usize - 1);
        }
        if depth > PATH_DEPTH {
            return None;
        }
        to.children(dir, first, count)?;
        if !to.are_sorted(first as usize, count as usize, body) {
            return None;
        }
        first += count;
    }
    Some(())
}

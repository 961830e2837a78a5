//! The pack: the archive's entries once more, in the form that is quickest to read, behind the tar.
//!
//! A tar of a node is 6 MB of headers and padding around 1 MB of content; unpacking that is most of the time that a fleet of
//! snapshots takes to read. The pack is a skippable frame after the tar's frame: every zstd passes over it, and so does our
//! own reader when it does not fit the tar before it. It holds entries in columns (parent, kind, lengths), then names, then
//! contents. It is as untrusted as the tar: every entry goes through the same checks.

use super::assemble::Assembly;
use super::write::Plain;
use crate::{EntryId, EntryKind};

/// Magic of the skippable frame.
const FRAME: u32 = 0x184d_2a5e;
/// Magic and version of what is in it.
const MAGIC: [u8; 4] = *b"LRP1";
/// Frame header, magic, length of the tar's frame, its checksum.
const HEAD: usize = 8 + 4 + 8 + 4;
/// Parent, kind, length of the name, length of the content.
const COLUMNS: usize = 4 + 1 + 2 + 4;

/// Appends the pack of the entries to an archive that is one frame with a checksum. False where they do not fit a pack; the
/// archive then does without.
pub(super) fn append(archive: &mut Vec<u8>, entries: &[Plain<'_>], level: i32) -> std::io::Result<()> {
    let (Ok(n), Some(sum)) = (u32::try_from(entries.len()), archive.last_chunk::<4>().copied()) else { return Ok(()) };
    if entries.iter().any(|e| e.name.len() > usize::from(u16::MAX)) {
        return Ok(());
    }
    let mut body = n.to_le_bytes().to_vec();
    entries.iter().for_each(|e| body.extend(e.parent.to_le_bytes()));
    body.extend(entries.iter().map(|e| e.kind));
    entries.iter().for_each(|e| body.extend((e.name.len() as u16).to_le_bytes()));
    entries.iter().for_each(|e| body.extend((e.data.len() as u32).to_le_bytes()));
    entries.iter().for_each(|e| body.extend(e.name.as_bytes()));
    entries.iter().for_each(|e| body.extend(e.data));
    let mut c = zstd::bulk::Compressor::new(level)?;
    c.set_parameter(zstd::zstd_safe::CParameter::ChecksumFlag(true))?;
    let packed = c.compress(&body)?;
    let tar_len = archive.len() as u64;
    let Ok(len) = u32::try_from(HEAD - 8 + packed.len()) else { return Ok(()) };
    archive.extend(FRAME.to_le_bytes());
    archive.extend(len.to_le_bytes());
    archive.extend(MAGIC);
    archive.extend(tar_len.to_le_bytes());
    archive.extend(sum);
    archive.extend(packed);
    Ok(())
}

/// The compressed pack of an archive whose first frame has this length, if it belongs to it.
pub(super) fn find(archive: &[u8], tar_len: usize) -> Option<&[u8]> {
    let rest = archive.get(tar_len..)?;
    let (head, packed) = rest.split_at_checked(HEAD)?;
    let len = u32::try_from(rest.len() - 8).ok()?;
    let sum = archive.get(tar_len.checked_sub(4)?..tar_len)?;
    let want = [&FRAME.to_le_bytes()[..], &len.to_le_bytes(), &MAGIC, &(tar_len as u64).to_le_bytes(), sum].concat();
    (head == want).then_some(packed)
}

/// Adds the entries of an unpacked pack. `None` if it is not well formed: then nothing of it counts.
pub(super) fn read(body: &[u8], to: &mut Assembly) -> Option<()> {
    let (n, rest) = body.split_first_chunk::<4>()?;
    let n = u32::from_le_bytes(*n) as usize;
    if n > rest.len() / COLUMNS || !to.room_for(n) {
        return None;
    }
    let (parents, rest) = rest.split_at_checked(n * 4)?;
    let (kinds, rest) = rest.split_at_checked(n)?;
    let (names, rest) = rest.split_at_checked(n * 2)?;
    let (lengths, mut texts) = rest.split_at_checked(n * 4)?;
    let names = || names.chunks_exact(2).filter_map(|c| <[u8; 2]>::try_from(c).ok()).map(u16::from_le_bytes);
    let words = |w: &'_ [u8]| -> Vec<u32> {
        w.chunks_exact(4).filter_map(|c| c.try_into().ok()).map(u32::from_le_bytes).collect()
    };
    let (parents, lengths) = (words(parents), words(lengths));
    let all_names: usize = names().map(usize::from).sum();
    let mut data = texts.get(all_names..)?;
    to.begin_pack(n, body.len());
    let mut ids: Vec<EntryId> = Vec::with_capacity(n + 1);
    ids.push(to.root());
    for (((parent, kind), name), len) in parents.into_iter().zip(kinds).zip(names()).zip(lengths) {
        let name_bytes = texts.split_off(..usize::from(name))?;
        let name = std::str::from_utf8(name_bytes).ok()?;
        let content = data.split_off(..len as usize)?;
        let kind = match kind {
            b'0' => EntryKind::File,
            b'2' => EntryKind::Link,
            b'5' => EntryKind::Dir,
            _ => return None,
        };
        if name == "." || name == ".." || name.is_empty() {
            return None;
        }
        ids.push(to.packed(*ids.get(parent as usize)?, name, kind, content)?);
    }
    data.is_empty().then_some(())
}

//! Snapshots whose pack has the right form and costs its reader dear: for the tests of archives, those of the command, and `cargo xtask bombs`.
#![allow(clippy::unwrap_used, dead_code)] // helpers of tests: each user takes what it needs

use std::io::Write;

/// The header of a file in a tar.
fn header(path: &str, size: usize) -> [u8; 512] {
    let mut h = [0_u8; 512];
    h[..path.len()].copy_from_slice(path.as_bytes());
    h[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
    h[148..156].copy_from_slice(b"        ");
    h[156] = b'0';
    h[257..263].copy_from_slice(b"ustar\0");
    let sum: u32 = h.iter().map(|b| u32::from(*b)).sum();
    h[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    h
}

/// A tar of some files.
pub(crate) fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = Vec::new();
    for (path, data) in files {
        out.extend(header(path, data.len()));
        out.extend(*data);
        out.resize(out.len().next_multiple_of(512), 0);
    }
    out.resize(out.len() + 1024, 0);
    out
}

/// The body of a pack: how many entries each has below it, their kinds, the lengths of their names, those of their data, the names.
fn body(below: impl Iterator<Item = u32>, n: u32, kind: u8, name: u16, names: &[u8]) -> Vec<u8> {
    let mut out = n.to_le_bytes().to_vec();
    below.for_each(|n| out.extend(n.to_le_bytes()));
    out.extend(std::iter::repeat_n(kind, n as usize));
    (0..n).for_each(|_| out.extend(name.to_le_bytes()));
    (0..n).for_each(|_| out.extend(0_u32.to_le_bytes()));
    out.extend(names);
    out
}

/// A pack of directories, each in the one before.
pub(crate) fn deep(depth: u32) -> Vec<u8> {
    body((0..=depth).map(|i| u32::from(i < depth)), depth, b'5', 1, &b"a".repeat(depth as usize))
}

/// A pack of so many files in the root.
pub(crate) fn wide(files: u32) -> Vec<u8> {
    let names: String = (0..files).map(|i| format!("{i:08}")).collect();
    body(std::iter::once(files).chain((0..files).map(|_| 0)), files, b'0', 8, names.as_bytes())
}

/// CRC-32, bit by bit.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, b| {
        (0..8).fold(crc ^ u32::from(*b), |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 })
    })
}

/// A snapshot: a pack behind the tar that it belongs to.
pub(crate) fn behind(tar: &[u8], body: &[u8]) -> Vec<u8> {
    let mut frame = zstd::Encoder::new(Vec::new(), 3).unwrap();
    frame.include_checksum(true).unwrap();
    frame.write_all(tar).unwrap();
    let archive = frame.finish().unwrap();
    // In one go, so that the frame says its size.
    let packed = zstd::bulk::compress(body, 3).unwrap();
    let mut out = archive.clone();
    out.extend(0x184d_2a5e_u32.to_le_bytes());
    out.extend((20 + packed.len() as u32).to_le_bytes());
    out.extend(b"LRP2");
    out.extend((archive.len() as u64).to_le_bytes());
    out.extend(archive.last_chunk::<4>().unwrap());
    out.extend(crc(&packed).to_le_bytes());
    out.extend(packed);
    out
}

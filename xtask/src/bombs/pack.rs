//! Containers: packed streams, tars, snapshots with packs.

#[path = "../../../crates/snapshot/tests/packs/mod.rs"]
mod packs;

use super::random::Random;
use std::io::Write;

/// How a stream is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Plain,
    Gzip,
    Bzip2,
    Xz,
    Zstd,
}

pub(super) const PACKED: [Packing; 4] = [Packing::Gzip, Packing::Bzip2, Packing::Xz, Packing::Zstd];

impl Packing {
    pub(super) fn ending(self) -> &'static str {
        match self {
            Packing::Plain => "",
            Packing::Gzip => ".gz",
            Packing::Bzip2 => ".bz2",
            Packing::Xz => ".xz",
            Packing::Zstd => ".zst",
        }
    }

    /// Packs bytes; what is in memory cannot fail to be written.
    pub(super) fn pack(self, bytes: &[u8]) -> Vec<u8> {
        let out = Vec::new();
        let made = match self {
            Packing::Plain => Ok(bytes.to_vec()),
            Packing::Gzip => {
                let mut e = flate2::write::GzEncoder::new(out, flate2::Compression::new(6));
                e.write_all(bytes).and_then(|()| e.finish())
            }
            Packing::Bzip2 => {
                let mut e = bzip2::write::BzEncoder::new(out, bzip2::Compression::new(9));
                e.write_all(bytes).and_then(|()| e.finish())
            }
            Packing::Xz => {
                let mut e = liblzma::write::XzEncoder::new(out, 1);
                e.write_all(bytes).and_then(|()| e.finish())
            }
            Packing::Zstd => zstd::encode_all(bytes, 3),
        };
        made.unwrap_or_default()
    }

    /// A block packed once, and repeated until the file has so many bytes: every reader goes on with the next stream.
    pub(super) fn repeat(self, block: &[u8], bytes: usize) -> Vec<u8> {
        let one = self.pack(block);
        one.repeat((bytes / one.len().max(1)).max(1))
    }
}

/// A tar that grows.
#[derive(Default)]
pub(super) struct Tar(pub(super) Vec<u8>);

impl Tar {
    pub(super) fn entry(&mut self, path: &str, kind: u8, link: &str, size: u64, data: &[u8]) {
        if path.len() > 100 {
            self.entry("././@LongLink", b'L', "", path.len() as u64, path.as_bytes());
        }
        let mut h = [0_u8; 512];
        let name = path.as_bytes().get(..path.len().min(100)).unwrap_or_default();
        h[..name.len()].copy_from_slice(name);
        h[100..107].copy_from_slice(b"0000644");
        h[124..135].copy_from_slice(format!("{:011o}", size.min(0o77_777_777_777)).as_bytes());
        h[148..156].copy_from_slice(b"        ");
        h[156] = kind;
        let link = link.as_bytes().get(..link.len().min(100)).unwrap_or_default();
        h[157..157 + link.len()].copy_from_slice(link);
        h[257..265].copy_from_slice(b"ustar\x0000");
        if kind == b'S' {
            // One piece at the end of a file of so many bytes.
            h[257..265].copy_from_slice(b"ustar  \0");
            h[386..397].copy_from_slice(b"00000000000");
            h[398..409].copy_from_slice(format!("{:011o}", data.len()).as_bytes());
            h[483..494].copy_from_slice(format!("{size:011o}").as_bytes());
            h[124..135].copy_from_slice(format!("{:011o}", data.len()).as_bytes());
        }
        let sum: u32 = h.iter().map(|b| u32::from(*b)).sum();
        h[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        self.0.extend_from_slice(&h);
        self.0.extend_from_slice(data);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
    }

    pub(super) fn file(&mut self, path: &str, data: &[u8]) {
        self.entry(path, b'0', "", data.len() as u64, data);
    }

    pub(super) fn end(mut self) -> Vec<u8> {
        self.0.resize(self.0.len() + 1024, 0);
        self.0
    }
}

/// A pack behind a small tar that it belongs to.
fn with_pack(body: &[u8]) -> Vec<u8> {
    packs::behind(&packs::tar(&[("linerate/manifest.json", br#"{"schema":1,"tried":["**"]}"#)]), body)
}

/// A pack of directories, each in the one before.
pub(super) fn deep_pack(depth: u32) -> Vec<u8> {
    with_pack(&packs::deep(depth))
}

/// A pack of so many files in the root.
pub(super) fn wide_pack(files: u32) -> Vec<u8> {
    with_pack(&packs::wide(files))
}

/// Packs a text in some way, so that it is at most so long on the disk.
pub(super) fn some(random: &mut Random, text: &[u8], most: usize) -> (Vec<u8>, &'static str) {
    let packing = if text.len() <= most && random.chance(40) { Packing::Plain } else { *random.pick(&PACKED) };
    let mut bytes = packing.pack(text);
    // Cut, where it is too long: what is whole before the cut is read.
    bytes.truncate(most);
    (bytes, packing.ending())
}

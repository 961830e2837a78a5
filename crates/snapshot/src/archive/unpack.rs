//! A stream, unpacked while it is read.

use super::stream::Packing;
use super::{tar, ttar};
use crate::Budget;
use crate::budget::Counted;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes that show how a stream is packed.
const MAGIC: usize = 16;

/// Bytes of a stream, unpacked as they come: gzip of several members, zstd of several frames, xz, bzip2, or as they are.
pub(crate) struct Unpacked<'a> {
    from: Box<dyn Read + 'a>,
    packing: Option<&'static str>,
    packed: Arc<AtomicU64>,
}

impl<'a> Unpacked<'a> {
    /// Looks at the first bytes. A stream that cannot be rewound (a pipe) is no different.
    ///
    /// # Errors
    /// The first bytes cannot be read, or there is no memory for the decompressor.
    pub(crate) fn new(from: impl Read + 'a, budget: &Budget) -> io::Result<Self> {
        let mut from = from;
        let mut head = Vec::with_capacity(MAGIC);
        from.by_ref().take(MAGIC as u64).read_to_end(&mut head)?;
        let packing = Packing::of(&head);
        let name = match packing {
            Packing::Plain => None,
            Packing::Zstd => Some("zstd"),
            Packing::Gzip => Some("gzip"),
            Packing::Bzip2 => Some("bzip2"),
            Packing::Xz => Some("xz"),
        };
        let packed = Arc::new(AtomicU64::new(0));
        let read = packed.clone();
        let count = move |n| {
            read.fetch_add(n, Relaxed);
            Ok(())
        };
        let from = Counted { from: io::Cursor::new(head).chain(from), count };
        Ok(Unpacked { from: packing.unpack(from, budget)?, packing: name, packed })
    }

    /// Bytes that were read of what is packed.
    #[must_use]
    pub(crate) fn packed_bytes(&self) -> u64 {
        self.packed.load(Relaxed)
    }

    /// How it is packed; `None` for plain bytes.
    #[must_use]
    pub(crate) fn packing(&self) -> Option<&'static str> {
        self.packing
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.from.read(buf)
    }
}

/// Whether unpacked bytes that begin so are an archive of files: tar, or the text form of hwloc and others.
#[must_use]
pub(crate) fn is_archive_head(head: &[u8]) -> bool {
    ttar::is(head) || head.first_chunk::<512>().is_some_and(|block| tar::header(block).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gz(text: &[u8]) -> Vec<u8> {
        let mut e = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        e.write_all(text).unwrap();
        e.finish().unwrap()
    }

    fn read(packed: &[u8]) -> (Option<&'static str>, Vec<u8>, bool) {
        let mut u = Unpacked::new(packed, &Budget::default()).unwrap();
        let mut out = Vec::new();
        let mut buf = [0; 7];
        loop {
            match u.read(&mut buf) {
                Ok(0) => return (u.packing(), out, true),
                Ok(n) => out.extend_from_slice(&buf[..n]),
                Err(_) => return (u.packing(), out, false),
            }
        }
    }

    #[test]
    fn members_and_frames_follow_each_other() {
        let two = [gz(b"first\n"), gz(b"second\n")].concat();
        assert_eq!(read(&two), (Some("gzip"), b"first\nsecond\n".to_vec(), true));
        let frames = [zstd::encode_all(&b"a\n"[..], 1).unwrap(), zstd::encode_all(&b"b\n"[..], 1).unwrap()].concat();
        assert_eq!(read(&frames), (Some("zstd"), b"a\nb\n".to_vec(), true));
        assert_eq!(read(b"plain"), (None, b"plain".to_vec(), true));
        assert_eq!(read(b""), (None, Vec::new(), true));
    }

    #[test]
    fn a_damaged_end_keeps_what_came_before() {
        let text: Vec<u8> =
            (0..20_000u32).flat_map(|i| format!("line {i} {}\n", i.wrapping_mul(2_654_435_761)).into_bytes()).collect();
        let whole = gz(&text);
        let (packing, got, good) = read(&whole[..whole.len() / 2]);
        assert_eq!((packing, good), (Some("gzip"), false));
        assert!(got.len() > text.len() / 4 && text.starts_with(&got), "{} of {}", got.len(), text.len());
    }
}

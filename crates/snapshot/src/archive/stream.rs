//! Bytes of an archive, unpacked: a window over a reader, or over memory, with a limit on what may pass.

use crate::budget::{Budget, Counted, Exceeded};
use bzip2::bufread::BzDecoder;
use linerate_formats::bounds;
use std::io::{self, BufRead, BufReader, Read};

/// How an archive is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Plain,
    Zstd,
    Gzip,
    Bzip2,
    Xz,
}

impl Packing {
    /// By the first bytes.
    pub(super) fn of(head: &[u8]) -> Self {
        match head {
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
            // A skippable frame before the first one.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Packing::Zstd,
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [b'B', b'Z', b'h', ..] => Packing::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Packing::Xz,
            _ => Packing::Plain,
        }
    }

    /// A reader of the unpacked bytes, within a budget. Plain bytes are free.
    pub(super) fn unpack<'a>(self, from: impl Read + 'a, budget: &Budget) -> io::Result<Box<dyn Read + 'a>> {
        self.unpack_as(from, true, budget)
    }

    /// The same. `earns`: the packed bytes lie on the disk. Those that came out of an archive count already, and earn nothing.
    pub(super) fn unpack_as<'a>(
        self,
        from: impl Read + 'a,
        earns: bool,
        budget: &Budget,
    ) -> io::Result<Box<dyn Read + 'a>> {
        if self == Packing::Plain {
            return Ok(Box::new(from));
        }
        let (packed, unpacked) = (budget.clone(), budget.clone());
        let count = move |n| {
            if earns {
                packed.packed(n);
            }
            Ok(())
        };
        let from = self.decoder(Counted { from, count }, budget)?;
        Ok(Box::new(Counted { from, count: move |n| unpacked.take(n).map_err(io::Error::other) }))
    }

    fn decoder<'a>(self, from: impl Read + 'a, budget: &Budget) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Packing::Plain => Box::new(from),
            Packing::Zstd => {
                let mut d = zstd::stream::read::Decoder::new(from)?;
                // More than anyone sane uses, less than would hurt.
                d.window_log_max(bounds::WINDOW_LOG)?;
                Box::new(d)
            }
            Packing::Gzip => Box::new(flate2::read::MultiGzDecoder::new(from)),
            Packing::Bzip2 => {
                Box::new(Bzip2 { of: Some(BzDecoder::new(BufReader::new(from))), budget: budget.clone() })
            }
            Packing::Xz => {
                let s = liblzma::stream::Stream::new_stream_decoder(bounds::XZ_MEMORY, liblzma::stream::CONCATENATED)
                    .map_err(io::Error::from)?;
                Box::new(liblzma::read::XzDecoder::new_stream(from, s))
            }
        })
    }
}

/// bzip2, member by member. A decoder needs megabytes, so that a file of empty members costs seconds for nothing.
struct Bzip2<R> {
    /// `None` at the end.
    of: Option<BzDecoder<BufReader<R>>>,
    budget: Budget,
}

impl<R: Read> Read for Bzip2<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.of {
            let n = member.read(buf)?;
            if n > 0 || buf.is_empty() {
                return Ok(n);
            }
            let Some(mut rest) = self.of.take().map(BzDecoder::into_inner) else { break };
            if rest.fill_buf()?.is_empty() {
                break;
            }
            self.budget.member().map_err(io::Error::other)?;
            self.of = Some(BzDecoder::new(rest));
        }
        Ok(0)
    }
}

/// Why the bytes ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// Regularly.
    End,
    /// The decompressor or the disk failed.
    Broken(io::Error),
    /// More than the limit.
    TooMuch,
    /// More than the budget.
    Exceeded(Exceeded),
}

/// A window that moves forward over the bytes.
pub(super) struct Stream<'a> {
    from: Option<Box<dyn Read + 'a>>,
    buf: std::borrow::Cow<'a, [u8]>,
    at: usize,
    /// Bytes that were read before the window.
    passed: u64,
    limit: u64,
}

const CHUNK: usize = 256 << 10;

impl<'a> Stream<'a> {
    /// Over bytes in memory.
    pub(super) fn memory(bytes: &'a [u8]) -> Self {
        Stream { from: None, buf: bytes.into(), at: 0, passed: 0, limit: u64::MAX }
    }

    /// Over a reader, at most `limit` bytes of it.
    pub(super) fn new(from: Box<dyn Read + 'a>, limit: u64) -> Self {
        Stream { from: Some(from), buf: Vec::new().into(), at: 0, passed: 0, limit }
    }

    /// Bytes that are in memory already.
    pub(super) fn in_memory(&self) -> usize {
        self.buf.len()
    }

    /// Position from the start.
    pub(super) fn position(&self) -> u64 {
        self.passed + self.at as u64
    }

    /// The next `n` bytes, without moving; fewer at the end.
    pub(super) fn peek(&mut self, n: usize) -> (&[u8], Option<Ended>) {
        let ended = if self.buf.len() - self.at < n { self.fill(n) } else { None };
        let have = self.buf.get(self.at..).unwrap_or_default();
        (have.get(..n).unwrap_or(have), ended)
    }

    fn fill(&mut self, n: usize) -> Option<Ended> {
        let Some(from) = &mut self.from else { return Some(Ended::End) };
        let buf = self.buf.to_mut();
        buf.drain(..self.at);
        self.passed += self.at as u64;
        self.at = 0;
        while buf.len() < n {
            if self.passed + buf.len() as u64 >= self.limit {
                return Some(Ended::TooMuch);
            }
            let old = buf.len();
            buf.resize(old + CHUNK, 0);
            let got = from.read(buf.get_mut(old..).unwrap_or_default());
            let (len, end) = match got {
                Ok(0) => (0, Some(Ended::End)),
                Ok(n) => (n, None),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => (0, None),
                Err(e) => (0, Some(Exceeded::of(&e).map_or(Ended::Broken(e), Ended::Exceeded))),
            };
            buf.truncate(old + len);
            if end.is_some() {
                return end;
            }
        }
        None
    }

    /// Moves on by `n` bytes, which may be many more than the window.
    pub(super) fn skip(&mut self, mut n: u64) -> Option<Ended> {
        loop {
            let have = self.buf.len() - self.at;
            let step = n.min(have as u64) as usize;
            self.at += step;
            n -= step as u64;
            if n == 0 {
                return None;
            }
            if let Some(e) = self.fill(1) {
                return Some(e);
            }
        }
    }
}

//! An input that the user named: a file, a pipe, standard input. It is opened once, unpacked while it is read, and its beginning shows what it is.

use crate::archive::{Unpacked, is_archive_head};
use crate::budget::{Exceeded, charge_holes};
use crate::recognise::HEAD;
use crate::{Budget, content};
use linerate_formats::Kind;
use linerate_formats::bounds::{HELD_ALLOWANCE, HELD_RATIO};
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// One input, within the budget of a command.
pub struct Input {
    from: Unpacked<'static>,
    head: Vec<u8>,
    /// Bytes of the head that were handed over.
    given: usize,
    /// Bytes that came out, those of the head included.
    bytes: u64,
    /// What ended the head before its end.
    failed: Option<io::Error>,
    /// The limit that the user set for what is packed.
    asked: Option<u64>,
}

/// Why an input ended before its end. What came before counts.
#[derive(Debug)]
pub struct Damage {
    /// Bytes that came out.
    pub bytes: u64,
    /// How it is packed; `None`: not at all.
    pub packing: Option<&'static str>,
    /// What happened.
    pub source: io::Error,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Damage { bytes, packing, source } = self;
        if source.get_ref().is_some_and(|e| e.is::<TooLong>()) {
            return source.fmt(f);
        }
        match (Exceeded::of(source), packing) {
            (Some(exceeded), _) => write!(f, "{exceeded}; the first {bytes} bytes were read"),
            (None, Some(packing)) => write!(
                f,
                "its {packing} compression is damaged after {bytes} bytes of text: {source}; what came before was read"
            ),
            (None, None) => write!(f, "reading it failed after {bytes} bytes: {source}; what came before was read"),
        }
    }
}

impl std::error::Error for Damage {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl Input {
    /// Opens it and reads its beginning, 64 KiB or all. `None` is standard input. What is wrong with the beginning of what is packed is said
    /// where it is read.
    ///
    /// # Errors
    /// It cannot be opened, is a directory, or a file with holes that is longer than the budget.
    pub fn open(path: Option<&Path>, budget: &Budget) -> io::Result<Self> {
        let from: Box<dyn Read> = match path {
            None => Box::new(io::stdin().lock()),
            Some(path) => {
                let file = File::open(path)?;
                charge_holes(&file, budget).map_err(io::Error::other)?;
                Box::new(file)
            }
        };
        Input::of(from, budget)
    }

    fn of(from: impl Read + 'static, budget: &Budget) -> io::Result<Self> {
        let mut from = Unpacked::new(from, budget)?;
        let mut head = Vec::new();
        let failed = from.by_ref().take(HEAD as u64).read_to_end(&mut head).err();
        let bytes = head.len() as u64;
        Ok(Input { from, head, given: 0, bytes, failed, asked: budget.asked() })
    }

    /// The beginning: 64 KiB, or all. Empty once it was taken.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Whether it is an archive of files, not a text.
    #[must_use]
    pub fn is_archive(&self) -> bool {
        is_archive_head(&self.head)
    }

    /// What its text is, by the beginning and by the name of its file.
    #[must_use]
    pub fn kind(&self, name: &str) -> Kind {
        content(name, &self.head)
    }

    /// Takes the beginning; what is read after that begins behind it.
    #[must_use]
    pub fn take_head(&mut self) -> Vec<u8> {
        self.given = 0;
        std::mem::take(&mut self.head)
    }

    /// How it is packed; `None`: not at all.
    #[must_use]
    pub fn packing(&self) -> Option<&'static str> {
        self.from.packing()
    }

    /// Bytes that were read of what lies on the disk.
    #[must_use]
    pub fn packed_bytes(&self) -> u64 {
        self.from.packed_bytes()
    }

    /// The next piece; 0 bytes at the end.
    ///
    /// # Errors
    /// It ends before its end.
    pub fn piece(&mut self, to: &mut [u8]) -> Result<usize, Damage> {
        loop {
            match self.read(to) {
                Ok(n) => return Ok(n),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(Damage { bytes: self.bytes, packing: self.packing(), source }),
            }
        }
    }

    /// The rest of a text that is held as a whole: all, or more than `most` bytes. What is packed may become less than where it is streamed.
    ///
    /// # Errors
    /// It ends before its end; what came before is in `bytes`. Or it unpacks to more than it may, and then nothing is.
    pub fn hold(&mut self, bytes: &mut Vec<u8>, most: u64) -> io::Result<()> {
        loop {
            let packed = self.packed_bytes();
            let limit = match (self.packing(), self.asked) {
                (None, _) | (_, Some(_)) => most,
                _ => most.min(HELD_ALLOWANCE.saturating_add(HELD_RATIO.saturating_mul(packed))),
            };
            if self.by_ref().take(HEAD as u64).read_to_end(bytes)? == 0 {
                return Ok(());
            }
            let len = bytes.len() as u64;
            if len > limit && limit < most {
                bytes.clear();
                return Err(io::Error::other(TooLong { limit, packed }));
            }
            if len > most {
                return Ok(());
            }
        }
    }

    /// All of a text that is held as a whole, or its first `most` bytes and one more, which shows that it is longer.
    ///
    /// # Errors
    /// It ends before its end, or unpacks to more than it may.
    pub fn text(mut self, most: u64) -> Result<Vec<u8>, Damage> {
        let mut text = self.take_head();
        if let Err(source) = self.hold(&mut text, most) {
            return Err(Damage { bytes: text.len() as u64, packing: self.packing(), source });
        }
        text.truncate(usize::try_from(most).unwrap_or(usize::MAX).saturating_add(1));
        Ok(text)
    }
}

/// A packed text that is held as a whole is longer than it may be.
#[derive(Debug, thiserror::Error)]
#[error(
    "it unpacks to more than {} MiB, the limit of a packed text that is held as a whole ({} MiB and {HELD_RATIO} times the {packed} bytes \
     read); unpack it, or raise the limit by `--max-input`", .limit >> 20, HELD_ALLOWANCE >> 20
)]
struct TooLong {
    limit: u64,
    packed: u64,
}

impl Read for Input {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let mut rest = self.head.get(self.given..).unwrap_or_default();
        if !rest.is_empty() {
            let n = rest.read(buf)?;
            self.given += n;
            return Ok(n);
        }
        if let Some(e) = self.failed.take() {
            return Err(e);
        }
        let n = self.from.read(buf)?;
        self.bytes += n as u64;
        Ok(n)
    }
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

    fn lines() -> Vec<u8> {
        (0..20_000u32).flat_map(|i| format!("line {i} {}\n", i.wrapping_mul(2_654_435_761)).into_bytes()).collect()
    }

    fn input(bytes: Vec<u8>, budget: &Budget) -> Input {
        Input::of(io::Cursor::new(bytes), budget).unwrap()
    }

    #[test]
    fn the_beginning_comes_once() {
        let text = lines();
        for (bytes, packing) in [(text.clone(), None), (gz(&text), Some("gzip"))] {
            let mut whole = input(bytes.clone(), &Budget::default());
            assert_eq!((whole.packing(), whole.head()), (packing, &text[..HEAD]));
            let mut all = Vec::new();
            whole.read_to_end(&mut all).unwrap();
            assert!(all == text);
            assert_eq!(whole.packed_bytes(), bytes.len() as u64);
            let mut behind = input(bytes.clone(), &Budget::default());
            let mut all = behind.take_head();
            behind.read_to_end(&mut all).unwrap();
            assert!(all == text);
            assert!(input(bytes.clone(), &Budget::default()).text(1 << 20).unwrap() == text);
            assert_eq!(input(bytes.clone(), &Budget::default()).text(100).unwrap(), &text[..101]);
        }
    }

    #[test]
    fn what_came_before_damage_counts() {
        let (text, packed) = (lines(), gz(&lines()));
        let mut cut = input(packed[..packed.len() / 2].to_vec(), &Budget::default());
        let (mut all, mut piece) = (Vec::new(), vec![0; 4096]);
        let damage = loop {
            match cut.piece(&mut piece) {
                Ok(n) => all.extend_from_slice(&piece[..n]),
                Err(damage) => break damage,
            }
        };
        assert!(all.len() > HEAD && text.starts_with(&all));
        assert_eq!((damage.bytes, damage.packing), (all.len() as u64, Some("gzip")));
        assert!(damage.to_string().starts_with("its gzip compression is damaged after "), "{damage}");
        // Its beginning is damaged already.
        let mut none = input(packed[..12].to_vec(), &Budget::default());
        assert!(none.head().is_empty() && none.piece(&mut piece).is_err_and(|d| d.bytes == 0));
    }

    #[test]
    fn what_is_held_may_become_less() {
        let packed = gz(&vec![b'x'; 9 << 20]);
        let e = input(packed.clone(), &Budget::default()).text(64 << 20).unwrap_err();
        assert!(e.to_string().starts_with("it unpacks to more than 8 MiB, the limit of a packed text"), "{e}");
        assert_eq!(input(packed, &Budget::new(Some(1 << 30))).text(64 << 20).unwrap().len(), 9 << 20);
        assert_eq!(input(vec![b'x'; 9 << 20], &Budget::default()).text(64 << 20).unwrap().len(), 9 << 20);
    }

    #[test]
    fn the_budget_holds() {
        let packed = gz(&vec![b'x'; 4 << 20]);
        let mut bomb = input(packed, &Budget::new(Some(1 << 20)));
        assert_eq!(bomb.head().len(), HEAD);
        let mut all = Vec::new();
        let e = bomb.read_to_end(&mut all).unwrap_err();
        assert!(Exceeded::of(&e).is_some_and(|e| e.asked) && all.len() <= 1 << 20);
    }
}

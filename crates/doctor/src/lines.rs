//! A stream of bytes becomes lines: whole, decoded, without colours, whatever the bytes are.

use crate::observe::Observer;
use crate::place::{FileId, Place};
use std::borrow::Cow;

/// Bytes of a line that are looked at. NCCL's own lines are cut at 1,024; frameworks print a few kilobytes.
const MAX_LINE: usize = 64 << 10;

/// How the bytes are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16 { big: bool },
}

/// Feeds a file to an observer, in pieces of any size. Memory is bounded: a line longer than 64 KiB is cut, the rest passed over.
#[derive(Debug)]
pub struct Reader {
    file: FileId,
    line: u64,
    /// The beginning of a line whose end has not come yet.
    carry: Vec<u8>,
    /// The line was longer than what is kept: its rest is passed over.
    skipping: bool,
    encoding: Option<Encoding>,
    odd: Option<u8>,
}

impl Reader {
    /// A reader of a new file.
    pub fn new(observer: &mut Observer, name: &str) -> Self {
        let file = observer.open(name);
        Reader { file, line: 0, carry: Vec::new(), skipping: false, encoding: None, odd: None }
    }

    /// The next piece.
    pub fn feed(&mut self, observer: &mut Observer, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        observer.file(self.file).bytes += bytes.len() as u64;
        // A mark of two bytes may come in two pieces.
        let both;
        let bytes = match (self.encoding, self.odd.take(), bytes) {
            (None, None, [first @ (0xff | 0xfe)]) => {
                self.odd = Some(*first);
                return;
            }
            (None, Some(first), _) => {
                both = [&[first], bytes].concat();
                &both
            }
            (_, odd, _) => {
                self.odd = odd;
                bytes
            }
        };
        let encoding = *self.encoding.get_or_insert(match bytes {
            [0xff, 0xfe, ..] => Encoding::Utf16 { big: false },
            [0xfe, 0xff, ..] => Encoding::Utf16 { big: true },
            _ => Encoding::Utf8,
        });
        match encoding {
            Encoding::Utf8 => self.utf8(observer, bytes),
            Encoding::Utf16 { big } => {
                let narrow = self.narrow(bytes, big);
                self.utf8(observer, narrow.as_bytes());
            }
        }
    }

    /// The end of the file.
    pub fn finish(mut self, observer: &mut Observer) {
        if let (None, Some(first)) = (self.encoding, self.odd.take()) {
            self.encoding = Some(Encoding::Utf8);
            self.utf8(observer, &[first]);
        }
        if !self.carry.is_empty() && !self.skipping {
            let carry = std::mem::take(&mut self.carry);
            self.line += 1;
            observer.file(self.file).unended = true;
            self.one(observer, &carry);
        }
        observer.file(self.file).lines = self.line;
        observer.close(self.file);
    }

    fn narrow(&mut self, bytes: &[u8], big: bool) -> String {
        let all: Vec<u8> = self.odd.take().into_iter().chain(bytes.iter().copied()).collect();
        let pairs = all.chunks_exact(2);
        self.odd = pairs.remainder().first().copied();
        let units = pairs.map(|p| {
            let pair = [p.first().copied().unwrap_or(0), p.get(1).copied().unwrap_or(0)];
            if big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
        });
        char::decode_utf16(units)
            .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
            .filter(|c| *c != '\u{feff}')
            .collect()
    }

    fn utf8(&mut self, observer: &mut Observer, bytes: &[u8]) {
        let mut rest = bytes;
        if !self.carry.is_empty() || self.skipping {
            let Some(end) = memchr::memchr(b'\n', rest) else {
                self.keep(observer, rest);
                return;
            };
            let (head, tail) = rest.split_at(end);
            self.keep(observer, head);
            rest = tail.get(1..).unwrap_or_default();
            self.line += 1;
            let carry = std::mem::take(&mut self.carry);
            if !carry.is_empty() {
                self.one(observer, &carry);
            }
            self.skipping = false;
        }
        let Some(last) = memchr::memrchr(b'\n', rest) else {
            self.keep(observer, rest);
            return;
        };
        let (block, tail) = rest.split_at(last + 1);
        self.block(observer, block);
        self.keep(observer, tail);
    }

    /// Keeps the beginning of a line.
    fn keep(&mut self, observer: &mut Observer, bytes: &[u8]) {
        if bytes.is_empty() || self.skipping && self.carry.is_empty() {
            return;
        }
        let room = MAX_LINE.saturating_sub(self.carry.len());
        self.carry.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
        if bytes.len() > room {
            observer.file(self.file).cut_lines += 1;
            // What is kept is judged now; the rest of the line is passed over.
            let carry = std::mem::take(&mut self.carry);
            self.line += 1;
            self.one(observer, &carry);
            self.line -= 1;
            self.skipping = true;
        }
    }

    /// Whole lines.
    fn block(&mut self, observer: &mut Observer, block: &[u8]) {
        let Some(text) = std::str::from_utf8(block).ok().filter(|_| memchr::memchr(0x1b, block).is_none()) else {
            for line in block.split_inclusive(|b| *b == b'\n') {
                self.line += 1;
                self.one(observer, line.strip_suffix(b"\n").unwrap_or(line));
            }
            return;
        };
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', block) {
            self.line += 1;
            let line = text.get(start..end).unwrap_or_default();
            start = end + 1;
            let line = line.strip_suffix('\r').unwrap_or(line);
            if line.len() > MAX_LINE {
                self.one(observer, line.as_bytes());
            } else {
                observer.line(Place { file: self.file, line: self.line }, line);
            }
        }
    }

    /// One line of any bytes.
    fn one(&mut self, observer: &mut Observer, bytes: &[u8]) {
        let bytes = if bytes.len() > MAX_LINE {
            observer.file(self.file).cut_lines += 1;
            bytes.get(..MAX_LINE).unwrap_or_default()
        } else {
            bytes
        };
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => {
                observer.file(self.file).undecodable += 1;
                String::from_utf8_lossy(bytes)
            }
        };
        let text = if memchr::memchr(0x1b, text.as_bytes()).is_some() { Cow::Owned(plain(&text)) } else { text };
        let line = text.strip_suffix('\r').unwrap_or(&text);
        observer.line(Place { file: self.file, line: self.line }, line);
    }
}

/// Without the terminal's escape sequences (`ESC [ … letter`, `ESC ] … BEL`, `ESC letter`).
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('[') => {
                chars.by_ref().find(|c| ('@'..='~').contains(c));
            }
            Some(']') => {
                chars.by_ref().find(|c| *c == '\u{7}' || *c == '\\');
            }
            _ => {}
        }
    }
    out
}

//! A stream of bytes becomes lines: whole, decoded, without colours, whatever the bytes are and in whatever pieces they come.

use crate::text::{ESC, at_most, strip_escapes};
use std::borrow::Cow;

/// How the bytes are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Utf16 { big: bool },
}

/// A line of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Counted from 1.
    pub number: u64,
    /// Without its end and without a terminal's escape sequences; what is no UTF-8 is U+FFFD.
    pub text: &'a str,
    /// It is longer than what is kept of a line: this is its beginning.
    pub is_cut: bool,
    /// Part of it is no UTF-8.
    pub is_undecodable: bool,
    /// Which of the reader's marks are in it: bit `n` for the `n`th.
    pub marks: u8,
}

/// Who is given the lines of a stream. Any closure that takes a [`Line`] is one.
pub trait Sink {
    /// The next line.
    fn line(&mut self, line: Line<'_>);

    /// Many lines at once, in which no mark is; the first has the number `first`, and the last may be a part of one. Those that were taken, from the first on,
    /// are not handed on one by one.
    fn run(&mut self, first: u64, text: &str) -> Taken {
        let _ = (first, text);
        Taken::default()
    }
}

impl<F: FnMut(Line<'_>)> Sink for F {
    fn line(&mut self, line: Line<'_>) {
        self(line);
    }
}

/// Whole lines that a [`Sink`] took at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Taken {
    /// Lines.
    pub lines: u64,
    /// Their bytes, with the last line's end.
    pub bytes: usize,
}

impl Taken {
    /// The empty lines at the beginning of a text.
    #[must_use]
    pub fn empty(text: &str) -> Self {
        let bytes = text.bytes().take_while(|b| *b == b'\n').count();
        Taken { lines: bytes as u64, bytes }
    }
}

/// Where a mark is first found in bytes. It holds no line end.
pub type Find = fn(&[u8]) -> Option<usize>;

/// How a stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// Lines.
    pub lines: u64,
    /// The last line has no end: the text may be cut.
    pub unended: bool,
}

/// Reads a stream in pieces of any size. Memory is bounded: of a line that is longer than `most` bytes the rest is passed over.
#[derive(Debug)]
pub struct LineReader {
    most: usize,
    marks: &'static [Find],
    line: u64,
    /// The beginning of a line whose end has not come yet.
    carry: Vec<u8>,
    /// The line was longer than what is kept: its rest is passed over.
    skipping: bool,
    encoding: Option<Encoding>,
    odd: Option<u8>,
    /// The first half of a character of UTF-16 whose second half has not come yet.
    high: Option<u16>,
}

impl LineReader {
    /// Keeps at most so many bytes of a line.
    #[must_use]
    pub fn new(most: usize) -> Self {
        LineReader::with_marks(most, &[])
    }

    /// [`new`](LineReader::new), and says of each line which of these marks (8 at most) are in it. They are looked for in many lines at once: what few lines
    /// have costs little.
    #[must_use]
    pub fn with_marks(most: usize, marks: &'static [Find]) -> Self {
        let (carry, line) = (Vec::new(), 0);
        LineReader { most, marks, line, carry, skipping: false, encoding: None, odd: None, high: None }
    }

    /// The next piece: the sink is given each line whose end has come.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut impl Sink) {
        if bytes.is_empty() {
            return;
        }
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
            Encoding::Utf8 => self.utf8(bytes, sink),
            Encoding::Utf16 { big } => {
                let narrow = self.narrow(bytes, big);
                self.utf8(narrow.as_bytes(), sink);
            }
        }
    }

    /// The end of the stream.
    pub fn finish(mut self, sink: &mut impl Sink) -> End {
        if let (None, Some(first)) = (self.encoding, self.odd.take()) {
            self.encoding = Some(Encoding::Utf8);
            self.utf8(&[first], sink);
        }
        if self.high.take().is_some() {
            self.utf8(char::REPLACEMENT_CHARACTER.encode_utf8(&mut [0; 4]).as_bytes(), sink);
        }
        let carry = std::mem::take(&mut self.carry);
        let unended = self.skipping || !carry.is_empty();
        self.line += u64::from(unended);
        if !self.skipping && unended {
            self.one(&carry, false, sink);
        }
        End { lines: self.line, unended }
    }

    fn narrow(&mut self, bytes: &[u8], big: bool) -> String {
        let all: Vec<u8> = self.odd.take().into_iter().chain(bytes.iter().copied()).collect();
        let (pairs, odd) = all.as_chunks::<2>();
        self.odd = odd.first().copied();
        let mut units: Vec<u16> = self.high.take().into_iter().collect();
        units.extend(pairs.iter().map(|p| if big { u16::from_be_bytes(*p) } else { u16::from_le_bytes(*p) }));
        self.high = units.pop_if(|last| (0xd800..0xdc00).contains(last));
        let chars = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
        chars.filter(|c| *c != MARK).collect()
    }

    fn utf8(&mut self, bytes: &[u8], sink: &mut impl Sink) {
        let mut rest = bytes;
        if !self.carry.is_empty() || self.skipping {
            let Some(end) = memchr::memchr(b'\n', rest) else { return self.keep(rest, sink) };
            let (head, tail) = rest.split_at(end);
            self.keep(head, sink);
            rest = tail.get(1..).unwrap_or_default();
            self.line += 1;
            let carry = std::mem::take(&mut self.carry);
            if !self.skipping {
                self.one(&carry, false, sink);
            }
            self.skipping = false;
        }
        let Some(last) = memchr::memrchr(b'\n', rest) else { return self.keep(rest, sink) };
        let (block, tail) = rest.split_at(last + 1);
        self.block(block, sink);
        self.keep(tail, sink);
    }

    /// Keeps the beginning of a line.
    fn keep(&mut self, bytes: &[u8], sink: &mut impl Sink) {
        if bytes.is_empty() || self.skipping {
            return;
        }
        let room = self.most.saturating_sub(self.carry.len());
        self.carry.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
        if bytes.len() > room {
            // What is kept is handed on now; the rest of the line is passed over.
            let carry = std::mem::take(&mut self.carry);
            self.line += 1;
            self.one(&carry, true, sink);
            self.line -= 1;
            self.skipping = true;
        }
    }

    /// Whole lines of any bytes.
    fn block(&mut self, block: &[u8], sink: &mut impl Sink) {
        let mut rest = block;
        while !rest.is_empty() {
            // Checking many lines at once is several times quicker, and nearly every text is plain.
            let text = if self.line == 0 && rest.starts_with(MARK.encode_utf8(&mut [0; 4]).as_bytes()) {
                ""
            } else {
                plain(rest)
            };
            let lines = text.get(..memchr::memrchr(b'\n', text.as_bytes()).map_or(0, |at| at + 1)).unwrap_or_default();
            self.plain(lines, sink);
            let odd = rest.get(lines.len()..).unwrap_or_default();
            let len = memchr::memchr(b'\n', odd).map_or(odd.len(), |at| at + 1);
            let (odd, behind) = odd.split_at(len);
            if !odd.is_empty() {
                self.line += 1;
                self.one(odd.strip_suffix(b"\n").unwrap_or(odd), false, sink);
            }
            rest = behind;
        }
    }

    /// Whole lines without a terminal's escape sequences.
    fn plain(&mut self, text: &str, sink: &mut impl Sink) {
        let (mut start, mut ahead) = (0, Ahead::new(self.marks, text.as_bytes()));
        while start < text.len() {
            let unmarked = text.get(start..ahead.nearest(start)).unwrap_or_default();
            let taken = sink.run(self.line + 1, at_most(unmarked, self.most));
            self.line += taken.lines;
            start += taken.bytes;
            let rest = text.get(start..).unwrap_or_default();
            let Some(len) = memchr::memchr(b'\n', rest.as_bytes()) else { break };
            let line = rest.get(..len).unwrap_or_default();
            let marks = ahead.of_line(start, start + len);
            start += len + 1;
            self.line += 1;
            if len > self.most {
                self.one(line.as_bytes(), false, sink);
            } else {
                let text = line.strip_suffix('\r').unwrap_or(line);
                sink.line(Line { number: self.line, text, is_cut: false, is_undecodable: false, marks });
            }
        }
    }

    /// One line of any bytes.
    fn one(&self, bytes: &[u8], is_cut: bool, sink: &mut impl Sink) {
        let is_cut = is_cut || bytes.len() > self.most;
        let bytes = bytes.get(..self.most).unwrap_or(bytes);
        let bytes = match bytes {
            [0xef, 0xbb, 0xbf, rest @ ..] if self.line == 1 => rest,
            _ => bytes,
        };
        let coloured = memchr::memchr(ESC, bytes).is_some();
        let plain = if coloured { Cow::Owned(strip_escapes(bytes)) } else { Cow::Borrowed(bytes) };
        let decoded = std::str::from_utf8(&plain).map(Cow::Borrowed);
        let is_undecodable = decoded.is_err();
        let text = decoded.unwrap_or_else(|_| String::from_utf8_lossy(&plain));
        let line = text.strip_suffix('\r').unwrap_or(&text);
        let marks = Ahead::new(self.marks, line.as_bytes()).of_line(0, line.len());
        sink.line(Line { number: self.line, text: line, is_cut, is_undecodable, marks });
    }
}

/// The beginning of a text that is UTF-8 without a terminal's escape sequences.
fn plain(bytes: &[u8]) -> &str {
    let head = bytes.get(..memchr::memchr(ESC, bytes).unwrap_or(bytes.len())).unwrap_or_default();
    match simdutf8::compat::from_utf8(head) {
        Ok(text) => text,
        Err(e) => head.get(..e.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok()).unwrap_or_default(),
    }
}

/// Where each mark comes next in a block of lines.
struct Ahead<'a> {
    marks: &'static [Find],
    block: &'a [u8],
    next: [usize; 8],
}

impl<'a> Ahead<'a> {
    fn new(marks: &'static [Find], block: &'a [u8]) -> Self {
        let mut next = [0; 8];
        for (next, find) in next.iter_mut().zip(marks) {
            *next = find(block).unwrap_or(block.len());
        }
        Ahead { marks, block, next }
    }

    /// Where the next mark is at or behind this byte.
    fn nearest(&mut self, start: usize) -> usize {
        let mut nearest = self.block.len();
        for (next, find) in self.next.iter_mut().zip(self.marks) {
            if *next < start {
                let rest = self.block.get(start..).unwrap_or_default();
                *next = find(rest).map_or(self.block.len(), |at| start + at);
            }
            nearest = nearest.min(*next);
        }
        nearest
    }

    /// The marks of the line between these bytes; lines are asked in their order.
    fn of_line(&mut self, start: usize, end: usize) -> u8 {
        if self.nearest(start) >= end {
            return 0;
        }
        let marks = self.next.iter().take(self.marks.len()).enumerate();
        marks.filter(|(_, next)| **next < end).fold(0, |all, (n, _)| all | 1 << n)
    }
}

/// The mark at the head of a text that shows its encoding.
const MARK: char = '\u{feff}';

#[cfg(test)]
mod tests {
    use super::*;

    fn read(most: usize, pieces: &[&[u8]]) -> (Vec<(u64, String, bool, bool)>, End) {
        let mut reader = LineReader::new(most);
        let mut out = Vec::new();
        let mut each = |l: Line<'_>| out.push((l.number, l.text.to_owned(), l.is_cut, l.is_undecodable));
        pieces.iter().for_each(|p| reader.feed(p, &mut each));
        let end = reader.finish(&mut each);
        (out, end)
    }

    fn texts(pieces: &[&[u8]]) -> Vec<String> {
        read(64, pieces).0.into_iter().map(|(_, text, ..)| text).collect()
    }

    #[test]
    fn any_pieces_give_the_same_lines() {
        let text = "\u{feff}a\r\n\n\x1b[31mred\x1b[0m é\nlast".as_bytes();
        let want = ["a", "", "red é", "last"];
        assert_eq!(texts(&[text]), want);
        for at in 0..text.len() {
            let (a, b) = text.split_at(at);
            assert_eq!(texts(&[a, b]), want, "{at}");
        }
        assert_eq!(read(64, &[text]).1, End { lines: 4, unended: true });
        assert_eq!(read(64, &[b"a\n\n"]).1, End { lines: 2, unended: false });
    }

    #[test]
    fn utf16_in_any_pieces() {
        for (mark, unit) in
            [([0xff, 0xfe], u16::to_le_bytes as fn(u16) -> [u8; 2]), ([0xfe, 0xff], u16::to_be_bytes as _)]
        {
            let text: Vec<u8> = mark.into_iter().chain("a\r\né \u{1f600}\n".encode_utf16().flat_map(unit)).collect();
            for at in 0..text.len() {
                let (a, b) = text.split_at(at);
                assert_eq!(texts(&[a, b]), ["a", "é \u{1f600}"], "{at}");
            }
        }
        assert_eq!(texts(&[b"\xff\xfe\x00\xd8"]), ["\u{fffd}"], "half of a character");
    }

    #[test]
    fn long_lines_are_cut_and_counted_once() {
        let long = [b"x".repeat(100), b"\nb\n".to_vec()].concat();
        let want = vec![(1, "x".repeat(64), true, false), (2, "b".to_owned(), false, false)];
        assert_eq!(read(64, &[&long]).0, want);
        let (a, b) = long.split_at(70);
        assert_eq!(read(64, &[a, b]).0, want);
        assert_eq!(read(64, &[&b"x".repeat(99)]).1, End { lines: 1, unended: true });
    }

    #[test]
    fn marks_are_of_their_lines() {
        let marks: &[Find] = &[|t| memchr::memchr(b'#', t), |t| memchr::memmem::find(t, b"ab")];
        let text = b"#\nx\nab # ab\na\nb#\n\x1b[1mab\nab";
        for at in 0..text.len() {
            let (a, b) = text.split_at(at);
            let (mut reader, mut got) = (LineReader::with_marks(64, marks), Vec::new());
            reader.feed(a, &mut |l: Line<'_>| got.push(l.marks));
            reader.feed(b, &mut |l: Line<'_>| got.push(l.marks));
            reader.finish(&mut |l: Line<'_>| got.push(l.marks));
            assert_eq!(got, [1, 0, 3, 0, 1, 2, 2], "{at}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_said() {
        let (lines, _) = read(64, &[b"a\n\xff\xfebc\nok\n"]);
        assert_eq!(lines.iter().map(|l| l.3).collect::<Vec<_>>(), [false, true, false]);
    }
}

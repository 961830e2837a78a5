//! Text as people paste it: byte-order marks, UTF-16, terminal colours, CRLF. Everything keeps the line count, because evidence is
//! printed as file:line.

use aho_corasick::{AhoCorasick, MatchKind};
use serde::Serialize;
use std::borrow::Cow;

/// A value and the 1-based line it was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// 1-based line in the source text.
    pub line: u32,
}

impl<T> At<T> {
    /// A value at a line.
    pub fn new(value: T, line: u32) -> Self {
        At { value, line }
    }
}

impl At<String> {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.value
    }
}

/// The beginning of a text, of at most so many bytes, without a part of a character.
#[must_use]
pub fn at_most(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Turns UTF-16 with a byte-order mark into UTF-8, drops a UTF-8 mark, and removes terminal escape sequences. The number of lines
/// does not change. Borrows when there is nothing to do.
pub fn normalise(bytes: &[u8]) -> Cow<'_, [u8]> {
    let text: Cow<'_, [u8]> = match bytes {
        [0xff, 0xfe, rest @ ..] => Cow::Owned(from_utf16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(from_utf16(rest, u16::from_be_bytes)),
        [0xef, 0xbb, 0xbf, rest @ ..] => Cow::Borrowed(rest),
        _ => Cow::Borrowed(bytes),
    };
    if memchr::memchr(ESC, &text).is_none() { text } else { Cow::Owned(strip_escapes(&text)) }
}

/// [`normalise`], then UTF-8; invalid sequences become U+FFFD.
pub(crate) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match normalise(bytes) {
        // Checking first is several times quicker than converting, and text is nearly always valid.
        Cow::Borrowed(b) => simdutf8::basic::from_utf8(b).map_or_else(|_| String::from_utf8_lossy(b), Cow::Borrowed),
        Cow::Owned(b) => {
            Cow::Owned(String::from_utf8(b).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()))
        }
    }
}

/// Gives the lines of a text to a new reader, and says whether the last one has its end.
pub(crate) fn read<R: Default>(bytes: &[u8], mut line: impl FnMut(&mut R, u32, &str)) -> (R, bool) {
    let text = decode(bytes);
    let mut reader = R::default();
    lines(&text).for_each(|(number, each)| line(&mut reader, number, each));
    (reader, text.ends_with('\n'))
}

/// A line without the marks of a quotation (`> `, `> > `) at its margin; what is indented behind them stays so.
#[must_use]
pub fn unquoted(line: &str) -> &str {
    let mut rest = line;
    while let Some(inner) = rest.strip_prefix('>') {
        rest = inner.strip_prefix(' ').unwrap_or(inner);
    }
    rest
}

/// The lines with their 1-based numbers, without line ends.
pub(crate) fn lines(text: &str) -> Lines<'_> {
    Lines { rest: text, number: 0 }
}

/// See [`lines`].
#[derive(Clone)]
pub(crate) struct Lines<'a> {
    /// What was not handed out yet.
    pub(crate) rest: &'a str,
    number: u32,
}

impl<'a> Iterator for Lines<'a> {
    type Item = (u32, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        self.number = self.number.saturating_add(1);
        let Some(at) = memchr::memchr(b'\n', self.rest.as_bytes()) else {
            return Some((self.number, std::mem::take(&mut self.rest)));
        };
        let (line, after) = self.rest.split_at_checked(at)?;
        self.rest = after.get(1..).unwrap_or_default();
        Some((self.number, line.strip_suffix('\r').unwrap_or(line)))
    }
}

/// The number of the last line, where it has no end: it may be cut, and its last word half a word.
pub(crate) fn unended(text: &str) -> Option<u32> {
    (!text.ends_with('\n')).then(|| lines(text).last().map(|(line, _)| line)).flatten()
}

/// 0-based index to 1-based line number; saturates.
pub(crate) fn line_number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1)
}

/// Finds whether one of the words is in a text. Of words that begin together only one is found: that is what vector instructions can look for.
pub(crate) fn any_of(words: impl IntoIterator<Item: AsRef<[u8]>>) -> Option<AhoCorasick> {
    AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(words).ok()
}

/// What follows a key.
pub(crate) fn after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.split_once(key).map(|(_, rest)| rest)
}

/// Which of two words it is: the first is true.
pub(crate) fn flag(word: &str, yes: &str, no: &str) -> Option<bool> {
    if word == yes { Some(true) } else { (word == no).then_some(false) }
}

/// `key<sep>value`, both trimmed.
pub(crate) fn split_key(line: &str, sep: char) -> Option<(&str, &str)> {
    let (key, value) = match u8::try_from(sep) {
        Ok(byte) if byte.is_ascii() => {
            let (key, rest) = line.split_at_checked(memchr::memchr(byte, line.as_bytes())?)?;
            (key, rest.get(1..)?)
        }
        _ => line.split_once(sep)?,
    };
    Some((key.trim(), value.trim()))
}

/// As [`str::trim`], quicker where the white space is ASCII, as it nearly always is.
pub(crate) fn trim(text: &str) -> &str {
    let inner = text.trim_ascii();
    match inner.as_bytes() {
        [first, .., last] if is_plain(*first) && is_plain(*last) => inner,
        [] => inner,
        _ => inner.trim(),
    }
}

/// Neither part of a wider character nor the one control character that only [`char::is_whitespace`] takes for white space.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii() && byte != VERTICAL_TAB
}

const VERTICAL_TAB: u8 = 0x0b;

/// As [`str::split_whitespace`], several times quicker for the ASCII lines of padded tables.
pub(crate) fn words(line: &str) -> Words<'_> {
    if line.is_ascii() { Words::Ascii(line) } else { Words::Any(line.split_whitespace()) }
}

/// See [`words`].
pub(crate) enum Words<'a> {
    Ascii(&'a str),
    Any(std::str::SplitWhitespace<'a>),
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = match self {
            Words::Ascii(rest) => rest,
            Words::Any(words) => return words.next(),
        };
        let is_space = |b: &u8| matches!(b, b'\t'..=b'\r' | b' ');
        let start = rest.bytes().position(|b| !is_space(&b))?;
        let from = rest.get(start..)?;
        let (word, after) = from.split_at_checked(from.bytes().position(|b| is_space(&b)).unwrap_or(from.len()))?;
        *rest = after;
        Some(word)
    }
}

/// Unsigned number, decimal or `0x` hexadecimal.
pub(crate) fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) if !hex.starts_with('+') => u64::from_str_radix(hex, 16).ok(),
        Some(_) => None,
        None if text.starts_with('+') => None,
        None => text.parse().ok(),
    }
}

/// The digits at the start of a text, as in `16x` or `81559 MiB`.
pub(crate) fn leading_number<T: std::str::FromStr>(text: &str) -> Option<T> {
    let text = text.trim();
    let end = text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end).and_then(|d| d.parse().ok())
}

/// Offsets of line starts, for formats whose parsers report byte positions.
pub(crate) struct LineIndex {
    newlines: Vec<usize>,
}

impl LineIndex {
    pub(crate) fn new(text: &str) -> Self {
        LineIndex { newlines: memchr::memchr_iter(b'\n', text.as_bytes()).collect() }
    }

    /// 1-based line of a byte offset.
    pub(crate) fn line(&self, offset: usize) -> u32 {
        line_number(self.newlines.partition_point(|&n| n < offset))
    }
}

pub(crate) const ESC: u8 = 0x1b;

fn from_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let (pairs, _odd) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|p| unit(*p));
    let mut out = String::with_capacity(bytes.len() / 2);
    out.extend(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
    out.into_bytes()
}

/// Removes CSI (`ESC [ … final`), OSC (`ESC ] … BEL`) and two-character sequences. A sequence never runs past a line end, so that a
/// lone escape in garbage cannot swallow the text after it.
pub(crate) fn strip_escapes(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(ESC, rest) {
        let (plain, escape) = rest.split_at(at);
        out.extend_from_slice(plain);
        let escape = escape.get(1..).unwrap_or_default();
        let taken = match escape.first() {
            Some(b'[') => sequence_len(escape, |b| (0x40..=0x7e).contains(&b)),
            Some(b']') => sequence_len(escape, |b| b == 0x07 || b == ESC),
            Some(b'\n' | b'\r') | None => 0,
            Some(0x20..=0x2f) => sequence_len(escape, |b| (0x30..=0x7e).contains(&b)),
            Some(_) => 1,
        };
        rest = escape.get(taken..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

fn sequence_len(escape: &[u8], is_final: impl Fn(u8) -> bool) -> usize {
    for (i, &b) in escape.iter().enumerate().skip(1) {
        if b == b'\n' {
            return i;
        }
        if is_final(b) {
            // The ESC of a string terminator (`ESC \`) starts the next sequence.
            return if b == ESC { i } else { i + 1 };
        }
    }
    escape.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_white_space_is_all_white_space() {
        for line in [
            "",
            " ",
            "a",
            " a\tbc  d\r",
            "\u{b}a\u{b} b\u{c}c\u{b}",
            "\u{a0}a\u{a0} b\u{2003}",
            "\u{e9} \u{e9} ",
            "\u{85} x \u{85}",
        ] {
            assert_eq!(words(line).collect::<Vec<_>>(), line.split_whitespace().collect::<Vec<_>>(), "{line:?}");
            assert_eq!(trim(line), line.trim(), "{line:?}");
        }
    }

    #[test]
    fn colours_go_and_lines_stay() {
        let text = b"\x1b[4mGPU0\x1b[0m\ta\n\x1b]0;title\x07b\x1b\\c\n\x1b[31\nd\x1b(Be\x1b";
        assert_eq!(normalise(text).as_ref(), b"GPU0\ta\nbc\n\nde");
        assert!(matches!(normalise(b"plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn utf16_of_a_windows_clipboard_becomes_utf8() {
        let le: Vec<u8> = [0xff, 0xfe].into_iter().chain("a\r\né".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        let be: Vec<u8> = [0xfe, 0xff].into_iter().chain("a\r\né".encode_utf16().flat_map(u16::to_be_bytes)).collect();
        assert_eq!(decode(&le), "a\r\né");
        assert_eq!(decode(&be), "a\r\né");
        assert_eq!(decode(b"\xef\xbb\xbfx"), "x");
        assert_eq!(decode(b"\xff\xfe\x00\xd8x"), "\u{fffd}", "lone surrogate, odd byte");
    }

    #[test]
    fn lines_are_those_of_the_standard_library() {
        for text in ["", "\n", "a", "a\n", "a\r\nb", "a\r", "\r\n\r\n", "a\n\nb\r\n\r", "é\nü"] {
            let want: Vec<(u32, &str)> = text.lines().enumerate().map(|(i, l)| (line_number(i), l)).collect();
            assert_eq!(lines(text).collect::<Vec<_>>(), want, "{text:?}");
        }
        assert_eq!(split_key(" a : b:c ", ':'), Some(("a", "b:c")));
        assert_eq!((split_key("é→b", '→'), split_key("ab", '=')), (Some(("é", "b")), None));
    }

    #[test]
    fn line_index_counts_from_one() {
        let index = LineIndex::new("a\nb\n\nc");
        assert_eq!([0, 1, 2, 4, 5, 99].map(|o| index.line(o)), [1, 1, 2, 3, 4, 4]);
    }
}

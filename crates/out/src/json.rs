//! JSON, and what is made of it (JSON lines, SARIF).

use crate::hidden;
use crate::quoted::quoted;
use std::io::{self, Write};

/// A string with its quotes. [`hidden`] characters are written as `\uXXXX`: a reader gets them back, a terminal does not.
#[must_use]
pub fn string(text: &str) -> String {
    quoted(text, |out, c| if hidden(c) { push(out, c) } else { out.push(c) })
}

fn push(out: &mut String, c: char) {
    let mut units = [0_u16; 2];
    c.encode_utf16(&mut units).iter().for_each(|u| out.push_str(&format!("\\u{u:04x}")));
}

/// A writer for documents that a serializer makes: [`hidden`] characters that the serializer leaves as they are (it must write C0 as
/// escapes itself) become `\uXXXX`. They can only be within strings, so the document stays the same for a reader.
#[derive(Debug)]
pub struct Inert<W> {
    out: W,
    /// The beginning of a character whose rest was not written yet.
    part: Vec<u8>,
}

impl<W: Write> Inert<W> {
    /// In front of another writer.
    pub fn new(out: W) -> Self {
        Inert { out, part: Vec::with_capacity(4) }
    }

    /// The writer behind it.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// One character, as bytes.
    fn character(&mut self, bytes: &[u8]) -> io::Result<()> {
        match std::str::from_utf8(bytes).ok().and_then(|s| s.chars().next()) {
            Some(c) if hidden(c) => {
                let mut text = String::new();
                push(&mut text, c);
                self.out.write_all(text.as_bytes())
            }
            _ => self.out.write_all(bytes),
        }
    }
}

/// Bytes of the character that begins with a byte; 1 for what begins none.
const fn length(first: u8) -> usize {
    match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    }
}

impl<W: Write> Write for Inert<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(first) = self.part.first().copied() {
            let Some((next, after)) = rest.split_first() else { return Ok(bytes.len()) };
            self.part.push(*next);
            rest = after;
            if self.part.len() == length(first) {
                let whole = std::mem::take(&mut self.part);
                self.character(&whole)?;
            }
        }
        while !rest.is_empty() {
            let plain = rest.iter().position(|b| *b >= 0x7f).unwrap_or(rest.len());
            let (safe, more) = rest.split_at(plain);
            self.out.write_all(safe)?;
            let Some(first) = more.first() else { break };
            let Some((whole, after)) = more.split_at_checked(length(*first)) else {
                self.part.extend_from_slice(more);
                break;
            };
            self.character(whole)?;
            rest = after;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_cut_by_the_writer_are_whole() {
        let text = "{\"a\": \"ä\u{9b}2J\u{202e}–\u{e0041}\u{7f}😀\"}";
        let want = "{\"a\": \"ä\\u009b2J\\u202e–\\udb40\\udc41\\u007f😀\"}";
        for size in 1..text.len() {
            let mut out = Inert::new(Vec::new());
            text.as_bytes().chunks(size).for_each(|c| out.write_all(c).unwrap());
            assert_eq!(String::from_utf8(out.into_inner()).unwrap(), want, "{size}");
        }
    }
}

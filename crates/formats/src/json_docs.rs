//! JSON documents in a text: several after each other, with lines of other programs between them, cut at the end, and with the
//! `nan` that no JSON has.

use crate::error::Why;
use crate::refusal::Refusals;
use crate::text::at_most;
use serde::de::Deserialize;
use std::borrow::Cow;

/// How a document was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// 1-based first and last line.
    pub(crate) lines: (u32, u32),
    /// It ended in the middle: what was open was closed.
    pub(crate) is_cut: bool,
    /// It had `nan` or `inf` where a number belongs.
    pub(crate) had_nan: bool,
}

impl Place {
    /// Notes what is missing in the document.
    pub(crate) fn refuse(self, refused: &mut Refusals) {
        let (first, last) = self.lines;
        if self.is_cut {
            refused.push(last, Why::Missing("the document ends in the middle: what was read before is kept"));
        }
        if self.had_nan {
            refused.push(first, Why::Missing("`nan` or `inf` in the place of a number: nothing was measured there"));
        }
    }
}

/// A piece of a text.
pub(crate) enum Piece<'a, T> {
    Line(u32, &'a str),
    Document(T, Place),
    /// A document that cannot be read.
    Broken(Place, Why),
}

/// Splits a text. A line that begins with `{`, and is `ours` by the next few thousand bytes, begins a document.
pub(crate) fn pieces<T: for<'de> Deserialize<'de>>(
    text: &str,
    ours: impl Fn(&str) -> bool,
    mut take: impl FnMut(Piece<'_, T>),
) {
    let (mut offset, mut number, mut tries) = (0usize, 1u32, 16u32);
    while let Some(rest) = text.get(offset..).filter(|r| !r.is_empty()) {
        let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        let line = rest.get(..end).unwrap_or_default();
        let trimmed = line.trim_start();
        let body = rest.get(line.len() - trimmed.len()..).unwrap_or_default();
        if !trimmed.starts_with('{') || !ours(head(body)) {
            take(Piece::Line(number, line.strip_suffix('\r').unwrap_or(line)));
            offset = offset.saturating_add(end + 1);
            number = number.saturating_add(1);
            continue;
        }
        // No tool writes `{` at the beginning of a line inside of a document; scripts that copy one may. Where documents are cut
        // each seems to hold all that follow: how often that is tried is limited.
        let own = memchr::memmem::find(body.as_bytes(), b"\n{").and_then(|at| body.get(..at)).unwrap_or(body);
        let first = whole::<T>(own).or_else(|| {
            let again = own.len() < body.len() && tries > 0;
            tries -= u32::from(again);
            again.then(|| whole::<T>(body)).flatten()
        });
        let length = match first {
            Some((document, length)) => {
                let lines = (number, last_line(number, body.get(..length)));
                take(Piece::Document(document, Place { lines, is_cut: false, had_nan: false }));
                length
            }
            None => repaired(number, body, &mut take),
        };
        number = last_line(number, body.get(..length));
        offset = text.len() - body.len() + length;
        // What follows on the last line is a line of its own only where something is there.
        let after = text.get(offset..).unwrap_or_default();
        let blank = after.len() - after.trim_start_matches([' ', '\t', '\r']).len();
        if after.get(blank..).is_some_and(|a| a.starts_with('\n')) {
            offset += blank + 1;
            number = number.saturating_add(1);
        }
    }
}

/// The document at the beginning of a text, and its length.
fn whole<T: for<'de> Deserialize<'de>>(text: &str) -> Option<(T, usize)> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<T>();
    let document = stream.next()?.ok()?;
    Some((document, stream.byte_offset()))
}

fn head(text: &str) -> &str {
    // What begins the next line is another document.
    at_most(text, 4096).split("\n{").next().unwrap_or_default()
}

fn last_line(first: u32, text: Option<&str>) -> u32 {
    let text = text.unwrap_or_default();
    first.saturating_add(u32::try_from(memchr::memchr_iter(b'\n', text.as_bytes()).count()).unwrap_or(u32::MAX))
}

fn repaired<T: for<'de> Deserialize<'de>>(number: u32, body: &str, take: &mut impl FnMut(Piece<'_, T>)) -> usize {
    let extent = extent(body);
    let document = body.get(..extent.length).unwrap_or_default();
    let place = Place {
        lines: (number, last_line(number, Some(document.trim_end()))),
        is_cut: !extent.is_whole,
        had_nan: !extent.not_numbers.is_empty(),
    };
    let fixed = fix(document, &extent);
    match serde_json::from_str::<T>(&fixed) {
        Ok(document) => take(Piece::Document(document, place)),
        Err(_) if place.is_cut => {
            take(Piece::Broken(place, Why::Missing("the document ends in the middle, before anything was measured")))
        }
        Err(_) => take(Piece::Broken(place, Why::Foreign("looks like a result of this tool, but is not JSON"))),
    }
    extent.length.max(1)
}

/// Where a document ends, and what must be done for it to be one.
#[derive(Default)]
struct Extent {
    length: usize,
    is_whole: bool,
    /// Where to cut a document that ends in the middle, and what closes it there.
    safe: usize,
    closers: Vec<u8>,
    /// Where `nan` and `inf` stand.
    not_numbers: Vec<(usize, usize)>,
    /// Blanks inside of numbers.
    gaps: Vec<usize>,
}

/// Deepest nesting that is looked at; deeper documents are refused by the parser anyway.
const MAX_DEPTH: usize = 128;

fn extent(body: &str) -> Extent {
    let bytes = body.as_bytes();
    let mut out = Extent::default();
    let mut stack: Vec<u8> = Vec::new();
    let mut i = 0;
    while let Some(&b) = bytes.get(i) {
        match b {
            b'"' => {
                let Some(end) = string_end(bytes, i) else { break };
                i = end;
                continue;
            }
            // Another document begins where this one was cut.
            b'{' if i > 0 && bytes.get(i - 1) == Some(&b'\n') => break,
            b'{' | b'[' => {
                if stack.len() >= MAX_DEPTH {
                    break;
                }
                stack.push(if b == b'{' { b'}' } else { b']' });
                out.safe = i + 1;
                out.closers.clone_from(&stack);
            }
            b'}' | b']' => {
                if stack.pop() != Some(b) {
                    break;
                }
                i += 1;
                out.safe = i;
                out.closers.clone_from(&stack);
                if stack.is_empty() {
                    out.is_whole = true;
                    break;
                }
                continue;
            }
            b',' => {
                // Before the comma every value is whole.
                out.safe = i;
                out.closers.clone_from(&stack);
            }
            // `5.924e 06`: a sign that got lost.
            b'e' | b'E'
                if i > 0 && bytes.get(i - 1).is_some_and(u8::is_ascii_digit) && bytes.get(i + 1) == Some(&b' ') =>
            {
                out.gaps.push(i + 1);
            }
            b'n' | b'N' | b'i' | b'I' => {
                let word = bytes.get(i..).unwrap_or_default();
                let length = word.iter().position(|b| !b.is_ascii_alphabetic()).unwrap_or(word.len());
                let is_null = word.starts_with(b"null");
                if !is_null {
                    let is_signed = i > 0 && matches!(bytes.get(i - 1), Some(b'-' | b'+'));
                    out.not_numbers.push((i - usize::from(is_signed), i + length));
                }
                i += length.max(1);
                continue;
            }
            _ => {}
        }
        i += 1;
    }
    out.length = i;
    out
}

/// Behind the closing quote. No string of these tools spans lines.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut i = start + 1;
    loop {
        let next = memchr::memchr3(b'"', b'\\', b'\n', bytes.get(i..)?)?;
        i += next;
        match bytes.get(i)? {
            b'"' => return Some(i + 1),
            b'\\' => i += 2,
            _ => return None,
        }
    }
}

fn fix<'a>(document: &'a str, extent: &Extent) -> Cow<'a, str> {
    if extent.is_whole && extent.not_numbers.is_empty() && extent.gaps.is_empty() {
        return Cow::Borrowed(document);
    }
    let end = if extent.is_whole { document.len() } else { extent.safe };
    let mut out = String::with_capacity(end + extent.closers.len());
    let mut edits: Vec<(usize, usize, &str)> =
        extent.not_numbers.iter().map(|(from, to)| (*from, *to, "null")).collect();
    edits.extend(extent.gaps.iter().map(|at| (*at, at + 1, "")));
    edits.sort_unstable();
    let mut at = 0;
    for (from, to, instead) in edits.into_iter().filter(|(_, to, _)| *to <= end) {
        out.push_str(document.get(at..from).unwrap_or_default());
        out.push_str(instead);
        at = to;
    }
    out.push_str(document.get(at..end).unwrap_or_default());
    if !extent.is_whole {
        out.extend(extent.closers.iter().rev().map(|b| char::from(*b)));
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_loose::Num;

    #[derive(serde::Deserialize)]
    struct Doc {
        #[serde(default)]
        a: Num,
        #[serde(default)]
        b: Vec<Num>,
    }

    fn read(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        pieces::<Doc>(
            text,
            |h| h.contains("\"a\""),
            |p| {
                out.push(match p {
                    Piece::Line(n, l) => format!("{n}:{l}"),
                    Piece::Document(d, p) => {
                        let b: Vec<_> = d.b.iter().map(|n| n.get()).collect();
                        format!("{:?} {b:?} {:?} {} {}", d.a.get(), p.lines, p.is_cut, p.had_nan)
                    }
                    Piece::Broken(p, why) => format!("broken {:?}: {why}", p.lines),
                });
            },
        );
        out
    }

    #[test]
    fn documents_between_lines() {
        assert_eq!(
            read("x\n{\"a\":1,\n\"b\":[1, 2.5]}\ny\n{\"c\":1}\n{\"a\":2}{\"a\":3}\n"),
            [
                "1:x",
                "Some(1.0) [Some(1.0), Some(2.5)] (2, 3) false false",
                "4:y",
                "5:{\"c\":1}",
                "Some(2.0) [] (6, 6) false false",
                "Some(3.0) [] (6, 6) false false"
            ]
        );
        assert_eq!(read("{\"a\":\"1\",\"b\":[null,true,{}]}"), ["None [None, Some(1.0), None] (1, 1) false false"]);
    }

    #[test]
    fn cut_and_not_numbers() {
        assert_eq!(read("{\"a\":-nan,\"b\":[inf,1,null]}"), ["None [None, Some(1.0), None] (1, 1) false true"]);
        assert_eq!(read("{\"a\":7,\n\"b\":[1, 2, 3"), ["Some(7.0) [Some(1.0), Some(2.0)] (1, 2) true false"]);
        assert_eq!(
            read("{\"a\":7,\n\"b\":[1, 2, 3,\n{\"a\":8}\n"),
            ["Some(7.0) [Some(1.0), Some(2.0), Some(3.0)] (1, 2) true false", "Some(8.0) [] (3, 3) false false"]
        );
        assert_eq!(read("{\"a\""), ["None [] (1, 1) true false"]);
        assert_eq!(
            read("{\"a\":4,\"b\":[\n{}\n]}"),
            ["Some(4.0) [None] (1, 3) false false"],
            "at the beginning of a line"
        );
        assert_eq!(read("{\"a\": x}\ny"), ["broken (1, 1): looks like a result of this tool, but is not JSON", "2:y"]);
    }
}

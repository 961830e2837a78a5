//! Lines as they should have been: without colours, indentation, quote marks and carriage returns.

use std::borrow::Cow;

/// One line of the text.
pub(super) struct Line<'a> {
    /// 1-based.
    pub(super) number: u32,
    /// Without surrounding white space.
    pub(super) text: Cow<'a, str>,
    /// It is the last one and no newline follows: it may have been cut anywhere.
    pub(super) unterminated: bool,
}

/// All lines of a text.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let text = text.trim_start_matches('\u{feff}');
    (1u32..).zip(text.split_inclusive('\n')).map(|(number, raw)| Line {
        number,
        text: clean(raw),
        unterminated: !raw.ends_with('\n'),
    })
}

fn clean(raw: &str) -> Cow<'_, str> {
    if raw.as_bytes().contains(&0x1b) {
        return Cow::Owned(strip(&without_escapes(raw)).to_owned());
    }
    Cow::Borrowed(strip(raw))
}

/// Surrounding white space, and the marks with which mail and chat quote a line.
fn strip(raw: &str) -> &str {
    raw.trim().trim_start_matches(|c: char| c == '>' || c == '|' || c.is_whitespace())
}

/// Removes `ESC [ … letter` (colours, `ESC [K` of `grep --color`) and any other escape with its next character.
fn without_escapes(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
        } else if chars.next() == Some('[') {
            // Parameter bytes, then one final byte.
            for c in chars.by_ref() {
                if ('@'..='~').contains(&c) {
                    break;
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dirt_is_removed() {
        let text = "\u{feff}  > 00:00.0 x\r\r\n\t\x1b[01;31m\x1b[KLnkSta\x1b[m\x1b[K:\tSpeed\n\nend";
        let got: Vec<_> = lines(text).map(|l| (l.number, l.text.into_owned(), l.unterminated)).collect();
        let want = [(1, "00:00.0 x", false), (2, "LnkSta:\tSpeed", false), (3, "", false), (4, "end", true)];
        assert_eq!(got, want.map(|(n, t, u)| (n, t.to_owned(), u)));
    }
}

//! Lines as they should have been: without indentation, quote marks and carriage returns.

/// One line of the text.
pub(super) struct Line<'a> {
    /// 1-based.
    pub(super) number: u32,
    /// Without surrounding white space.
    pub(super) text: &'a str,
    /// It is the last one and no newline follows: it may have been cut anywhere.
    pub(super) unterminated: bool,
}

/// All lines of a text that was decoded.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    (1u32..).zip(text.split_inclusive('\n')).map(|(number, raw)| Line {
        number,
        text: strip(raw),
        unterminated: !raw.ends_with('\n'),
    })
}

/// Surrounding white space, and the marks with which mail and chat quote a line.
fn strip(raw: &str) -> &str {
    raw.trim().trim_start_matches(|c: char| c == '>' || c == '|' || c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dirt_is_removed() {
        let text = "\u{feff}  > 00:00.0 x\r\r\n\t\x1b[01;31m\x1b[KLnkSta\x1b[m\x1b[K:\tSpeed\n\nend";
        let text = crate::text::decode(text.as_bytes());
        let got: Vec<_> = lines(&text).map(|l| (l.number, l.text.to_owned(), l.unterminated)).collect();
        let want = [(1, "00:00.0 x", false), (2, "LnkSta:\tSpeed", false), (3, "", false), (4, "end", true)];
        assert_eq!(got, want.map(|(n, t, u)| (n, t.to_owned(), u)));
    }
}

//! Foreign words for one line of a reader: cut with a `…`, and nothing in them that a terminal would obey.

/// At most `max` characters of a text, with a `…` behind them where there are more. Ends of lines are blanks, tabs stay, and every other
/// control character is U+FFFD, so that it is seen that there was one.
#[must_use]
pub fn clip(text: &str, max: usize) -> String {
    cut(text, max, |c| match c {
        '\n' | '\r' => ' ',
        '\t' => c,
        _ => '\u{fffd}',
    })
}

/// The same of a word that names something: each control character is U+FFFD, as two names must not become one, nor one name two words.
#[must_use]
pub fn word(text: &str, max: usize) -> String {
    cut(text, max, |_| '\u{fffd}')
}

/// The same as [`clip`] of the beginning of a file or line, without the blanks around it. Only that beginning is looked at.
#[must_use]
pub fn bytes(bytes: &[u8], max: usize) -> String {
    let head = bytes.get(..max.saturating_mul(4)).unwrap_or(bytes);
    let text = String::from_utf8_lossy(head);
    let mut out = clip(text.trim(), max);
    if head.len() < bytes.len() && !out.ends_with('…') {
        out.push('…');
    }
    out
}

fn cut(text: &str, max: usize, instead: impl Fn(char) -> char) -> String {
    let mut chars = text.chars();
    let mut out: String = chars.by_ref().take(max).map(|c| if c.is_control() { instead(c) } else { c }).collect();
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{bytes, clip, word};

    #[test]
    fn text_is_cut_and_harmless() {
        for (text, want) in [
            ("", ""),
            ("abcd", "abcd"),
            ("abcde", "abcd…"),
            ("äöüß€", "äöüß…"),
            ("a\u{1b}[m", "a\u{fffd}[m"),
            ("a\n\tb", "a \tb"),
            ("\u{9b}\u{7f}", "\u{fffd}\u{fffd}"),
        ] {
            assert_eq!(clip(text, 4), want, "{text:?}");
        }
        assert_eq!(word("a\n\tb", 4), "a\u{fffd}\u{fffd}b");
        assert_eq!((clip("", 0).as_str(), clip("a", 0).as_str()), ("", "…"));
    }

    #[test]
    fn of_bytes_only_the_beginning_is_read() {
        for (data, want) in [
            (&b" on\n"[..], "on"),
            (b"abcdefgh", "abcd…"),
            (b"ab\xffd", "ab\u{fffd}d"),
            (b"a                  b", "a…"),
            (b"a   ", "a"),
        ] {
            assert_eq!(bytes(data, 4), want);
        }
    }
}

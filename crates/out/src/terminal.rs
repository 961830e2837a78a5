//! Terminals, and every text that somebody may print on one.

use std::borrow::Cow;

/// Whether a character drives a terminal, reorders text, or cannot be seen: control characters (C0, DEL, C1), line and paragraph
/// separators, bidirectional controls, zero-width and format characters, tags and variation selectors beyond the first sixteen.
#[must_use]
pub const fn hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
        | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// One line that is safe to print: line ends and tabs become spaces, other [`hidden`] characters escapes.
#[must_use]
pub fn terminal(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t' | '\r').then_some(' '))
}

/// Lines that are safe to print: line ends and tabs stay, other [`hidden`] characters become escapes.
#[must_use]
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t').then_some(c))
}

fn escaped(text: &str, instead: impl Fn(char) -> Option<char>) -> Cow<'_, str> {
    if !text.chars().any(hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match instead(c) {
            Some(other) => out.push(other),
            None if hidden(c) => out.extend(c.escape_unicode()),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_the_cursor_or_reorders_text_survives() {
        let got = terminal("a\x1b[31mred\u{9b}2J\u{202e}x\u{200b}\ty\nz\x07\u{7f}\u{e0041}");
        assert_eq!(got, "a\\u{1b}[31mred\\u{9b}2J\\u{202e}x\\u{200b} y z\\u{7}\\u{7f}\\u{e0041}");
        assert!(matches!(terminal("plain – ünïcode ×"), Cow::Borrowed(_)));
        assert_eq!(lines("a\tb\r\nc\x1b"), "a\tb\\u{d}\nc\\u{1b}");
    }
}

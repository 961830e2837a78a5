//! Terminals, and every text that somebody may print on one.

use std::borrow::Cow;

/// Whether a character drives a terminal, reorders text, or cannot be seen: control characters (C0, DEL, C1), line and paragraph
/// separators, bidirectional controls, annotations of lines, and what leaves no mark.
///
/// The last are those with the property `Default_Ignorable_Code_Point` (Unicode 17, DerivedCoreProperties.txt: joiners, fillers, selectors
/// of variants, tags, and what is reserved for more of the kind), and two that most fonts draw as nothing: the empty pattern of Braille,
/// and the note without a head.
#[must_use]
pub const fn hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
        | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{2800}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d159}'
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
    use std::collections::BTreeSet;

    #[test]
    fn nothing_that_moves_the_cursor_or_reorders_text_survives() {
        let got = terminal("a\x1b[31mred\u{9b}2J\u{202e}x\u{200b}\ty\nz\x07\u{7f}\u{e0041}");
        assert_eq!(got, "a\\u{1b}[31mred\\u{9b}2J\\u{202e}x\\u{200b} y z\\u{7}\\u{7f}\\u{e0041}");
        assert!(matches!(terminal("plain – ünïcode ×"), Cow::Borrowed(_)));
        assert_eq!(lines("a\tb\r\nc\x1b"), "a\tb\\u{d}\nc\\u{1b}");
    }

    /// The lines of `Default_Ignorable_Code_Point` in Unicode's DerivedCoreProperties.txt, neighbours as one.
    const IGNORABLE: &[(u32, u32)] = &[
        (0x00ad, 0x00ad),
        (0x034f, 0x034f),
        (0x061c, 0x061c),
        (0x115f, 0x1160),
        (0x17b4, 0x17b5),
        (0x180b, 0x180f),
        (0x200b, 0x200f),
        (0x202a, 0x202e),
        (0x2060, 0x206f),
        (0x3164, 0x3164),
        (0xfe00, 0xfe0f),
        (0xfeff, 0xfeff),
        (0xffa0, 0xffa0),
        (0xfff0, 0xfff8),
        (0x1bca0, 0x1bca3),
        (0x1d173, 0x1d17a),
        (0xe0000, 0xe0fff),
    ];

    #[test]
    fn what_leaves_no_mark_is_hidden_and_nothing_that_is_seen() {
        let ignorable: BTreeSet<u32> = IGNORABLE.iter().flat_map(|(from, to)| *from..=*to).collect();
        assert_eq!(ignorable.len(), 4174, "the total that the file itself gives");
        // What else drives a terminal, orders lines, or is drawn as nothing.
        let others = (0..=0x1f).chain(0x7f..=0x9f).chain([0x2028, 0x2029, 0x2800, 0x1d159]).chain(0xfff9..=0xfffb);
        let want: BTreeSet<u32> = ignorable.into_iter().chain(others).collect();
        let found: BTreeSet<u32> = ('\0'..=char::MAX).filter(|c| hidden(*c)).map(u32::from).collect();
        assert_eq!(found, want);
        assert_eq!(terminal("a\u{34f}\u{2800}b\u{fe0f}"), "a\\u{34f}\\u{2800}b\\u{fe0f}");
    }
}

//! CSV (RFC 4180), which people open in spreadsheets.

use crate::hidden;

/// A field. What a spreadsheet would take for a formula gets an apostrophe in front; [`hidden`] characters but line ends and tabs are
/// written as escapes. An empty text is an empty field.
#[must_use]
pub fn field(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 3);
    push(&mut out, text);
    out
}

/// Appends a [`field`] to a line.
pub fn push(line: &mut String, text: &str) {
    // Some strip blanks before they look, some take the wide forms of East Asian keyboards.
    let guarded = text.starts_with(['\t', '\r', '\n'])
        || text.trim_start().starts_with(['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}']);
    let quoted = text.contains([',', ';', '"', '\n', '\r', '\t', ' ', '\'']);
    if quoted {
        line.push('"');
    }
    if guarded {
        line.push('\'');
    }
    for c in text.chars() {
        match c {
            '"' => line.push_str("\"\""),
            '\n' | '\t' => line.push(c),
            c if hidden(c) => line.extend(c.escape_unicode()),
            c => line.push(c),
        }
    }
    if quoted {
        line.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn in_words() {
        for (text, want) in [
            ("", ""),
            ("plain", "plain"),
            ("=1+1", "'=1+1"),
            (" =1+1", "\"' =1+1\""),
            ("-5", "'-5"),
            ("\tx", "\"'\tx\""),
            ("a,b", "\"a,b\""),
            ("a\"b", "\"a\"\"b\""),
            ("a\x1bb", "a\\u{1b}b"),
        ] {
            assert_eq!(field(text), want, "{text:?}");
        }
    }
}

//! HTML, SVG and XML 1.0.

use crate::hidden;

/// Text of an HTML element or a quoted attribute.
#[must_use]
pub fn html(text: &str) -> String {
    escaped(text, "\n", "\t")
}

/// Text of an XML or SVG element. What XML 1.0 cannot hold is written as a visible escape.
#[must_use]
pub fn xml(text: &str) -> String {
    escaped(text, "\n", "\t")
}

/// Text of a quoted XML or SVG attribute: a reader makes a space of a line end that is not a reference.
#[must_use]
pub fn attribute(text: &str) -> String {
    escaped(text, "&#10;", "&#9;")
}

fn escaped(text: &str, line_end: &str, tab: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\n' => out.push_str(line_end),
            '\t' => out.push_str(tab),
            c if hidden(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

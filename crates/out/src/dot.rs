//! Graphviz.

use crate::terminal;

/// A quoted string of several lines, as a label. Graphviz reads backslashes in it as its own escapes and `&` as an entity's start.
#[must_use]
pub fn label(lines: &[String]) -> String {
    let mut out = String::from("\"");
    for (i, line) in lines.iter().enumerate() {
        out.push_str(if i > 0 { "\\n" } else { "" });
        for c in terminal(line).chars() {
            match c {
                '\\' | '"' => out.extend(['\\', c]),
                '&' => out.push_str("&amp;"),
                c => out.push(c),
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn in_words() {
        assert_eq!(
            super::label(&["a\"]; b".into(), "\\N &lt;\n\x1b".into()]),
            "\"a\\\"]; b\\n\\\\N &amp;lt; \\\\u{1b}\""
        );
    }
}

//! What strings of JSON and of YAML have in common.

/// A string in double quotes. `rest` writes every character for which the two forms have no short escape in common.
pub(crate) fn quoted(text: &str, rest: impl Fn(&mut String, char)) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c => rest(&mut out, c),
        }
    }
    out.push('"');
    out
}

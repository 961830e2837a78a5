//! What programs write for JSON that is not quite.

/// `NaN`, `Infinity` and `-Infinity` outside of strings, put into quotes; `None` where there are none.
pub(crate) fn quote_not_finite(text: &str) -> Option<String> {
    const WORDS: [&str; 6] = ["-Infinity", "Infinity", "NaN", "nan", "-inf", "inf"];
    let mut out = String::with_capacity(text.len() + 16);
    let (mut is_quoted, mut is_escaped, mut any) = (false, false, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word = WORDS.iter().find(|w| !is_quoted && rest.starts_with(**w));
        if let Some(word) = word {
            out.push('"');
            out.push_str(word);
            out.push('"');
            any = true;
            rest = rest.get(word.len()..).unwrap_or_default();
            continue;
        }
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ => {}
        }
        out.push(c);
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
    }
    any.then_some(out)
}

//! Finds the format strings in a C++ file: string literals that are arguments of a call, pasted together as a compiler would.
//!
//! `"Call to " name " failed"` in a macro becomes `Call to {name} failed`; `"%" PRIx64` becomes `%lx`, which it is on the platforms
//! that NCCL's logs come from. Nothing else of the preprocessor is needed.

/// A literal where it stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Site {
    /// The function or macro whose argument it is: `INFO`, `WARN`, `snprintf`.
    pub(crate) callee: String,
    /// The first argument of that call, where the literal is not the first: `NCCL_INIT|NCCL_NET`.
    pub(crate) first: String,
    /// The text, escapes as they were written.
    pub(crate) text: String,
}

/// All literals of a file, in order.
pub(crate) fn scan(source: &str) -> Vec<Site> {
    let b = source.as_bytes();
    let mut sites = Vec::new();
    // One entry for each open parenthesis: who is called, and where its arguments begin.
    let mut calls: Vec<(String, usize)> = Vec::new();
    let mut word = String::new();
    let mut i = 0;
    while let Some(&c) = b.get(i) {
        if let Some(end) = blank(b, i) {
            i = end;
            continue;
        }
        match c {
            b'"' => {
                let start = i;
                let (text, end) = group(b, i);
                i = end;
                let (callee, first) = match calls.last() {
                    Some((callee, begin)) => (callee.clone(), first_argument(source, *begin, start)),
                    None => (String::new(), String::new()),
                };
                sites.push(Site { callee, first, text });
                word.clear();
            }
            b'\'' => {
                i = literal(b, i, b'\'').1;
                word.clear();
            }
            b'(' => {
                calls.push((std::mem::take(&mut word), i + 1));
                i += 1;
            }
            b')' => {
                calls.pop();
                word.clear();
                i += 1;
            }
            // A `;` or brace outside a `for` ends what an unbalanced macro left open.
            b'{' | b'}' => {
                calls.clear();
                word.clear();
                i += 1;
            }
            c if identifier(c) => {
                word.clear();
                while let Some(&c) = b.get(i).filter(|c| identifier(**c)) {
                    word.push(char::from(c));
                    i += 1;
                }
            }
            _ => {
                word.clear();
                i += 1;
            }
        }
    }
    sites
}

/// White space, a comment, or a line that goes on: where it ends.
fn blank(b: &[u8], i: usize) -> Option<usize> {
    let rest = b.get(i..)?;
    if rest.first()?.is_ascii_whitespace() {
        Some(i + 1)
    } else if rest.starts_with(b"\\\n") {
        Some(i + 2)
    } else if rest.starts_with(b"//") {
        Some(rest.iter().position(|c| *c == b'\n').map_or(b.len(), |n| i + n))
    } else if rest.starts_with(b"/*") {
        Some(rest.windows(2).position(|w| w == b"*/").map_or(b.len(), |n| i + n + 2))
    } else {
        None
    }
}

fn skip_blank(b: &[u8], mut i: usize) -> usize {
    while let Some(end) = blank(b, i) {
        i = end;
    }
    i
}

fn identifier(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_'
}

/// The inside of a literal that opens at `i`, and the place after it. A line that goes on inside is joined.
fn literal(b: &[u8], i: usize, quote: u8) -> (String, usize) {
    let mut out = Vec::new();
    let mut i = i + 1;
    while let Some(&c) = b.get(i) {
        if c == quote {
            return (String::from_utf8_lossy(&out).into_owned(), i + 1);
        }
        if c == b'\\' {
            match b.get(i + 1) {
                Some(b'\n') => {}
                Some(&next) => out.extend([c, next]),
                None => {}
            }
            i += 2;
        } else {
            out.push(c);
            i += 1;
        }
    }
    (String::from_utf8_lossy(&out).into_owned(), i)
}

/// Adjacent literals, and macros between or after them.
fn group(b: &[u8], i: usize) -> (String, usize) {
    let (mut text, mut end) = literal(b, i, b'"');
    loop {
        let mut at = skip_blank(b, end);
        if b.get(at) == Some(&b'"') {
            let (more, next) = literal(b, at, b'"');
            text.push_str(&more);
            end = next;
            continue;
        }
        let mut name = String::new();
        if b.get(at) == Some(&b'#') {
            at += 1;
        }
        while let Some(&c) = b.get(at).filter(|c| identifier(**c)) {
            name.push(char::from(c));
            at += 1;
        }
        if name.is_empty() {
            return (text, end);
        }
        if b.get(at) == Some(&b'(') {
            let from = at;
            while let Some(&c) = b.get(at) {
                at += 1;
                if c == b')' {
                    break;
                }
            }
            name.push_str(&String::from_utf8_lossy(b.get(from..at).unwrap_or_default()));
        }
        match name.as_str() {
            "PRIx64" => text.push_str("lx"),
            "PRIu64" => text.push_str("lu"),
            "PRId64" | "PRIi64" => text.push_str("ld"),
            _ => {
                text.push('{');
                text.push_str(&name);
                text.push('}');
            }
        }
        end = at;
    }
}

/// What stands between the parenthesis and the first comma at its level, if the literal comes after that comma.
fn first_argument(source: &str, begin: usize, literal: usize) -> String {
    let between = source.get(begin..literal).unwrap_or_default();
    let mut depth = 0_i32;
    for (i, c) in between.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => return between.get(..i).unwrap_or_default().split_whitespace().collect(),
            _ => {}
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_macros_and_pastes() {
        let sites = scan(
            "#define X(name) WARN(\"Call to \" name \" failed: %s\", strerror(errno)); \\\n\
             INFO(NCCL_INIT|NCCL_NET, \"id 0x%\" PRIx64 \" - \" // \"no\"\n \"end\\n\", f(\"arg\"));",
        );
        let texts: Vec<_> = sites.iter().map(|s| (s.callee.as_str(), s.first.as_str(), s.text.as_str())).collect();
        assert_eq!(
            texts,
            [
                ("WARN", "", "Call to {name} failed: %s"),
                ("INFO", "NCCL_INIT|NCCL_NET", "id 0x%lx - end\\n"),
                ("f", "", "arg"),
            ]
        );
    }

    #[test]
    fn endless_text_ends() {
        for s in ["\"", "/*", "'", "\\", "(\"a\" B(", "\"a\\"] {
            scan(s);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_ends(text in "[\"'(){}a-z%\\\\/*\\n, ]{0,80}") {
            scan(&text);
        }
    }
}

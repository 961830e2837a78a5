//! SPDX licence expressions, as far as crates use them: OR (or `/`), AND, WITH, parentheses.

/// Licences under which we may ship a dependency.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "bzip2-1.0.6",
];

/// Whether an expression lets us choose allowed licences only. What cannot be read does not.
pub(crate) fn allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any(&mut rest) == Some(true) && rest.is_empty()
}

fn any(words: &mut &[&str]) -> Option<bool> {
    let mut result = all(words)?;
    while take(words, "OR") {
        result |= all(words)?;
    }
    Some(result)
}

fn all(words: &mut &[&str]) -> Option<bool> {
    let mut result = one(words)?;
    while take(words, "AND") {
        result &= one(words)?;
    }
    Some(result)
}

fn one(words: &mut &[&str]) -> Option<bool> {
    if take(words, "(") {
        let result = any(words)?;
        return take(words, ")").then_some(result);
    }
    let (name, rest) = words.split_first()?;
    *words = rest;
    if matches!(*name, "OR" | "AND" | "WITH" | ")") {
        return None;
    }
    if !take(words, "WITH") {
        return Some(ALLOWED.contains(name));
    }
    let (exception, rest) = words.split_first()?;
    *words = rest;
    Some(ALLOWED.contains(&format!("{name} WITH {exception}").as_str()))
}

fn take(words: &mut &[&str], word: &str) -> bool {
    match words.split_first() {
        Some((first, rest)) if *first == word => {
            *words = rest;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn expressions() {
        for (expression, want) in [
            ("MIT", true),
            ("MIT OR Apache-2.0", true),
            ("GPL-3.0 OR MIT", true),
            ("MIT/Apache-2.0", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", true),
            ("MIT AND GPL-3.0", false),
            ("GPL-2.0 WITH Classpath-exception-2.0", false),
            ("(MIT", false),
            ("MIT MIT", false),
            ("", false),
            ("MPL-2.0", false),
        ] {
            assert_eq!(super::allowed(expression), want, "{expression:?}");
        }
    }
}

//! Documents of JSON: what is long is another document or a blob, and nobody reads it.

use super::{log, mark};
use linerate_formats::kubernetes::ANNOTATION;

/// Hides the long texts of a document, and cleans the rest as any text. Lines stay where they are.
pub(in super::super) fn json(data: &mut Vec<u8>) {
    let mut out = Vec::with_capacity(data.len());
    let mut rest = data.as_slice();
    while let Some(open) = rest.iter().position(|b| *b == b'"') {
        let (head, text) = rest.split_at(open + 1);
        out.extend_from_slice(head);
        let end = end(text);
        let (inside, tail) = text.split_at(end);
        // What is not closed on its line is no text of JSON.
        if inside.len() > ANNOTATION && !inside.contains(&b'\n') {
            mark(&mut out)
        } else {
            out.extend_from_slice(inside)
        }
        let closing = usize::from(!tail.is_empty());
        out.extend_from_slice(tail.get(..closing).unwrap_or_default());
        rest = tail.get(closing..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    *data = out;
    log::text(data);
}

/// Where a text ends: at its quote.
fn end(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(b) = text.get(at) {
        match b {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_go_and_lines_stay() {
        let long = "x".repeat(300);
        let text = format!(
            "{{\n  \"a\": \"b\\\"c\",\n  \"last-applied\": \"{{\\\"k\\\": \\\"{long}\\\"}}\",\n  \"d\": \"e\"\n}}\n"
        );
        let mut data = text.clone().into_bytes();
        json(&mut data);
        let new = String::from_utf8(data).unwrap();
        assert_eq!(new.lines().count(), text.lines().count());
        assert!(!new.contains("xxx") && new.contains("\"b\\\"c\"") && new.contains("\"d\": \"e\""), "{new}");
        for odd in ["\"", "\"\\", "a\"b", "\"a\\\""] {
            let mut data = odd.as_bytes().to_vec();
            json(&mut data);
            assert_eq!(data, odd.as_bytes());
        }
    }
}

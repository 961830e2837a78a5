//! What the script prints: records. Each begins behind a line's end with the word of chance, a letter and perhaps a name; what follows its first line is
//! its content, up to the next.

/// A record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record<'b> {
    pub(super) letter: u8,
    pub(super) name: &'b str,
    pub(super) content: &'b [u8],
    /// The bytes end within it.
    pub(super) last: bool,
}

/// All records of the bytes.
pub(super) fn records<'b>(bytes: &'b [u8], word: &str) -> Vec<Record<'b>> {
    let mark = format!("\n{word} ").into_bytes();
    let mut out = Vec::new();
    let mut starts = find_all(bytes, &mark).into_iter().peekable();
    while let Some(start) = starts.next() {
        let last = starts.peek().is_none();
        let end = starts.peek().copied().unwrap_or(bytes.len());
        let body = bytes.get(start + mark.len()..end).unwrap_or_default();
        let (head, content) = match body.iter().position(|b| *b == b'\n') {
            Some(at) => (body.get(..at).unwrap_or_default(), body.get(at + 1..).unwrap_or_default()),
            None => (body, &[][..]),
        };
        let Ok(head) = std::str::from_utf8(head) else { continue };
        let (letter, name) = head.split_once(' ').unwrap_or((head, ""));
        let [letter] = letter.as_bytes() else { continue };
        out.push(Record { letter: *letter, name, content, last });
    }
    out
}

/// Where the mark is. What ends one record may begin the next.
fn find_all(bytes: &[u8], mark: &[u8]) -> Vec<usize> {
    let mut out = Vec::new();
    let mut from = 0;
    while let Some(at) = bytes.get(from..).and_then(|rest| rest.iter().position(|b| *b == b'\n')) {
        let at = from + at;
        if bytes.get(at..).is_some_and(|rest| rest.starts_with(mark)) {
            out.push(at);
            from = at + mark.len();
        } else {
            from = at + 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_what_stands_between() {
        let bytes = b"noise\n\nab f /a\n1\n\nab f /b\n\nab e /c\nno\nab x\n\nab z\n";
        let found: Vec<(u8, &str, &[u8])> =
            records(bytes, "ab").iter().map(|r| (r.letter, r.name, r.content)).collect();
        let want: Vec<(u8, &str, &[u8])> =
            vec![(b'f', "/a", b"1\n"), (b'f', "/b", b""), (b'e', "/c", b"no"), (b'x', "", b""), (b'z', "", b"")];
        assert_eq!(found, want);
        assert!(records(b"\nab f /a", "").is_empty());
    }
}

//! What `env`, `printenv`, `set` print, `.env` files, and `/proc/PID/environ`.

use super::Sink;

/// `NAME=value` at NUL bytes.
pub(super) fn environ(bytes: &[u8], out: &mut Sink) {
    for entry in bytes.split(|b| *b == 0) {
        let text = String::from_utf8_lossy(entry);
        if let Some((name, value)) = text.split_once('=') {
            out.put(name, value, None);
        }
    }
}

/// One `NAME=value` a line. What continues a value over several lines has no name that linerate knows.
pub(super) fn lines(text: &str, out: &mut Sink) {
    for (n, line) in text.lines().enumerate() {
        let Some((name, value)) = line.split_once('=').filter(|(n, _)| is_name(n.trim())) else { continue };
        out.put(name.trim(), unquote(value.trim_end()), Some(n + 1));
    }
}

pub(super) fn is_name(s: &str) -> bool {
    let first = s.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    first && s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Without the quotes that a shell or a file for one puts round the whole.
fn unquote(value: &str) -> &str {
    let inner = |q: char| value.strip_prefix(q).and_then(|v| v.strip_suffix(q)).filter(|v| !v.contains(q));
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}

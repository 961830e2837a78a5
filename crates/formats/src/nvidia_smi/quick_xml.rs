//! The plain part of XML that nvidia-smi prints, read in one pass without a tree. A real machine's answer has thousands of lines, of
//! which a few dozen are asked for.
//!
//! Elements, attributes and text without references: whatever else is in a document, or is wrong with it, makes the reader give up,
//! and the full parser has the word.

use memchr::memchr;

/// What the reader found.
pub(super) enum Part<'a> {
    /// `<name …>`. An element that closes itself is followed by its [`Part::End`].
    Start {
        name: &'a str,
        /// Value of the attribute `id`.
        id: Option<&'a str>,
        /// Byte offset of `<`.
        at: usize,
    },
    /// Text directly after the start of an element and before anything else in it.
    Text(&'a str),
    /// The end of the innermost element.
    End,
}

/// Deeper than any answer; the full parser decides about others.
const MAX_DEPTH: usize = 64;

/// Hands every part of the document to `take`. `None`: the document is not plain; what was handed out means nothing then.
pub(super) fn read<'a>(xml: &'a str, mut take: impl FnMut(Part<'a>)) -> Option<()> {
    let bytes = xml.as_bytes();
    let mut at = prolog(xml)?;
    let mut open: Vec<&str> = Vec::with_capacity(16);
    loop {
        // At `<`.
        let inside = at.checked_add(1)?;
        let close = inside + memchr(b'>', bytes.get(inside..)?)?;
        let tag = xml.get(inside..close)?;
        let mut fresh = false;
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop()? != name {
                return None;
            }
            take(Part::End);
        } else {
            let (body, empty) = tag.strip_suffix('/').map_or((tag, false), |t| (t, true));
            let (name, id) = start(body)?;
            take(Part::Start { name, id, at });
            if empty {
                take(Part::End);
            } else if open.len() < MAX_DEPTH {
                open.push(name);
                fresh = true;
            } else {
                return None;
            }
        }
        let after = bytes.get(close + 1..)?;
        if open.is_empty() {
            // The document ends with its root.
            return after.trim_ascii().is_empty().then_some(());
        }
        let len = memchr(b'<', after)?;
        let text = xml.get(close + 1..close + 1 + len)?;
        if !is_plain_text(text) {
            return None;
        }
        if fresh && len > 0 {
            take(Part::Text(text));
        }
        at = close + 1 + len;
    }
}

/// Skips `<?xml version="1.0" …?>` and a document type without a subset of its own.
fn prolog(xml: &str) -> Option<usize> {
    let mut rest = xml;
    if let Some(r) = rest.strip_prefix("<?xml version=\"1.0\" ") {
        rest =
            r.strip_prefix("encoding=\"UTF-8\"").unwrap_or(r).trim_ascii_start().strip_prefix("?>")?.trim_ascii_start();
    }
    if let Some(r) = rest.strip_prefix("<!DOCTYPE nvidia_smi_log SYSTEM \"") {
        let (file, r) = r.split_once('"')?;
        let is_name = file.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
        rest = r.strip_prefix('>').filter(|_| is_name)?.trim_ascii_start();
    }
    rest.starts_with("<nvidia_smi_log>").then_some(xml.len() - rest.len())
}

/// Name and `id` of a start tag: `gpu id="00000000:18:00.0"`. No other attribute is expected.
fn start(body: &str) -> Option<(&str, Option<&str>)> {
    let name_end = body.bytes().position(|b| !is(NAME, b)).unwrap_or(body.len());
    let (name, rest) = body.split_at_checked(name_end)?;
    if !name.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) {
        return None;
    }
    match rest.trim_ascii() {
        "" => Some((name, None)),
        _ if !rest.starts_with(' ') => None,
        attribute => {
            let id = attribute.strip_prefix("id=\"")?.strip_suffix('"')?;
            id.bytes().all(|b| is(NAME, b) || b == b':').then_some((name, Some(id)))
        }
    }
}

/// Text that stands for itself: no reference, no control character, no carriage return (which a parser has to replace), no `>` (which
/// may end what must not be in a text).
fn is_plain_text(text: &str) -> bool {
    text.bytes().all(|b| is(TEXT, b))
}

/// Bytes of names.
const NAME: u8 = 1;
/// Bytes of plain text.
const TEXT: u8 = 2;

/// What each byte may be part of.
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut b = 0u8;
    while b < 0x7f {
        if b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.') {
            kinds[b as usize] |= NAME;
        }
        if matches!(b, b'\n' | b'\t' | b' '..) && !matches!(b, b'&' | b'<' | b'>') {
            kinds[b as usize] |= TEXT;
        }
        b += 1;
    }
    kinds
};

fn is(kind: u8, byte: u8) -> bool {
    KINDS[usize::from(byte)] & kind != 0
}

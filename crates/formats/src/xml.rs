//! XML documents of tools, by roxmltree, within limits.
//!
//! roxmltree compares each attribute of an element with those before it, and copies the namespaces of an element's parent: both are bounded here before it reads.

use crate::bounds::{XML_ATTRIBUTES, XML_NODES};
use crate::error::{ParseError, Why};
use crate::text::LineIndex;
use roxmltree::{Document, ParsingOptions};

/// Namespaces that a document may declare.
const NAMESPACES: usize = 256;

/// Bytes of a name, with the spaces around its `=`, that are looked at.
const NAME: usize = 128;

/// Reads the document that is `text` from `start` on; `what` is said before the reader's own words. A DTD is read over only where `dtd` allows one:
/// its entities are bounded by roxmltree.
pub(crate) fn document<'t>(
    text: &'t str,
    start: usize,
    index: &LineIndex,
    dtd: bool,
    what: &'static str,
) -> Result<Document<'t>, ParseError> {
    if let Some(at) = too_wide(text.as_bytes()) {
        let why =
            Why::Unsupported("an element with more attributes, or a text with more namespaces, than any tool prints");
        return Err(ParseError::new(index.line(start + at), why));
    }
    let options = ParsingOptions { allow_dtd: dtd, nodes_limit: XML_NODES as u32, ..ParsingOptions::default() };
    Document::parse_with_options(text, options)
        .map_err(|e| ParseError::syntax(index.line(start).saturating_add(e.pos().row).saturating_sub(1), what, &e))
}

/// Where an element has too many attributes, or the text too many namespaces. Values in quotes are counted: also in comments, where nobody writes as many.
fn too_wide(text: &[u8]) -> Option<usize> {
    let (mut attributes, mut namespaces, mut begun) = (0, 0, 0);
    for at in memchr::memchr3_iter(b'<', b'"', b'\'', text) {
        if text.get(at) == Some(&b'<') {
            (attributes, begun) = (0, at);
            continue;
        }
        // A name and its `=` are short: looking further back would cost time in proportion to the element.
        let before = text.get(begun.max(at.saturating_sub(NAME))..at).unwrap_or_default().trim_ascii_end();
        let Some(name) = before.strip_suffix(b"=") else { continue };
        attributes += 1;
        let name = name.trim_ascii_end();
        let from = name.iter().rposition(|b| b.is_ascii_whitespace()).map_or(0, |n| n + 1);
        namespaces += usize::from(name.get(from..).is_some_and(|n| n.starts_with(b"xmlns")));
        if attributes > XML_ATTRIBUTES || namespaces > NAMESPACES {
            return Some(begun);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::too_wide;
    use crate::bounds::XML_ATTRIBUTES;

    #[test]
    fn attributes_and_namespaces_are_counted() {
        let many = |n: usize, name: &str| (0..n).map(|i| format!(" {name}{i}='1'")).collect::<String>();
        assert_eq!(too_wide(format!("<a{}/>", many(XML_ATTRIBUTES, "b")).as_bytes()), None);
        assert_eq!(too_wide(format!("<x/>\n<a{}/>", many(XML_ATTRIBUTES + 1, "b")).as_bytes()), Some(5));
        let each = (0..257).map(|i| format!("<a xmlns:n{i} = \"u\"/>")).collect::<String>();
        assert!(too_wide(each.as_bytes()).is_some());
        assert_eq!(too_wide("<a>it's</a>".repeat(1000).as_bytes()), None);
    }
}

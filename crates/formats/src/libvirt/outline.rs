//! Where the elements of a domain are in its text, for programs that change it in place and leave everything else byte for byte.

use super::model::Span;
use super::walk::{Text, start_tag};
use crate::bounds::XML_BYTES;
use crate::error::{ParseError, Why};
use crate::text::{LineIndex, decode};
use crate::xml;
use roxmltree::Node;

/// The namespace of QEMU's own settings.
pub const QEMU: &str = "http://libvirt.org/schemas/domain/qemu/1.0";

/// Levels of elements below `<domain>`: an address of a device is on the third.
const LEVELS: usize = 3;

/// A domain that is the whole text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// `<domain>`.
    pub root: Element,
    /// The prefix that the root declares for [`QEMU`].
    pub qemu: Option<String>,
    /// The root declares the prefix `qemu` for another namespace.
    pub is_qemu_taken: bool,
}

/// An element: places are bytes of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Its name, without a prefix.
    pub name: String,
    /// The prefix as it is written; empty: none.
    pub prefix: String,
    /// It is of the namespace of QEMU's own settings.
    pub is_qemu: bool,
    /// Names without prefixes, and values.
    pub attributes: Vec<(String, String)>,
    /// All of it.
    pub span: Span,
    /// The byte behind the `>` of its start tag.
    pub open: usize,
    /// Where its end tag begins; `None`: it has none (`<devices/>`).
    pub close: Option<usize>,
    /// Elements and comments in it, in the order of the text; none on the lowest level.
    pub pieces: Vec<Piece>,
}

/// A part of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// An element.
    Element(Element),
    /// A comment: its text, and where.
    Comment(String, Span),
}

impl Element {
    /// The value of an attribute.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// Elements in it.
    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        self.pieces.iter().filter_map(|p| match p {
            Piece::Element(e) => Some(e),
            Piece::Comment(..) => None,
        })
    }

    /// The first element of a name in it that is libvirt's.
    #[must_use]
    pub fn child(&self, name: &str) -> Option<&Element> {
        self.elements().find(|e| e.name == name && !e.is_qemu)
    }
}

/// The places of a domain that is the whole text: an XML declaration and comments may be around it, prompts may not.
///
/// # Errors
/// Text that is not plain UTF-8, another root, broken XML, more than [`XML_BYTES`], a DTD.
pub fn outline(text: &str) -> Result<Outline, ParseError> {
    if text.len() > XML_BYTES {
        return Err(ParseError::new(0, Why::TooLarge { mib: XML_BYTES >> 20 }));
    }
    if decode(text.as_bytes()) != text {
        return Err(ParseError::new(0, Why::Foreign("terminal colours or bytes that XML does not have")));
    }
    let index = LineIndex::new(text);
    let document = xml::document(text, 0, &index, false, "broken XML of a domain, or text around it")?;
    let cx = Text { start: 0, index: &index };
    let root = document.root_element();
    if root.tag_name().name() != "domain" || !root.has_attribute("type") {
        return Err(ParseError::new(cx.line(root), Why::Foreign("the root is not a <domain> of libvirt")));
    }
    let declared = |n: &roxmltree::Namespace<'_>| n.name().is_some_and(|p| p == "qemu") && n.uri() != QEMU;
    Ok(Outline {
        qemu: root.namespaces().find(|n| n.uri() == QEMU).and_then(|n| n.name()).map(str::to_owned),
        is_qemu_taken: root.namespaces().any(declared),
        root: element(&cx, root, text, LEVELS),
    })
}

fn element(cx: &Text<'_>, node: Node<'_, '_>, text: &str, levels: usize) -> Element {
    let span = cx.span(node);
    let own = text.get(span.from..span.to).unwrap_or_default();
    let open = start_tag(own);
    let is_empty = own.get(..open).is_some_and(|tag| tag.ends_with("/>"));
    let tag: String = own.chars().skip(1).take_while(|c| !c.is_whitespace() && !matches!(c, '>' | '/')).collect();
    let piece = |n: Node<'_, '_>| match n.node_type() {
        roxmltree::NodeType::Element => Some(Piece::Element(element(cx, n, text, levels - 1))),
        roxmltree::NodeType::Comment => Some(Piece::Comment(n.text().unwrap_or_default().to_owned(), cx.span(n))),
        _ => None,
    };
    Element {
        name: node.tag_name().name().to_owned(),
        prefix: tag.split_once(':').map_or("", |(p, _)| p).to_owned(),
        is_qemu: node.tag_name().namespace() == Some(QEMU),
        attributes: node.attributes().map(|a| (a.name().to_owned(), a.value().to_owned())).collect(),
        span,
        open: span.from + open,
        // An end tag has no `<` in it.
        close: if is_empty { None } else { own.rfind("</").map(|at| span.from + at) },
        pieces: if levels == 0 { Vec::new() } else { node.children().filter_map(piece).collect() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_bytes_of_the_text() {
        let text = "<?xml version='1.0'?>\n<!-- a -->\n<domain type=\"kvm\" xmlns:q='http://libvirt.org/schemas/domain/qemu/1.0'\r\n >\n\
            <name a='>'>é</name><devices/><!-- b --><q:commandline><q:arg value='x'/></q:commandline></domain >\n<!-- c -->";
        let o = outline(text).unwrap();
        assert_eq!((o.qemu.as_deref(), o.is_qemu_taken), (Some("q"), false));
        assert!(text[..o.root.open].ends_with("\r\n >") && text[o.root.close.unwrap()..].starts_with("</domain >"));
        let name = o.root.child("name").unwrap();
        assert_eq!((&text[name.span.from..name.open], name.get("a"), name.span.line), ("<name a='>'>", Some(">"), 5));
        let devices = o.root.child("devices").unwrap();
        assert_eq!((devices.open, devices.close), (devices.span.to, None));
        let own = o.root.elements().find(|e| e.is_qemu).unwrap();
        assert_eq!((own.prefix.as_str(), own.name.as_str(), own.elements().count()), ("q", "commandline", 1));
        assert!(o.root.pieces.iter().any(|p| matches!(p, Piece::Comment(c, _) if c == " b ")));
    }

    #[test]
    fn text_around_it_is_refused() {
        for text in [
            "# virsh dumpxml a\n<domain type='kvm'/>",
            "<domain type='kvm'/>\n#",
            "<domstatus/>",
            "\u{1b}[1m<domain type='kvm'/>",
        ] {
            assert!(outline(text).is_err(), "{text}");
        }
        assert!(outline("<domain type='kvm' xmlns:qemu='other'/>").unwrap().is_qemu_taken);
    }
}

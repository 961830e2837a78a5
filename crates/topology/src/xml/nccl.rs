//! NCCL's own reader (`src/graph/xml.cc`), with its limits: it is byte-wise and knows little of XML.
//!
//! Elements where NCCL has no use for them are skipped with what they hold, as NCCL does; so are attributes past the sixteenth.

use super::parse::{Cursor, NCCL_MAX_NODES, XmlError};
use super::{At, Document, Element, name};

/// Names and values are shorter than this (`MAX_STR_LEN - 1`).
const MAX_TOKEN: usize = 254;
/// Attributes that are kept (`MAX_ATTR_COUNT`).
const MAX_ATTRIBUTES: usize = 16;

#[derive(PartialEq)]
enum Tag {
    End,
    Open(Element),
    Single(Element),
    Close(String, At),
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    elements: usize,
}

/// What NCCL reads inside an element.
fn inside(parent: &str) -> &'static [&'static str] {
    match parent {
        "" => &["system"],
        "system" => &["cpu"],
        "cpu" => &["pci", "nic"],
        "pci" => &["pci", "gpu", "nic", "pcilink"],
        "gpu" => &["nvlink", "c2c"],
        "nic" => &["net"],
        _ => &[],
    }
}

pub(super) fn parse(text: &[u8]) -> Result<Document, XmlError> {
    let mut r = Reader { cursor: Cursor::new(text), elements: 0 };
    let mut top = Element::default();
    r.children(&mut top, 0)?;
    match top.children.into_iter().next() {
        Some(system) => Ok(Document { system }),
        None => Err(r.error("no <system> element", "a topology is <system version=\"1\"> with <cpu> elements in it")),
    }
}

impl Reader<'_> {
    fn error(&self, what: impl Into<String>, help: &'static str) -> XmlError {
        XmlError { at: self.cursor.at(), what: what.into(), help }
    }

    fn char(&mut self) -> Result<u8, XmlError> {
        let eof = self.error("the text ends within an element", "give the whole file");
        self.cursor.next().ok_or(eof)
    }

    /// Reads what is inside `head`, to its closing tag. Depth is bounded by the number of elements.
    fn children(&mut self, head: &mut Element, depth: usize) -> Result<(), XmlError> {
        let known = inside(&head.name);
        loop {
            if self.elements == NCCL_MAX_NODES {
                return Err(self.error(
                    format!("NCCL reads no further: its table of {NCCL_MAX_NODES} elements is full"),
                    "leave out devices that carry no GPU and no NIC of the job",
                ));
            }
            match self.tag()? {
                Tag::End if depth == 0 => return Ok(()),
                Tag::End => return Err(self.error(format!("<{}> is not closed", head.name), "give the whole file")),
                Tag::Close(n, _) if depth > 0 => {
                    if n == head.name {
                        return Ok(());
                    }
                    let what = format!("</{}> where </{}> is due", short(&n), head.name);
                    return Err(self.error(what, "close elements in the order in which they were opened"));
                }
                Tag::Close(n, at) => {
                    let what = format!("</{}> closes nothing", short(&n));
                    return Err(XmlError { at, what, help: "remove it" });
                }
                Tag::Open(e) | Tag::Single(e) if e.name == "system" && depth == 0 && !is_version_1(&e) => {
                    let what = format!(
                        "<system> of version {}, and NCCL reads version 1 only",
                        e.get("version").unwrap_or("unknown")
                    );
                    return Err(XmlError { at: e.at, what, help: "write <system version=\"1\">" });
                }
                Tag::Single(e) => {
                    if known.iter().any(|k| *k == e.name) {
                        self.elements += 1;
                        head.children.push(e);
                    }
                }
                Tag::Open(mut e) => {
                    if known.iter().any(|k| *k == e.name) {
                        self.elements += 1;
                        self.children(&mut e, depth + 1)?;
                        head.children.push(e);
                    } else {
                        self.ignore(&e)?;
                    }
                }
            }
        }
    }

    /// Skips what an element holds. NCCL does not compare names there.
    fn ignore(&mut self, head: &Element) -> Result<(), XmlError> {
        let mut open = 1_usize;
        while open > 0 {
            match self.tag()? {
                Tag::End => {
                    return Err(self.error(format!("<{}> is not closed", short(&head.name)), "give the whole file"));
                }
                Tag::Open(_) => open += 1,
                Tag::Close(..) => open -= 1,
                Tag::Single(_) => {}
            }
        }
        Ok(())
    }

    fn tag(&mut self) -> Result<Tag, XmlError> {
        loop {
            while matches!(self.cursor.peek(), Some(b' ' | b'\n' | b'\r')) {
                self.cursor.next();
            }
            let at = self.cursor.at();
            let Some(c) = self.cursor.peek() else { return Ok(Tag::End) };
            if c != b'<' {
                let what = format!("{:?} where NCCL expects `<`", char::from(c));
                let help = if c == b'\t' {
                    "indent with spaces: NCCL refuses tabs"
                } else {
                    "remove text between elements: NCCL refuses it"
                };
                return Err(self.error(what, help));
            }
            self.cursor.next();
            let (tag, mut last) = self.token(None)?;
            if tag.starts_with("!--") {
                self.comment(tag.as_bytes(), last)?;
                continue;
            }
            if tag.is_empty() && last == b'/' {
                let (tag, last) = self.token(None)?;
                if last != b'>' {
                    let what = format!("{:?} in the closing tag </{}", char::from(last), short(&tag));
                    return Err(self.error(what, "write </name>, without spaces"));
                }
                return Ok(Tag::Close(tag, at));
            }
            let mut e = Element { at, ..Element::new(&tag) };
            let mut slots = 0;
            while last == b' ' {
                let mut value = String::new();
                let (key, end) = self.token(Some(&mut value))?;
                last = end;
                // Two spaces in a row are an attribute without a name to NCCL: it takes a place.
                slots += 1;
                if slots <= MAX_ATTRIBUTES && !key.is_empty() {
                    e.attributes.push((name(&key), value));
                }
            }
            let single = last == b'/';
            if single {
                last = self.token(None)?.1;
            }
            if last != b'>' {
                let what = format!("{:?} in <{}> where NCCL expects `>`", char::from(last), short(&e.name));
                let help = if e.name.starts_with('?') {
                    "remove the XML declaration: NCCL refuses it"
                } else {
                    "keep an element on one line, with one space between attributes"
                };
                return Err(self.error(what, help));
            }
            return Ok(if single { Tag::Single(e) } else { Tag::Open(e) });
        }
    }

    /// A name, up to a space, `>`, `/`, the end of the line or `=` and its value; and the byte that ended it.
    fn token(&mut self, value: Option<&mut String>) -> Result<(String, u8), XmlError> {
        let from = self.cursor.pos;
        loop {
            let c = self.char()?;
            let to = self.cursor.pos - 1;
            match c {
                b'=' => {
                    let token = String::from_utf8_lossy(self.cursor.slice(from, to)).into_owned();
                    let Some(value) = value else {
                        return Err(self.error(
                            format!("`=` after {}", short(&token)),
                            "an attribute follows the element's name and a space",
                        ));
                    };
                    let last = self.value(value)?;
                    return Ok((token, last));
                }
                b' ' | b'>' | b'/' | b'\n' | b'\r' => {
                    return Ok((String::from_utf8_lossy(self.cursor.slice(from, to)).into_owned(), c));
                }
                _ if to - from >= MAX_TOKEN => {
                    return Err(self.error("a name of more than 254 bytes", "NCCL refuses it: shorten it"));
                }
                _ => {}
            }
        }
    }

    fn value(&mut self, value: &mut String) -> Result<u8, XmlError> {
        let quote = self.char()?;
        if quote != b'"' && quote != b'\'' {
            return Err(self.error("a value without quotes", "write key=\"value\""));
        }
        let from = self.cursor.pos;
        loop {
            let c = self.char()?;
            let to = self.cursor.pos - 1;
            if to - from >= MAX_TOKEN {
                return Err(self.error("a value of more than 253 bytes", "NCCL refuses it: shorten it"));
            }
            if c == quote {
                value.push_str(&String::from_utf8_lossy(self.cursor.slice(from, to)));
                return self.char();
            }
        }
    }

    fn comment(&mut self, start: &[u8], last: u8) -> Result<(), XmlError> {
        let mut end = [b'.'; 3];
        for c in start.iter().skip(3).copied().chain([last]) {
            end = [end[1], end[2], c];
        }
        while end != *b"-->" {
            let open = self.error("a comment is not closed", "close it with -->");
            end = [end[1], end[2], self.cursor.next().ok_or(open)?];
        }
        Ok(())
    }
}

fn is_version_1(e: &Element) -> bool {
    e.get("version").is_some_and(|v| crate::number::int(v) == 1)
}

fn short(s: &str) -> String {
    s.chars().take(40).collect()
}

//! Any well-formed XML, within limits: declaration, comments, CDATA, entities. Text between elements is dropped.

use super::parse::{Cursor, MAX_ATTRIBUTES, MAX_DEPTH, MAX_ELEMENTS, XmlError};
use super::{At, Document, Element, name};

pub(super) fn parse(text: &[u8]) -> Result<Document, XmlError> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let mut r = Reader { c: Cursor::new(text) };
    if let Err(e) = std::str::from_utf8(text) {
        r.c.skip(e.valid_up_to());
        return r.fail("a byte that is not UTF-8", "save the file as UTF-8");
    }
    r.document()
}

struct Reader<'a> {
    c: Cursor<'a>,
}

impl<'a> Reader<'a> {
    fn error(&self, what: impl Into<String>, help: &'static str) -> XmlError {
        XmlError { at: self.c.at(), what: what.into(), help }
    }

    fn fail<T>(&self, what: impl Into<String>, help: &'static str) -> Result<T, XmlError> {
        Err(self.error(what, help))
    }

    /// The elements, by a stack of those that are open: depth costs no stack of calls.
    fn document(mut self) -> Result<Document, XmlError> {
        let mut open: Vec<Element> = Vec::new();
        let mut elements = 0;
        let mut root: Option<Element> = None;
        loop {
            let text_at = self.c.at();
            let mut text = false;
            while let Some(b) = self.c.peek().filter(|b| *b != b'<') {
                text |= !b.is_ascii_whitespace();
                self.c.next();
            }
            if text && open.is_empty() {
                let what = "text outside of the topology".to_owned();
                return Err(XmlError { at: text_at, what, help: "remove it" });
            }
            let at = self.c.at();
            let rest = self.c.rest();
            if rest.is_empty() {
                break;
            }
            if rest.starts_with(b"<!--") {
                self.past(4, b"-->")?;
            } else if rest.starts_with(b"<![CDATA[") {
                self.past(9, b"]]>")?;
            } else if rest.starts_with(b"<?") {
                self.past(2, b"?>")?;
            } else if rest.starts_with(b"<!") {
                self.past(2, b">")?;
            } else if rest.starts_with(b"</") {
                self.c.skip(2);
                let tag = self.name()?;
                self.space();
                if self.c.next() != Some(b'>') {
                    return self.fail(format!("</{tag} is not closed"), "write </name>");
                }
                let Some(e) = open.pop().filter(|e| e.name == tag) else {
                    let what = format!("</{tag}> closes another element");
                    return Err(XmlError { at, what, help: "close elements in the order in which they were opened" });
                };
                close(e, &mut open, &mut root, at)?;
            } else {
                elements += 1;
                if elements > MAX_ELEMENTS || open.len() >= MAX_DEPTH {
                    let what = format!("more than {MAX_ELEMENTS} elements, or deeper than {MAX_DEPTH}");
                    return self.fail(what, "no topology of a node is that large: give the right file");
                }
                self.c.next();
                let (e, single) = self.element(at)?;
                if single { close(e, &mut open, &mut root, at)? } else { open.push(e) }
            }
        }
        if let Some(e) = open.last() {
            return self.fail(format!("<{}> of line {} is not closed", e.name, e.at.line), "give the whole file");
        }
        match root {
            Some(system) if system.name == "system" => Ok(Document { system }),
            Some(e) => Err(XmlError {
                at: e.at,
                what: format!("<{}> where <system> is due", e.name),
                help: "give a topology file (NCCL_TOPO_FILE) or a dump (NCCL_TOPO_DUMP_FILE)",
            }),
            None => self.fail("no <system> element", "a topology is <system version=\"1\"> with <cpu> elements in it"),
        }
    }

    fn past(&mut self, skip: usize, end: &[u8]) -> Result<(), XmlError> {
        let rest = self.c.rest();
        let tail = rest.get(skip..).unwrap_or_default();
        match tail.windows(end.len()).position(|w| w == end) {
            Some(n) => {
                self.c.skip(skip + n + end.len());
                Ok(())
            }
            None => self.fail("a comment or declaration is not closed", "close it, or give the whole file"),
        }
    }

    fn space(&mut self) {
        while self.c.peek().is_some_and(|b| b.is_ascii_whitespace()) {
            self.c.next();
        }
    }

    fn name(&mut self) -> Result<&'a str, XmlError> {
        let from = self.c.pos;
        while self.c.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b"_-.:".contains(&b) || b >= 0x80) {
            self.c.next();
        }
        if self.c.pos == from {
            return self.fail("no name where one is due", "write <name key=\"value\">");
        }
        Ok(std::str::from_utf8(self.c.slice(from, self.c.pos)).unwrap_or_default())
    }

    fn element(&mut self, at: At) -> Result<(Element, bool), XmlError> {
        let mut e = Element { at, ..Element::new(self.name()?) };
        loop {
            self.space();
            match self.c.peek() {
                Some(b'>') => {
                    self.c.next();
                    return Ok((e, false));
                }
                Some(b'/') => {
                    self.c.next();
                    if self.c.next() != Some(b'>') {
                        return self.fail("`/` within an element", "write <name/>");
                    }
                    return Ok((e, true));
                }
                None => return self.fail(format!("<{}> is not closed", e.name), "give the whole file"),
                Some(_) => {
                    let key = self.name()?;
                    self.space();
                    if self.c.next() != Some(b'=') {
                        return self.fail(format!("{key} has no value"), "write key=\"value\"");
                    }
                    self.space();
                    let value = self.value()?;
                    if e.get(key).is_some() {
                        return self.fail(format!("{key} is given twice"), "give it once");
                    }
                    if e.attributes.len() >= MAX_ATTRIBUTES {
                        let what = format!("<{}> has more than {MAX_ATTRIBUTES} attributes", e.name);
                        return self.fail(what, "no element of a topology has as many: give the right file");
                    }
                    e.attributes.push((name(key), value));
                }
            }
        }
    }

    fn value(&mut self) -> Result<String, XmlError> {
        let Some(quote) = self.c.next().filter(|q| matches!(q, b'"' | b'\'')) else {
            return self.fail("a value without quotes", "write key=\"value\"");
        };
        let from = self.c.pos;
        while self.c.peek().is_some_and(|b| b != quote && b != b'<') {
            self.c.next();
        }
        let raw = String::from_utf8_lossy(self.c.slice(from, self.c.pos)).into_owned();
        if self.c.next() != Some(quote) {
            return self.fail("a value is not closed", "write `<` as &lt;, and close the quotes");
        }
        if !raw.contains('&') {
            return Ok(raw);
        }
        self.unescape(&raw)
    }

    fn unescape(&self, raw: &str) -> Result<String, XmlError> {
        let mut out = String::with_capacity(raw.len());
        let mut rest = raw;
        while let Some((before, after)) = rest.split_once('&') {
            out.push_str(before);
            let Some((entity, tail)) = after.split_once(';') else {
                return self.fail("`&` without an entity", "write `&` as &amp;");
            };
            let number = entity.strip_prefix('#').and_then(|n| match n.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16).ok(),
                None => n.parse().ok(),
            });
            out.push(match (entity, number.and_then(char::from_u32)) {
                ("lt", _) => '<',
                ("gt", _) => '>',
                ("amp", _) => '&',
                ("quot", _) => '"',
                ("apos", _) => '\'',
                (_, Some(c)) => c,
                _ => return self.fail("an entity that XML does not define", "write the character itself"),
            });
            rest = tail;
        }
        out.push_str(rest);
        Ok(out)
    }
}

fn close(e: Element, open: &mut [Element], root: &mut Option<Element>, at: At) -> Result<(), XmlError> {
    match open.last_mut() {
        Some(parent) => parent.children.push(e),
        None if root.is_none() => *root = Some(e),
        None => {
            let what = format!("<{}> beside the topology", e.name);
            return Err(XmlError { at, what, help: "a file holds one <system>" });
        }
    }
    Ok(())
}

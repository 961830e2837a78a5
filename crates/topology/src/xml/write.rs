//! NCCL's own format of a dump: two spaces a level, one element a line.

use super::{Dialect, Document, Element};

impl Document {
    /// The text. For [`Dialect::Nccl`] values stand as they are, which is what NCCL reads; for [`Dialect::Lenient`] they are
    /// escaped as XML asks for.
    #[must_use]
    pub fn to_xml(&self, dialect: Dialect) -> String {
        let mut out = String::new();
        element(&self.system, 0, dialect, &mut out);
        out
    }
}

fn element(e: &Element, depth: usize, dialect: Dialect, out: &mut String) {
    let indent = |out: &mut String| out.extend(std::iter::repeat_n("  ", depth));
    indent(out);
    out.push('<');
    out.push_str(&e.name);
    for (key, value) in &e.attributes {
        out.push(' ');
        out.push_str(key);
        out.push('=');
        match dialect {
            Dialect::Nccl => {
                let quote = if value.contains('"') { '\'' } else { '"' };
                out.push(quote);
                out.push_str(value);
                out.push(quote);
            }
            Dialect::Lenient => {
                out.push('"');
                for c in value.chars() {
                    match c {
                        '<' => out.push_str("&lt;"),
                        '&' => out.push_str("&amp;"),
                        '"' => out.push_str("&quot;"),
                        c => out.push(c),
                    }
                }
                out.push('"');
            }
        }
    }
    if e.children.is_empty() {
        out.push_str("/>\n");
        return;
    }
    out.push_str(">\n");
    for child in &e.children {
        element(child, depth + 1, dialect, out);
    }
    indent(out);
    out.push_str("</");
    out.push_str(&e.name);
    out.push_str(">\n");
}

//! NCCL's own format of a dump: two spaces a level, one element a line.

use linerate_out::{markup::attribute, terminal};

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
                let value = terminal(value);
                let quote = if value.contains('"') { '\'' } else { '"' };
                out.push(quote);
                // NCCL knows no escapes: of both quotes in one value, one is written so that people see it.
                out.push_str(&if value.contains('\'') && quote == '\'' {
                    value.replace('\'', "\\u{27}")
                } else {
                    value.into_owned()
                });
                out.push(quote);
            }
            Dialect::Lenient => {
                out.push('"');
                out.push_str(&attribute(value));
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

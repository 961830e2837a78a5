//! Writes what was kept of netplan's YAML: each key on its line, in blocks where each has a line of its own, else in braces.

use super::super::HIDDEN;
use crate::yaml::{ITEM, Tree};

/// Keys that hold mappings or lists; others hold values.
const HOLD: [&str; 7] = ["network", "ethernets", "bonds", "vlans", "bridges", "match", "interfaces"];
/// The depth of the definitions: below `network` and its section.
const DEFINITIONS: usize = 2;

/// The text, with as many lines as it had.
pub(super) fn text(forest: &[Tree], original: &str) -> Vec<u8> {
    let mut out = Out { text: String::new(), line: 1, indent: 2 };
    if is_block(0, forest) {
        out.block(forest, 0);
    } else {
        out.flow(forest, 0);
    }
    let ends = original.bytes().filter(|b| *b == b'\n').count();
    let have = out.text.bytes().filter(|b| *b == b'\n').count();
    out.text.extend(std::iter::repeat_n('\n', ends.saturating_sub(have)));
    out.text.into_bytes()
}

struct Out {
    text: String,
    /// 1-based line that is being written.
    line: u32,
    /// Spaces before what goes on in braces on a new line.
    indent: usize,
}

impl Out {
    fn to(&mut self, line: u32) {
        if line > self.line {
            let more = usize::try_from(line - self.line).unwrap_or(0);
            self.text.truncate(self.text.trim_end_matches(' ').len());
            self.text.extend(std::iter::repeat_n('\n', more));
            self.text.extend(std::iter::repeat_n(' ', self.indent));
            self.line = line;
        }
    }

    /// Keys or items below each other.
    fn block(&mut self, nodes: &[Tree], depth: usize) {
        for n in nodes {
            self.indent = depth * 2;
            self.to(n.line);
            if n.key == ITEM {
                self.text.push_str("- ");
                self.text.push_str(&quoted(&n.value));
                continue;
            }
            self.text.push_str(&quoted(&n.key));
            self.text.push(':');
            if n.children.is_empty() {
                self.value(n, depth);
            } else if is_block(n.line, &n.children) {
                self.block(&n.children, depth + 1);
            } else {
                self.text.push(' ');
                self.indent = depth * 2 + 2;
                self.flow(&n.children, depth + 1);
            }
        }
    }

    /// Keys in braces, or items in brackets.
    fn flow(&mut self, nodes: &[Tree], depth: usize) {
        let is_list = nodes.iter().any(|n| n.key == ITEM);
        self.text.push(if is_list { '[' } else { '{' });
        for (number, n) in nodes.iter().enumerate() {
            if number > 0 {
                self.text.push_str(", ");
            }
            self.to(n.line);
            if n.key == ITEM {
                self.text.push_str(&quoted(&n.value));
                continue;
            }
            self.text.push_str(&quoted(&n.key));
            self.text.push(':');
            if n.children.is_empty() {
                self.value(n, depth);
            } else {
                self.text.push(' ');
                self.flow(&n.children, depth + 1);
            }
        }
        self.text.push(if is_list { ']' } else { '}' });
    }

    /// Behind the colon of a key without children.
    fn value(&mut self, n: &Tree, depth: usize) {
        if depth == DEFINITIONS || depth < DEFINITIONS && HOLD.contains(&n.key.as_str()) {
            return self.text.push_str(" {}");
        }
        self.text.push(' ');
        match n.key.as_str() {
            "match" => self.text.push_str("{}"),
            "interfaces" => self.text.push_str("[]"),
            _ if n.value.is_empty() => self.text.push_str(HIDDEN),
            _ => self.text.push_str(&quoted(&n.value)),
        }
    }
}

/// Whether each begins below the end of the one before.
fn is_block(above: u32, nodes: &[Tree]) -> bool {
    let mut end = above;
    nodes.iter().all(|n| {
        let begins = n.line > end;
        end = last_line(n);
        begins
    })
}

fn last_line(mut n: &Tree) -> u32 {
    while let Some(last) = n.children.last() {
        n = last;
    }
    n.line
}

/// A word as YAML takes it for a text.
fn quoted(word: &str) -> String {
    let is_letter = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    let is_simple = word.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric()) && word.bytes().all(is_letter);
    if is_simple { word.to_owned() } else { format!("\"{word}\"") }
}

//! Texts whose form is their indentation: YAML as Kubernetes has it, line by line, with the line of each value. No YAML of any kind: templates of
//! Helm are none, and what is in braces of a template is a value like others.

use crate::bounds::{LeftOut, Limit, TEXT_ITEMS, leave_out};
use crate::text::{At, lines};

/// A key with what is below it, or an item of a list.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) key: String,
    pub(crate) value: String,
    pub(crate) line: u32,
    /// Column at which it begins.
    indent: usize,
    pub(crate) children: Vec<Tree>,
}

impl Tree {
    pub(crate) fn child(&self, key: &str) -> Option<&Tree> {
        self.children.iter().find(|c| c.key == key)
    }

    pub(crate) fn at(&self, path: &[&str]) -> Option<&Tree> {
        path.iter().try_fold(self, |n, key| n.child(key))
    }

    pub(crate) fn text(&self, key: &str) -> Option<At<String>> {
        let c = self.child(key)?;
        let value = plain(&c.value);
        (!value.is_empty()).then(|| At::new(value.to_owned(), c.line))
    }

    pub(crate) fn flag(&self, key: &str) -> Option<At<bool>> {
        let c = self.child(key)?;
        crate::text::flag(plain(&c.value), "true", "false").map(|f| At::new(f, c.line))
    }

    /// Items of a list, in lines or in brackets.
    pub(crate) fn items(&self) -> Vec<At<String>> {
        if self.value.starts_with('[') {
            let inside = self.value.trim_matches(['[', ']']);
            return inside
                .split(',')
                .map(|w| At::new(plain(w).to_owned(), self.line))
                .filter(|w| !w.value.is_empty())
                .collect();
        }
        let items = self.children.iter().filter(|c| c.key == ITEM);
        items.map(|c| At::new(plain(&c.value).to_owned(), c.line)).filter(|w| !w.value.is_empty()).collect()
    }

    /// Keys with values, in lines or in braces.
    pub(crate) fn pairs(&self) -> Vec<(At<String>, String)> {
        if self.value.starts_with('{') && !self.value.starts_with("{{") {
            let inside = self.value.trim_matches(['{', '}']);
            let pairs = inside.split(',').filter_map(|p| p.rsplit_once(':'));
            return pairs.map(|(k, v)| (At::new(plain(k).to_owned(), self.line), plain(v).to_owned())).collect();
        }
        let children = self.children.iter().filter(|c| c.key != ITEM);
        children.map(|c| (At::new(plain(&c.key).to_owned(), c.line), plain(&c.value).to_owned())).collect()
    }
}

/// The key of an item of a list.
pub(crate) const ITEM: &str = "-";
/// Deeper than any object of Kubernetes.
const DEPTH: usize = 48;

/// Without quotes and a comment behind it.
pub(crate) fn plain(value: &str) -> &str {
    let value = value.trim();
    let quote = value.chars().next().filter(|q| matches!(q, '"' | '\''));
    match quote {
        Some(q) => value.get(1..).and_then(|v| v.split(q).next()).unwrap_or_default(),
        None => value.split(" #").next().unwrap_or_default().trim_end(),
    }
}

/// The documents of a text.
pub(crate) fn documents(text: &str, left_out: &mut Vec<LeftOut>) -> Vec<Tree> {
    let mut all = Vec::new();
    let mut stack: Vec<Tree> = vec![Tree::default()];
    let (mut count, mut block) = (0_usize, None);
    for (line, raw) in lines(text) {
        let indent = raw.bytes().take_while(|b| *b == b' ').count();
        let body = raw.trim();
        if body.is_empty() || body.starts_with('#') {
            continue;
        }
        // A block of text, until something stands less deep.
        if block.is_some_and(|deep| indent > deep) {
            continue;
        }
        block = None;
        if body == "---" {
            all.extend(finish(&mut stack));
            stack.push(Tree::default());
            continue;
        }
        if count >= TEXT_ITEMS {
            leave_out(left_out, Limit::TEXT_ITEMS, line);
            continue;
        }
        let (mut at, mut rest) = (indent, body);
        while rest == ITEM || rest.starts_with("- ") {
            push(&mut stack, Tree { key: ITEM.to_owned(), line, indent: at, ..Tree::default() });
            let inner = rest.get(1..).unwrap_or_default();
            at += 1 + inner.bytes().take_while(|b| *b == b' ').count();
            rest = inner.trim_start();
            count += 1;
        }
        count += 1;
        match key_value(rest) {
            Some((key, value)) => {
                if matches!(value.as_bytes(), [b'|' | b'>', ..]) {
                    block = Some(at);
                }
                let (key, value) = (key.to_owned(), value.to_owned());
                push(&mut stack, Tree { key, value, line, indent: at, children: Vec::new() });
            }
            // The value of an item.
            None if !rest.is_empty() => {
                if matches!(rest.as_bytes(), [b'|' | b'>', ..]) {
                    block = Some(indent);
                }
                if let Some(item) = stack.last_mut().filter(|n| n.key == ITEM && n.value.is_empty()) {
                    rest.clone_into(&mut item.value);
                }
            }
            None => {}
        }
    }
    all.extend(finish(&mut stack));
    all
}

/// `key: value`; a key has no spaces, unless it is in quotes.
fn key_value(text: &str) -> Option<(&str, &str)> {
    let (key, value) = match text.strip_suffix(':') {
        Some(key) if !key.contains(": ") => (key, ""),
        _ => text.split_once(": ")?,
    };
    let key = plain(key);
    (!key.is_empty() && key.len() <= 256 && !key.contains([' ', '{', '['])).then(|| (key, value.trim()))
}

/// Puts a node below what it belongs to.
fn push(stack: &mut Vec<Tree>, node: Tree) {
    // An item stands as deep as the key of its list, or deeper.
    let is_item = node.key == ITEM;
    while stack.len() > 1
        && (stack.len() > DEPTH
            || stack.last().is_some_and(|top| {
                node.indent < top.indent || node.indent == top.indent && !(is_item && top.key != ITEM)
            }))
    {
        close(stack);
    }
    stack.push(node);
}

fn close(stack: &mut Vec<Tree>) {
    if let (Some(done), Some(parent)) = (stack.pop(), stack.last_mut()) {
        parent.children.push(done);
    }
}

/// The whole, which is taken from the stack.
fn finish(stack: &mut Vec<Tree>) -> Option<Tree> {
    while stack.len() > 1 {
        close(stack);
    }
    stack.pop()
}

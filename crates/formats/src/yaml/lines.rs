//! What is no YAML yet, as templates of Helm: line by line, by indentation. What is in braces of a template is a value like others.

use super::{DEPTH, ITEM, Tree, events};
use crate::bounds::{LeftOut, Limit, TEXT_ITEMS, leave_out};
use crate::text::lines;

/// One document that is no YAML, as far as its lines tell. `above`: lines before it in its text.
pub(super) fn document(text: &str, above: u32, left_out: &mut Vec<LeftOut>) -> Tree {
    let mut stack = vec![Open::default()];
    let (mut count, mut block) = (0_usize, None);
    for (line, raw) in lines(text).map(|(l, raw)| (l.saturating_add(above), raw)) {
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
        if count >= TEXT_ITEMS {
            leave_out(left_out, Limit::TEXT_ITEMS, line);
            continue;
        }
        let (mut at, mut rest) = (indent, body);
        while rest == ITEM || rest.starts_with("- ") {
            push(&mut stack, Open::at(at, Tree { key: ITEM.to_owned(), line, ..Tree::default() }));
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
                push(&mut stack, Open::at(at, node(key, value, line)));
            }
            // The value of an item.
            None if !rest.is_empty() => {
                if matches!(rest.as_bytes(), [b'|' | b'>', ..]) {
                    block = Some(indent);
                }
                if let Some(item) = stack.last_mut().filter(|n| n.node.key == ITEM && n.node.value.is_empty()) {
                    item.node = node(ITEM, rest, line);
                }
            }
            None => {}
        }
    }
    finish(stack)
}

/// A key with its value; of a list in brackets and a mapping in braces, what is in them.
fn node(key: &str, value: &str, line: u32) -> Tree {
    let is_flow = value.starts_with(['[', '{']) && !value.starts_with("{{");
    let flow = is_flow.then(|| events::document(value, line.saturating_sub(1), &mut Vec::new())).flatten();
    match flow {
        Some(tree) => Tree { key: key.to_owned(), line, ..tree },
        None => Tree { key: key.to_owned(), value: plain(value).to_owned(), line, children: Vec::new() },
    }
}

/// Without quotes and a comment behind it.
fn plain(value: &str) -> &str {
    let value = value.trim();
    let quote = value.chars().next().filter(|q| matches!(q, '"' | '\''));
    match quote {
        Some(q) => value.get(1..).and_then(|v| v.split(q).next()).unwrap_or_default(),
        None => value.split(" #").next().unwrap_or_default().trim_end(),
    }
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

/// A node that is still being read.
#[derive(Default)]
struct Open {
    node: Tree,
    /// Column at which it begins.
    indent: usize,
}

impl Open {
    const fn at(indent: usize, node: Tree) -> Self {
        Self { node, indent }
    }
}

/// Puts a node below what it belongs to.
fn push(stack: &mut Vec<Open>, new: Open) {
    // An item stands as deep as the key of its list, or deeper.
    let is_item = new.node.key == ITEM;
    let ends = |top: &Open| new.indent < top.indent || new.indent == top.indent && !(is_item && top.node.key != ITEM);
    while stack.len() > 1 && (stack.len() > DEPTH || stack.last().is_some_and(ends)) {
        close(stack);
    }
    stack.push(new);
}

fn close(stack: &mut Vec<Open>) {
    if let (Some(done), Some(parent)) = (stack.pop(), stack.last_mut()) {
        parent.node.children.push(done.node);
    }
}

fn finish(mut stack: Vec<Open>) -> Tree {
    while stack.len() > 1 {
        close(&mut stack);
    }
    stack.pop().map(|root| root.node).unwrap_or_default()
}

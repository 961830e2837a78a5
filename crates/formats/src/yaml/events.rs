//! A document by a YAML parser: flows in braces, blocks of text, quotes, anchors.

use super::{DEPTH, ITEM, Tree};
use crate::bounds::{LeftOut, Limit, TEXT_ITEMS, leave_out};
use saphyr_parser::{Event, Parser};
use std::collections::BTreeMap;

/// Longest key that is kept.
const KEY: usize = 256;

/// The tree; `None`: it is no YAML. `above`: lines before it in its text.
pub(super) fn document(text: &str, above: u32, left_out: &mut Vec<LeftOut>) -> Option<Tree> {
    let mut building = Building { stack: vec![Open::mapping(Tree::default(), 0)], ..Building::default() };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.ok()?;
        let line = u32::try_from(span.start.line()).unwrap_or(u32::MAX).saturating_add(above);
        if building.count >= TEXT_ITEMS {
            leave_out(left_out, Limit::TEXT_ITEMS, line);
            break;
        }
        building.take(event, line)?;
    }
    building.finish()
}

/// A list or mapping that is being read.
#[derive(Default)]
struct Open {
    node: Tree,
    is_list: bool,
    /// The key whose value comes next, with its line.
    key: Option<(String, u32)>,
    anchor: usize,
}

impl Open {
    const fn mapping(node: Tree, anchor: usize) -> Self {
        Self { node, is_list: false, key: None, anchor }
    }

    /// The key and the line of the value that comes next. `None`: what comes next is a key.
    fn next(&mut self, line: u32) -> Option<(String, u32)> {
        if self.is_list { Some((ITEM.to_owned(), line)) } else { self.key.take() }
    }
}

#[derive(Default)]
struct Building {
    /// The first holds the document.
    stack: Vec<Open>,
    anchors: BTreeMap<usize, Tree>,
    count: usize,
}

impl Building {
    /// `None`: not as an object of Kubernetes is.
    fn take(&mut self, event: Event<'_>, line: u32) -> Option<()> {
        match event {
            Event::Scalar(value, _, anchor, _) => {
                self.count += 1;
                let top = self.stack.last_mut()?;
                match top.next(line) {
                    Some((key, line)) => {
                        let node = Tree { key, value: value.into_owned(), line, children: Vec::new() };
                        self.put(node, anchor);
                    }
                    None => top.key = Some((value.get(..KEY).unwrap_or(&value).to_owned(), line)),
                }
            }
            Event::MappingStart(anchor, _) => self.open(false, anchor, line)?,
            Event::SequenceStart(anchor, _) => self.open(true, anchor, line)?,
            Event::MappingEnd | Event::SequenceEnd => {
                let mut done = self.stack.pop()?;
                merge(&mut done.node);
                self.put(done.node, done.anchor);
            }
            Event::Alias(anchor) => {
                let (key, line) = self.stack.last_mut()?.next(line)?;
                let named = self.anchors.get(&anchor)?;
                self.count += size(named);
                if self.count < TEXT_ITEMS {
                    let node = Tree { key, line, ..named.clone() };
                    self.put(node, 0);
                }
            }
            _ => {}
        }
        Some(())
    }

    fn open(&mut self, is_list: bool, anchor: usize, line: u32) -> Option<()> {
        self.count += 1;
        if self.stack.len() > DEPTH {
            return None;
        }
        let is_root = self.stack.len() == 1;
        let top = self.stack.last_mut()?;
        // A mapping as a key is nothing that an object of Kubernetes has.
        let (key, line) = if is_root { (String::new(), line) } else { top.next(line)? };
        self.stack.push(Open { node: Tree { key, line, ..Tree::default() }, is_list, key: None, anchor });
        Some(())
    }

    fn put(&mut self, node: Tree, anchor: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        if let Some(top) = self.stack.last_mut() {
            top.node.children.push(node);
        }
    }

    /// What was read, also of a document that was cut.
    fn finish(mut self) -> Option<Tree> {
        while self.stack.len() > 1 {
            let done = self.stack.pop()?;
            self.put(done.node, 0);
        }
        self.stack.pop()?.node.children.into_iter().next()
    }
}

/// `<<`: what another mapping has, where the mapping says nothing itself.
fn merge(node: &mut Tree) {
    let Some(at) = node.children.iter().position(|c| c.key == "<<") else { return };
    let merged = node.children.remove(at);
    let lists = merged.children.iter().filter(|c| c.key == ITEM).flat_map(|c| &c.children);
    let own = merged.children.iter().filter(|c| c.key != ITEM);
    let new: Vec<Tree> = own.chain(lists).filter(|c| node.child(&c.key).is_none()).cloned().collect();
    node.children.extend(new);
}

fn size(tree: &Tree) -> usize {
    1 + tree.children.iter().map(size).sum::<usize>()
}

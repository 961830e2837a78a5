//! Objects of Kubernetes in YAML, with the line of each value. A document is read by a YAML parser, and one that is no YAML (a template of Helm, a paste
//! that is cut) line by line.

mod events;
mod lines;

use crate::bounds::{LeftOut, Limit, TEXT_ITEMS, leave_out};
use crate::text::At;

/// The key of an item of a list.
pub(crate) const ITEM: &str = "-";
/// Deeper than any object of Kubernetes.
const DEPTH: usize = 48;

/// A key with what is below it, or an item of a list.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Tree {
    pub(crate) key: String,
    /// Without quotes. Empty where there are children.
    pub(crate) value: String,
    /// 1-based.
    pub(crate) line: u32,
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
        (!c.value.is_empty()).then(|| At::new(c.value.clone(), c.line))
    }

    /// Items of the list below a key.
    pub(crate) fn list(&self, key: &str) -> impl Iterator<Item = &Tree> {
        self.child(key).into_iter().flat_map(|l| &l.children).filter(|c| c.key == ITEM)
    }

    /// Keys with values.
    pub(crate) fn pairs(&self) -> Vec<(At<String>, String)> {
        let children = self.children.iter().filter(|c| c.key != ITEM);
        children.map(|c| (At::new(c.key.clone(), c.line), c.value.clone())).collect()
    }
}

/// The documents of a text, each as a node without a key.
pub(crate) fn documents(text: &str, left_out: &mut Vec<LeftOut>) -> Vec<Tree> {
    let mut all = Vec::new();
    for (above, document) in split(text) {
        if all.len() >= TEXT_ITEMS {
            leave_out(left_out, Limit::TEXT_ITEMS, above.saturating_add(1));
            break;
        }
        let tree = events::document(document, above, left_out);
        all.push(tree.unwrap_or_else(|| lines::document(document, above, left_out)));
    }
    all
}

/// A text at its lines of `---`, each part with the number of lines above it.
fn split(text: &str) -> impl Iterator<Item = (u32, &str)> {
    let mut rest = Some((0_u32, text));
    std::iter::from_fn(move || {
        let (above, part) = rest.take()?;
        let (mut at, mut line) = (0_usize, above);
        for l in part.split_inclusive('\n') {
            line = line.saturating_add(1);
            if l.trim_end() == "---" {
                let (document, behind) = part.split_at(at);
                rest = Some((line, behind.get(l.len()..).unwrap_or_default()));
                return Some((above, document));
            }
            at += l.len();
        }
        Some((above, part))
    })
    .filter(|(_, document)| !document.trim().is_empty())
}

#[cfg(test)]
mod tests;

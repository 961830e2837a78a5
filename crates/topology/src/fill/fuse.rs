//! What each rank keeps of the document, and how the ranks' trees become one (`ncclTopoTrimXml`, `ncclTopoFuseXml`).
//!
//! The ranks' trees are views of one: they differ in one GPU each.

use super::gpu::RankGpu;
use crate::tree::{Tag, Tree, TreeNode};
use std::borrow::Cow;

/// One rank's view of the tree.
struct View<'a> {
    tree: &'a Tree,
    gpu: &'a RankGpu,
    /// Elements that give an attribute twice.
    twice: &'a [u32],
    kept: Vec<bool>,
}

impl<'a> View<'a> {
    /// Children as this rank has them, before trimming.
    fn children(&self, id: u32) -> Cow<'a, [u32]> {
        let there = self.tree.children(id);
        if id != self.gpu.pci && self.gpu.apart.is_none_or(|a| a.under != id) {
            return Cow::Borrowed(there);
        }
        let mut children = there.to_vec();
        if let Some(apart) = self.gpu.apart.filter(|a| a.under == id) {
            let at = apart.before.and_then(|b| children.iter().position(|c| *c == b)).unwrap_or(children.len());
            children.insert(at, apart.top);
        }
        if id == self.gpu.pci {
            match children.iter_mut().find(|c| Some(**c) == self.gpu.theirs) {
                Some(c) => *c = self.gpu.own,
                None => children.push(self.gpu.own),
            }
        }
        Cow::Owned(children)
    }

    /// Marks what is kept: whether something here or below is used.
    fn trim(&mut self, id: u32) -> bool {
        let Some(node) = self.tree.node(id) else { return false };
        if node.keep {
            self.keep_all(id);
            return true;
        }
        let mut used = false;
        for child in self.children(id).iter().copied() {
            used |= self.trim(child);
        }
        let keep = used || !matches!(node.tag, Tag::Pci | Tag::Cpu | Tag::Nic | Tag::Net);
        self.mark(id, keep);
        used
    }

    fn keep_all(&mut self, id: u32) {
        self.mark(id, true);
        for child in self.children(id).iter().copied() {
            self.keep_all(child);
        }
    }

    fn mark(&mut self, id: u32, keep: bool) {
        if let Some(k) = self.kept.get_mut(id as usize) {
            *k = keep;
        }
    }

    fn is_kept(&self, id: u32) -> bool {
        self.kept.get(id as usize).copied().unwrap_or(false)
    }
}

/// The merged tree, as ids of the document's.
#[derive(Default)]
struct Merged {
    nodes: Vec<(u32, Option<u32>, Vec<u32>)>,
}

impl Merged {
    fn add_tree(&mut self, view: &View, id: u32, parent: Option<u32>) {
        let new = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes.push((id, parent, Vec::new()));
        if let Some((.., siblings)) = parent.and_then(|p| self.nodes.get_mut(p as usize)) {
            siblings.push(new);
        }
        for child in view.children(id).iter().copied().filter(|c| view.is_kept(*c)) {
            self.add_tree(view, child, Some(new));
        }
    }

    fn merge(&mut self, view: &View, into: u32, from: u32) {
        for child in view.children(from).iter().copied().filter(|c| view.is_kept(*c)) {
            let siblings = self.nodes.get(into as usize).map_or(&[][..], |n| n.2.as_slice());
            let same = |s: &&u32| self.nodes.get(**s as usize).is_some_and(|n| equal(view, n.0, child));
            match siblings.iter().find(same).copied() {
                Some(sibling) => self.merge(view, sibling, child),
                None => self.add_tree(view, child, Some(into)),
            }
        }
    }
}

/// Equal to NCCL: same name, as many attributes, and all that one has the other has.
fn equal(view: &View, a: u32, b: u32) -> bool {
    // An element equals itself, except where it gives an attribute twice.
    if a == b && !view.twice.contains(&a) {
        return true;
    }
    let (Some(a), Some(b)) = (view.tree.node(a), view.tree.node(b)) else { return false };
    a.tag == b.tag
        && a.attributes.len() == b.attributes.len()
        && b.attributes.iter().all(|(k, v)| crate::xml::get(&a.attributes, k) == Some(v))
}

/// Trims for each rank and merges.
pub(super) fn fuse(tree: Tree, gpus: &[RankGpu]) -> Tree {
    let mut merged = Merged::default();
    let repeats = |n: &TreeNode| {
        let keys = n.attributes.iter().enumerate();
        keys.into_iter().any(|(i, (k, _))| n.attributes.iter().take(i).any(|(before, _)| before == k))
    };
    let nodes = (0_u32..).zip(&tree.nodes);
    let twice: Vec<u32> = nodes.filter(|(_, n)| repeats(n)).map(|(i, _)| i).collect();
    for gpu in gpus {
        let mut view = View { tree: &tree, gpu, twice: &twice, kept: vec![false; tree.nodes.len()] };
        view.trim(0);
        if merged.nodes.is_empty() {
            merged.add_tree(&view, 0, None);
        } else {
            merged.merge(&view, 0, 0);
        }
    }
    let mut source = tree;
    let mut uses = vec![0_u32; source.nodes.len()];
    for (id, ..) in &merged.nodes {
        if let Some(u) = uses.get_mut(*id as usize) {
            *u += 1;
        }
    }
    let mut out = Tree::default();
    for (id, parent, children) in merged.nodes {
        let Some(node) = source.nodes.get_mut(id as usize) else { continue };
        let last = uses.get_mut(id as usize).is_some_and(|u| {
            *u -= 1;
            *u == 0
        });
        let attributes = if last { std::mem::take(&mut node.attributes) } else { node.attributes.clone() };
        out.nodes.push(TreeNode { tag: node.tag, attributes, at: node.at, parent, children, keep: false });
    }
    out
}

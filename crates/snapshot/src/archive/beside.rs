//! Texts of tools that lie in a node's directory, beside the node's own archive or tree, or alone: as a must-gather has them.
//!
//! An archive of a directory has its files one after the other, in any order. So the archive of a node waits until something else comes; the texts of a
//! node that has none wait for its tree, which is whole at the end only.

use super::error::{OpenError, counted};
use super::nested::{holds_nodes, is_inside_a_tree};
use crate::recognise::recognise;
use crate::texts::{Texts, join};
use crate::{Lines, Snapshot};
use linerate_formats::bounds::{KEPT, TEXT, TEXTS};
use std::collections::{BTreeMap, BTreeSet};

/// Texts of a node, each with its name.
type OfNode = Vec<(String, Vec<u8>)>;
/// Where a node is, and its snapshot or why it could not be read.
pub(super) type Found = (String, Result<Snapshot, OpenError>);

/// What waits.
#[derive(Default)]
pub(super) struct Waiting {
    /// By directory.
    texts: BTreeMap<String, OfNode>,
    bytes: usize,
    /// Directories with texts that there was no room for.
    cut: Vec<String>,
    /// The directory of a node, and its archive.
    node: Option<(String, Found)>,
    /// Directories of nodes that were handed on.
    done: BTreeSet<String>,
}

/// The directory of a node that a file is in, `…/nodes/NAME`, and the file's name.
pub(crate) fn of_node(path: &str) -> Option<(&str, &str)> {
    let (dir, name) = path.rsplit_once('/')?;
    let (above, _) = dir.rsplit_once('/')?;
    holds_nodes(above.rsplit('/').next()?).then_some((dir, name))
}

/// Whether a file may be a text of a node.
pub(super) fn may_be_text(path: &str, size: u64) -> bool {
    // `sys/devices/system/node/node0/meminfo` is the node's own.
    size > 0 && size <= TEXT && of_node(path).is_some() && !is_inside_a_tree(path)
}

impl Waiting {
    /// A text, if it says something of its node.
    pub(super) fn text(&mut self, path: &str, data: &[u8]) {
        let Some((dir, name)) = of_node(path).filter(|(_, name)| recognise(name, data).gives().facts()) else { return };
        let texts = self.texts.entry(dir.to_owned()).or_default();
        if self.bytes + data.len() > KEPT || texts.len() >= TEXTS {
            self.cut.push(dir.to_owned());
            return;
        }
        self.bytes += data.len();
        texts.push((name.to_owned(), data.to_vec()));
    }

    /// Whether a node waits.
    pub(super) fn is_waiting(&self) -> bool {
        self.node.is_some()
    }

    /// Whether there are texts.
    pub(super) fn has_texts(&self) -> bool {
        !self.texts.is_empty()
    }

    /// Takes a node that waits for its texts; `Some`: it has no directory of its own, or is the second one there.
    pub(super) fn node(&mut self, (at, node): Found) -> Option<Found> {
        match of_node(&at).map(|(dir, _)| dir.to_owned()) {
            Some(dir) if self.node.is_none() => {
                self.node = Some((dir, (at, node)));
                None
            }
            _ => Some((at, node)),
        }
    }

    /// The node that waited, with its texts, when a file at a path comes; `None`: all.
    pub(super) fn before(&mut self, path: Option<&str>) -> Option<Found> {
        let (dir, _) = self.node.as_ref()?;
        if path.and_then(|p| p.strip_prefix(dir.as_str())).is_some_and(|rest| rest.starts_with('/')) {
            return None;
        }
        let (dir, (at, node)) = self.node.take()?;
        let node = self.with(&dir, &at, node);
        self.done.insert(dir);
        Some((at, node))
    }

    /// A node with the texts of its directory. One that could not be read is what they say.
    pub(super) fn with(
        &mut self,
        dir: &str,
        at: &str,
        node: Result<Snapshot, OpenError>,
    ) -> Result<Snapshot, OpenError> {
        let Some(texts) = self.texts.remove(dir) else { return node };
        self.bytes -= texts.iter().map(|(_, data)| data.len()).sum::<usize>();
        let mut out = match node {
            Ok(mut s) => {
                texts.iter().for_each(|(name, data)| join(&mut s, name, data));
                s
            }
            Err(e) => {
                let Some(mut s) = alone(at, &texts) else { return Err(e) };
                s.left_out(format!("{at}: {}", e.reason()));
                s
            }
        };
        self.say_cut(dir, &mut out);
        Ok(out)
    }

    /// Nodes of which there are texts alone. Texts that came when their node was handed on are said.
    pub(super) fn rest(&mut self) -> Vec<Found> {
        let all = std::mem::take(&mut self.texts).into_iter();
        all.filter_map(|(dir, texts)| {
            if self.done.contains(&dir) {
                let why =
                    format!("{} of its texts lie behind other nodes: unpack it, and name the directory", texts.len());
                let what = dir.clone();
                return Some((dir, Err(OpenError::NotASnapshot { what, why })));
            }
            let mut s = alone(&dir, &texts)?;
            self.say_cut(&dir, &mut s);
            let s = counted(s, &dir);
            Some((dir, s))
        })
        .collect()
    }

    fn say_cut(&self, dir: &str, s: &mut Snapshot) {
        let n = self.cut.iter().filter(|d| *d == dir).count();
        if n > 0 {
            s.left_out(format!("{n} texts were left out: texts of one archive are read up to {} MiB", KEPT >> 20));
        }
    }
}

/// A node of its texts alone.
fn alone(at: &str, texts: &OfNode) -> Option<Snapshot> {
    let mut out = Texts::new(at);
    texts.iter().for_each(|(name, data)| _ = out.add(name, data, Lines::default()));
    out.finish()
}

//! Which hardware a node is, so that like is compared with like.

use linerate_node::Node;
use linerate_node::pci::{Kind, PciFunction};
use linerate_snapshot::Reading;
use std::collections::BTreeSet;
use std::fmt;

/// What a class of hardware is made of. `None`: the source does not show it, or shows none.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Traits {
    /// Vendor and product of the system.
    pub board: Option<String>,
    /// Model of the processors.
    pub cpu: Option<String>,
    /// Models of the GPUs, not how many: a node that lost one is still of its class.
    pub gpus: Option<String>,
    /// Models of the RDMA NICs, likewise.
    pub nics: Option<String>,
}

/// Product names that boards have whose maker filled in nothing.
const FILLERS: [&str; 6] =
    ["", "to be filled by o.e.m.", "default string", "system product name", "not specified", "none"];

impl Traits {
    /// Of a node.
    #[must_use]
    pub fn of(node: &Node<'_>) -> Self {
        let text = |r: &Reading<String>| r.known().map(|t| clean(t)).filter(|t| !is_filler(t));
        let product = text(&node.firmware.product).map(|p| match text(&node.firmware.sys_vendor) {
            Some(vendor) => format!("{vendor} {p}"),
            None => p,
        });
        Traits {
            board: product.or_else(|| text(&node.firmware.logged_machine)),
            cpu: text(&node.cpu.model_name),
            gpus: models(node, |k| k.is_gpu()),
            nics: models(node, |k| k == Kind::RdmaNic),
        }
    }

    fn parts(&self) -> [&Option<String>; 4] {
        [&self.board, &self.cpu, &self.gpus, &self.nics]
    }

    /// Whether two nodes can be of one class: what both show is the same.
    #[must_use]
    pub fn agrees(&self, other: &Traits) -> bool {
        self.parts().iter().zip(other.parts()).all(|(a, b)| a.is_none() || b.is_none() || **a == *b)
    }

    /// How many of the parts are known.
    #[must_use]
    pub fn known(&self) -> usize {
        self.parts().iter().filter(|p| p.is_some()).count()
    }
}

impl fmt::Display for Traits {
    /// The parts with ` | ` between, `?` where one is not known. [`Traits::from`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |p: &Option<String>| p.clone().unwrap_or_else(|| "?".to_owned());
        let [a, b, c, d] = self.parts().map(part);
        write!(f, "{a} | {b} | {c} | {d}")
    }
}

impl From<&str> for Traits {
    fn from(text: &str) -> Self {
        let mut parts = text.split(" | ").map(|p| (p != "?").then(|| p.to_owned()));
        let mut next = || parts.next().flatten();
        Traits { board: next(), cpu: next(), gpus: next(), nics: next() }
    }
}

fn is_filler(text: &str) -> bool {
    FILLERS.contains(&text.to_ascii_lowercase().as_str())
}

/// One line, without what [`Traits`] are separated by.
fn clean(text: &str) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    words.join(" ").replace('|', "/")
}

/// Models of the functions of a kind, each once: the name that the source has, else the ids.
fn models(node: &Node<'_>, wanted: impl Fn(Kind) -> bool) -> Option<String> {
    let physical = |f: &PciFunction<'_>| f.physfn.is_none();
    let all: BTreeSet<String> =
        node.pci.iter().map(|(_, f)| f).filter(|f| wanted(f.kind) && physical(f)).filter_map(model).collect();
    (!all.is_empty()).then(|| all.into_iter().collect::<Vec<_>>().join(" + "))
}

/// Names come and go with the source (`lspci` with or without its database); ids are always there where sysfs is.
fn model(f: &PciFunction<'_>) -> Option<String> {
    match (f.vendor.known(), f.device.known()) {
        (Some(vendor), Some(device)) => Some(format!("{vendor:04x}:{device:04x}")),
        _ => Some(clean(&f.name)).filter(|n| !n.is_empty()),
    }
}

/// The class of each node, as the index of the first node of its class.
///
/// Nodes with the same traits are of one class. A node of which less is known joins the one class that agrees with it; where several do it is a
/// class of its own.
#[must_use]
pub fn classes(all: &[&Traits]) -> Vec<usize> {
    let mut first: std::collections::HashMap<&Traits, usize> = std::collections::HashMap::new();
    let mut out: Vec<usize> = all.iter().enumerate().map(|(i, t)| *first.entry(t).or_insert(i)).collect();
    // The fullest ones first: what joins them is not joined itself.
    let mut kinds: Vec<(&Traits, usize)> = first.into_iter().collect();
    kinds.sort_by_key(|(t, i)| (std::cmp::Reverse(t.known()), *i));
    let mut joined: std::collections::HashMap<usize, usize> = std::collections::HashMap::new();
    for (at, (traits, i)) in kinds.iter().enumerate() {
        let fuller = kinds
            .iter()
            .take(at)
            .filter(|(t, j)| t.known() > traits.known() && t.agrees(traits) && !joined.contains_key(j));
        if let [(_, only)] = fuller.collect::<Vec<_>>().as_slice() {
            joined.insert(*i, *only);
        }
    }
    for class in &mut out {
        *class = joined.get(class).copied().unwrap_or(*class);
    }
    out
}

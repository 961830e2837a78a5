//! Merging a layout of a host into a domain, and what must hold of it.

use super::from;
use linerate_formats::libvirt;
use linerate_node::Node;
use linerate_topology::from_node::FromNode;
use linerate_vm::host::{self, Root};
use linerate_vm::layout::Wishes;
use linerate_vm::merge::{Merged, Refused, Replace, merge, without_ours};
use linerate_vm::same::in_guest;
use linerate_vm::{choose, guest};
use std::collections::BTreeSet;

/// A host, and what is to be passed.
pub struct Host<'n, 's> {
    pub node: &'n Node<'s>,
    pub from: FromNode,
    pub roots: Vec<Root>,
}

impl<'n, 's> Host<'n, 's> {
    pub fn of(node: &'n Node<'s>, words: &str) -> Option<Self> {
        let chosen = choose(node, words).ok()?;
        let roots = host::roots(node, &chosen.functions).ok()?;
        Some(Host { node, from: from(node)?, roots })
    }

    /// An element of the address of a function that is passed.
    pub fn address(&self) -> String {
        let id = self.roots[0].ports[0].all_functions()[0];
        let b = self.node.pci.get(id).bdf;
        format!(
            "<address domain='{:#x}' bus='{:#x}' slot='{:#x}' function='{}'/>",
            b.domain, b.bus, b.device, b.function
        )
    }

    pub fn merge(&self, wishes: &Wishes, replace: bool, text: &str) -> Result<Merged, Refused> {
        let replace = if replace { Replace::All } else { Replace::Nothing };
        merge(self.node, &self.roots, wishes, replace, text.as_bytes())
    }

    /// Merges, and says what must hold whatever the domain is.
    pub fn hold(&self, wishes: &Wishes, replace: bool, text: &str) -> Result<(Merged, usize), Refused> {
        let m = self.merge(wishes, replace, text)?;
        let user = without_ours(text.trim_start_matches('\u{feff}')).unwrap();
        assert_eq!(undone(&m, &user), user, "{}", m.text);
        for e in m.edits.iter().filter(|e| !replace && !e.at.is_empty()) {
            let old = &user[e.at.clone()];
            assert!(old == "/>" || !without_moved(&m, old), "{old} became {}", e.new);
        }
        assert_eq!(libvirt::parse(m.text.as_bytes()).unwrap().refusals(), []);
        // Again, and again from what the user has of it.
        let again = self.merge(wishes, replace, &m.text).unwrap_or_else(|e| panic!("{e}\n{}", m.text));
        assert_eq!(again.text, m.text);
        let kept: BTreeSet<_> = m.differences.iter().filter(|d| !d.is_replaced).map(|d| (d.what, &d.has)).collect();
        let still: BTreeSet<_> = again.differences.iter().map(|d| (d.what, &d.has)).collect();
        assert!(still.iter().all(|s| kept.contains(s) || s.0 == "<cputune>"), "{still:?} {kept:?}\n{}", m.text);
        let bare = without_ours(m.text.trim_start_matches('\u{feff}')).unwrap();
        assert_eq!(without_ours(&bare).unwrap(), bare);
        assert!(!bare.contains("ua-linerate-"), "{bare}");
        let chosen = m.layout.devices.iter().map(|d| d.host).collect();
        let cells = match in_guest(&self.from, &chosen, &guest(&m.domain)).1 {
            Ok(c) => {
                assert_eq!(c.with_file.differing, [], "{}", m.text);
                c.with_file.cells
            }
            Err(linerate_topology::Error::NoGpu) => 0,
            Err(e) => panic!("{e}"),
        };
        Ok((m, cells))
    }
}

/// An old text that is no address of a device that was moved.
fn without_moved(m: &Merged, old: &str) -> bool {
    m.moved.is_empty() || !old.starts_with("<address")
}

/// The text before the changes.
fn undone(m: &Merged, user: &str) -> String {
    let text = m.text.trim_start_matches('\u{feff}');
    let (mut out, mut at) = (String::new(), 0);
    let mut before = 0;
    for e in &m.edits {
        let kept = e.at.start - before;
        out += &text[at..at + kept];
        assert_eq!(&text[at + kept..at + kept + e.new.len()], e.new);
        out += &user[e.at.clone()];
        (at, before) = (at + kept + e.new.len(), e.at.end);
    }
    out + &text[at..]
}

//! Texts of tools become nodes.

use linerate_snapshot::{Owned, Pasted, Snapshot, Texts, by_node};

/// The nodes that texts make, each with its name.
pub(super) fn group(texts: Vec<Pasted>) -> Vec<(String, Snapshot)> {
    by_node(texts).into_iter().filter_map(node).collect()
}

fn node(Owned { name, texts }: Owned) -> Option<(String, Snapshot)> {
    let mut all = Texts::new(name.as_str());
    for t in texts {
        let file = t.path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        all.add(&file, &t.bytes, t.lines);
    }
    all.finish().map(|s| (name, s))
}

//! What `sinfo` says of each node. Its text, not its JSON: the form of the JSON differs from release to release, these fields do not.

use super::found::{Found, Kind, Text, Wrong};
use linerate_formats::bounds::INVENTORY_NAME;
use linerate_formats::slurm::gres;
use std::collections::{BTreeMap, BTreeSet};

/// What is run: one line for each node and partition. The reason, in which any character may be, comes last.
pub const COMMAND: &[&str] = &["sinfo", "--noheader", "--Node", "--all", "--format=%N|%R|%T|%o|%G|%f|%E"];

/// Groups are `@slurm:partition/NAME`, `@slurm:state/STATE`, `@slurm:feature/NAME` and `@slurm:gres/NAME`.
#[must_use]
pub fn read(text: &str) -> Found {
    let text_of = Text { kind: Kind::Slurm, what: "sinfo" };
    let mut found = Found::default();
    let mut groups: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (n, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        let mut fields = line.splitn(7, '|').map(str::trim);
        let [Some(node), Some(partition), Some(state), Some(address), Some(resources), Some(features), _] =
            std::array::from_fn(|_| fields.next())
        else {
            found.wrong(text_of.at(n), Wrong::Form("NODE|PARTITION|STATE|ADDRESS|GRES|FEATURES|REASON"));
            continue;
        };
        if seen.insert(node) {
            found.node(node, known(address), text_of.at(n));
        }
        if node.len() > INVENTORY_NAME {
            continue;
        }
        // `idle*` does not answer, `idle~` is off, `mixed-` is planned: the state is the word.
        let word = state.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let mut add = |kind: &str, name: &str| {
            groups.entry(format!("{kind}/{name}")).or_default().insert(node);
        };
        add("partition", partition);
        add("state", &word.to_ascii_lowercase());
        if state.ends_with('*') {
            add("state", "not-responding");
        }
        known(features).into_iter().flat_map(|f| f.split(',')).for_each(|f| add("feature", f));
        known(resources).into_iter().flat_map(gres::parse).for_each(|g| add("gres", &g.name));
    }
    for (name, nodes) in groups {
        let nodes: Vec<&str> = nodes.into_iter().collect();
        found.group("slurm", &name, &nodes.join(","), &text_of.whole());
    }
    found
}

/// A field that says something.
fn known(field: &str) -> Option<&str> {
    Some(field).filter(|f| !matches!(*f, "" | "(null)" | "none" | "n/a" | "N/A"))
}

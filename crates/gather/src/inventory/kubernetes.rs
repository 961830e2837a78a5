//! What `kubectl get nodes -o json` says: names, addresses, labels.

use super::found::{Found, Kind, Text, Wrong};
use linerate_formats::ParseError;
use linerate_formats::bounds::INVENTORY_NAME;
use linerate_formats::kubernetes::{NAMES_A_NODE, Pair, read_list};
use std::collections::BTreeMap;

/// What is run, behind the context.
pub(super) const COMMAND: &[&str] = &["get", "nodes", "--output=json", "--request-timeout=20s"];

/// Groups are `@kubernetes:KEY=VALUE`, `@kubernetes:KEY` where a label has no value, and `@kubernetes:unschedulable`.
///
/// # Errors
/// It is no list of nodes.
pub fn read(json: &[u8], what: &str) -> Result<Found, ParseError> {
    let list = read_list(json)?;
    let place = Text { kind: Kind::Kubernetes, what }.whole();
    let mut found = Found::default();
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for node in &list.items {
        let name = node.name.as_str();
        found.node(name, node.internal_ip.as_deref(), place.clone());
        if name.len() > INVENTORY_NAME {
            continue;
        }
        for label in node.labels.iter().filter(|l| !NAMES_A_NODE.contains(&l.name.as_str())) {
            let Pair { name: key, value, .. } = label;
            let group = if value.is_empty() { key.clone() } else { format!("{key}={value}") };
            groups.entry(group).or_default().push(name);
        }
        if node.unschedulable {
            groups.entry("unschedulable".to_owned()).or_default().push(name);
        }
    }
    for (group, nodes) in groups {
        found.group("kubernetes", &group, &nodes.join(","), &place);
    }
    for left in &list.left_out {
        let bound = left.limit.bound();
        found.wrong(place.clone(), Wrong::Limit { limit: bound.name, value: left.limit.value() as usize });
    }
    Ok(found)
}

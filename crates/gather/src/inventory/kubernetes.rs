//! What `kubectl get nodes -o json` says: names, addresses, labels.

use super::found::{Found, Kind, Text};
use linerate_formats::bounds::INVENTORY_NAME;
use linerate_formats::kubernetes::NAMES_A_NODE;
use serde::Deserialize;
use std::collections::BTreeMap;

/// What is run, behind the context.
pub(super) const COMMAND: &[&str] = &["get", "nodes", "--output=json", "--request-timeout=20s"];

#[derive(Deserialize)]
struct List {
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    metadata: Metadata,
    #[serde(default)]
    status: Status,
    #[serde(default)]
    spec: Spec,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize, Default)]
struct Status {
    #[serde(default)]
    addresses: Vec<Address>,
}

#[derive(Deserialize, Default)]
struct Spec {
    #[serde(default)]
    unschedulable: bool,
}

#[derive(Deserialize)]
struct Address {
    #[serde(rename = "type")]
    kind: String,
    address: String,
}

/// Groups are `@kubernetes:KEY=VALUE`, `@kubernetes:KEY` where a label has no value, and `@kubernetes:unschedulable`.
///
/// # Errors
/// It is no list of nodes.
pub fn read(json: &[u8], what: &str) -> Result<Found, serde_json::Error> {
    let list: List = serde_json::from_slice(json)?;
    let place = Text { kind: Kind::Kubernetes, what }.whole();
    let mut found = Found::default();
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for item in &list.items {
        let name = item.metadata.name.as_str();
        let internal = item.status.addresses.iter().find(|a| a.kind == "InternalIP");
        found.node(name, internal.map(|a| a.address.as_str()), place.clone());
        if name.len() > INVENTORY_NAME {
            continue;
        }
        for (key, value) in item.metadata.labels.iter().filter(|(k, _)| !NAMES_A_NODE.contains(&k.as_str())) {
            let group = if value.is_empty() { key.clone() } else { format!("{key}={value}") };
            groups.entry(group).or_default().push(name);
        }
        if item.spec.unschedulable {
            groups.entry("unschedulable".to_owned()).or_default().push(name);
        }
    }
    for (group, nodes) in groups {
        found.group("kubernetes", &group, &nodes.join(","), &place);
    }
    Ok(found)
}

//! The fields of `v1.Node` that are read, borrowed from the text, so that each knows its line.

use super::{ANNOTATION, Condition, Lines, Node, Pair, Resource, Taint};
use serde::de::{Deserialize, Deserializer, Visitor};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

/// A text of the document.
#[derive(Debug, Clone)]
pub(super) enum Said<'t> {
    /// A piece of the document itself.
    Piece(&'t str),
    /// It was written with escapes.
    Made(String),
}

impl Said<'_> {
    pub(super) fn text(&self) -> &str {
        match self {
            Said::Piece(t) => t,
            Said::Made(t) => t,
        }
    }
}

impl PartialEq for Said<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Said<'_> {}

impl PartialOrd for Said<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Said<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text().cmp(other.text())
    }
}

impl<'de: 't, 't> Deserialize<'de> for Said<'t> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Texts;
        impl<'de> Visitor<'de> for Texts {
            type Value = Said<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a number")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Said<'de>, E> {
                Ok(Said::Piece(text))
            }
            fn visit_str<E>(self, text: &str) -> Result<Said<'de>, E> {
                Ok(Said::Made(text.to_owned()))
            }
            // Quantities may be numbers.
            fn visit_u64<E>(self, n: u64) -> Result<Said<'de>, E> {
                Ok(Said::Made(n.to_string()))
            }
            fn visit_i64<E>(self, n: i64) -> Result<Said<'de>, E> {
                Ok(Said::Made(n.to_string()))
            }
            fn visit_f64<E>(self, n: f64) -> Result<Said<'de>, E> {
                Ok(Said::Made(n.to_string()))
            }
            fn visit_bool<E>(self, b: bool) -> Result<Said<'de>, E> {
                Ok(Said::Made(b.to_string()))
            }
            fn visit_unit<E>(self) -> Result<Said<'de>, E> {
                Ok(Said::Made(String::new()))
            }
        }
        from.deserialize_any(Texts)
    }
}

type Map<'t> = BTreeMap<Said<'t>, Said<'t>>;

/// A node, or a list of them.
#[derive(serde::Deserialize)]
pub(super) struct Document<'t> {
    #[serde(borrow, default)]
    kind: Option<Said<'t>>,
    /// `None`: it is no list.
    #[serde(borrow, default)]
    items: Option<Vec<Item<'t>>>,
    #[serde(borrow, default)]
    metadata: Option<Metadata<'t>>,
    #[serde(borrow, default)]
    spec: Option<Spec<'t>>,
    #[serde(borrow, default)]
    status: Option<Status<'t>>,
}

impl<'t> Document<'t> {
    /// The members of the list, where it is one, and the document itself where it is a node.
    pub(super) fn parts(self) -> (Option<Vec<Item<'t>>>, Option<Item<'t>>) {
        let Document { kind, items, metadata, spec, status } = self;
        let is_node = kind.as_ref().is_some_and(|k| k.text() == "Node");
        (items, is_node.then_some(Item { kind, metadata, spec, status }))
    }
}

#[derive(serde::Deserialize)]
pub(super) struct Item<'t> {
    #[serde(borrow, default)]
    kind: Option<Said<'t>>,
    #[serde(borrow, default)]
    metadata: Option<Metadata<'t>>,
    #[serde(borrow, default)]
    spec: Option<Spec<'t>>,
    #[serde(borrow, default)]
    status: Option<Status<'t>>,
}

#[derive(serde::Deserialize)]
struct Metadata<'t> {
    #[serde(borrow, default)]
    name: Option<Said<'t>>,
    #[serde(borrow, default)]
    labels: Option<Map<'t>>,
    #[serde(borrow, default)]
    annotations: Option<Map<'t>>,
}

#[derive(serde::Deserialize)]
struct Spec<'t> {
    #[serde(borrow, default)]
    taints: Option<Vec<SpecTaint<'t>>>,
    #[serde(default)]
    unschedulable: Option<bool>,
}

#[derive(serde::Deserialize)]
struct SpecTaint<'t> {
    #[serde(borrow, default)]
    key: Option<Said<'t>>,
    #[serde(borrow, default)]
    value: Option<Said<'t>>,
    #[serde(borrow, default)]
    effect: Option<Said<'t>>,
}

#[derive(serde::Deserialize)]
struct Status<'t> {
    #[serde(borrow, default)]
    capacity: Option<Map<'t>>,
    #[serde(borrow, default)]
    allocatable: Option<Map<'t>>,
    #[serde(borrow, default)]
    conditions: Option<Vec<StatusCondition<'t>>>,
    #[serde(borrow, default)]
    addresses: Option<Vec<Address<'t>>>,
    #[serde(borrow, default, rename = "nodeInfo")]
    info: Option<Info<'t>>,
}

#[derive(serde::Deserialize)]
struct StatusCondition<'t> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Said<'t>>,
    #[serde(borrow, default)]
    status: Option<Said<'t>>,
    #[serde(borrow, default)]
    reason: Option<Said<'t>>,
}

#[derive(serde::Deserialize)]
struct Address<'t> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Said<'t>>,
    #[serde(borrow, default)]
    address: Option<Said<'t>>,
}

#[derive(serde::Deserialize)]
struct Info<'t> {
    #[serde(borrow, default, rename = "machineID")]
    machine: Option<Said<'t>>,
    #[serde(borrow, default, rename = "systemUUID")]
    system: Option<Said<'t>>,
}

impl Item<'_> {
    /// In a list of the API its members may leave out their kind.
    pub(super) fn is_node(&self) -> bool {
        self.kind.as_ref().is_none_or(|k| k.text() == "Node")
    }

    pub(super) fn node(&self, place: &Lines<'_>) -> Option<Node> {
        let metadata = self.metadata.as_ref()?;
        let name = metadata.name.as_ref().filter(|n| !n.text().is_empty())?;
        let status = self.status.as_ref();
        let pairs = |map: &Option<Map<'_>>, keep: fn(&str, &str) -> bool| -> Vec<Pair> {
            let all = map.iter().flatten().filter(|(k, v)| keep(k.text(), v.text()));
            all.map(|(k, v)| Pair { line: place.of(k), name: k.text().to_owned(), value: v.text().to_owned() })
                .collect()
        };
        let info = status.and_then(|s| s.info.as_ref());
        let addresses = status.and_then(|s| s.addresses.as_ref());
        let internal = |a: &&Address<'_>| a.kind.as_ref().is_some_and(|k| k.text() == "InternalIP");
        let internal = addresses.and_then(|all| all.iter().find(internal)).and_then(|a| a.address.as_ref());
        let id = |t: Option<&Said<'_>>| t.map(|t| t.text().trim().to_ascii_lowercase()).filter(|t| !t.is_empty());
        Some(Node {
            line: place.of(name),
            name: name.text().to_owned(),
            machine_id: id(info.and_then(|i| i.machine.as_ref())),
            system_uuid: id(info.and_then(|i| i.system.as_ref())),
            internal_ip: internal.map(|a| a.text().to_owned()),
            labels: pairs(&metadata.labels, |_, _| true),
            annotations: pairs(&metadata.annotations, |_, v| v.len() <= ANNOTATION && !v.contains(['{', '\n'])),
            taints: self.spec.as_ref().and_then(|s| s.taints.as_ref()).map(|t| taints(t, place)).unwrap_or_default(),
            resources: status.and_then(|s| resources(s, place)),
            conditions: status.and_then(|s| s.conditions.as_ref()).map(|c| conditions(c, place)).unwrap_or_default(),
            unschedulable: self.spec.as_ref().and_then(|s| s.unschedulable).unwrap_or(false),
        })
    }
}

fn owned(text: Option<&Said<'_>>) -> String {
    text.map(|t| t.text().to_owned()).unwrap_or_default()
}

/// By key; several effects of one key are one taint.
fn taints(all: &[SpecTaint<'_>], place: &Lines<'_>) -> Vec<Taint> {
    let mut out: BTreeMap<&str, Taint> = BTreeMap::new();
    for t in all {
        let Some(key) = &t.key else { continue };
        let (effect, value) = (owned(t.effect.as_ref()), owned(t.value.as_ref()));
        match out.get_mut(key.text()) {
            Some(known) => {
                known.effect.push(',');
                known.effect.push_str(&effect);
            }
            None => {
                let taint = Taint { line: place.of(key), name: key.text().to_owned(), value, effect };
                out.insert(key.text(), taint);
            }
        }
    }
    out.into_values().collect()
}

fn resources(status: &Status<'_>, place: &Lines<'_>) -> Option<Vec<Resource>> {
    if status.capacity.is_none() && status.allocatable.is_none() {
        return None;
    }
    let mut out: BTreeMap<&str, Resource> = BTreeMap::new();
    // Evidence is the line of what pods may ask for.
    for (map, is_capacity) in [(&status.allocatable, false), (&status.capacity, true)] {
        for (name, value) in map.iter().flatten() {
            let entry = out.entry(name.text()).or_insert_with(|| Resource {
                line: place.of(name),
                name: name.text().to_owned(),
                capacity: None,
                allocatable: None,
            });
            let of = if is_capacity { &mut entry.capacity } else { &mut entry.allocatable };
            *of = Some(value.text().to_owned());
        }
    }
    Some(out.into_values().collect())
}

fn conditions(all: &[StatusCondition<'_>], place: &Lines<'_>) -> Vec<Condition> {
    let mut out: Vec<Condition> = (all.iter())
        .filter_map(|c| {
            let kind = c.kind.as_ref()?;
            let reason = c.reason.as_ref().map(|r| r.text().to_owned()).filter(|r| !r.is_empty());
            Some(Condition {
                line: place.of(kind),
                name: kind.text().to_owned(),
                status: owned(c.status.as_ref()),
                reason,
            })
        })
        .collect();
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

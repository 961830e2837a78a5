//! What the Kubernetes API says of nodes: `kubectl get node NAME -o json`, and the list of `kubectl get nodes -o json`.
//!
//! Only what claims something about the node is kept: labels, annotations, taints, resources, conditions. Field names are those of `v1.Node`.

mod object;
mod written;

pub use written::{TEXT, read_text};

use crate::bounds::{Kept, Limit};
use crate::error::{ParseError, Why};
use crate::text::{LineIndex, decode};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use object::{Document, Said};
use serde::Serialize;

/// `kubectl get nodes -o json`.
pub const TOOL: Tool = Tool {
    name: "kubernetes-nodes",
    called: "kubectl get node -o json",
    run: "kubectl get node NAME -o json",
    gives: Gives::Facts,
    marks: &[Mark::json(is_of_nodes)],
    commands: &[
        Command::with("kubectl", &["get", "node", "json"]),
        Command::with("kubectl", &["get", "nodes", "json"]),
    ],
    documents: &["kubectl_get_node", "kubectl-get-node"],
    read: Some(|b| seen(read(b).is_ok())),
    samples: &[
        "{\n    \"apiVersion\": \"v1\",\n    \"kind\": \"Node\",\n    \"metadata\": {\"name\": \"gpu7\", \"labels\": {\"example.com/iommu\": \"pt\"}},\n    \"status\": {\"allocatable\": {\"nvidia.com/gpu\": \"8\"}}\n}\n",
        "{\"apiVersion\":\"v1\",\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}],\"kind\":\"List\"}",
        "{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[{\"metadata\":{\"name\":\"a\"}}]}",
    ],
    ..Tool::NONE
};

/// The first kind that a document names is that of its objects: pods and events name nodes, too, further below.
fn is_of_nodes(text: &str) -> bool {
    let mut kinds = text.split("\"kind\"").skip(1).filter_map(|rest| {
        let rest = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        rest.split('"').next()
    });
    text.contains("\"metadata\"") && kinds.find(|k| *k != "List").is_some_and(|k| matches!(k, "Node" | "NodeList"))
}

/// Longest annotation that is kept, bytes. Longer ones are documents (`last-applied-configuration`, lists of volumes), not claims.
pub const ANNOTATION: usize = 256;

/// Labels whose value is each node's own, or a time.
pub const NAMES_A_NODE: [&str; 3] =
    ["kubernetes.io/hostname", "node.kubernetes.io/hostname", "nvidia.com/gfd.timestamp"];

/// A name with a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Pair {
    /// 1-based line.
    pub line: u32,
    /// Name: `nvidia.com/gpu.product`.
    pub name: String,
    /// Value; a label may have an empty one.
    pub value: String,
}

/// A taint: what keeps pods from a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Taint {
    /// 1-based line.
    pub line: u32,
    /// Its key.
    pub name: String,
    /// Its value; often empty.
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule`, `NoExecute`; of several taints of one key all, with `,` between.
    pub effect: String,
}

/// A resource, in the API's own words: `8`, `2113411308Ki`, `500m`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Resource {
    /// 1-based line.
    pub line: u32,
    /// Its name: `nvidia.com/gpu`, `rdma/hca`, `memory`.
    pub name: String,
    /// How much the node has.
    pub capacity: Option<String>,
    /// How much of that pods may ask for.
    pub allocatable: Option<String>,
}

/// A condition of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// 1-based line.
    pub line: u32,
    /// `Ready`, `MemoryPressure`, or one of node-problem-detector's.
    pub name: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// In one word, why.
    pub reason: Option<String>,
}

/// A node's object. Lists are in the order of their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Node {
    /// 1-based line of its name.
    pub line: u32,
    /// Its name.
    pub name: String,
    /// `machineID`: the content of `/etc/machine-id`.
    pub machine_id: Option<String>,
    /// `systemUUID`: that of SMBIOS, in lower case.
    pub system_uuid: Option<String>,
    /// The address by which the cluster's nodes reach it.
    #[serde(skip)]
    pub internal_ip: Option<String>,
    /// Labels.
    pub labels: Vec<Pair>,
    /// Annotations of at most [`ANNOTATION`] bytes.
    pub annotations: Vec<Pair>,
    /// Taints.
    pub taints: Vec<Taint>,
    /// Resources; `None`: the object has no status.
    pub resources: Option<Vec<Resource>>,
    /// Conditions.
    pub conditions: Vec<Condition>,
    /// It takes no new pods: `kubectl cordon`.
    pub unschedulable: bool,
}

/// The nodes of a document.
///
/// # Errors
/// It is no JSON, or neither a node nor a list, or one without members.
pub fn read(bytes: &[u8]) -> Result<Kept<Node>, ParseError> {
    Some(list(bytes)?).filter(|l| !l.is_empty).map(|l| l.nodes).ok_or_else(no_node)
}

/// The nodes of a list, of which there may be none.
///
/// # Errors
/// It is no JSON, or neither a node nor a list of them.
pub fn read_list(bytes: &[u8]) -> Result<Kept<Node>, ParseError> {
    let list = list(bytes)?;
    if list.is_empty || !list.nodes.items.is_empty() { Ok(list.nodes) } else { Err(no_node()) }
}

fn no_node() -> ParseError {
    ParseError::new(0, Why::Missing("no node is in it: neither `kind: Node` nor a list of them"))
}

/// What a document holds.
struct Listed {
    nodes: Kept<Node>,
    /// It is a list without members.
    is_empty: bool,
}

fn list(bytes: &[u8]) -> Result<Listed, ParseError> {
    let text = decode(bytes);
    let document: Document<'_> = serde_json::from_str(&text)
        .map_err(|e| ParseError::syntax(u32::try_from(e.line()).unwrap_or(u32::MAX), "not a node as JSON", &e))?;
    let place = Lines { text: &text, index: LineIndex::new(&text) };
    let mut out = Kept::default();
    let (items, own) = document.parts();
    let is_empty = own.is_none() && items.as_ref().is_some_and(Vec::is_empty);
    if own.is_none() && items.is_none() {
        return Err(no_node());
    }
    for item in items.iter().flatten().chain(own.as_ref()).filter(|i| i.is_node()) {
        let Some(node) = item.node(&place) else { continue };
        if out.items.len() < Limit::CLUSTER_NODES.value() as usize {
            out.items.push(node);
        } else {
            crate::bounds::leave_out(&mut out.left_out, Limit::CLUSTER_NODES, node.line);
        }
    }
    Ok(Listed { nodes: out, is_empty })
}

/// Lines of the pieces of a text.
struct Lines<'t> {
    text: &'t str,
    index: LineIndex,
}

impl Lines<'_> {
    /// The line of a piece; 0 where it was written with escapes, and is no piece of the text.
    fn of(&self, piece: &Said<'_>) -> u32 {
        let Said::Piece(p) = piece else { return 0 };
        let at = p.as_ptr().addr().checked_sub(self.text.as_ptr().addr()).filter(|at| *at < self.text.len());
        at.map_or(0, |at| self.index.line(at))
    }
}

impl Node {
    /// What is read of it, as kubectl writes it, without what identifies the machine: [`read`] gives the same node again.
    #[must_use]
    pub fn write(&self) -> String {
        use serde_json::{Map, Value, json};
        let map = |all: &[Pair]| -> Map<String, Value> {
            all.iter().map(|p| (p.name.clone(), Value::String(p.value.clone()))).collect()
        };
        let taints: Vec<Value> = (self.taints.iter())
            .flat_map(|t| t.effect.split(',').map(|e| json!({"effect": e, "key": t.name, "value": t.value})))
            .collect();
        let conditions: Vec<Value> =
            (self.conditions.iter()).map(|c| json!({"type": c.name, "status": c.status, "reason": c.reason})).collect();
        let mut spec = json!({"taints": taints});
        if let (true, Some(spec)) = (self.unschedulable, spec.as_object_mut()) {
            spec.insert("unschedulable".to_owned(), Value::Bool(true));
        }
        let mut status = Map::new();
        status.insert("conditions".to_owned(), Value::Array(conditions));
        if let Some(resources) = &self.resources {
            let of = |part: fn(&Resource) -> &Option<String>| -> Value {
                let some = resources.iter().filter_map(|r| Some((r.name.clone(), part(r).clone()?.into())));
                Value::Object(some.collect())
            };
            status.insert("allocatable".to_owned(), of(|r| &r.allocatable));
            status.insert("capacity".to_owned(), of(|r| &r.capacity));
        }
        let object = json!({
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"annotations": map(&self.annotations), "labels": map(&self.labels), "name": self.name},
            "spec": spec,
            "status": status,
        });
        // Strings and maps of strings always make JSON.
        let mut out = serde_json::to_string_pretty(&object).unwrap_or_default();
        out.push('\n');
        out
    }
}

#[cfg(test)]
mod tests;

//! Nodes of Kubernetes as people look at them: `kubectl describe node`, `kubectl get node -o yaml`.

use super::{ANNOTATION, Condition, Node, Pair, Resource, Taint};
use crate::bounds::{Kept, Limit, leave_out};
use crate::text::{decode, lines};
use crate::tool::{Command, Gives, Mark, Tool, seen, starts};
use crate::yaml::{ITEM, Tree, documents};

/// `kubectl describe node`, and the object as YAML.
pub const TEXT: Tool = Tool {
    name: "kubernetes-text",
    called: "kubectl describe node",
    run: "kubectl describe node NAME",
    gives: Gives::Facts,
    marks: &[
        Mark::line_with(|l| starts(l, &["Name: "]), "\nAllocatable:").begins(&["Name: "]),
        Mark::line_with(|l| l == "kind: Node" || l == "kind: NodeList", "metadata:").begins(&["kind: No"]),
    ],
    commands: &[Command::with("kubectl", &["describe", "node"]), Command::with("oc", &["describe", "node"])],
    read: Some(|b| seen(read_text(b))),
    samples: &[
        "Name:               gpu7\nRoles:              worker\nLabels:             a=b\nCapacity:\n  nvidia.com/gpu:     8\nAllocatable:\n  nvidia.com/gpu:     7\n",
        "apiVersion: v1\nkind: Node\nmetadata:\n  name: gpu7\nstatus:\n  allocatable:\n    nvidia.com/gpu: \"8\"\n",
    ],
    ..Tool::NONE
};

/// The nodes of a text.
#[must_use]
pub fn read_text(bytes: &[u8]) -> Kept<Node> {
    let text = decode(bytes);
    let is_yaml =
        lines(&text).any(|(_, l)| matches!(l.trim().trim_start_matches("- "), "kind: Node" | "kind: NodeList"));
    let mut kept = Kept::default();
    let nodes = if is_yaml { of_yaml(&text, &mut kept) } else { described(&text) };
    for mut node in nodes.into_iter().filter(|n| !n.name.is_empty()) {
        node.labels.sort();
        node.annotations.sort();
        node.taints.sort_by(|a, b| a.name.cmp(&b.name));
        node.conditions.sort_by(|a, b| a.name.cmp(&b.name));
        node.resources.iter_mut().for_each(|r| r.sort_by(|a, b| a.name.cmp(&b.name)));
        if kept.items.len() >= Limit::CLUSTER_NODES.value() as usize {
            leave_out(&mut kept.left_out, Limit::CLUSTER_NODES, node.line);
        } else {
            kept.items.push(node);
        }
    }
    kept
}

impl Node {
    fn annotate(&mut self, name: &str, value: &str, line: u32) {
        if value.len() <= ANNOTATION {
            self.annotations.push(Pair { line, name: name.to_owned(), value: value.to_owned() });
        }
    }

    /// `key=value:Effect`, `key:Effect`. Of several taints of one key the effects stand together.
    fn taint(&mut self, key: &str, value: &str, effect: &str, line: u32) {
        if let Some(old) = self.taints.iter_mut().find(|t| t.name == key) {
            old.effect.push(',');
            old.effect.push_str(effect);
            return;
        }
        let (name, value, effect) = (key.to_owned(), value.to_owned(), effect.to_owned());
        self.taints.push(Taint { line, name, value, effect });
    }

    fn resource(&mut self, name: &str, value: &str, is_capacity: bool, line: u32) {
        let all = self.resources.get_or_insert_default();
        let at = all.iter().position(|r| r.name == name).unwrap_or_else(|| {
            all.push(Resource { line, name: name.to_owned(), capacity: None, allocatable: None });
            all.len() - 1
        });
        if let Some(r) = all.get_mut(at) {
            let part = if is_capacity { &mut r.capacity } else { &mut r.allocatable };
            part.get_or_insert_with(|| value.to_owned());
        }
    }
}

/// `kubectl describe node` of one or several.
fn described(text: &str) -> Vec<Node> {
    let mut all: Vec<Node> = Vec::new();
    let mut section = String::new();
    for (line, raw) in lines(text) {
        let is_head = !raw.starts_with([' ', '\t']);
        let body = raw.trim();
        let (key, value) = body.split_once(':').map_or((body, ""), |(k, v)| (k, v.trim()));
        if is_head && body.contains(':') {
            key.clone_into(&mut section);
            if key == "Name" {
                all.push(Node { line, name: value.to_owned(), ..Node::default() });
            }
        }
        let Some(node) = all.last_mut() else { continue };
        // What follows a title on its own line, and what stands below it.
        let item = if is_head { value } else { body };
        match section.as_str() {
            "Labels" => {
                if let Some((name, value)) = item.split_once('=') {
                    node.labels.push(Pair { line, name: name.to_owned(), value: value.to_owned() });
                }
            }
            "Annotations" => {
                if let Some((name, value)) = item.split_once(": ") {
                    node.annotate(name, value, line);
                }
            }
            "Taints" => {
                if let Some((taint, effect)) = item.rsplit_once(':') {
                    let (key, value) = taint.split_once('=').unwrap_or((taint, ""));
                    node.taint(key, value, effect, line);
                }
            }
            "Unschedulable" if is_head => node.unschedulable = value == "true",
            "Conditions" if !is_head => {
                let mut words = body.split("  ").map(str::trim).filter(|w| !w.is_empty());
                if let (Some(name), Some(status @ ("True" | "False" | "Unknown"))) = (words.next(), words.next()) {
                    let reason = words.find(|w| !w.contains([':', ' '])).map(str::to_owned);
                    node.conditions.push(Condition { line, name: name.to_owned(), status: status.to_owned(), reason });
                }
            }
            "Addresses" if key == "InternalIP" => node.internal_ip = Some(value.to_owned()),
            "Capacity" | "Allocatable" if !is_head && !value.is_empty() => {
                node.resource(key, value, section == "Capacity", line);
            }
            "System Info" if key == "Machine ID" => node.machine_id = Some(value.to_owned()),
            "System Info" if key == "System UUID" => node.system_uuid = Some(value.to_ascii_lowercase()),
            _ => {}
        }
    }
    all
}

fn of_yaml(text: &str, kept: &mut Kept<Node>) -> Vec<Node> {
    let mut all = Vec::new();
    for document in documents(text, &mut kept.left_out) {
        let is_node = |t: &Tree| t.child("kind").is_some_and(|k| k.value == "Node");
        if is_node(&document) {
            all.extend(object(&document));
        }
        let items = document.child("items").map(|i| i.children.as_slice()).unwrap_or_default();
        all.extend(items.iter().filter(|i| i.key == ITEM && is_node(i)).filter_map(object));
    }
    all
}

fn object(tree: &Tree) -> Option<Node> {
    let name = tree.at(&["metadata", "name"])?;
    let mut node = Node { line: name.line, name: name.value.clone(), ..Node::default() };
    let pairs = |path: &[&str]| tree.at(path).map(Tree::pairs).unwrap_or_default();
    for (name, value) in pairs(&["metadata", "labels"]) {
        node.labels.push(Pair { line: name.line, name: name.value, value });
    }
    for (name, value) in pairs(&["metadata", "annotations"]) {
        node.annotate(&name.value, &value, name.line);
    }
    for (list, is_capacity) in [("capacity", true), ("allocatable", false)] {
        for (name, value) in pairs(&["status", list]) {
            node.resource(&name.value, &value, is_capacity, name.line);
        }
    }
    let items = |path: &[&str]| tree.at(path).map(|t| t.children.as_slice()).unwrap_or_default();
    let said = |t: &Tree, key: &str| t.text(key).map(|v| v.value).unwrap_or_default();
    for t in items(&["spec", "taints"]) {
        node.taint(&said(t, "key"), &said(t, "value"), &said(t, "effect"), t.line);
    }
    for c in items(&["status", "conditions"]) {
        let reason = c.text("reason").map(|r| r.value);
        node.conditions.push(Condition { line: c.line, name: said(c, "type"), status: said(c, "status"), reason });
    }
    node.unschedulable = tree.at(&["spec", "unschedulable"]).is_some_and(|u| u.value == "true");
    node.machine_id = tree.at(&["status", "nodeInfo", "machineID"]).map(|m| m.value.clone());
    node.system_uuid = tree.at(&["status", "nodeInfo", "systemUUID"]).map(|m| m.value.to_ascii_lowercase());
    Some(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resources(n: &Node) -> Vec<(&str, Option<&str>, Option<&str>)> {
        let all = n.resources.iter().flatten();
        all.map(|r| (r.name.as_str(), r.capacity.as_deref(), r.allocatable.as_deref())).collect()
    }

    #[test]
    fn a_description() {
        let text = "Name:               gpu7\nRoles:              worker\nLabels:             kubernetes.io/arch=amd64\n                    nvidia.com/gpu.count=8\nAnnotations:        example.com/a: b\nTaints:             nvidia.com/gpu=present:NoSchedule\n                    nvidia.com/gpu:NoExecute\nUnschedulable:      true\nConditions:\n  Type             Status  LastHeartbeatTime                 LastTransitionTime                Reason                       Message\n  ----             ------  -----------------                 ------------------                ------                       -------\n  Ready            True    Mon, 10 Mar 2025 10:20:30 +0000   Mon, 03 Mar 2025 10:20:30 +0000   KubeletReady                 kubelet is posting ready status\nAddresses:\n  InternalIP:  10.0.0.12\nCapacity:\n  nvidia.com/gpu:     8\nAllocatable:\n  nvidia.com/gpu:     7\nSystem Info:\n  Machine ID:                 abc\n";
        let all = read_text(text.as_bytes()).items;
        let [n] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(
            (n.name.as_str(), n.unschedulable, n.labels.len(), n.machine_id.as_deref()),
            ("gpu7", true, 2, Some("abc"))
        );
        assert_eq!(resources(n), [("nvidia.com/gpu", Some("8"), Some("7"))]);
        assert_eq!(n.taints.iter().map(|t| t.effect.as_str()).collect::<Vec<_>>(), ["NoSchedule,NoExecute"]);
        let ready: Vec<_> =
            n.conditions.iter().map(|c| (c.name.as_str(), c.status.as_str(), c.reason.as_deref())).collect();
        assert_eq!(ready, [("Ready", "True", Some("KubeletReady"))]);
        assert_eq!(n.internal_ip.as_deref(), Some("10.0.0.12"));
    }

    #[test]
    fn objects_in_yaml() {
        let one = "kind: Node\nmetadata:\n  name: a\n  labels:\n    x/y: \"1\"\nspec:\n  unschedulable: true\n  taints:\n  - effect: NoSchedule\n    key: k\nstatus:\n  allocatable:\n    nvidia.com/gpu: \"8\"\n  conditions:\n  - type: Ready\n    status: \"False\"\n    reason: Down\n";
        let n = &read_text(one.as_bytes()).items[0];
        assert_eq!((n.name.as_str(), n.line, n.unschedulable), ("a", 3, true));
        assert_eq!(resources(n), [("nvidia.com/gpu", None, Some("8"))]);
        assert_eq!((n.taints.len(), n.conditions[0].status.as_str()), (1, "False"));
        let list = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: a\n- kind: Node\n  metadata:\n    name: b\nkind: List\n";
        assert_eq!(read_text(list.as_bytes()).items.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }
}

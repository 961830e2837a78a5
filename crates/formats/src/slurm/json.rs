//! `scontrol show node --json`. Forms differ by release: a state is a word with flags beside it or a list, features are a text or a list.

use super::{Node, gres, keep, lines, state};
use crate::bounds::Kept;
use crate::text::At;
use serde_json::Value;

pub(super) fn read(text: &str) -> Kept<Node> {
    let mut out = Kept::default();
    let Ok(document) = serde_json::from_str::<Value>(text) else { return out };
    let nodes = document.get("nodes").unwrap_or(&document);
    for object in nodes.as_array().into_iter().flatten() {
        if let Some(node) = node(object) {
            keep(&mut out, node);
        }
    }
    out
}

fn node(o: &Value) -> Option<Node> {
    let text = |key: &str| o.get(key).and_then(Value::as_str).filter(|t| !t.is_empty());
    let number = |key: &str| Some(At::new(o.get(key)?.as_u64()?, 0));
    let words = |key: &str| match o.get(key)? {
        Value::String(t) => Some(lines::list(t)),
        Value::Array(all) => Some(lines::list(&all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","))),
        _ => None,
    };
    let gres = |key: &str| -> Option<At<Vec<gres::Gres>>> { Some(At::new(gres::parse(o.get(key)?.as_str()?), 0)) };
    let mut states = words("state").unwrap_or_default();
    states.extend(words("state_flags").unwrap_or_default());
    let state = (!states.is_empty()).then(|| At::new(state::words(&states.join("+")), 0));
    Some(Node {
        line: 0,
        name: text("name")?.to_owned(),
        hostname: text("hostname").map(str::to_owned),
        state,
        available: words("features").map(|f| At::new(f, 0)),
        active: words("active_features").map(|f| At::new(f, 0)),
        gres: gres("gres"),
        used: gres("gres_used"),
        // In one line, as everywhere.
        reason: text("reason").map(|r| At::new(r.split_whitespace().collect::<Vec<_>>().join(" "), 0)),
        reason_time: None,
        memory_mib: number("real_memory"),
        cpus: number("cpus"),
        sockets: number("sockets"),
        boards: number("boards"),
    })
}

//! The summary for programs, schema `linerate.collect/1` (docs/schema/collect-1.json).

use super::{Node, Outcome, Summary};
use serde_json::{Value, json};

/// The schema's name.
pub const SCHEMA: &str = "linerate.collect/1";

/// The summary as JSON.
#[must_use]
pub fn json(summary: &Summary, directory: &str, version: &str, exit_code: u8) -> Value {
    let failed: Vec<Value> = summary
        .failed()
        .into_iter()
        .map(|(cause, nodes)| {
            json!({
                "cause": cause.id(),
                "words": cause.words(),
                "hint": cause.hint(),
                "nodes": nodes.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(),
            })
        })
        .collect();
    let count = |f: fn(&Outcome) -> bool| summary.nodes.iter().filter(|n| f(&n.outcome)).count();
    json!({
        "schema": SCHEMA,
        "linerate": version,
        "directory": directory,
        "seconds": rounded(summary.seconds),
        "interrupted": summary.interrupted,
        "asked": summary.nodes.len(),
        "collected": count(|o| matches!(o, Outcome::Collected { .. })),
        "fresh": count(|o| matches!(o, Outcome::Fresh { .. })),
        "named_twice": summary.twice,
        "failed": failed,
        "nodes": summary.nodes.iter().map(node).collect::<Vec<_>>(),
        "exit_code": exit_code,
    })
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

fn node(n: &Node) -> Value {
    let (state, file, bytes, by, root, cause, why) = match &n.outcome {
        Outcome::Collected { file, bytes, by, root } => {
            ("collected", Some(file), Some(*bytes), Some(by.id()), Some(*root), None, None)
        }
        Outcome::Fresh { file } => ("fresh", Some(file), None, None, None, None, None),
        Outcome::Failed { cause, why } => ("failed", None, None, None, None, Some(cause.id()), Some(why.as_str())),
    };
    json!({
        "name": n.name,
        "state": state,
        "file": file.map(|f| f.display().to_string()),
        "bytes": bytes,
        "by": by,
        "root": root,
        "cause": cause,
        "why": why,
        "seconds": rounded(n.seconds),
        "tries": n.tries,
        "notes": n.notes,
    })
}

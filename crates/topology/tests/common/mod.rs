//! What tests against recorded data share.

// Each of them uses a part.
#![allow(dead_code, unreachable_pub)]

use linerate_topology::Env;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A folder of the recorded data; `None`, and said so, where it is not here.
pub fn shared(folder: &str) -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(folder);
    if dir.is_dir() {
        return Some(dir);
    }
    println!("SKIPPED: ../shared/data is not here");
    None
}

pub fn text(v: &Value) -> String {
    v.as_str().unwrap_or_default().to_owned()
}

/// The environment that the oracle was asked with.
pub fn env(answer: &Value) -> Env {
    let vars: Vec<(String, String)> =
        answer["env"].as_object().into_iter().flatten().map(|(k, v)| (k.clone(), text(v))).collect();
    Env::parse(vars.iter().map(|(k, v)| (k.as_str(), v.as_str())), Default::default())
}

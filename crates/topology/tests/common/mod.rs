//! What tests against recorded data share.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests")]
// Each of them uses a part.
#![allow(dead_code, unreachable_pub)]

use linerate_compose::{Entry, Tree};
use linerate_snapshot::{Coverage, Lookup, Output, OutputKind, Snapshot, Why};
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

/// The descriptions of nodes.
pub fn lab() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/nodes")
}

/// As a capture of it, without what `keep` refuses.
pub fn snapshot(tree: &Tree, keep: impl Fn(&str) -> bool) -> Snapshot {
    let mut s = Snapshot::new("composed");
    s.coverage = Coverage::Full { not_tried: Vec::new() };
    for (path, entry) in tree.entries.iter().filter(|(p, _)| keep(p)) {
        match entry {
            Entry::File(data) => s.add_file(path, data),
            Entry::Link(target) => s.add_link(path, target.as_bytes()),
            Entry::Dir => s.add_dir(path),
            Entry::Denied => s.add_failed(path, Why::Denied),
        };
    }
    for (path, argv) in tree.files().filter(|(p, _)| p.starts_with("cmd/") && p.ends_with("/argv")) {
        let argv: Vec<String> = serde_json::from_slice(argv).unwrap();
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        let kind = match words.as_slice() {
            ["lspci", ..] => OutputKind::Lspci,
            ["nvidia-smi", "-q", "-x"] => OutputKind::NvidiaSmiXml,
            ["nvidia-smi", "topo", "-m"] => OutputKind::NvidiaSmiTopo,
            _ => continue,
        };
        let Lookup::Found(entry) = s.resolve(&path.replace("/argv", "/stdout")) else { continue };
        s.outputs.push(Output { kind, entry, argv, status: Some(0) });
    }
    s
}

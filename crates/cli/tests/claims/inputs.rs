//! What is asked about: composed nodes, the examples, and real texts where they are.

use crate::common;
use linerate_snapshot::Snapshot;
use linerate_snapshot::capture::{Options, Purpose};
use std::path::{Path, PathBuf};

pub(crate) struct Input {
    pub(crate) name: String,
    path: PathBuf,
    composed: bool,
}

impl Input {
    pub(crate) fn load(&self) -> Option<Snapshot> {
        if self.composed {
            return Some(common::load(&self.path).1);
        }
        let options = Options { redact: false, ..Options::new(&self.path, Purpose::Audit) };
        linerate_snapshot::load(&self.path, &options, &|_| {}).ok()
    }
}

/// Texts of tools that say something of a node.
const REAL_FOLDERS: [&str; 9] =
    ["dmesg", "lspci", "topo-m", "nvidia-smi", "ibstat", "ibv_devinfo", "generated-here", "cases", "real2"];

pub(crate) fn inputs() -> Vec<Input> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let nodes = root.join("lab/nodes");
    let mut out = Vec::new();
    for dir in ["", "healthy", "healthy/broken", "broken"] {
        let found = common::descriptions(&nodes.join(dir)).into_iter();
        out.extend(found.map(|path| Input { name: name(&path, &nodes), path, composed: true }));
    }
    let file = |path: PathBuf, base: &Path| Input { name: name(&path, base), path, composed: false };
    for example in ["healthy-8gpu", "sick-8gpu"] {
        out.push(file(root.join(format!("examples/{example}.tar.zst")), &root));
    }
    let data = root.join("../shared/data");
    if !data.is_dir() {
        println!("SKIPPED: ../shared/data is not here: only composed nodes and examples are asked about");
        return out;
    }
    let mut texts = Vec::new();
    for folder in REAL_FOLDERS {
        files(&data.join(folder), &mut texts);
    }
    texts.sort();
    out.extend(texts.into_iter().map(|p| file(p, &data)));
    out
}

fn name(path: &Path, base: &Path) -> String {
    path.strip_prefix(base).unwrap_or(path).display().to_string()
}

fn files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, out);
        } else if path.file_name().is_some_and(|n| n != "truth.md") {
            out.push(path);
        }
    }
}

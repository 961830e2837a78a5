//! What bombs grow from: the files of composed nodes, the fixtures of the readers, logs of the lab.

use super::kinds::Seeds;
use super::rows;
use crate::shell::{self, Result};
use linerate_compose::Description;
use linerate_logs::{Dress, scenarios};
use std::path::Path;

pub(super) fn all() -> Result<Seeds> {
    let mut seeds = Seeds { tree: Vec::new(), texts: Vec::new(), rows: rows::all()? };
    let nodes = shell::root().join("lab/nodes");
    for name in ["sick-8gpu.toml", "healthy-8gpu-roce.toml"] {
        let tree = Description::load(&nodes.join(name)).and_then(|d| d.compose());
        let tree = tree.map_err(|e| format!("{name}: {e}"))?;
        for (path, data) in tree.files() {
            if path.ends_with("/stdout") {
                seeds.texts.push((path.replace('/', "-"), data.to_vec()));
            }
            if seeds.tree.len() < 1500 && name.starts_with("sick") {
                seeds.tree.push((path.to_owned(), data.to_vec()));
            }
        }
    }
    for dir in ["crates/formats/tests/fixtures", "crates/env/tests", "crates/report/tests/data", "lab/scenarios"] {
        files(&shell::root().join(dir), &mut seeds.texts);
    }
    for (i, scenario) in scenarios().iter().enumerate().filter(|(i, _)| i % 4 == 0) {
        let Some(release) = scenario.releases().last().copied() else { continue };
        for made in scenario.render(release, i as u64, Dress::Bare) {
            seeds.texts.push((format!("{i}.log"), made.bytes));
        }
    }
    if seeds.tree.len() < 100 || seeds.texts.len() < 50 {
        return Err(format!("too little to grow: {} files, {} texts", seeds.tree.len(), seeds.texts.len()));
    }
    Ok(seeds)
}

fn files(dir: &Path, out: &mut Vec<(String, Vec<u8>)>) {
    let Ok(list) = std::fs::read_dir(dir) else { return };
    let mut all: Vec<_> = list.flatten().map(|e| e.path()).collect();
    all.sort();
    for path in all {
        if path.is_dir() {
            files(&path, out);
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Ok(data) = std::fs::read(&path)
            && !data.is_empty()
            && data.len() < 200_000
            && !name.ends_with(".rs")
        {
            out.push((name, data));
        }
    }
}

//! Compares the paths that `linerate topo` finds in a guest's snapshot with the layout that the scenario declared.

use super::check::short;
use super::scenario::Expect;
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

/// The part of `linerate topo --format json` that scenarios speak of.
#[derive(Debug, Deserialize)]
struct Topo {
    gpus: Vec<Gpu>,
    paths: Vec<Hop>,
}

#[derive(Debug, Deserialize)]
struct Gpu {
    name: String,
    busid: String,
}

#[derive(Debug, Deserialize)]
struct Hop {
    from: String,
    to: String,
    #[serde(rename = "type")]
    kind: String,
}

/// Complaints about the paths.
pub(super) fn check(binary: &Path, expect: &Expect, out: &Path) -> Vec<String> {
    let snapshot = out.join("linerate/snapshot.tar.zst");
    let output = match Command::new(binary).args(["topo", "--format", "json"]).arg(&snapshot).output() {
        Ok(o) => o,
        Err(e) => return vec![format!("cannot run {}: {e}", binary.display())],
    };
    let _ = std::fs::write(out.join("linerate/topo.json"), &output.stdout);
    match serde_json::from_slice::<Topo>(&output.stdout) {
        Ok(topo) => compare(&topo, expect),
        Err(why) => {
            let words = String::from_utf8_lossy(&output.stderr);
            vec![format!("linerate topo: expected JSON, saw {why}: {}", short(&words))]
        }
    }
}

fn compare(topo: &Topo, expect: &Expect) -> Vec<String> {
    let name = |busid: &str| topo.gpus.iter().find(|g| g.busid == busid).map(|g| g.name.as_str());
    let mut complaints = Vec::new();
    for want in &expect.path {
        let seen = name(&want.from)
            .zip(name(&want.to))
            .and_then(|(from, to)| topo.paths.iter().find(|p| p.from == from && p.to == to).map(|p| p.kind.as_str()));
        if seen != Some(want.kind.as_str()) {
            let seen = seen.unwrap_or("no such path");
            complaints.push(format!("linerate topo: {} to {}: expected {}, saw {seen}", want.from, want.to, want.kind));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_otherwise_or_missing_is_complained_about() {
        let topo: Topo = serde_json::from_str(
            r#"{"gpus":[{"name":"GPU0","busid":"0000:01:00.0"},{"name":"GPU1","busid":"0000:02:00.0"}],
                "paths":[{"from":"GPU0","to":"GPU1","type":"PIX"}]}"#,
        )
        .unwrap();
        let complaints = |to: &str, kind: &str| {
            let text = format!("[[path]]\nfrom = \"0000:01:00.0\"\nto = \"{to}\"\ntype = \"{kind}\"");
            compare(&topo, &toml::from_str(&text).unwrap()).len()
        };
        assert_eq!(complaints("0000:02:00.0", "PIX"), 0);
        assert_eq!(complaints("0000:02:00.0", "PXB"), 1);
        assert_eq!(complaints("0000:03:00.0", "PIX"), 1);
    }
}

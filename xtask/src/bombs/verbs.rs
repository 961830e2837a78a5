//! Every verb that reads, with a bomb in each place where it reads.

use crate::shell::{self, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What verbs need beside a bomb.
pub(super) struct Prepared {
    /// A plan of a sick node.
    plan: PathBuf,
    /// That node.
    node: PathBuf,
    /// A benchmark's output.
    bench: PathBuf,
}

pub(super) fn prepare(binary: &Path, work: &Path) -> Result<Prepared> {
    let node = shell::root().join("examples/sick-8gpu.tar.zst");
    let plan = work.join("node.plan");
    let made = Command::new(binary)
        .args(["plan", "--format", "json"])
        .arg(&node)
        .output()
        .map_err(|e| format!("cannot run {}: {e}", binary.display()))?;
    if made.stdout.is_empty() {
        return Err(format!("no plan of {} was made: {}", node.display(), String::from_utf8_lossy(&made.stderr)));
    }
    std::fs::write(&plan, made.stdout).map_err(|e| e.to_string())?;
    let bench = shell::root().join("crates/formats/tests/fixtures/net/iperf3-bidir-p2.txt");
    if !bench.is_file() {
        return Err(format!("{} is not there", bench.display()));
    }
    Ok(Prepared { plan, node, bench })
}

/// The runs of a bomb: a name, and the arguments.
pub(super) fn of(p: &Prepared, bomb: &Path, dir: &Path, i: usize) -> Vec<(&'static str, Vec<String>)> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let (b, store) = (text(bomb), text(&dir.join("history.db")));
    let (plan, node, bench) = (text(&p.plan), text(&p.node), text(&p.bench));
    let any = |of: &[&'static str]| of.get(i % of.len().max(1)).copied().unwrap_or("text");
    let audit = any(&["text", "json", "markdown", "sarif", "junit"]);
    let line = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
    vec![
        ("audit", line(&["audit", "-f", audit, &b])),
        ("diff", line(&["diff", "-f", any(&["text", "json", "markdown"]), &b, &b])),
        ("diff NODE", line(&["diff", "-f", any(&["json", "markdown", "text"]), &node, &b])),
        ("nodes", line(&["nodes", "--inventory", &b, "-f", any(&["text", "json", "set"])])),
        ("topo", line(&["topo", "-f", any(&["text", "json", "svg", "dot", "xml"]), &b])),
        ("doctor", line(&["doctor", "-f", any(&["text", "json", "markdown"]), &b])),
        ("doctor --node", line(&["doctor", "--node", &b, &bench])),
        ("env check", line(&["env", "check", "-f", any(&["text", "json", "shell"]), &b])),
        ("env check --node", line(&["env", "check", "--node", &b])),
        ("bench import", line(&["bench", "import", "-q", "--store", &store, &b])),
        ("bench import --no-store", line(&["bench", "import", "--no-store", "-f", "json", &b])),
        ("bench compare", line(&["bench", "compare", "--store", &store, &b, &b])),
        ("bench compare A", line(&["bench", "compare", "--store", &store, &bench, &b])),
        ("bench summary", line(&["bench", "summary", "--store", &store, &b])),
        ("plan", line(&["plan", "-f", any(&["text", "json", "markdown", "shell"]), &b])),
        ("verify", line(&["verify", &plan, &b])),
        ("verify --before", line(&["verify", "--before", &b, &plan, &node])),
        ("verify PLAN", line(&["verify", &b, &node])),
    ]
}

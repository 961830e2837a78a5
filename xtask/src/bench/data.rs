//! Inputs of the benchmarks. `xtask bench data …` runs in a process of its own, built for speed.

use super::results_data;
use crate::examples::{self, Taken};
use crate::shell::{self, Result};
use linerate_compose::{Description, Tree};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The nodes of a fleet, in turn; without the functions of the root complexes that do nothing.
pub(super) const MIX: &[&str] = &["healthy-8gpu", "sick-8gpu", "healthy-8gpu-roce", "healthy-epyc-switchless"];
/// The node of which single audits are measured.
pub(super) const NODE: &str = "healthy-8gpu";

/// Calls ourselves: builds and runs `xtask bench data ARGS`.
pub(super) fn request(args: &[&str]) -> Result<String> {
    let own = ["run", "--quiet", "--release", "--package", "xtask", "--", "bench", "data"];
    // Each node takes and frees the same few megabytes: given back to the kernel each time, they cost a fifth of the run.
    let keep = [("MALLOC_MMAP_THRESHOLD_", "33554432"), ("MALLOC_TRIM_THRESHOLD_", "268435456")];
    shell::output(shell::cargo().args(own).args(args).envs(keep))
}

/// `node TREE UNPACKED ARCHIVE`: the node as a root directory shows it, as an unpacked snapshot, and as an archive; prints how many
/// entries the first has, and functions.
/// `mix DIR COUNT`, `full DIR COUNT`: a fleet of distinct nodes; prints entries and functions, added up.
pub(super) fn make(args: &[&str]) -> Result<()> {
    match args {
        ["node", root, unpacked, archive] => {
            let mut tree = compose(&describe(NODE, true)?, 1)?;
            tree.write_to(Path::new(unpacked)).map_err(|e| e.to_string())?;
            write(&PathBuf::from(archive), &tree, &mut Taken::default())?;
            tree.entries.retain(|path, _| !path.starts_with("linerate/") && !path.starts_with("cmd/"));
            tree.write_to(Path::new(root)).map_err(|e| e.to_string())?;
            println!("{} {}", tree.entries.len(), functions(&tree));
            Ok(())
        }
        [kind @ ("mix" | "full"), dir, count] => {
            let count = count.parse::<usize>().map_err(|e| format!("{count}: {e}"))?;
            fleet(Path::new(dir), count, *kind == "full")
        }
        ["results", what @ ..] => results_data::make(what),
        _ => Err("bench data: node TREE UNPACKED ARCHIVE | mix DIR COUNT | full DIR COUNT | results …".to_owned()),
    }
}

fn fleet(dir: &Path, count: usize, full: bool) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let names = if full { &[NODE] } else { MIX };
    let kinds = names.iter().map(|n| describe(n, full)).collect::<Result<Vec<_>>>()?;
    let (next, entries, total) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || -> Result<()> {
        let mut taken = Taken::default();
        for i in std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed)).take_while(|i| *i < count) {
            let Some(kind) = kinds.get(i % kinds.len()) else { break };
            let tree = compose(kind, i as u64 + 1)?;
            write(&dir.join(format!("node-{:05}.tar.zst", i + 1)), &tree, &mut taken)?;
            entries.fetch_add(tree.entries.len(), Ordering::Relaxed);
            total.fetch_add(functions(&tree), Ordering::Relaxed);
        }
        Ok(())
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        all.into_iter().try_for_each(|t| t.join().unwrap_or_else(|_| Err("a thread panicked".to_owned())))
    })?;
    println!("{} {}", entries.into_inner(), total.into_inner());
    Ok(())
}

/// A kind of node: its description, with or without the functions that do nothing.
fn describe(name: &str, clutter: bool) -> Result<(String, Description)> {
    let path = format!("lab/nodes/{name}.toml");
    let mut d = Description::load(&shell::root().join(&path)).map_err(|e| format!("{path}: {e}"))?;
    d.layout.clutter &= clutter;
    Ok((path, d))
}

/// One node of the kind; serials, GUIDs, addresses and the host's name come from the seed.
fn compose((path, kind): &(String, Description), seed: u64) -> Result<Tree> {
    let mut d = kind.clone();
    d.node.seed = seed;
    d.compose().map_err(|e| format!("{path}: {e}"))
}

fn write(path: &Path, tree: &Tree, taken: &mut Taken) -> Result<()> {
    let bytes = examples::archive(tree, taken)?;
    std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
}

fn functions(tree: &Tree) -> usize {
    tree.entries.keys().filter(|p| p.strip_prefix("sys/bus/pci/devices/").is_some_and(|n| !n.contains('/'))).count()
}

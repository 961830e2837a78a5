//! `cargo xtask examples [--check]`: writes the snapshots in `examples/` from the descriptions in `lab/nodes`, or says what is
//! stale. Compared is what is in the archives: how they are compressed may differ.

use crate::shell::{self, Result};
use linerate_compose::{Description, Entry, Tree};
use linerate_snapshot::{EntryId, EntryKind, Manifest, Snapshot, Why, load_bytes};
use std::collections::HashMap;
use std::fs;
use std::process::ExitCode;

/// Descriptions that have an example.
const EXAMPLES: &[&str] = &["sick-8gpu", "healthy-8gpu"];
/// An example larger than this does not belong into a repository.
const MAX_SIZE: usize = 300 << 10;

pub(crate) fn run(args: &[String]) -> ExitCode {
    let Some(check) = shell::only_check("examples", args) else { return ExitCode::from(3) };
    shell::exit(EXAMPLES.iter().try_for_each(|name| example(name, check)))
}

fn example(name: &str, check: bool) -> Result<()> {
    let root = shell::root();
    let (from, to) = (format!("lab/nodes/{name}.toml"), format!("examples/{name}.tar.zst"));
    let tree = Description::load(&root.join(&from)).and_then(|d| d.compose()).map_err(|e| format!("{from}: {e}"))?;
    let bytes = archive(&tree, &mut Taken::default()).map_err(|e| format!("{to}: {e}"))?;
    if bytes.len() > MAX_SIZE {
        return Err(format!("{to}: {} KiB, more than {} KiB", bytes.len() >> 10, MAX_SIZE >> 10));
    }
    let open = |bytes: &[u8]| load_bytes(bytes, name).map_err(|e| format!("{to}: {e}"));
    let new = open(&bytes)?;
    let old = fs::read(root.join(&to)).map_err(|e| format!("{to}: {e}")).and_then(|b| open(&b));
    // An archive that holds the same keeps its bytes: a new compressor is no reason for a commit.
    let difference = match &old {
        Ok(old) => first_difference(old, &new),
        Err(why) => Some(why.clone()),
    };
    match difference {
        None => println!("{to}: up to date, {} entries", new.len()),
        Some(why) if check => return Err(format!("{to}: {why}\nrun `cargo xtask examples` and commit the result")),
        Some(_) => {
            fs::write(root.join(&to), &bytes).map_err(|e| format!("{to}: {e}"))?;
            println!("{to}: written, {} KiB, {} entries", bytes.len() >> 10, new.len());
        }
    }
    Ok(())
}

/// What a capture takes of composed trees. Remembered: one answer compares a path with hundreds of patterns, and nodes of one
/// description have the same paths.
#[derive(Debug, Default)]
pub(crate) struct Taken(HashMap<String, bool>);

impl Taken {
    fn takes(&mut self, path: &str) -> bool {
        if let Some(known) = self.0.get(path) {
            return *known;
        }
        let takes = ["linerate/", "cmd/"].iter().any(|d| path.starts_with(d)) || linerate_snapshot::tries(path);
        self.0.insert(path.to_owned(), takes);
        takes
    }
}

/// The snapshot that a capture of this tree would have given, as an archive.
pub(crate) fn archive(tree: &Tree, taken: &mut Taken) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    snapshot(tree, taken)?.write_tar_zst(&mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes)
}

fn snapshot(tree: &Tree, taken: &mut Taken) -> Result<Snapshot> {
    const MANIFEST: &str = "linerate/manifest.json";
    let mut s = Snapshot::new("");
    let manifest = tree.get(MANIFEST).ok_or_else(|| format!("{MANIFEST} is not in the tree"))?;
    s.manifest = serde_json::from_slice::<Manifest>(manifest).map_err(|e| format!("{MANIFEST}: {e}"))?;
    // What no capture takes is not in a capture.
    for (path, entry) in tree.entries.iter().filter(|(path, _)| taken.takes(path)) {
        let added = match entry {
            Entry::File(data) => s.add_file(path, data),
            Entry::Link(target) => s.add_link(path, target.as_bytes()),
            Entry::Dir => s.add_dir(path),
            Entry::Denied => s.add_failed(path, Why::Denied),
        };
        added.ok_or_else(|| format!("{path}: a snapshot cannot hold it"))?;
    }
    Ok(s)
}

/// Where two snapshots differ first, in words.
fn first_difference(old: &Snapshot, new: &Snapshot) -> Option<String> {
    if old.manifest != new.manifest {
        return Some("the manifest differs".to_owned());
    }
    let (mut a, mut b) = (Vec::new(), Vec::new());
    list(old, old.root(), &mut a);
    list(new, new.root(), &mut b);
    let at = a.iter().zip(&b).position(|(x, y)| x != y).unwrap_or(a.len().min(b.len()));
    let path = b.get(at).or(a.get(at)).map(|(path, ..)| path)?;
    Some(format!("{path} differs"))
}

/// An entry's path, kind and content.
type Listed<'a> = (String, &'a EntryKind, &'a [u8]);

fn list<'a>(s: &'a Snapshot, dir: EntryId, to: &mut Vec<Listed<'a>>) {
    for (_, id) in s.children(dir) {
        to.push((s.path(id), s.kind(id), s.data(id)));
        if *s.kind(id) == EntryKind::Dir {
            list(s, id, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_holds_the_tree_and_differences_are_found() {
        let nodes = shell::root().join("lab/nodes/sick-8gpu.toml");
        let mut d = Description::load(&nodes).unwrap();
        (d.layout.clutter, d.node.cores_per_socket) = (false, 2);
        let mut tree = d.compose().unwrap();
        let open = |t: &Tree| load_bytes(&archive(t, &mut Taken::default()).unwrap(), "x").unwrap();
        let one = open(&tree);
        assert_eq!(first_difference(&one, &open(&tree)), None);
        tree.file("proc/cmdline", "other");
        assert_eq!(first_difference(&one, &open(&tree)).unwrap(), "proc/cmdline differs");
        tree.file("zzz", "more");
        tree.entries.remove("proc/cmdline");
        assert!(first_difference(&one, &open(&tree)).is_some());
    }
}

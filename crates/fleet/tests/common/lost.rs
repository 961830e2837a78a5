//! Nodes that lack a device: the whole of it, as after a card fell off the bus and the node was booted again.

#![allow(dead_code, unreachable_pub)] // each test file uses a part
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::print_stderr)] // helpers of tests

use linerate_compose::{Description, Entry, Tree};
use std::path::Path;

/// The healthy node with a patch, and serial numbers of its own.
pub fn tree(seed: u32, patch: &str) -> Tree {
    tree_of(seed, &[], patch)
}

/// The same, with other words in its description.
pub fn tree_of(seed: u32, edits: &[(&str, &str)], patch: &str) -> Tree {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/nodes/healthy-8gpu.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.replace("[node]\n", &format!("[node]\nseed = {seed}\nhost = \"n{seed}\"\n"));
    let text = edits.iter().fold(text, |text, (from, to)| text.replace(from, to));
    let d = Description::parse(&format!("{text}\n{patch}")).unwrap_or_else(|e| panic!("{patch}: {e}"));
    d.compose().unwrap_or_else(|e| panic!("{patch}: {e}"))
}

/// Addresses of the functions with this vendor and device, in their order.
pub fn addresses(tree: &Tree, vendor: &str, device: &str) -> Vec<String> {
    let is = |dir: &str, leaf: &str, id: &str| {
        tree.get(&format!("{dir}/{leaf}")).is_some_and(|b| String::from_utf8_lossy(b).trim() == id)
    };
    let dirs = tree.entries.keys().filter_map(|p| p.strip_suffix("/device"));
    let mut out: Vec<String> = dirs
        .filter(|dir| is(dir, "vendor", vendor) && is(dir, "device", device))
        .filter_map(|dir| dir.rsplit('/').next())
        .filter(|name| name.len() == 12 && name.contains('.'))
        .map(str::to_owned)
        .collect();
    out.sort();
    out.dedup();
    out
}

/// Takes a function out of a node: its directory, what leads to it, and what tools print of it.
pub fn lose(tree: &mut Tree, address: &str) {
    let has = |path: &str| path.split('/').any(|p| p == address);
    // GPUs have addresses with eight digits of the domain in the driver's texts.
    let long = format!("0000{}", address.to_ascii_uppercase());
    let lost: Vec<String> = tree
        .entries
        .iter()
        .filter(|(path, entry)| {
            let to = matches!(entry, Entry::Link(to) if has(to));
            has(path) || to
        })
        .map(|(path, _)| path.clone())
        .collect();
    for path in lost {
        tree.entries.remove(&path);
    }
    let argvs: Vec<String> =
        tree.entries.keys().filter(|p| p.starts_with("cmd/") && p.ends_with("/argv")).cloned().collect();
    for path in argvs {
        let argv = String::from_utf8_lossy(tree.get(&path).unwrap()).into_owned();
        let dir = path.strip_suffix("/argv").unwrap().to_owned();
        if argv.contains(address) {
            tree.entries.retain(|p, _| !p.starts_with(&format!("{dir}/")));
            continue;
        }
        let out = format!("{dir}/stdout");
        let Some(text) = tree.get(&out).map(|b| String::from_utf8_lossy(b).into_owned()) else { continue };
        let kept: String = match text.contains("<nvidia_smi_log>") {
            // The driver's report is a list of its GPUs.
            true => {
                let gone = |block: &str| block.contains(&format!("<gpu id=\"{long}\">"));
                let parts: Vec<&str> = text.split_inclusive("</gpu>\n").collect();
                let cut = |part: &&str| match (gone(part), part.find("\t<gpu id=")) {
                    // What is before the first GPU is not its own.
                    (true, Some(at)) => part.get(..at).unwrap_or_default().to_owned(),
                    _ => (*part).to_owned(),
                };
                parts.iter().map(cut).collect()
            }
            false => text.split_inclusive('\n').filter(|l| !l.contains(address) && !l.contains(&long)).collect(),
        };
        tree.file(out, kept.into_bytes());
    }
}

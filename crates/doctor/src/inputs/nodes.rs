//! Texts of tools become nodes: those of one directory belong together, unless they are of several hosts.

use linerate_formats::Kind;
use linerate_snapshot::{Snapshot, Texts, hosts_of};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A text that was kept.
pub(super) struct Kept {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) bytes: Vec<u8>,
}

/// The nodes that texts make, each with its name.
pub(super) fn group(texts: Vec<Kept>) -> Vec<(String, Snapshot)> {
    let mut dirs: BTreeMap<PathBuf, Vec<Kept>> = BTreeMap::new();
    for t in texts {
        dirs.entry(t.path.parent().unwrap_or(Path::new("")).to_owned()).or_default().push(t);
    }
    let mut out = Vec::new();
    for (dir, texts) in dirs {
        out.extend(one_directory(&dir, texts));
    }
    out
}

fn one_directory(dir: &Path, texts: Vec<Kept>) -> Vec<(String, Snapshot)> {
    let several = {
        let hosts: BTreeSet<String> = texts.iter().flat_map(hosts).collect();
        hosts.len() > 1 || doubled(&texts)
    };
    if !several {
        let name = match texts.as_slice() {
            [one] => one.path.display().to_string(),
            _ => dir.display().to_string(),
        };
        return node(name, texts).into_iter().collect();
    }
    // By the host that a text names, else by what names of files of different tools have in common: `lspci-node1`, `dmesg-node1`.
    let words = common_words(&texts);
    let mut groups: BTreeMap<String, Vec<Kept>> = BTreeMap::new();
    for t in texts {
        let key = match hosts(&t).as_slice() {
            [host] => host.clone(),
            _ => file_words(&t.path).into_iter().filter(|w| words.contains(w)).collect::<Vec<_>>().join("-"),
        };
        groups.entry(key).or_default().push(t);
    }
    let mut out = Vec::new();
    for (key, texts) in groups {
        if key.is_empty() || doubled(&texts) {
            // Nothing tells them apart: each is a node of its own.
            out.extend(texts.into_iter().filter_map(|t| node(t.path.display().to_string(), vec![t])));
        } else {
            out.extend(node(key, texts));
        }
    }
    out
}

fn hosts(t: &Kept) -> Vec<String> {
    hosts_of(&t.path.to_string_lossy(), &t.bytes)
}

/// Two texts of one tool.
fn doubled(texts: &[Kept]) -> bool {
    let kinds: BTreeSet<Kind> = texts.iter().map(|t| t.kind).collect();
    kinds.len() < texts.len()
}

fn file_words(path: &Path) -> Vec<String> {
    let name = path.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_owned).collect()
}

/// Words that stand in names of files of different tools, but not in all.
fn common_words(texts: &[Kept]) -> BTreeSet<String> {
    let mut tools: BTreeMap<String, (BTreeSet<Kind>, usize)> = BTreeMap::new();
    for t in texts {
        for w in file_words(&t.path).into_iter().collect::<BTreeSet<_>>() {
            let entry = tools.entry(w).or_default();
            entry.0.insert(t.kind);
            entry.1 += 1;
        }
    }
    tools.into_iter().filter(|(_, (kinds, files))| kinds.len() > 1 && *files < texts.len()).map(|(w, _)| w).collect()
}

fn node(name: String, texts: Vec<Kept>) -> Option<(String, Snapshot)> {
    let mut all = Texts::new(name.as_str());
    for t in texts {
        let file = t.path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        all.add(&file, &t.bytes, 0);
    }
    all.finish().map(|s| (name, s))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(path: &str, kind: Kind, text: &str) -> Kept {
        Kept { path: path.into(), kind, bytes: text.into() }
    }

    fn names(texts: Vec<Kept>) -> Vec<(String, usize)> {
        group(texts).into_iter().map(|(n, s)| (n, s.outputs.len())).collect()
    }

    const LSPCI: &str = "0000:18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330]\n";
    const DMESG: &str = "[    0.000000] Linux version 6.8.0\n";
    const OF_A: &str = "Nov 21 07:00:00 a kernel: Linux version 6.8.0\n";

    #[test]
    fn texts_of_one_directory_are_one_node() {
        let all = vec![
            kept("d/lspci.txt", Kind::Lspci, LSPCI),
            kept("d/dmesg", Kind::Dmesg, DMESG),
            kept("e/dmesg", Kind::Dmesg, OF_A),
        ];
        assert_eq!(names(all), [("d".to_owned(), 2), ("e/dmesg".to_owned(), 1)]);
    }

    #[test]
    fn texts_of_several_hosts_are_told_apart() {
        let all = vec![
            kept("d/lspci-n1.txt", Kind::Lspci, LSPCI),
            kept("d/lspci-n2.txt", Kind::Lspci, LSPCI),
            kept("d/dmesg-n1.txt", Kind::Dmesg, DMESG),
            kept("d/dmesg-n2.txt", Kind::Dmesg, DMESG),
        ];
        assert_eq!(names(all), [("n1".to_owned(), 2), ("n2".to_owned(), 2)]);
        let all = vec![kept("d/x.log", Kind::Dmesg, OF_A), kept("d/y.log", Kind::Dmesg, &OF_A.replace(" a ", " b "))];
        assert_eq!(names(all), [("a".to_owned(), 1), ("b".to_owned(), 1)]);
        let all = vec![kept("d/x", Kind::Lspci, LSPCI), kept("d/y", Kind::Lspci, LSPCI)];
        assert_eq!(names(all), [("d/x".to_owned(), 1), ("d/y".to_owned(), 1)]);
    }
}

//! Which texts are of one node: by the hosts that they name, by what they say of the same device, by their files' names.
//!
//! Texts of one directory belong together, unless something tells them apart. Where something does, and nothing says whose a text
//! is, it is a node of its own: a finding of one node must not be hidden by another's text.

mod claims;

use crate::hosts;
use crate::lines::Lines;
use claims::Claims;
use linerate_formats::Kind;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A text that was read, and what it is.
#[derive(Debug, Clone)]
pub struct Pasted {
    /// Where it came from.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// What it says.
    pub bytes: Vec<u8>,
    /// Where its lines stand in its file.
    pub lines: Lines,
    /// The node, where the operator or the command line above it names one.
    pub host: Option<String>,
}

/// Texts of one node.
#[derive(Debug, Clone)]
pub struct Owned {
    /// The node: the host that they name, what their files' names have in common, else the one text's or the directory's path.
    pub name: String,
    /// The texts.
    pub texts: Vec<Pasted>,
}

/// The nodes that texts make: those of each directory are looked at by themselves.
#[must_use]
pub fn by_node(texts: Vec<Pasted>) -> Vec<Owned> {
    let mut dirs: BTreeMap<PathBuf, Vec<Pasted>> = BTreeMap::new();
    for t in texts {
        dirs.entry(t.path.parent().unwrap_or(Path::new("")).to_owned()).or_default().push(t);
    }
    dirs.into_iter().flat_map(|(dir, texts)| of_directory(&dir, texts)).collect()
}

fn of_directory(dir: &Path, texts: Vec<Pasted>) -> Vec<Owned> {
    let words = common_words(&texts);
    let hosts: Vec<BTreeSet<String>> = texts.iter().map(hosts_of).collect();
    let keys: Vec<String> = texts.iter().zip(&hosts).map(|(t, hosts)| key(t, hosts, &words)).collect();
    if !are_apart(&texts, &hosts, &keys) {
        let name = match texts.as_slice() {
            [one] => one.path.display().to_string(),
            _ => dir.display().to_string(),
        };
        return vec![Owned { name, texts }];
    }
    let mut groups: BTreeMap<String, Vec<Pasted>> = BTreeMap::new();
    for (key, t) in keys.into_iter().zip(texts) {
        groups.entry(key).or_default().push(t);
    }
    let mut out = Vec::new();
    for (key, texts) in groups {
        let is_said = texts.iter().all(|t| t.host.is_some());
        // Nothing tells them apart, and they are not of one node: each file is one of its own.
        if !is_said && (key.is_empty() || contradict(&texts)) {
            out.extend(by_file(texts));
        } else if !is_said && let Some(file) = only_file(&texts) {
            out.push(Owned { name: file.display().to_string(), texts });
        } else {
            out.push(Owned { name: key, texts });
        }
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

/// The file of several texts that no host is named in.
fn only_file(texts: &[Pasted]) -> Option<PathBuf> {
    let (first, rest) = texts.split_first()?;
    let is_its = |t: &Pasted| t.path == first.path && hosts_of(t).is_empty();
    (!rest.is_empty() && hosts_of(first).is_empty() && rest.iter().all(is_its)).then(|| first.path.clone())
}

/// Each file is a node.
fn by_file(texts: Vec<Pasted>) -> impl Iterator<Item = Owned> {
    let mut files: BTreeMap<PathBuf, Vec<Pasted>> = BTreeMap::new();
    for t in texts {
        files.entry(t.path.clone()).or_default().push(t);
    }
    files.into_iter().map(|(path, texts)| Owned { name: path.display().to_string(), texts })
}

/// The hosts that a text is of: what is said of it goes before what it says.
fn hosts_of(t: &Pasted) -> BTreeSet<String> {
    t.host.as_ref().map_or_else(|| hosts::of_text(t.kind, &t.bytes), |host| [host.clone()].into())
}

/// Whether texts are of several nodes.
fn are_apart(texts: &[Pasted], hosts: &[BTreeSet<String>], keys: &[String]) -> bool {
    let mut named = hosts.iter().filter(|h| !h.is_empty());
    let first = named.next();
    if first.is_some_and(|first| named.any(|h| h.is_disjoint(first))) || contradict(texts) {
        return true;
    }
    // Two texts of one tool, of which a node has one, whose files' names say whose they are.
    let mut seen: BTreeMap<Kind, &str> = BTreeMap::new();
    let mut once = texts.iter().zip(keys).filter(|(t, key)| t.kind.tool().once && !key.is_empty());
    once.any(|(t, key)| seen.insert(t.kind, key).is_some_and(|before| before != key))
}

/// Whether two texts say different things of one device.
fn contradict(texts: &[Pasted]) -> bool {
    let mut all = Claims::default();
    // One text has nothing beside it, and is not read for this.
    texts.len() > 1 && texts.iter().any(|t| !all.take(t.kind, &t.bytes))
}

/// By the host that a text names, else by what names of files of different tools have in common: `lspci-node1`, `dmesg-node1`.
fn key(t: &Pasted, hosts: &BTreeSet<String>, words: &BTreeSet<String>) -> String {
    match hosts.first().filter(|_| hosts.len() == 1) {
        Some(host) => host.clone(),
        None => file_words(&t.path).into_iter().filter(|w| words.contains(w)).collect::<Vec<_>>().join("-"),
    }
}

fn file_words(path: &Path) -> Vec<String> {
    let name = path.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_owned).collect()
}

/// Words that stand in names of files of different tools, of which a node has one text each, but not in all.
fn common_words(texts: &[Pasted]) -> BTreeSet<String> {
    let once: Vec<&Pasted> = texts.iter().filter(|t| t.kind.tool().once).collect();
    let mut tools: BTreeMap<String, (BTreeSet<Kind>, usize)> = BTreeMap::new();
    for t in &once {
        for w in file_words(&t.path).into_iter().collect::<BTreeSet<_>>() {
            let entry = tools.entry(w).or_default();
            entry.0.insert(t.kind);
            entry.1 += 1;
        }
    }
    tools.into_iter().filter(|(_, (kinds, files))| kinds.len() > 1 && *files < once.len()).map(|(w, _)| w).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pasted(path: &str, kind: Kind, text: &str) -> Pasted {
        Pasted { path: path.into(), kind, bytes: text.into(), lines: Lines::default(), host: None }
    }

    fn names(texts: &[Pasted]) -> Vec<(String, usize)> {
        by_node(texts.to_vec()).into_iter().map(|o| (o.name, o.texts.len())).collect()
    }

    fn want(all: &[(&str, usize)]) -> Vec<(String, usize)> {
        all.iter().map(|(n, c)| ((*n).to_owned(), *c)).collect()
    }

    const LSPCI: &str = "0000:18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330]\n";
    const OTHER: &str = "0000:18:00.0 Ethernet controller [0200]: Intel Corporation E810 [8086:1592]\n";
    const DMESG: &str = "[    0.000000] Linux version 6.8.0\n";
    const OF_A: &str = "Nov 21 07:00:00 a kernel: Linux version 6.8.0\n";

    #[test]
    fn texts_of_one_directory_are_one_node() {
        let all = [
            pasted("d/lspci.txt", Kind::Lspci, LSPCI),
            pasted("d/dmesg", Kind::Dmesg, DMESG),
            pasted("e/dmesg", Kind::Dmesg, OF_A),
        ];
        assert_eq!(names(&all), want(&[("d", 2), ("e/dmesg", 1)]));
        // Two listings of the same devices that agree are one node's, where nothing else tells them apart.
        let more = format!("{LSPCI}\tKernel driver in use: nvidia\n\tNUMA node: 1\n");
        let all = [pasted("d/lspci-nn", Kind::Lspci, LSPCI), pasted("d/lspci-vvv", Kind::Lspci, &more)];
        assert_eq!(names(&all), want(&[("d", 2)]));
    }

    #[test]
    fn names_of_files_tell_nodes_apart() {
        let all = [
            pasted("d/lspci-n1.txt", Kind::Lspci, LSPCI),
            pasted("d/lspci-n2.txt", Kind::Lspci, LSPCI),
            pasted("d/dmesg-n1.txt", Kind::Dmesg, DMESG),
            pasted("d/dmesg-n2.txt", Kind::Dmesg, DMESG),
        ];
        assert_eq!(names(&all), want(&[("n1", 2), ("n2", 2)]));
    }

    #[test]
    fn the_operator_decides() {
        let said = |path: &str, text: &str, host: &str| Pasted {
            host: Some(host.to_owned()),
            ..pasted(path, Kind::Lspci, text)
        };
        let log = pasted("d/dmesg", Kind::Dmesg, OF_A);
        // What is said of a text joins those that name the host themselves, and tells apart what looks alike.
        let all = [said("d/1", LSPCI, "a"), said("d/2", LSPCI, "b"), log.clone()];
        assert_eq!(names(&all), want(&[("a", 2), ("b", 1)]));
        // Another device at the same address: it is the operator's word that they are of one node.
        let all = [said("d/1", LSPCI, "a"), said("d/2", OTHER, "a")];
        assert_eq!(names(&all), want(&[("a", 2)]));
        assert_eq!(names(&[said("d/1", LSPCI, "b"), log]), want(&[("a", 1), ("b", 1)]));
    }

    #[test]
    fn parts_of_a_file_stay_together() {
        let part = |path: &str, kind, above| Pasted { lines: Lines::below(above), ..pasted(path, kind, LSPCI) };
        let other = pasted("d/n2", Kind::Lspci, OTHER);
        let all = [part("d/n1", Kind::Lspci, 0), part("d/n1", Kind::Numactl, 9), other];
        assert_eq!(names(&all), want(&[("d/n1", 2), ("d/n2", 1)]));
    }

    #[test]
    fn interfaces_are_no_nodes() {
        let all = [
            pasted("d/ethtool-S-eth0", Kind::EthtoolStats, "NIC statistics:\n     a: 1\n"),
            pasted("d/ethtool-S-eth1", Kind::EthtoolStats, "NIC statistics:\n     a: 2\n"),
            pasted("d/mlnx_qos-eth0", Kind::MlnxQos, "x"),
            pasted("d/mlnx_qos-eth1", Kind::MlnxQos, "x"),
            pasted("d/lspci", Kind::Lspci, LSPCI),
            pasted("d/dmesg", Kind::Dmesg, DMESG),
        ];
        assert_eq!(names(&all), want(&[("d", 6)]));
    }

    #[test]
    fn hosts_and_devices_tell_nodes_apart() {
        let b = OF_A.replace(" a ", " b ");
        let all = [pasted("d/x.log", Kind::Dmesg, OF_A), pasted("d/y.log", Kind::Dmesg, &b)];
        assert_eq!(names(&all), want(&[("a", 1), ("b", 1)]));
        // Another device at the same address; the third is of either.
        let all = [
            pasted("d/x", Kind::Lspci, LSPCI),
            pasted("d/y", Kind::Lspci, OTHER),
            pasted("d/z", Kind::Numactl, "available: 2 nodes (0-1)\n"),
        ];
        assert_eq!(names(&all), want(&[("d/x", 1), ("d/y", 1), ("d/z", 1)]));
    }
}

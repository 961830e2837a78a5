//! The sources of a directory: one list for every command that looks at many nodes.

use crate::archive::{dated, nested, node_name};
use crate::recognise::{HEAD, recognise};
use crate::source::is_snapshot_dir;
use linerate_formats::Gives;
use linerate_formats::bounds::{SOURCES_WALKED, TEXTS as MAX_TEXTS};
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// What a source is, by its name and place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceKind {
    /// An archive, which may hold several nodes.
    Archive,
    /// A directory with `sys/` or `proc/`, or an unpacked snapshot.
    Tree,
    /// A file that is no archive.
    Text,
    /// A directory of texts of one node.
    Texts,
    /// A directory in which nothing of the kind was found.
    Unknown,
}

/// A source of a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// Its path below the directory.
    pub name: String,
    /// How its node is called.
    pub label: String,
    /// The file or directory.
    pub path: PathBuf,
    /// What it is.
    pub kind: SourceKind,
    /// By what a change is known: size, and Unix time of modification in nanoseconds. Of a tree it is its manifest's, else its own.
    pub file: (u64, u64),
}

/// What a directory holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// In the order of their names.
    pub sources: Vec<Source>,
    /// Entries beyond the limit, of which each may hold more.
    pub left_out: usize,
}

impl Listing {
    /// Of the snapshots in a node's directory that are named by their times the newest.
    #[must_use]
    pub fn newest(self) -> Vec<Source> {
        let mut last: HashMap<String, usize> = HashMap::new();
        for (i, s) in self.sources.iter().enumerate() {
            if let Some(dir) = dated(&s.name) {
                last.insert(dir.to_owned(), i);
            }
        }
        let stays = |i: usize, s: &Source| dated(&s.name).is_none_or(|dir| last.get(dir) == Some(&i));
        self.sources.into_iter().enumerate().filter(|(i, s)| stays(*i, s)).map(|(_, s)| s).collect()
    }
}

/// Ends of names that say how a file is packed or that it is a text, beyond those of archives.
const ENDS: [&str; 3] = [".ttar", ".txt", ".log"];
/// Ends of names of files that are no sources.
const OTHERS: [&str; 5] = [".parquet", ".json", ".toml", ".lock", ".md"];
/// Levels of directories below the one that is listed. A must-gather has its nodes' trees at the fourth.
const DEEP: usize = 5;

/// The sources of a directory: archives, texts and trees in it; archives and trees in directories below, which are called by their directories where
/// their own names are times or say nothing; directories of texts. Hidden files and links are left out.
///
/// # Errors
/// The directory cannot be read. What is below it and cannot be read is left out.
pub fn sources(dir: &Path) -> io::Result<Listing> {
    let mut walk = Walk { out: Listing::default(), seen: 0 };
    walk.level(entries(dir)?, "", 0);
    walk.out.sources.sort();
    Ok(walk.out)
}

struct Walk {
    out: Listing,
    seen: usize,
}

/// What a directory holds: name, path, whether it is a directory.
type Entry = (String, PathBuf, bool);

impl Walk {
    /// What is in a directory at a path below the one that is listed.
    fn level(&mut self, inside: Vec<Entry>, at: &str, depth: usize) {
        let is_source = |(name, path, is_dir): &&Entry| {
            if *is_dir { is_snapshot_dir(path) } else { is_packed(name) }
        };
        let is_time = |(name, ..): &Entry| dated(&format!("{at}/{name}")).is_some();
        // Beside a snapshot that is named by its time lie others of the same node.
        let alone = depth > 0
            && (inside.iter().filter(is_source).nth(1).is_none() || inside.iter().filter(is_source).any(is_time));
        for (name, path, is_dir) in inside {
            self.seen += 1;
            if self.seen > SOURCES_WALKED {
                self.out.left_out += 1;
                continue;
            }
            let full = if at.is_empty() { name.clone() } else { format!("{at}/{name}") };
            if !is_dir {
                self.file(&full, &path, depth, alone);
            } else if is_snapshot_dir(&path) {
                let label = node_name(&full, alone).to_owned();
                self.add(full, label, path, SourceKind::Tree);
            } else if depth < DEEP {
                self.directory(full, name, path, depth);
            }
        }
    }

    fn file(&mut self, full: &str, path: &Path, depth: usize, alone: bool) {
        let lower = full.to_ascii_lowercase();
        if is_packed(full) {
            let label = short_name(node_name(full, alone)).to_owned();
            self.add(full.to_owned(), label, path.to_owned(), SourceKind::Archive);
        } else if depth == 0 && !OTHERS.iter().any(|e| lower.ends_with(e)) {
            // Texts that lie together in a directory below are one source.
            self.add(full.to_owned(), short_name(full).to_owned(), path.to_owned(), SourceKind::Text);
        }
    }

    fn directory(&mut self, full: String, name: String, path: PathBuf, depth: usize) {
        let inside = entries(&path).unwrap_or_default();
        if inside.is_empty() {
            return;
        }
        let before = self.out.sources.len();
        // Deeper than in a fleet's directory only a directory of nodes has their texts: others hold logs of many.
        let above = full.rsplit('/').nth(1).unwrap_or_default();
        let may_be_texts = depth == 0 || nested::holds_nodes(above);
        let files: Vec<(String, PathBuf)> = inside
            .iter()
            .filter(|(.., is_dir)| may_be_texts && !is_dir)
            .map(|(n, p, _)| (n.clone(), p.clone()))
            .collect();
        self.level(inside, &full, depth + 1);
        if self.out.sources.len() > before {
            return;
        }
        // Only here: to open each file of a fleet costs as much as to read it.
        if files.iter().any(|(n, p)| is_text(n, p)) {
            self.add(full, name, path, SourceKind::Texts);
        } else if depth == 0 {
            self.add(full, name, path, SourceKind::Unknown);
        }
    }

    fn add(&mut self, name: String, label: String, path: PathBuf, kind: SourceKind) {
        let of = |p: &Path| {
            let about = p.symlink_metadata().ok()?;
            let since = about.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
            Some((about.len(), u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)))
        };
        let manifest = if kind == SourceKind::Tree { of(&path.join(crate::archive::MANIFEST)) } else { None };
        if let Some(file) = manifest.or_else(|| of(&path)) {
            self.out.sources.push(Source { name, label, path, kind, file });
        }
    }
}

/// What a directory holds, by name. Hidden files are those that are being written.
fn entries(dir: &Path) -> io::Result<Vec<Entry>> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(kind) = entry.file_type() else { continue };
        if !name.starts_with('.') && !kind.is_symlink() {
            out.push((name, entry.path(), kind.is_dir()));
        }
    }
    out.sort();
    Ok(out)
}

fn is_packed(name: &str) -> bool {
    nested::is_archive_name(name) || name.to_ascii_lowercase().ends_with(".ttar")
}

/// The name of a file or a directory, without what says how it is packed or that it is a text: how its node is called.
#[must_use]
pub fn short_name(name: &str) -> &str {
    let lower = name.to_ascii_lowercase();
    let end = ENDS.iter().find(|e| lower.ends_with(*e));
    let name = end.and_then(|e| name.get(..name.len() - e.len())).filter(|n| !n.is_empty()).unwrap_or(name);
    node_name(name, false)
}

/// Whether a file is what a tool printed of a node.
fn is_text(name: &str, path: &Path) -> bool {
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|f| f.take(HEAD as u64).read_to_end(&mut head));
    read.is_ok() && matches!(recognise(name, &head).gives(), Gives::Facts | Gives::KernelLog | Gives::Copy(_))
}

/// Of a listing those that are trees or archives, to choose from, each by its path below the directory.
pub(crate) fn of_nodes(dir: &Path) -> Vec<Source> {
    let all = sources(dir).map(Listing::newest).unwrap_or_default();
    all.into_iter().filter(|s| matches!(s.kind, SourceKind::Tree | SourceKind::Archive)).take(MAX_TEXTS).collect()
}

//! What the user named becomes a list of things to read, in a fixed order and of a bounded length.

use super::doctor::is_standard;
pub(in crate::cmd) use linerate_doctor::Source;
use linerate_formats::bounds::{WALK_DEPTH, WALK_ENTRIES, WALK_FILES};
use linerate_snapshot::is_snapshot_dir;
use std::collections::HashSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Something to read.
pub(in crate::cmd) enum Found {
    /// A directory that is a snapshot or a tree.
    Tree { path: PathBuf, name: String },
    /// Anything else: opened once, read from the beginning to the end.
    Stream(Source),
}

/// What was found.
#[derive(Default)]
pub(in crate::cmd) struct Walk {
    pub(in crate::cmd) found: Vec<Found>,
    /// What was passed over.
    pub(in crate::cmd) remarks: Vec<String>,
    /// What of it was named and could not be read, or is beyond a limit.
    pub(in crate::cmd) unread: Vec<String>,
    seen: HashSet<(u64, u64)>,
    files: usize,
    too_many: usize,
    too_deep: usize,
    too_long: usize,
    links: usize,
    special: usize,
}

/// Walks what was named.
pub(in crate::cmd) fn walk(named: &[PathBuf]) -> Walk {
    let mut w = Walk::default();
    for path in named {
        if is_standard(path) {
            w.found.push(Found::Stream(Source { path: None, name: "standard input".into(), size: None }));
            continue;
        }
        match std::fs::metadata(path) {
            Ok(m) if m.is_dir() => w.directory(path, WALK_DEPTH),
            Ok(m) => w.file(path, &m),
            Err(e) => w.unread(format!("{}: {e}", path.display())),
        }
    }
    for (n, why) in [
        (w.too_many, format!("files were left out: more than {WALK_FILES} (limit WALK_FILES)")),
        (w.too_deep, format!("directories were left out: more than {WALK_DEPTH} deep (limit WALK_DEPTH)")),
        (
            w.too_long,
            format!(
                "directories were read to their first {WALK_ENTRIES} entries (limit WALK_ENTRIES); the rest was left out"
            ),
        ),
    ] {
        if n > 0 {
            w.unread(format!("{n} {why}"));
        }
    }
    for (n, what) in [
        (w.links, "symbolic links inside directories were not followed: name what they point to"),
        (w.special, "pipes, sockets and devices inside directories were not opened"),
    ] {
        if n > 0 {
            w.remarks.push(format!("{n} {what}"));
        }
    }
    w
}

impl Walk {
    fn unread(&mut self, why: String) {
        self.unread.push(why.clone());
        self.remarks.push(why);
    }

    fn file(&mut self, path: &Path, m: &Metadata) {
        if m.is_file() && !self.seen.insert((m.dev(), m.ino())) {
            // Named twice, or a second name of the same file: its lines count once.
            return;
        }
        if self.files >= WALK_FILES {
            self.too_many += 1;
            return;
        }
        self.files += 1;
        let size = m.is_file().then_some(m.len());
        self.found.push(Found::Stream(Source { path: Some(path.into()), name: path.display().to_string(), size }));
    }

    fn directory(&mut self, path: &Path, depth: u32) {
        if is_snapshot_dir(path) {
            self.found.push(Found::Tree { path: path.into(), name: path.display().to_string() });
            return;
        }
        let list = match std::fs::read_dir(path) {
            Ok(list) => list,
            Err(e) => return self.unread(format!("{}: {e}; what is in it was not read", path.display())),
        };
        let mut entries: Vec<_> = list.flatten().take(WALK_ENTRIES + 1).collect();
        if entries.len() > WALK_ENTRIES {
            entries.truncate(WALK_ENTRIES);
            self.too_long += 1;
        }
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_symlink() {
                self.links += 1;
            } else if kind.is_dir() && depth == 0 {
                self.too_deep += 1;
            } else if kind.is_dir() {
                self.directory(&path, depth - 1);
            } else if kind.is_file() {
                match entry.metadata() {
                    Ok(m) => self.file(&path, &m),
                    Err(e) => self.unread(format!("{}: {e}", path.display())),
                }
            } else {
                self.special += 1;
            }
        }
    }
}

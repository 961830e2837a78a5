//! The composed tree.

use crate::glob;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// What a path of the tree is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A file and its bytes.
    File(Vec<u8>),
    /// A symbolic link and its target, relative as in sysfs.
    Link(String),
    /// A directory that may be empty.
    Dir,
    /// Seen, but reading it gives "permission denied".
    Denied,
}

/// A node as a small filesystem.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tree {
    /// Paths without leading slash, sorted.
    pub entries: BTreeMap<String, Entry>,
}

impl Tree {
    /// Adds or replaces a file.
    pub fn file(&mut self, path: impl Into<String>, data: impl Into<Vec<u8>>) {
        self.entries.insert(path.into(), Entry::File(data.into()));
    }

    /// Adds a file of one value, with the newline that sysfs appends.
    pub(crate) fn value(&mut self, path: impl Into<String>, value: impl AsRef<str>) {
        let value = value.as_ref();
        let mut data = Vec::with_capacity(value.len() + 1);
        data.extend_from_slice(value.as_bytes());
        data.push(b'\n');
        self.entries.insert(path.into(), Entry::File(data));
    }

    /// Adds or replaces a link to another path of the tree; the stored target is relative, as sysfs prints it.
    pub fn link_to(&mut self, path: impl Into<String>, target: &str) {
        let path = path.into();
        let shared = path.split('/').zip(target.split('/')).take_while(|(a, b)| a == b).count();
        // A link to a directory above names it, as the kernel does: the name is what readers take.
        let shared = shared.min(target.split('/').count() - 1);
        let up = path.split('/').count().saturating_sub(shared + 1);
        let mut relative = "../".repeat(up);
        let rest: Vec<&str> = target.split('/').skip(shared).collect();
        relative.push_str(&rest.join("/"));
        self.entries.insert(path, Entry::Link(relative));
    }

    /// Adds a directory.
    pub fn dir(&mut self, path: impl Into<String>) {
        self.entries.entry(path.into()).or_insert(Entry::Dir);
    }

    /// Files with their bytes, by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.entries.iter().filter_map(|(path, entry)| match entry {
            Entry::File(data) => Some((path.as_str(), data.as_slice())),
            _ => None,
        })
    }

    /// Bytes of one file. Links are not followed.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        match self.entries.get(path)? {
            Entry::File(data) => Some(data),
            _ => None,
        }
    }

    /// Removes what matches the pattern, and everything below it. Returns how many entries went.
    pub(crate) fn remove(&mut self, pattern: &str) -> usize {
        let before = self.entries.len();
        let below = format!("{pattern}/**");
        self.entries.retain(|path, _| !glob::matches(pattern, path) && !glob::matches(&below, path));
        before - self.entries.len()
    }

    /// Makes the files that match unreadable. Returns how many.
    pub(crate) fn deny(&mut self, pattern: &str) -> usize {
        let mut n = 0;
        for (path, entry) in &mut self.entries {
            if matches!(entry, Entry::File(_) | Entry::Denied) && glob::matches(pattern, path) {
                *entry = Entry::Denied;
                n += 1;
            }
        }
        n
    }

    /// Writes the tree below `dir`, which is made when it does not exist. A denied entry is left out: its path and reason are in
    /// `linerate/manifest.json`, as with any capture.
    ///
    /// # Errors
    /// As the file system reports them; the path is in the message.
    pub fn write_to(&self, dir: &Path) -> io::Result<()> {
        // Paths are sorted: mostly, the directory is that of the path before.
        let mut made = None;
        for (path, entry) in self.entries.iter().filter(|(_, e)| **e != Entry::Denied) {
            let at = dir.join(path);
            let result = (|| {
                if let Some(parent) = at.parent().filter(|p| made.as_deref() != Some(*p)) {
                    std::fs::create_dir_all(parent)?;
                    made = Some(parent.to_owned());
                }
                match entry {
                    Entry::File(data) => std::fs::write(&at, data),
                    Entry::Link(target) => std::os::unix::fs::symlink(target, &at),
                    Entry::Dir => std::fs::create_dir_all(&at),
                    Entry::Denied => Ok(()),
                }
            })();
            result.map_err(|e| io::Error::new(e.kind(), format!("{}: {e}", at.display())))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative_as_in_sysfs() {
        let mut tree = Tree::default();
        tree.link_to("sys/bus/pci/devices/0000:01:00.0", "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0");
        tree.link_to("sys/devices/pci0000:00/0000:00:01.0/driver", "sys/bus/pci/drivers/pcieport");
        let target = |p: &str| tree.entries.get(p).cloned();
        let want = "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0";
        assert_eq!(target("sys/bus/pci/devices/0000:01:00.0"), Some(Entry::Link(want.into())));
        let want = "../../../bus/pci/drivers/pcieport";
        assert_eq!(target("sys/devices/pci0000:00/0000:00:01.0/driver"), Some(Entry::Link(want.into())));
    }
}

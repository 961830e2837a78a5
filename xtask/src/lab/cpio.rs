//! Writes the cpio format ("newc") that the kernel unpacks as its first root.

use super::Result;
use std::collections::BTreeSet;
use std::path::Path;

/// An archive in the making. Parents are made before their children, each path once.
#[derive(Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    seen: BTreeSet<String>,
    inode: u32,
}

impl Archive {
    pub(super) fn dir(&mut self, path: &str) {
        if self.place(path) {
            self.entry(path, 0o040_755, b"", (0, 0));
        }
    }

    pub(super) fn file(&mut self, path: &str, mode: u32, content: &[u8]) {
        if self.place(path) {
            self.entry(path, 0o100_000 | mode, content, (0, 0));
        }
    }

    pub(super) fn symlink(&mut self, path: &str, target: &str) {
        if self.place(path) {
            self.entry(path, 0o120_777, target.as_bytes(), (0, 0));
        }
    }

    /// A character device: the kernel opens /dev/console before devtmpfs is mounted.
    pub(super) fn device(&mut self, path: &str, major: u32, minor: u32) {
        if self.place(path) {
            self.entry(path, 0o020_600, b"", (major, minor));
        }
    }

    /// A file of this machine, executable if it is here.
    pub(super) fn copy(&mut self, path: &str, from: &Path) -> Result<()> {
        let content = std::fs::read(from).map_err(|e| format!("lab: cannot read {}: {e}", from.display()))?;
        self.file(path, 0o755, &content);
        Ok(())
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.seen.contains(path)
    }

    /// Makes the parents; false if the path is there already.
    fn place(&mut self, path: &str) -> bool {
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.dir(parent);
        }
        self.seen.insert(path.to_owned())
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8], device: (u32, u32)) {
        self.inode += 1;
        let fields = [
            self.inode,
            mode,
            0, // uid
            0, // gid
            1, // links
            0, // time
            u32::try_from(content.len()).unwrap_or(u32::MAX),
            0,
            0,
            device.0,
            device.1,
            u32::try_from(path.len() + 1).unwrap_or(u32::MAX),
            0,
        ];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08X}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.pad(4);
        self.bytes.extend_from_slice(content);
        self.pad(4);
    }

    fn pad(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }

    /// The archive's bytes. Several archives one after the other are one to the kernel.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, b"", (0, 0));
        self.pad(512);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_come_first_and_once() {
        let mut archive = Archive::default();
        archive.file("a/b/c", 0o644, b"xyz");
        archive.file("a/b/d", 0o755, b"");
        archive.file("a/b/c", 0o644, b"again");
        let bytes = archive.finish();
        assert_eq!(bytes.len() % 512, 0);
        let text = String::from_utf8_lossy(&bytes);
        let names: Vec<&str> = ["a\0", "a/b\0", "a/b/c\0", "a/b/d\0", "TRAILER!!!\0"].into_iter().collect();
        let at: Vec<usize> = names.iter().map(|n| text.find(n).unwrap()).collect();
        assert!(at.is_sorted(), "{at:?}");
        assert_eq!(text.matches("070701").count(), 5);
        assert!(text.contains("000081A4") && !text.contains("again"));
    }
}

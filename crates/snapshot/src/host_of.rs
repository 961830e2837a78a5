//! Whose texts a file holds, where the operator says so: `--host-of FILE=NAME`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Files, and the nodes that they are of. Copies share what was used.
#[derive(Debug, Clone, Default)]
pub struct HostOf(Arc<[Said]>);

#[derive(Debug)]
struct Said {
    file: PathBuf,
    host: String,
    used: AtomicBool,
}

impl HostOf {
    /// Each file, as a path or as the end of one (`lspci.txt`, `gpu1/lspci.txt`), with its node. Of two that fit, the first holds.
    #[must_use]
    pub fn new(said: impl IntoIterator<Item = (PathBuf, String)>) -> Self {
        let said = said.into_iter().map(|(file, host)| Said { file, host, used: AtomicBool::new(false) });
        HostOf(said.collect())
    }

    /// The node whose texts a file holds.
    #[must_use]
    pub fn of(&self, path: &Path) -> Option<&str> {
        let said = self.0.iter().find(|s| path.ends_with(&s.file))?;
        said.used.store(true, Ordering::Relaxed);
        Some(&said.host)
    }

    /// Files that nothing read: misspelt, or not among the inputs.
    #[must_use]
    pub fn unused(&self) -> Vec<&Path> {
        self.0.iter().filter(|s| !s.used.load(Ordering::Relaxed)).map(|s| s.file.as_path()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_the_end_of_its_path() {
        let all = HostOf::new([("a/x.txt".into(), "one".to_owned()), ("x.txt".into(), "two".to_owned())]);
        assert_eq!(all.unused().len(), 2);
        assert_eq!(all.of(Path::new("/t/b/x.txt")), Some("two"));
        assert_eq!(all.unused(), [Path::new("a/x.txt")]);
        assert_eq!(all.clone().of(Path::new("/t/a/x.txt")), Some("one"));
        assert_eq!(all.of(Path::new("/t/a/xx.txt")), None, "whole names only");
        assert!(all.unused().is_empty());
    }
}

//! Paths as plans give them.

use crate::act::wrong::{Done, Wrong};

/// A path, cut before its last part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts<'a> {
    /// All of it.
    pub(super) path: &'a str,
    /// Its directory; `/` for what lies in the root.
    pub(super) dir: &'a str,
    /// Its last part.
    pub(super) name: &'a str,
}

impl<'a> Parts<'a> {
    /// Cuts an absolute path of plain parts.
    pub(super) fn of(path: &'a str) -> Done<Parts<'a>> {
        let refuse = |why: &str| Err(Wrong::failed(format!("{path:?} is not a path that can be changed: {why}")));
        let Some(below) = path.strip_prefix('/') else { return refuse("it does not begin with /") };
        if path.len() > 4000 || below.split('/').any(|part| part.len() > 200) {
            return refuse("it is too long");
        }
        if below.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return refuse("it has an empty part, . or ..");
        }
        if path.chars().any(char::is_control) {
            return refuse("it has control characters");
        }
        match path.rsplit_once('/') {
            Some(("", name)) => Ok(Parts { path, dir: "/", name }),
            Some((dir, name)) => Ok(Parts { path, dir, name }),
            None => refuse("it does not begin with /"),
        }
    }

    /// The file's own temporary name: hidden, and with an end that no reader of `*.conf` or `*.cfg` takes. Always the same, so that what a
    /// killed process left is found again.
    pub(super) fn temporary(&self) -> String {
        format!(".{}.linerate-new", self.name)
    }
}

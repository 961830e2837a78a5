//! The files of a host as the script saw them: a tree of what it listed, and what it read.

use linerate_formats::bounds::{KEPT_ENTRIES, LINK_HOPS, PATH_DEPTH};
use std::collections::{BTreeMap, HashMap};

/// What something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Dir,
    File,
    /// A pipe, a socket, a device.
    Other,
    Link(String),
}

/// A file's content, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content<'b> {
    Whole(&'b [u8]),
    /// What the host let through, and the size of the whole.
    Part(&'b [u8], usize),
    Not(&'b str),
}

#[derive(Debug, Default)]
pub(super) struct Tree<'b> {
    kinds: HashMap<String, Kind>,
    below: HashMap<String, BTreeMap<String, ()>>,
    pub(super) contents: HashMap<String, Vec<Content<'b>>>,
    /// Directories that could not be listed.
    pub(super) closed: HashMap<String, ()>,
    /// There is no room for more.
    pub(super) full: bool,
    /// Where directories lead.
    places: HashMap<String, Option<String>>,
}

/// Where a path leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: String,
    /// Links met on the way, with their targets.
    pub(super) links: Vec<(String, String)>,
}

impl<'b> Tree<'b> {
    /// Notes what is at a path as the host names it: links above it are followed, as far as they are known.
    pub(super) fn add(&mut self, path: &str, kind: Kind) {
        let Some(place) = self.place_of_entry(path) else { return };
        if self.kinds.len() >= KEPT_ENTRIES && !self.kinds.contains_key(&place) {
            self.full = true;
            return;
        }
        let mut at = place.as_str();
        let mut is = Some(kind);
        // Directories above it are there, too.
        while !at.is_empty() {
            let (dir, name) = at.rsplit_once('/').unwrap_or(("", at));
            let known = self.below.entry(dir.to_owned()).or_default().insert(name.to_owned(), ()).is_some();
            match is.take() {
                Some(kind) => drop(self.kinds.entry(at.to_owned()).or_insert(kind)),
                None if known => break,
                None => drop(self.kinds.entry(at.to_owned()).or_insert(Kind::Dir)),
            }
            at = dir;
        }
    }

    /// The place of an entry: its directory followed, the entry itself not.
    pub(super) fn place_of_entry(&mut self, path: &str) -> Option<String> {
        let path = path.trim_matches('/');
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        if name.is_empty() || name == "." || name == ".." {
            return None;
        }
        let at = match self.places.get(dir) {
            Some(known) => known.clone()?,
            None => {
                let found = self.follow("", dir).map(|p| p.path);
                // A link that is listed later is not known yet: what leads through it comes after it.
                self.places.insert(dir.to_owned(), found.clone());
                found?
            }
        };
        Some(if at.is_empty() { name.to_owned() } else { format!("{at}/{name}") })
    }

    /// Where a target leads, seen from a directory without links. What is not known counts as a directory.
    pub(super) fn follow(&self, from: &str, target: &str) -> Option<Place> {
        let mut at: Vec<String> = if target.starts_with('/') { Vec::new() } else { names(from).collect() };
        let mut todo: Vec<String> = names(target).collect();
        todo.reverse();
        let (mut hops, mut links) = (0, Vec::new());
        while let Some(name) = todo.pop() {
            if name == ".." {
                at.pop();
                continue;
            }
            at.push(name);
            if at.len() > PATH_DEPTH || todo.len() > 4 * PATH_DEPTH {
                return None;
            }
            let path = at.join("/");
            if let Some(Kind::Link(target)) = self.kinds.get(&path) {
                hops += 1;
                if hops > LINK_HOPS {
                    return None;
                }
                at.pop();
                if target.starts_with('/') {
                    at.clear();
                }
                todo.extend(names(target).collect::<Vec<_>>().into_iter().rev());
                links.push((path, target.clone()));
            }
        }
        Some(Place { path: at.join("/"), links })
    }

    pub(super) fn kind(&self, path: &str) -> Option<&Kind> {
        self.kinds.get(path)
    }

    /// Names in a directory, sorted.
    pub(super) fn names(&self, dir: &str) -> Vec<String> {
        self.below.get(dir).map(|b| b.keys().cloned().collect()).unwrap_or_default()
    }
}

fn names(path: &str) -> impl Iterator<Item = String> + '_ {
    path.split('/').filter(|n| !n.is_empty() && *n != ".").map(str::to_owned)
}

/// A line of `ls -ln`: what is at which path.
pub(super) fn listed(line: &str) -> Option<(&str, Kind)> {
    // Paths are whole, so that the first slash behind a blank begins one.
    let (_, path) = line.split_once(" /")?;
    Some(match line.as_bytes().first()? {
        b'd' => (path, Kind::Dir),
        b'-' => (path, Kind::File),
        b'l' => {
            let (path, target) = path.split_once(" -> ")?;
            (path, Kind::Link(target.to_owned()))
        }
        _ => (path, Kind::Other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_through_links() {
        let mut t = Tree::default();
        for line in [
            "drwxr-xr-x 2 0 0 0 Nov 23 21:19 /sys/class",
            "lrwxrwxrwx 1 0 0 0 Nov 23  2025 /sys/class/net/eth0 -> ../../devices/pci0000:00/0000:00:03.0/net/eth0",
            "-r--r--r-- 1 0 0 4096 Nov 23 21:19 /sys/class/net/eth0/mtu",
            "lrwxrwxrwx 1 0 0 0 Nov 23 21:19 /a -> b",
            "lrwxrwxrwx 1 0 0 0 Nov 23 21:19 /b -> a",
            "prw-r--r-- 1 0 0 0 Nov 23 21:19 /p",
            "total 0",
        ] {
            if let Some((path, kind)) = listed(line) {
                t.add(path, kind);
            }
        }
        let home = "sys/devices/pci0000:00/0000:00:03.0/net/eth0";
        assert_eq!((t.kind(&format!("{home}/mtu")), t.kind(home)), (Some(&Kind::File), Some(&Kind::Dir)));
        assert_eq!(t.follow("sys/class/net", "eth0").unwrap().path, home);
        assert_eq!(t.follow("", "a"), None, "a loop leads nowhere");
        assert_eq!(t.follow("sys", "../../../etc").unwrap().path, "etc");
        assert_eq!((t.kind("p"), t.names("sys/class/net")), (Some(&Kind::Other), vec!["eth0".to_owned()]));
    }
}

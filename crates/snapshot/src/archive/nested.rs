//! Several nodes in one source: archives inside an archive, trees beside each other, and how the nodes are called.

use super::beside::{Found, Waiting};
use super::error::OpenError;
use super::stream::{Ended, Stream};
use crate::Snapshot;
use std::io::{self, Read};

/// Ends of names of archives.
const ARCHIVES: [&str; 8] = [".tar", ".tar.zst", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz"];
/// Directories that a node's tree has. What is packed in them is the node's own.
const OF_A_TREE: [&str; 13] =
    ["sys", "proc", "sos_commands", "linerate", "cmd", "var", "etc", "usr", "lib", "boot", "run", "opt", "tmp"];
/// Names of trees and archives that say nothing about whose they are: their directory does.
const NOBODYS: [&str; 7] = ["sysinfo", "rootfs", "root", "host", "hostfs", "snapshot", "tree"];
/// Directories that hold a directory for each node.
const OF_NODES: [&str; 4] = ["nodes", "node", "hosts", "snapshots"];

/// What takes the nodes of a source: where a node is in it, empty where it is the source itself, and its snapshot or why it could not be read.
pub type Each<'e> = dyn FnMut(&str, Result<Snapshot, OpenError>) + 'e;

/// Whether a file's name is that of an archive: nobody reads thousands of heads.
#[must_use]
pub fn is_archive_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ARCHIVES.iter().any(|e| lower.ends_with(e))
}

/// Whether a path leads through a directory of a node's tree.
pub(super) fn is_inside_a_tree(path: &str) -> bool {
    let (dirs, _) = path.rsplit_once('/').unwrap_or(("", path));
    dirs.split('/').any(|n| OF_A_TREE.contains(&n))
}

/// Whether a directory of this name holds a directory for each node.
pub(crate) fn holds_nodes(name: &str) -> bool {
    OF_NODES.contains(&name)
}

/// `20261101T120000Z`, as snapshots in the directory of a node are named.
pub(crate) fn is_time(name: &str) -> bool {
    let digits = |t: &str, n: usize| t.len() == n && t.bytes().all(|b| b.is_ascii_digit());
    let parts = name.strip_suffix('Z').and_then(|n| n.split_once('T'));
    parts.is_some_and(|(date, time)| digits(date, 8) && digits(time, 6))
}

/// A name without the end that says how it is packed.
fn unpacked(name: &str) -> &str {
    let lower = name.to_ascii_lowercase();
    let end = ARCHIVES.iter().filter(|e| lower.ends_with(*e)).map(|e| e.len()).max();
    end.and_then(|n| name.get(..name.len() - n)).filter(|n| !n.is_empty()).unwrap_or(name)
}

/// How the node at a path in a source is called: by its own name, or by its directory's where its own is a time, or says nothing. `alone`: nothing
/// else lies in its directory.
#[must_use]
pub fn node_name(path: &str, alone: bool) -> &str {
    let (dirs, own) = path.rsplit_once('/').unwrap_or(("", path));
    let own = unpacked(own);
    let parent = dirs.rsplit('/').next().filter(|p| !p.is_empty());
    let by_parent = |p: &&str| is_time(own) || NOBODYS.contains(&own) || alone && !holds_nodes(p);
    parent.filter(by_parent).unwrap_or(own)
}

/// Of which directory a path is a snapshot of some time; `None`: it is not named by a time.
#[must_use]
pub fn dated(path: &str) -> Option<&str> {
    let (dirs, own) = path.rsplit_once('/')?;
    is_time(unpacked(own)).then_some(dirs)
}

/// The nodes of a source, of which one is wanted.
#[derive(Default)]
pub(crate) struct Nodes {
    first: Option<Snapshot>,
    names: Vec<String>,
    failed: Vec<(String, OpenError)>,
}

impl Nodes {
    pub(crate) fn take(&mut self, at: &str, node: Result<Snapshot, OpenError>) {
        match node {
            Ok(s) => {
                self.names.push(at.to_owned());
                self.first.get_or_insert(s);
            }
            Err(e) => self.failed.push((at.to_owned(), e)),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none() && self.failed.is_empty()
    }

    /// The only one.
    pub(crate) fn only(self, what: &str) -> Result<Snapshot, OpenError> {
        let Nodes { first, names, mut failed } = self;
        if names.len() > 1 {
            return Err(several(what, None, &names));
        }
        let Some(mut s) = first else {
            let why = || OpenError::NotASnapshot { what: what.to_owned(), why: "it is empty".to_owned() };
            return Err(if failed.is_empty() { why() } else { failed.remove(0).1 });
        };
        failed.into_iter().for_each(|(at, e)| s.left_out(format!("{at}: {}", e.reason())));
        Ok(s)
    }
}

/// That a source holds several nodes, by their names where these tell them apart, else by their paths.
pub(crate) fn several(what: &str, wanted: Option<&str>, paths: &[String]) -> OpenError {
    let names: Vec<String> = paths.iter().map(|p| node_name(p, false).to_owned()).collect();
    let mut unique = names.clone();
    unique.sort();
    unique.dedup();
    let names = if unique.len() == names.len() { names } else { paths.to_vec() };
    OpenError::Several { what: what.to_owned(), wanted: wanted.map(str::to_owned), names }
}

/// Whether a node at a path is the one that is asked for, by its name or by the end of its path.
pub(crate) fn is_wanted(path: &str, wanted: &str) -> bool {
    path == wanted
        || node_name(path, false) == wanted
        || path.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('/'))
}

/// Hands nodes on, the only one of a source without a place in it.
pub(super) struct Held<'h, 'e> {
    to: &'h mut Each<'e>,
    first: Option<Found>,
    pub(super) count: usize,
    given: usize,
    /// Texts of nodes, and the node that waits for its own.
    pub(super) waiting: Waiting,
}

impl<'h, 'e> Held<'h, 'e> {
    pub(super) fn new(to: &'h mut Each<'e>) -> Self {
        Held { to, first: None, count: 0, given: 0, waiting: Waiting::default() }
    }

    pub(super) fn take(&mut self, at: &str, node: Result<Snapshot, OpenError>) {
        self.enter(at);
        self.count += 1;
        if let Some((at, node)) = self.waiting.node((at.to_owned(), node)) {
            self.give(at, node);
        }
    }

    /// Whether a node waits.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.is_waiting()
    }

    /// What comes next lies at a path: a node that waits for texts of another directory has all.
    pub(super) fn enter(&mut self, path: &str) {
        if let Some((at, node)) = self.waiting.before(Some(path)) {
            self.give(at, node);
        }
    }

    fn give(&mut self, at: String, node: Result<Snapshot, OpenError>) {
        self.given += 1;
        if self.given == 1 {
            self.first = Some((at, node));
            return;
        }
        if let Some((at, node)) = self.first.take() {
            (self.to)(&at, node);
        }
        (self.to)(&at, node);
    }

    pub(super) fn finish(mut self) {
        if let Some((at, node)) = self.waiting.before(None) {
            self.give(at, node);
        }
        for (at, node) in self.waiting.rest() {
            self.give(at, node);
        }
        if let Some((_, node)) = self.first.take() {
            (self.to)("", node);
        }
    }
}

/// A file of an archive, as a stream of its own.
pub(super) struct Inner<'s, 'a> {
    pub(super) stream: &'s mut Stream<'a>,
    pub(super) left: u64,
}

impl Read for Inner<'_, '_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let want = buf.len().min(usize::try_from(self.left).unwrap_or(usize::MAX)).min(64 << 10);
        if want == 0 {
            return Ok(0);
        }
        let (data, ended) = self.stream.peek(want);
        let n = data.len().min(want);
        if n == 0 {
            return match ended {
                Some(Ended::Exceeded(e)) => Err(io::Error::other(e)),
                Some(Ended::Broken(e)) => Err(e),
                Some(Ended::TooMuch) => Err(io::Error::other("the archive around it is too large")),
                Some(Ended::End) | None => Ok(0),
            };
        }
        if let (Some(to), Some(from)) = (buf.get_mut(..n), data.get(..n)) {
            to.copy_from_slice(from);
        }
        self.left -= n as u64;
        match self.stream.skip(n as u64) {
            Some(Ended::Exceeded(e)) => Err(io::Error::other(e)),
            _ => Ok(n),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_called_by_their_directories() {
        for (path, alone, name) in [
            ("gpu001/20261101T120000Z.tar.zst", false, "gpu001"),
            ("fleet/gpu001/20261101T120000Z", false, "gpu001"),
            ("must-gather/nodes/gpu001", true, "gpu001"),
            ("must-gather/nodes/gpu001/sysinfo.tgz", false, "gpu001"),
            ("sosreport-gpu001-2026.tar.xz", true, "sosreport-gpu001-2026"),
            ("gpu001/any.tar.gz", true, "gpu001"),
            ("rack/gpu001.tar.gz", false, "gpu001"),
            ("sysinfo.tgz", true, "sysinfo"),
            ("", true, ""),
        ] {
            assert_eq!(node_name(path, alone), name, "{path}");
        }
        assert_eq!(dated("gpu001/20261101T120000Z.tar.zst"), Some("gpu001"));
        assert_eq!((dated("gpu001/x.tar"), dated("20261101T120000Z.tar")), (None, None));
    }
}

//! What NCCL is configured with about the topology: `/etc/nccl.conf` and the topology file in force.

mod filter;

pub use filter::{Entry, Filter, Ports};

use linerate_snapshot::{EntryKind, Lookup, Place, Reading, Snapshot, Why};

/// Where NCCL looks when nothing names a file (`ncclTopoGetSystem`).
pub const DEFAULT_FILE: &str = "var/run/nvidia-topologyd/virtualTopology.xml";

/// See the module.
#[derive(Debug, Clone)]
pub struct Nccl<'s> {
    /// `/etc/nccl.conf`.
    pub conf: Reading<&'s [u8]>,
    /// `NCCL_TOPO_FILE` in it, and its line.
    pub named: Option<(String, Place)>,
    /// Content of the topology file: the one that is named, else the default one.
    pub topology: Reading<&'s [u8]>,
}

impl<'s> Nccl<'s> {
    pub(crate) fn decode(s: &'s Snapshot) -> Self {
        let conf = s.read(s.root(), "etc/nccl.conf");
        let named = variable(&conf, "NCCL_TOPO_FILE");
        let topology = match &named {
            // NCCL does not look at the default place then, whether or not the file exists.
            Some((path, at)) => content(s, path, *at),
            None => s.read(s.root(), DEFAULT_FILE),
        };
        Nccl { conf: conf.clone(), named, topology }
    }

    /// A variable of `/etc/nccl.conf`, and its line. Names and values are taken as NCCL takes them: what comes before the first `=`, spaces
    /// and all, is the name; the first line of a name wins.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<(String, Place)> {
        variable(&self.conf, name)
    }

    /// Whether a topology file speaks in the place of sysfs: `None` where that cannot be known.
    #[must_use]
    pub fn has_topology_file(&self) -> Option<bool> {
        match (&self.topology, &self.conf) {
            (Reading::Known(..), _) => Some(true),
            (_, Reading::Unreadable(..)) => None,
            (Reading::Absent(_), _) => Some(false),
            (Reading::Unreadable(..), _) => None,
        }
    }
}

fn variable(conf: &Reading<&[u8]>, name: &str) -> Option<(String, Place)> {
    let Reading::Known(bytes, place) = conf else { return None };
    bytes.split(|b| *b == b'\n').zip(1_u32..).find_map(|(line, n)| {
        let line = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
        let (key, value) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
        (key == name).then(|| (value.to_owned(), place.line(n)))
    })
}

/// A file whose path data gave. Only the default one is among what a capture looks for: of all others nothing is ever absent.
fn content<'s>(s: &'s Snapshot, path: &str, at: Place) -> Reading<&'s [u8]> {
    let path = path.trim_start_matches('/');
    if path == DEFAULT_FILE {
        return s.read(s.root(), DEFAULT_FILE);
    }
    match s.resolve(path) {
        Lookup::Found(id) => match s.kind(id) {
            EntryKind::File => Reading::Known(s.data(id), Place::of(id)),
            EntryKind::CutFile => {
                let kept = u32::try_from(s.data(id).len()).unwrap_or(u32::MAX);
                Reading::Unreadable(Place::of(id), Why::Cut(kept))
            }
            _ => Reading::Unreadable(Place::of(id), Why::Malformed("not a file".into())),
        },
        Lookup::Missing => Reading::Unreadable(at, Why::NotCollected),
        Lookup::Blocked(id, why) => Reading::Unreadable(Place::of(id), why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conf(text: &[u8]) -> Option<(String, u32)> {
        let mut s = Snapshot::new("x");
        s.add_file("etc/nccl.conf", text);
        let n = Nccl::decode(&s);
        n.named.map(|(v, p)| match p.pos {
            linerate_snapshot::Pos::Line(l) => (v, l),
            _ => (v, 0),
        })
    }

    #[test]
    fn lines_are_read_as_nccl_reads_them() {
        assert_eq!(conf(b"# a\nNCCL_TOPO_FILE=/a.xml\r\nNCCL_TOPO_FILE=/b.xml\n"), Some(("/a.xml".into(), 2)));
        assert_eq!(conf(b"NCCL_TOPO_FILE = /a.xml\n"), None);
        assert_eq!(conf(b"export NCCL_TOPO_FILE=/a.xml"), None);
        assert_eq!(conf(b"#NCCL_TOPO_FILE=/a.xml"), None);
        assert_eq!(conf(b"\xff=\nNCCL_TOPO_FILE="), Some((String::new(), 2)));
    }

    #[test]
    fn a_named_file_is_found_where_the_snapshot_holds_it_and_never_absent() {
        let mut s = Snapshot::new("x");
        s.add_file("etc/nccl.conf", b"NCCL_TOPO_FILE=/opt/t.xml");
        s.add_file(DEFAULT_FILE, b"<system/>");
        assert!(Nccl::decode(&s).topology.is_unreadable(), "the default place does not count");
        s.add_file("opt/t.xml", b"<system version=\"1\"/>");
        assert_eq!(Nccl::decode(&s).topology.known().map(|b| b.len()), Some(21));
        assert_eq!(Nccl::decode(&s).has_topology_file(), Some(true));
    }
}

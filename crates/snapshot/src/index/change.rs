//! A snapshot of a node as it would be: entries are given another content, or taken away. Only copies are changed so, and never written.

use super::{EntryId, EntryKind, Kind, Lookup, NONE, Snapshot};

impl Snapshot {
    /// Writes a file where a path leads to, links followed: in the place of what is there, or anew, with the directories above it.
    /// `None`: there is no such place.
    pub fn set_file(&mut self, path: &str, data: &[u8]) -> Option<EntryId> {
        match self.resolve(path) {
            Lookup::Found(id) | Lookup::Blocked(id, _) => match self.kind(id) {
                EntryKind::Dir | EntryKind::Link => None,
                EntryKind::File | EntryKind::CutFile | EntryKind::Failed(_) => self.put(id, EntryKind::File, data),
            },
            Lookup::Missing => self.add_below(path, EntryKind::File, data),
        }
    }

    /// Makes a link, in the place of one that is there. Directories above it that are links are followed.
    pub fn set_link(&mut self, path: &str, target: &[u8]) -> Option<EntryId> {
        self.remove(path);
        self.add_below(path, EntryKind::Link, target)
    }

    /// Takes an entry away, with all that is below it. The link itself, where it is one. Returns whether it was there.
    pub fn remove(&mut self, path: &str) -> bool {
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        let Lookup::Found(dir) = self.resolve(dir) else { return false };
        let Some(id) = self.child(dir, name) else { return false };
        let mut all = vec![id];
        while let Some(id) = all.pop() {
            let mut below = match self.nodes.get_mut(id.0 as usize) {
                Some(n) => {
                    n.kind = Kind::Gone;
                    n.first_child
                }
                None => NONE,
            };
            while let Some(n) = self.nodes.get(below as usize) {
                all.push(EntryId(below));
                below = n.next;
            }
        }
        true
    }

    fn add_below(&mut self, path: &str, kind: EntryKind, data: &[u8]) -> Option<EntryId> {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        let dir = match self.resolve(above) {
            Lookup::Found(dir) => dir,
            Lookup::Missing => self.add_dir(above)?,
            Lookup::Blocked(..) => return None,
        };
        self.add_at(dir, name, kind, data)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_changed_is_found_and_what_is_taken_away_is_not() {
        let mut s = Snapshot::new("t");
        s.add_file("sys/devices/a/mtu", b"1500").unwrap();
        s.add_link("sys/class/net/eth1", b"../../devices/a").unwrap();
        let text = |s: &Snapshot, path: &str| match s.resolve(path) {
            Lookup::Found(id) => String::from_utf8_lossy(s.data(id)).into_owned(),
            _ => "-".to_owned(),
        };
        s.set_file("sys/class/net/eth1/mtu", b"9000").unwrap();
        s.set_file("sys/class/net/eth1/new", b"x").unwrap();
        s.set_file("etc/a/b", b"y").unwrap();
        assert_eq!(text(&s, "sys/devices/a/mtu"), "9000");
        assert_eq!((text(&s, "sys/devices/a/new"), text(&s, "etc/a/b")), ("x".to_owned(), "y".to_owned()));
        assert_eq!(s.set_file("etc/a", b"z"), None, "a directory is no file");
        assert!(s.remove("sys/class/net/eth1") && !s.remove("sys/class/net/eth1"));
        assert_eq!(
            (text(&s, "sys/class/net/eth1/mtu"), text(&s, "sys/devices/a/mtu")),
            ("-".to_owned(), "9000".to_owned())
        );
        assert!(s.remove("sys/devices") && text(&s, "sys/devices/a/mtu") == "-");
        let Lookup::Found(sys) = s.resolve("sys") else { panic!() };
        assert_eq!(s.children(sys).into_iter().map(|(n, _)| n).collect::<Vec<_>>(), ["class"]);
        s.set_file("sys/devices/a/mtu", b"1").unwrap();
        assert_eq!(text(&s, "sys/devices/a/mtu"), "1", "and may come back");
    }
}

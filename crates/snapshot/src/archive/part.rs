//! Parts of a tree that people pack or unpack without `sys/` in front: `class/infiniband/…`, `bus/pci/devices/…`,
//! `devices/pci0000:00/…`, or directories of RDMA devices. What is not there was not collected: nothing is absent.

use super::Limits;
use super::assemble::{Assembly, InArchive, Item};
use super::error::{OpenError, Stop, conclude, counted};
use super::nested;
use crate::{EntryId, EntryKind, Snapshot};
use std::collections::HashMap;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Files of an RDMA device that are nowhere else.
const DEVICE_FILES: &[&str] = &["board_id", "fw_ver", "hca_type", "node_guid", "node_type", "sys_image_guid"];
/// Entries and depth of a directory that is searched.
const MAX_ENTRIES: usize = 100_000;
const MAX_DEPTH: usize = 16;

/// Whether two names in a row are those of a part of `sys`.
fn is_pair(first: &str, second: &str) -> bool {
    match first {
        "class" => matches!(second, "infiniband" | "net" | "dmi"),
        "bus" => second == "pci",
        "devices" => second == "system" || second.starts_with("pci"),
        _ => false,
    }
}

/// Whether a path may belong to such a part.
pub(super) fn is(path: &str) -> bool {
    let names = || path.split('/');
    let pairs = || names().zip(names().skip(1));
    let port = |(dir, number): (&str, &str)| dir == "ports" && number.parse::<u8>().is_ok();
    let file = names().next_back().is_some_and(|n| DEVICE_FILES.contains(&n)) && path.contains('/');
    file || pairs().any(|p| is_pair(p.0, p.1) || port(p))
}

/// The directory that is a part of `sys`, and where it belongs. Of several, the one with most signs.
pub(super) fn find(s: &Snapshot) -> Option<(EntryId, &'static str)> {
    // A root with several classes or buses has a sign for each; a class of RDMA devices has one for each device.
    let mut roots: HashMap<EntryId, usize> = HashMap::new();
    let mut classes: HashMap<EntryId, usize> = HashMap::new();
    for id in s.ids() {
        let (Some(parent), name) = (s.parent(id), s.name(id)) else { continue };
        let Some(above) = s.parent(parent) else { continue };
        if is_pair(s.name(parent), name) {
            *roots.entry(above).or_default() += 1;
        } else if (name == "ports" && has_port(s, id)) || DEVICE_FILES.contains(&name) {
            *classes.entry(above).or_default() += 1;
        }
    }
    let most = |signs: HashMap<EntryId, usize>| signs.into_iter().max_by_key(|(id, n)| (*n, std::cmp::Reverse(*id)));
    let root = most(roots).map(|(id, _)| (id, "sys"));
    root.or_else(|| most(classes).map(|(id, _)| (id, "sys/class/infiniband")))
}

fn has_port(s: &Snapshot, ports: EntryId) -> bool {
    // Ports are numbered from 1; few devices have more than two.
    *s.kind(ports) == EntryKind::Dir && ["1", "2", "3", "4"].iter().any(|n| s.child(ports, n).is_some())
}

/// A directory that holds such a part, a few levels deep.
///
/// # Errors
/// Nothing in it is of use, or it has too many entries.
pub(crate) fn directory(root: &Path) -> Result<Snapshot, OpenError> {
    let mut a = Assembly::new(
        crate::Snapshot::new(root.display().to_string()),
        Limits { entries: MAX_ENTRIES, ..Limits::default() },
    );
    // The directory's own names may be those that say what it is.
    let whole = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let mut names: Vec<String> =
        whole.iter().rev().take(2).filter_map(|n| n.to_str()).filter(|n| *n != "/").map(str::to_owned).collect();
    names.reverse();
    let end = walk(&mut a, root, &names.join("/"), 0);
    let what = root.display().to_string();
    let mut out = nested::Nodes::default();
    for (at, s) in conclude(end, 0, a, &what, InArchive::default(), &mut Default::default())? {
        out.take(&at, counted(s, &what));
    }
    out.only(&what)
}

fn walk(a: &mut Assembly, dir: &Path, path: &str, depth: usize) -> Result<(), Stop> {
    let Ok(list) = std::fs::read_dir(dir) else { return Ok(()) };
    for e in list.flatten() {
        a.count()?;
        let name = e.file_name();
        let (Some(name), Ok(kind)) = (name.to_str(), e.file_type()) else {
            a.odd_name();
            continue;
        };
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
        if kind.is_dir() && depth < MAX_DEPTH {
            walk(a, &e.path(), &path, depth + 1)?;
        } else if kind.is_symlink() {
            if let Ok(target) = std::fs::read_link(e.path()) {
                a.entry(&path, Item::Link(target.as_os_str().as_bytes()))?;
            }
        } else if kind.is_file() {
            let size = e.metadata().map_or(0, |m| m.len());
            if !a.wanted(&path, size) {
                continue;
            }
            let mut data = Vec::new();
            match std::fs::File::open(e.path()).and_then(|f| f.take(size).read_to_end(&mut data)) {
                Ok(_) => a.entry(&path, Item::File(&data))?,
                Err(_) => a.entry(&path, Item::NotRead("it could not be read from the directory"))?,
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lookup;

    fn assemble(paths: &[&str]) -> Result<Snapshot, OpenError> {
        let mut a = Assembly::new(crate::Snapshot::new("t"), Limits::default());
        for p in paths {
            assert!(a.count().is_ok());
            if a.wanted(p, 2) {
                assert!(a.entry(p, Item::File(b"4\n")).is_ok());
            }
        }
        let mut all = a.finish("t", InArchive::default(), &mut Default::default())?;
        assert_eq!(all.len(), 1);
        Ok(all.remove(0).1)
    }

    #[test]
    fn parts_go_where_they_belong() {
        for (given, real) in [
            ("class/infiniband/mlx5_0/ports/1/state", "sys/class/infiniband/mlx5_0/ports/1/state"),
            ("x/y/class/net/eth0/mtu", "sys/class/net/eth0/mtu"),
            ("d/bus/pci/devices/0000:01:00.0/vendor", "sys/bus/pci/devices/0000:01:00.0/vendor"),
            ("devices/pci0000:00/0000:00:01.0/class", "sys/devices/pci0000:00/0000:00:01.0/class"),
            ("n/devices/system/node/node0/cpulist", "sys/devices/system/node/node0/cpulist"),
            ("infiniband/mlx5_0/ports/1/rate", "sys/class/infiniband/mlx5_0/ports/1/rate"),
            ("a/b/dump-h100.0/mlx5_0/ports/1/rate", "sys/class/infiniband/mlx5_0/ports/1/rate"),
            ("mlx5_0/fw_ver", "sys/class/infiniband/mlx5_0/fw_ver"),
        ] {
            let s = assemble(&[given, "README", "a/b/notes.txt"]).unwrap();
            assert!(matches!(s.resolve(real), Lookup::Found(_)), "{given}");
            assert_eq!(s.coverage, crate::Coverage::Partial);
        }
        assert!(assemble(&["a/ports/list", "src/devices/mod.rs", "class/x", "fw_ver"]).is_err());
    }

    #[test]
    fn a_whole_tree_goes_before_a_part() {
        let s = assemble(&["node/sys/class/net/eth0/mtu", "old/class/net/eth0/mtu", "node/proc/cpuinfo"]).unwrap();
        assert!(matches!(s.resolve("proc/cpuinfo"), Lookup::Found(_)));
    }

    #[test]
    fn directories_hold_parts_too() {
        let dir = tempfile::tempdir().unwrap();
        let port = dir.path().join("infiniband/mlx5_3/ports/1");
        std::fs::create_dir_all(&port).unwrap();
        std::fs::write(port.join("state"), "4: ACTIVE\n").unwrap();
        for at in ["", "infiniband"] {
            let s = directory(&dir.path().join(at)).unwrap();
            let state = s.text(s.root(), "sys/class/infiniband/mlx5_3/ports/1/state");
            assert_eq!(state.known(), Some(&"4: ACTIVE"), "{at}");
        }
        assert!(directory(&port).is_err());
    }
}

//! How GPU memory can be registered with the RDMA stack: peer-memory clients, and versions of the modules involved.

use crate::kernel;
use linerate_snapshot::{EntryId, Place, Reading, Snapshot, Why};

/// A client of the RDMA stack's peer-memory interface: a directory of `/sys/kernel/mm/memory_peers`.
#[derive(Debug, Clone)]
pub struct Client {
    /// `nv_mem`, `nv_mem_nc`, `nvidia-peermem`.
    pub name: String,
    /// Its `version`, the file that NCCL tests.
    pub version: Reading<String>,
}

/// A kernel module.
#[derive(Debug, Clone)]
pub struct Module {
    /// Loaded (or built in with attributes). Absent: certainly not.
    pub loaded: Reading<()>,
    /// `/sys/module/NAME/version`. Modules of the mainline kernel mostly have none.
    pub version: Reading<String>,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Peermem {
    /// Clients of the peer-memory interface. Absent: the RDMA stack of this kernel has no such interface (or none was loaded).
    pub clients: Reading<Vec<Client>>,
    /// `nvidia_peermem`, of the NVIDIA driver.
    pub nvidia_peermem: Module,
    /// `nv_peer_mem`, its predecessor.
    pub nv_peer_mem: Module,
    /// `nvidia`.
    pub nvidia: Module,
    /// `mlx5_core`.
    pub mlx5_core: Module,
    /// `mlx5_ib`.
    pub mlx5_ib: Module,
    /// `ib_core`.
    pub ib_core: Module,
    /// The file of `/etc/modules-load.d` whose name asks for a peer-memory module at boot.
    pub wanted_at_boot: Reading<String>,
}

impl Peermem {
    pub(crate) fn decode(s: &Snapshot) -> Self {
        Peermem {
            clients: s.dir("sys/kernel/mm/memory_peers").map(|dir| {
                s.children(dir)
                    .into_iter()
                    .map(|(name, e)| Client { name: name.to_owned(), version: s.text(e, "version").map(str::to_owned) })
                    .collect()
            }),
            nvidia_peermem: module(s, "nvidia_peermem"),
            nv_peer_mem: module(s, "nv_peer_mem"),
            nvidia: module(s, "nvidia"),
            mlx5_core: module(s, "mlx5_core"),
            mlx5_ib: module(s, "mlx5_ib"),
            ib_core: module(s, "ib_core"),
            wanted_at_boot: wanted(s),
        }
    }

    /// A client by name whose version file can be seen.
    #[must_use]
    pub fn client(&self, name: &str) -> Option<Place> {
        let client = self.clients.known()?.iter().find(|c| c.name == name)?;
        client.version.known().map(|_| client.version.place())
    }

    /// The version of an NVIDIA (MLNX_OFED, DOCA-OFED) RDMA stack, from the version of `mlx5_core`: `24.10-0.7.0` or
    /// `5.8-1.1.2`. The mainline module has none, or (before 5.8) `5.0-0`.
    #[must_use]
    pub fn ofed(&self) -> Option<(&str, Place)> {
        let Reading::Known(v, place) = &self.mlx5_core.version else { return None };
        is_ofed(v).then_some((v.as_str(), *place))
    }
}

/// `MAJOR.MINOR-a.b.c`
fn is_ofed(version: &str) -> bool {
    version.split_once('-').is_some_and(|(_, build)| build.split('.').count() >= 3)
}

fn module(s: &Snapshot, name: &str) -> Module {
    let found = kernel::module(s, name);
    let version = found.as_ref().and_then(|home, p| match is_module_dir(s, *home) {
        true => s.text(*home, "version").map(str::to_owned),
        false => Reading::Unreadable(p, Why::NotCollected),
    });
    Module { loaded: found.map(|_| ()), version }
}

fn is_module_dir(s: &Snapshot, e: EntryId) -> bool {
    matches!(s.kind(e), linerate_snapshot::EntryKind::Dir)
}

/// Only names are collected there: a file that is called after the module asks for it.
fn wanted(s: &Snapshot) -> Reading<String> {
    s.dir("etc/modules-load.d").and_then(|dir, _| {
        let names = s.children(dir);
        match names.iter().find(|(n, _)| ["peermem", "peer_mem", "peer-mem"].iter().any(|w| n.contains(w))) {
            Some((n, e)) => Reading::Known((*n).to_owned(), Place::of(*e)),
            None => Reading::Absent(Place::of(dir)),
        }
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_ofed_and_of_the_mainline_driver() {
        for (v, yes) in [("24.10-0.7.0", true), ("5.8-1.1.2", true), ("5.0-0", false), ("", false), ("6.8.0", false)] {
            assert_eq!(is_ofed(v), yes, "{v}");
        }
    }

    #[test]
    fn nothing_is_absent_in_an_empty_source() {
        let s = Snapshot::new("empty");
        let p = Peermem::decode(&s);
        assert!(
            p.clients.is_unreadable() && p.nvidia_peermem.loaded.is_unreadable() && p.wanted_at_boot.is_unreadable()
        );
    }

    #[test]
    fn clients_and_modules_are_found() {
        let mut s = Snapshot::new("t");
        s.add_file("sys/kernel/mm/memory_peers/nv_mem/version", b"570.1\n").unwrap();
        s.add_file("sys/module/nvidia_peermem/version", b"570.1\n").unwrap();
        s.add_file("proc/modules", b"ib_core 1 0 - Live 0x0\n").unwrap();
        s.add_file("etc/modules-load.d/nvidia-peermem.conf", b"").unwrap();
        let p = Peermem::decode(&s);
        assert!(p.client("nv_mem").is_some() && p.client("nv_mem_nc").is_none());
        assert_eq!(p.nvidia_peermem.version.known().unwrap(), "570.1");
        assert!(p.ib_core.loaded.known().is_some() && p.ib_core.version.is_unreadable());
        assert!(p.nv_peer_mem.loaded.is_absent());
        assert_eq!(p.wanted_at_boot.known().unwrap(), "nvidia-peermem.conf");
    }
}

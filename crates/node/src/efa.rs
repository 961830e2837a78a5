//! What AWS EFA needs besides its driver: libfabric, and NCCL's plugin for it, where AWS' installer and images put them.

use linerate_snapshot::{EntryId, Place, Reading, Snapshot};

/// See the module.
#[derive(Debug, Clone)]
pub struct Efa {
    /// Path of `libnccl-net*.so` of aws-ofi-nccl.
    pub plugin: Reading<String>,
    /// Path of `libfabric.so*`.
    pub libfabric: Reading<String>,
}

/// Folders of the plugin: of the EFA installer since 1.30 (with a folder for the architecture on Debian), and of older images.
const PLUGIN: [&str; 7] = [
    "opt/amazon/ofi-nccl/lib",
    "opt/amazon/ofi-nccl/lib64",
    "opt/amazon/ofi-nccl/lib/x86_64-linux-gnu",
    "opt/amazon/ofi-nccl/lib/aarch64-linux-gnu",
    "opt/amazon/efa/lib",
    "opt/aws-ofi-nccl/lib",
    "opt/aws-ofi-nccl/install/lib",
];

/// Folders of libfabric.
const LIBFABRIC: [&str; 2] = ["opt/amazon/efa/lib", "opt/amazon/efa/lib64"];

impl Efa {
    pub(crate) fn decode(s: &Snapshot) -> Self {
        Efa {
            plugin: find(s, &PLUGIN, |n| n.starts_with("libnccl-net") && n.ends_with(".so")),
            libfabric: find(s, &LIBFABRIC, |n| n.starts_with("libfabric.so")),
        }
    }
}

/// The first file of some folders that a filter takes; absent where none of them has one.
fn find(s: &Snapshot, folders: &[&'static str], want: impl Fn(&str) -> bool) -> Reading<String> {
    let mut missing: Option<Reading<String>> = None;
    for folder in folders {
        match s.dir(folder) {
            Reading::Known(dir, place) => {
                let hit: Option<(&str, EntryId)> = s.children(dir).into_iter().find(|(n, _)| want(n));
                if let Some((name, e)) = hit {
                    return Reading::Known(format!("/{folder}/{name}"), Place::of(e));
                }
                missing.get_or_insert(Reading::Absent(place));
            }
            Reading::Absent(p) => {
                missing.get_or_insert(Reading::Absent(p));
            }
            // One that nobody looked into may hold it.
            Reading::Unreadable(p, w) => missing = Some(Reading::Unreadable(p, w)),
        }
        if missing.as_ref().is_some_and(Reading::is_unreadable) {
            break;
        }
    }
    missing.unwrap_or_else(|| Reading::Absent(Place::of(s.root())))
}

//! NUMA nodes.

use linerate_snapshot::{Place, Reading, Snapshot};

/// A NUMA node.
#[derive(Debug, Clone)]
pub struct NumaNode {
    /// Number.
    pub id: u32,
    /// CPUs, as the kernel lists them.
    pub cpulist: String,
    /// The same as a mask in the kernel's words (`ffff,ffffffff`), where it was collected.
    pub cpumap: Option<String>,
    /// Distances to nodes 0, 1, …
    pub distance: Vec<u32>,
    /// Where.
    pub place: Place,
}

pub(crate) fn decode(s: &Snapshot) -> Reading<Vec<NumaNode>> {
    s.dir("sys/devices/system/node").map(|dir| {
        let mut nodes: Vec<NumaNode> = s
            .children(dir)
            .into_iter()
            .filter_map(|(name, e)| {
                let id = name.strip_prefix("node")?.parse().ok()?;
                let text = |leaf| s.text(e, leaf).known().map_or_else(String::new, |t| (*t).to_owned());
                let distance = text("distance").split_whitespace().filter_map(|d| d.parse().ok()).collect();
                let cpumap = s.text(e, "cpumap").known().map(|t| (*t).to_owned());
                Some(NumaNode { id, cpulist: text("cpulist"), cpumap, distance, place: Place::of(e) })
            })
            .collect();
        nodes.sort_unstable_by_key(|n| n.id);
        nodes
    })
}

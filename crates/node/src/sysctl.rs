//! Settings of the kernel's sysctl tree that data transfers, their setup and many registrations of memory meet.

use linerate_snapshot::{EntryId, Place, Reading, Snapshot, Why};

/// Where they are. What the kernel derives from the size of the memory is not among them: it differs between equal nodes.
pub const PATHS: &[&str] = &[
    // Sockets that ranks connect through, and what travels without RDMA.
    "proc/sys/net/core/busy_poll",
    "proc/sys/net/core/busy_read",
    "proc/sys/net/core/netdev_max_backlog",
    "proc/sys/net/core/rmem_default",
    "proc/sys/net/core/rmem_max",
    "proc/sys/net/core/somaxconn",
    "proc/sys/net/core/wmem_default",
    "proc/sys/net/core/wmem_max",
    "proc/sys/net/ipv4/ip_local_port_range",
    "proc/sys/net/ipv4/tcp_congestion_control",
    "proc/sys/net/ipv4/tcp_mtu_probing",
    "proc/sys/net/ipv4/tcp_timestamps",
    // Which interface answers for an address: several RoCE ports in one subnet.
    "proc/sys/net/ipv4/conf/all/arp_announce",
    "proc/sys/net/ipv4/conf/all/arp_filter",
    "proc/sys/net/ipv4/conf/all/arp_ignore",
    "proc/sys/net/ipv4/conf/all/rp_filter",
    "proc/sys/net/ipv4/conf/default/arp_announce",
    "proc/sys/net/ipv4/conf/default/arp_filter",
    "proc/sys/net/ipv4/conf/default/arp_ignore",
    "proc/sys/net/ipv4/conf/default/rp_filter",
    // Memory: registrations, reclaim, compaction.
    "proc/sys/vm/compaction_proactiveness",
    "proc/sys/vm/max_map_count",
    "proc/sys/vm/overcommit_memory",
    "proc/sys/vm/swappiness",
    "proc/sys/vm/zone_reclaim_mode",
    // Copies between processes (CMA).
    "proc/sys/kernel/yama/ptrace_scope",
];

/// A setting.
#[derive(Debug, Clone)]
pub struct Sysctl {
    /// Where it is below the root.
    pub path: &'static str,
    /// Its name, as `sysctl` writes it.
    pub name: String,
    /// Its value; several numbers with a blank between.
    pub value: Reading<String>,
}

/// Each of them. Where the source shows none, nobody looked.
pub(crate) fn decode(s: &Snapshot) -> Reading<Vec<Sysctl>> {
    let read = |path: &&'static str| {
        let name = path.trim_start_matches("proc/sys/").replace('/', ".");
        let value = s.text(s.root(), path).map(|t| t.split_whitespace().collect::<Vec<_>>().join(" "));
        Sysctl { path, name, value }
    };
    let all: Vec<Sysctl> = PATHS.iter().map(read).collect();
    match all.iter().find(|c| c.value.known().is_some()).map(|c| c.value.place()) {
        Some(place) => Reading::Known(all, place),
        None => Reading::Unreadable(Place::below(EntryId::ROOT, "proc/sys"), Why::NotCollected),
    }
}

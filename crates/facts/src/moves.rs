//! Facts that move by themselves between two readings of a node that nobody changed, each with the reason. What is only a file and no fact
//! of the list is in `remedy::diff`.

/// Links train by themselves.
pub const LINKS: &str = "links retrain by themselves, also when idle; rules judge speed and state";
/// Counters.
pub const COUNTS: &str = "counters grow by themselves";
/// Status bits of errors.
pub const ERRORS: &str = "rules judge error status";
/// LIDs.
pub const LIDS: &str = "the subnet manager assigns LIDs";
/// GIDs.
pub const GIDS: &str = "GIDs follow addresses, which change with link state and neighbours";

/// Limits of processes.
pub const MEMORY: &str = "the kernel derives it from the memory that it found at boot";
/// Jobs and heartbeats.
pub const JOBS: &str = "jobs, heartbeats and controllers change it";

/// Facts that move, and where sysfs shows them.
#[derive(Debug, Clone, Copy)]
pub struct Moving {
    /// Id of the fact, or what the ids of several begin with.
    pub id: &'static str,
    /// Paths of sysfs: `*` within a name, `**` for any names. Empty: a register, or a program's output.
    pub path: &'static str,
    /// Whether it also appears and vanishes by itself.
    pub comes_and_goes: bool,
    /// Why.
    pub reason: &'static str,
}

const fn value(id: &'static str, path: &'static str, reason: &'static str) -> Moving {
    Moving { id, path, comes_and_goes: false, reason }
}

const fn all(id: &'static str, path: &'static str, reason: &'static str) -> Moving {
    Moving { id, path, comes_and_goes: true, reason }
}

/// The table.
pub const MOVING: &[Moving] = &[
    value("kernel.nproc_soft", "", MEMORY),
    value("kernel.nproc_hard", "", MEMORY),
    value("pci.link.speed", "**/current_link_speed", LINKS),
    value("pci.link.width", "**/current_link_width", LINKS),
    value("gpus.driver_view.width", "", LINKS),
    value("gpus.driver_view.replays", "", COUNTS),
    value("pci.aer.uncorrectable_status", "", ERRORS),
    value("pci.aer.correctable_status", "", ERRORS),
    value("net.operstate", "**/net/*/operstate", LINKS),
    value("net.speed_mbps", "**/net/*/speed", LINKS),
    value("rdma.ports.state", "**/infiniband/*/ports/*/state", LINKS),
    value("rdma.ports.phys_state", "**/infiniband/*/ports/*/phys_state", LINKS),
    value("rdma.ports.rate_gbps", "**/infiniband/*/ports/*/rate", LINKS),
    value("rdma.ports.rate_text", "**/infiniband/*/ports/*/rate", LINKS),
    value("rdma.ports.lid", "**/infiniband/*/ports/*/lid", LIDS),
    value("rdma.ports.sm_lid", "**/infiniband/*/ports/*/sm_lid", LIDS),
    all("rdma.ports.gids", "**/infiniband/*/ports/*/gids/*", GIDS),
    all("rdma.ports.gids", "**/infiniband/*/ports/*/gid_attrs/**", GIDS),
    all("kubernetes.annotations", "", JOBS),
    all("kubernetes.conditions", "", JOBS),
    all("kubernetes.taints", "", JOBS),
    all("slurm.state", "", JOBS),
    all("slurm.reason", "", JOBS),
    value("slurm.gres.used", "", JOBS),
];

/// Why a fact moves by itself; `None`: a difference says something.
#[must_use]
pub fn why(id: &str) -> Option<&'static str> {
    let begins = |m: &&Moving| id.strip_prefix(m.id).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    MOVING.iter().find(begins).map(|m| m.reason)
}

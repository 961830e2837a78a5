//! What each failing verbs call, with its error, leaves as reasons: `reasons.tsv`.

use crate::table::rows;
use std::sync::LazyLock;

/// What a failing call leaves as reasons.
pub(crate) struct Reasons {
    /// The beginning of the call's name.
    pub(crate) call: &'static str,
    /// Words of the error; empty for any, and where none is printed.
    pub(crate) error: &'static str,
    /// In one line.
    pub(crate) words: &'static str,
    /// Causes that fit, the likeliest first.
    pub(crate) candidates: Vec<&'static str>,
    /// What decides between them.
    pub(crate) read: Vec<&'static str>,
}

const MEMLOCK: &str = "in the job itself: `ulimit -l`, or `grep locked /proc/PID/limits`";

const KERNEL: &str = "the kernel's log at that time: `dmesg | grep -e nvidia-peermem -e NVRM -e mlx5_core`";

const DEVICES: &str =
    "in the container: `ls -l /dev/infiniband`, and the device rules of its cgroup (rdma devices of the pod)";

const GIDS: &str = "`show_gids` on both hosts: the entry of the index in use, and whether its address reaches the peer";

/// What several rows have to be read, by the name in the table.
const NAMED: &[(&str, &str)] =
    &[("{memlock}", MEMLOCK), ("{kernel}", KERNEL), ("{devices}", DEVICES), ("{gids}", GIDS)];

const TABLE: &str = include_str!("reasons.tsv");

static ROWS: LazyLock<Vec<Reasons>> = LazyLock::new(|| rows(TABLE).map(Reasons::of).collect());

impl Reasons {
    fn of([call, error, words, candidates, read]: [&'static str; 5]) -> Self {
        let some = |cell: &'static str| if cell == "-" { "" } else { cell };
        let named = |r: &'static str| NAMED.iter().find(|(name, _)| *name == r).map_or(r, |(_, text)| *text);
        let candidates = some(candidates).split_whitespace().collect();
        Reasons { call, error: some(error), words, candidates, read: read.split(" & ").map(named).collect() }
    }
}

/// What a call with its error leaves as reasons.
pub(crate) fn reasons(call: &str, error: &str) -> Option<&'static Reasons> {
    ROWS.iter().find(|r| call.starts_with(r.call) && error.contains(r.error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_differ_by_call_and_error() {
        assert_eq!(ROWS.len(), crate::table::lines(TABLE).count());
        for (call, error, first) in [
            ("ibv_reg_mr_iova2", "Cannot allocate memory", Some("ib/memlock")),
            ("ibv_reg_mr", "Bad address", Some("ib/gpu-registration")),
            ("ibv_reg_dmabuf_mr", "Operation not supported", Some("ib/gpu-registration")),
            ("ibv_create_qp", "Cannot allocate memory", Some("ib/memlock")),
            ("ibv_create_ah", "Connection timed out", Some("ib/gid-index")),
            ("ibv_create_qp", "Invalid argument", None),
            ("ibv_create_cq", "Cannot allocate memory", Some("ib/memlock")),
            ("ibv_modify_qp", "Connection timed out", Some("ib/gid-index")),
            ("ibv_modify_qp", "Network is unreachable", Some("ib/gid-index")),
            ("ibv_alloc_pd", "Operation not permitted", Some("net/no-rdma-device")),
            ("ibv_open_device", "", Some("net/no-rdma-device")),
            ("ibv_post_send", "", Some("ib/retry-exceeded")),
        ] {
            let row = reasons(call, error).unwrap_or_else(|| panic!("{call}"));
            assert_eq!(row.candidates.first().copied(), first, "{call} {error}");
            assert!(!row.read.is_empty(), "{call}");
        }
        assert!(reasons("ibv_something_new", "x").is_none());
        let known = |id: &&str| crate::causes().any(|c| c.id == *id);
        for id in ROWS.iter().flat_map(|r| &r.candidates) {
            assert!(known(id), "{id} is no cause");
        }
    }
}

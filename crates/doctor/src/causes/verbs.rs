//! Verbs calls that failed: what each failing call, with its error, leaves as reasons.

use super::{Found, Known, TROUBLESHOOTING, investigate, nccl};
use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::conclude::is_harmless;
use crate::observe::groups::Group;
use crate::observe::trouble::{KernelTrouble, Trouble};
use linerate_rules::{Severity, Source};

const WRAP: Source =
    nccl("NCCL, src/misc/ibvwrap.cc", "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/misc/ibvwrap.cc");

/// What a failing call leaves as reasons.
pub(crate) struct Reasons {
    /// The beginning of the call's name.
    call: &'static str,
    /// Words of the error; empty for any, and where none is printed.
    error: &'static str,
    /// In one line.
    pub(crate) words: &'static str,
    /// Causes that fit, the likeliest first.
    pub(crate) candidates: &'static [&'static str],
    /// What decides between them.
    pub(crate) read: &'static [&'static str],
}

const MEMLOCK: &str = "in the job itself: `ulimit -l`, or `grep locked /proc/PID/limits`";
const KERNEL: &str = "the kernel's log at that time: `dmesg | grep -e nvidia-peermem -e NVRM -e mlx5_core`";
const DEVICES: &str =
    "in the container: `ls -l /dev/infiniband`, and the device rules of its cgroup (rdma devices of the pod)";
const GIDS: &str = "`show_gids` on both hosts: the entry of the index in use, and whether its address reaches the peer";

/// The first row that fits counts: errors before calls in general.
const ROWS: &[Reasons] = &[
    Reasons {
        call: "ibv_reg_dmabuf_mr",
        error: "not supported",
        words: "the NIC's driver, or the kernel, cannot import DMA-BUF",
        candidates: &["ib/gpu-registration"],
        read: &["kernel and NIC driver: mlx5 needs Linux 5.12", KERNEL],
    },
    Reasons {
        call: "ibv_reg_dmabuf_mr",
        error: "Cannot allocate memory",
        words: "the GPU's BAR1 has no room, or too little memory may be locked",
        candidates: &["ib/gpu-registration", "ib/memlock"],
        read: &["`nvidia-smi -q -d MEMORY`: BAR1, used against total", MEMLOCK],
    },
    Reasons {
        call: "ibv_reg_dmabuf_mr",
        error: "",
        words: "the NIC cannot register the GPU's DMA-BUF",
        candidates: &["ib/gpu-registration"],
        read: &[KERNEL, "NCCL_DMABUF_ENABLE=0: does it run over nvidia-peermem?"],
    },
    Reasons {
        call: "ibv_reg_mr",
        error: "Cannot allocate memory",
        words: "too little memory may be locked",
        candidates: &["ib/memlock", "ib/gpu-registration"],
        read: &[MEMLOCK, KERNEL],
    },
    Reasons {
        call: "ibv_reg_mr",
        error: "Bad address",
        words: "the address is GPU memory that the RDMA core does not know: nvidia-peermem does not serve it",
        candidates: &["ib/gpu-registration", "gdr/peermem-not-loaded"],
        read: &["`lsmod | grep peermem` on the node", KERNEL],
    },
    Reasons {
        call: "ibv_reg_mr",
        error: "",
        words: "the NIC cannot register memory",
        candidates: &["ib/memlock", "ib/gpu-registration"],
        read: &[MEMLOCK, KERNEL],
    },
    Reasons {
        call: "ibv_modify_qp",
        error: "timed out",
        words: "the peer's address was not resolved: the GID or the route to it is wrong",
        candidates: &["ib/gid-index", "net/wrong-interface"],
        read: &[GIDS, "`rping` or `ib_write_bw -x INDEX` between the two hosts"],
    },
    Reasons {
        call: "ibv_modify_qp",
        error: "nreachable",
        words: "there is no route to the peer's GID",
        candidates: &["ib/gid-index"],
        read: &[GIDS, "`ip route get ADDRESS` of the peer's GID"],
    },
    Reasons {
        call: "ibv_modify_qp",
        error: "No data available",
        words: "the entry of the GID table cannot be resolved",
        candidates: &["ib/gid-index"],
        read: &[GIDS],
    },
    Reasons {
        call: "ibv_modify_qp",
        error: "Invalid argument",
        words: "an attribute of the connection is refused: GID index, MTU, or port",
        candidates: &["ib/gid-index", "ib/small-mtu"],
        read: &[GIDS, "`ibv_devinfo` on both hosts: active_mtu, state, link_layer"],
    },
    Reasons {
        call: "ibv_modify_qp",
        error: "No such device",
        words: "the GID's interface is not there: gone, or in another network namespace",
        candidates: &["ib/gid-index"],
        read: &[GIDS, "`rdma system`: netns shared or exclusive"],
    },
    Reasons {
        call: "ibv_modify_qp",
        error: "",
        words: "the connection between two NICs cannot be set up",
        candidates: &["ib/gid-index", "ib/port-went-down"],
        read: &[GIDS, "`ibv_devinfo` on both hosts: state, active_mtu"],
    },
    Reasons {
        call: "ibv_create_ah",
        error: "",
        words: "the peer's address was not resolved: the GID or the route to it is wrong",
        candidates: &["ib/gid-index"],
        read: &[GIDS, "`ip route get ADDRESS` of the peer's GID"],
    },
    Reasons {
        call: "ibv_create_qp",
        error: "Cannot allocate memory",
        words: "too little memory may be locked, or the NIC has no queue pair left",
        candidates: &["ib/memlock"],
        read: &[MEMLOCK, "`rdma resource show`: queue pairs in use against max_qp of `ibv_devinfo -v`"],
    },
    Reasons {
        call: "ibv_create_qp",
        error: "Invalid argument",
        words: "the NIC refuses the queue's size",
        candidates: &[],
        read: &["max_qp_wr and max_sge of `ibv_devinfo -v` against NCCL_IB_QPS_PER_CONNECTION and the NIC's firmware"],
    },
    Reasons {
        call: "ibv_create_qp",
        error: "",
        words: "a queue pair cannot be made",
        candidates: &["ib/memlock"],
        read: &[MEMLOCK, "`rdma resource show` against `ibv_devinfo -v`"],
    },
    Reasons {
        call: "ibv_create_cq",
        error: "Invalid argument",
        words: "the NIC refuses the completion queue's size",
        candidates: &[],
        read: &["max_cqe of `ibv_devinfo -v`"],
    },
    Reasons {
        call: "ibv_create_cq",
        error: "",
        words: "a completion queue cannot be made: too little memory may be locked",
        candidates: &["ib/memlock"],
        read: &[MEMLOCK],
    },
    Reasons {
        call: "ibv_create_comp_channel",
        error: "",
        words: "the device's file cannot be used, or the process has no file descriptor left",
        candidates: &["net/no-rdma-device"],
        read: &[DEVICES, "`ulimit -n`"],
    },
    Reasons {
        call: "ibv_alloc_pd",
        error: "Cannot allocate memory",
        words: "too little memory may be locked, or the NIC's resources are used up",
        candidates: &["ib/memlock"],
        read: &[MEMLOCK, "`rdma resource show`"],
    },
    Reasons {
        call: "ibv_alloc_pd",
        error: "",
        words: "the device cannot be used",
        candidates: &["net/no-rdma-device", "ib/nic-fault"],
        read: &[DEVICES, "`dmesg | grep mlx5_core`"],
    },
    Reasons {
        call: "ibv_open_device",
        error: "",
        words: "the device cannot be opened",
        candidates: &["net/no-rdma-device"],
        read: &[DEVICES],
    },
    Reasons {
        call: "ibv_get_device_list",
        error: "",
        words: "the devices cannot be listed: no RDMA driver, or no access to it",
        candidates: &["net/no-rdma-device"],
        read: &[DEVICES, "`lsmod | grep -e ib_uverbs -e mlx5_ib`"],
    },
    Reasons {
        call: "ibv_query_gid",
        error: "",
        words: "the entry of the GID table cannot be read",
        candidates: &["ib/gid-index"],
        read: &[GIDS],
    },
    Reasons {
        call: "ibv_query",
        error: "",
        words: "the device does not answer: it is gone, or was reset",
        candidates: &["ib/nic-fault", "ib/port-went-down"],
        read: &["`dmesg | grep mlx5_core`", "`ibv_devinfo`"],
    },
    Reasons {
        call: "ibv_post_send",
        error: "",
        words: "a queue is full or in error before the request",
        candidates: &["ib/retry-exceeded", "ib/nic-fault"],
        read: &["the first completion with an error, in the logs of all ranks"],
    },
    Reasons {
        call: "ibv_post_recv",
        error: "",
        words: "a queue is full or in error before the request",
        candidates: &["ib/retry-exceeded", "ib/nic-fault"],
        read: &["the first completion with an error, in the logs of all ranks"],
    },
    Reasons {
        call: "ibv_poll_cq",
        error: "",
        words: "the device does not answer",
        candidates: &["ib/nic-fault"],
        read: &["`dmesg | grep mlx5_core`"],
    },
];

/// What a call with its error leaves as reasons.
pub(crate) fn reasons(call: &str, error: &str) -> Option<&'static Reasons> {
    ROWS.iter().find(|r| call.starts_with(r.call) && error.contains(r.error))
}

/// Calls whose failure ends a job. What is only asked (`ibv_query_port_speed`, `ibv_fork_init`) does not.
fn is_fatal(call: &str) -> bool {
    !["ibv_query_port_speed", "ibv_fork_init", "ibv_event_type", "ibv_destroy", "ibv_dereg", "ibv_dealloc", "ibv_close"]
        .iter()
        .any(|c| call.starts_with(c))
}

/// Failed calls, the first first.
pub(crate) fn failed<'a>(c: &Case<'a>) -> Vec<(&'a str, &'a str, &'a Group)> {
    let all = c.failures(|t| matches!(t, Trouble::Verbs { .. }));
    let mut found: Vec<_> = all
        .into_iter()
        .filter_map(|(t, g)| match t {
            Trouble::Verbs { call, error } => Some((c.name(call), c.name(error), g)),
            _ => None,
        })
        .filter(|(call, _, g)| is_fatal(call) && !is_harmless(g))
        .collect();
    found.sort_by_key(|(_, _, g)| g.first);
    found
}

/// The firmware refuses a further object, by the kernel's log alone.
fn of_firmware(c: &Case<'_>) -> Option<Found> {
    let all = c.kernel(|k| matches!(k, KernelTrouble::NicLimit(_)));
    let (_, g) = all.first()?;
    let words = "the NIC has no room for another memory key or queue: a limit of its firmware is reached";
    let why = "the driver's log says so; that a job ended with it is not shown";
    Some(Found::new(Possible, words, why).with(c.quotes(g)))
}

pub(super) static CALL: Known = Known {
    id: "ib/verbs-call-failed",
    title: "A call to the NIC failed, and the job ends with it",
    severity: Severity::Critical,
    docs: "NCCL stops where a verbs call fails. The call and its error number say what was refused; the reason is a limit, a device that may not be used, or an address. This cause stands where no more exact one fits.",
    confirm: &["what the line about this call says to read: the reasons differ by call and error"],
    refute: &["an earlier failure in the log of another rank"],
    rules: &["memory/memlock", "rdma/device-present", "rdma/gid-table"],
    sources: &[WRAP, TROUBLESHOOTING],
    remedy: || investigate("Read what decides for this call, in the job's own environment"),
    check: |c| {
        let failed = failed(c);
        let Some((call, error, g)) = failed.first().copied() else { return of_firmware(c) };
        let exact: [&Known; 3] = [&super::ib::MEMLOCK, &super::ib::REGISTRATION, &super::ib::GID];
        if exact.iter().any(|k| (k.check)(c).is_some()) {
            return None;
        }
        let row = reasons(call, error);
        let what = if error.is_empty() { format!("{call} failed") } else { format!("{call} failed: {error}") };
        let words = match row {
            Some(r) => format!("{what}; {}", r.words),
            None => what,
        };
        // The call is certain; its reason only where the error names one.
        let named = row.is_some_and(|r| !r.error.is_empty() && !r.candidates.is_empty());
        let sure = if named { Likely } else { Possible };
        Some(
            Found::new(sure, words, "the call itself fails; the reason is what its error leaves")
                .with(c.quotes(g))
                .scope(c.scope(g.processes.iter().copied())),
        )
    },
    follows: &[
        "ib/memlock",
        "ib/gpu-registration",
        "ib/gid-index",
        "ib/nic-fault",
        "ib/port-went-down",
        "net/no-rdma-device",
        "kernel/xid",
        "kernel/oom",
        "kernel/iommu-fault",
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_differ_by_call_and_error() {
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
    }
}

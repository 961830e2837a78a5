//! What each failing verbs call, with its error, leaves as reasons.

/// What a failing call leaves as reasons.
pub(crate) struct Reasons {
    /// The beginning of the call's name.
    pub(crate) call: &'static str,
    /// Words of the error; empty for any, and where none is printed.
    pub(crate) error: &'static str,
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

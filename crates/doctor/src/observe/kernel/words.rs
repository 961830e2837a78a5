//! The words that a line must contain to be looked at.

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::sync::LazyLock;

/// A line without one of these is not one of the kernel's that matter, nor a part of NCCL's.
const WORDS: &[&str] = &[
    "NVRM",
    "SXid (",
    "AMD-Vi",
    "IO_PAGE_FAULT",
    "DMAR",
    "arm-smmu",
    "Link down",
    "mlx5_core",
    "umem get failed (",
    "completion with error: ",
    "Error on QP 0x",
    "ib_umem_get",
    "failed to execute",
    "nvidia_peermem",
    "nvidia-peermem",
    "nv_peer_mem",
    "nv_mem_client",
    "swiotlb",
    "SW-IOMMU",
    "oom-kill",
    "oom_kill",
    "Out of memory: Kill",
    "Memory cgroup out of memory",
    "Killed process ",
    "oom_reaper: ",
    "tgid total_vm ",
    "Tasks state (memory values in pages)",
    // A row of root's in that table.
    "]     0 ",
    "OOMKilled",
    " killed as a result of limit of ",
    "by the OOM killer",
    "AER:",
    "DPC",
    "EDR: ",
    "Internal error detected",
    ": probe of ",
    ": probe with driver ",
    "Failed to process command ",
    "Failed to allocate pd",
    "Failed to register mr",
    "fallen off the bus",
    "PCIe Bus Error",
    "available PCIe bandwidth",
    "for optimal performance",
    "pciehp",
    "enabling device (",
    "firmware version: ",
    "GPU is lost",
    "system not yet initialized",
    "Traceback (most recent call last)",
    "Process received signal",
    "Segmentation fault",
    "Bus error",
    "exited on signal",
    "is killed by signal",
    "ChildFailedError",
    "CUDA error: ",
    "CUDA failure ",
    "Cuda failure ",
    "fabric manager NVIDIA GPU driver interface version",
    "cannot open shared object file",
    "undefined symbol: ",
    ": version `",
    "ACSCtl:",
    "NCCL failure ",
    "OutOfMemoryError: CUDA",
    "NVIDIA driver on your system is too old",
    "unsupported display driver / cuda driver",
    "forward compatibility was attempted",
    "bus error encountered in worker",
    ") received by PID ",
    "exitcode",
    "] exits with return code = -",
    "' died with <Signals.SIG",
    "WITH THE EXIT STRING: ",
    "=   KILLED BY SIGNAL: ",
    " Killed  ",
    "Driver/library version mismatch",
    "driver/library version mismatch",
    "srun: error: ",
    " CANCELLED AT ",
    "max locked memory",
    "RLIMIT_MEMLOCK",
    "locked memory",
    "ibv_",
    "retry count exceeded on ",
    "No IB devices found",
    "IB devices list",
    "IB device",
    "Infiniband/RoCE device",
    "Failed status",
    "got bad completion with status: 0x",
    "DTO completion ERR: status ",
    "mlx4: local QP operation err (QPN ",
    "CQ error status=",
    "modify qp 0x",
    "error modifying ",
    "failed to create ",
    "Failed to create ",
    "mlx5dv_create_",
    " completion[",
    "IB Async event on ",
    "connect() to ",
    "InfiniBand retry count",
    "\"receiver not ready\" retry",
    "connect(fd=",
    "to complete a TCP connection",
    "no userspace device-specific driver",
    "Not enough memory to write total of ",
    "shm_open(",
    "_QP with syndrome ",
    ": non-zero status: ",
    ": NULL value ",
    " failed: IBV_WC_",
    "nv_peer_mem, or nvidia_peermem",
    "FI_PROVIDER",
    "RCCL version : ",
    " NCCL WARN ",
    "Failed to modify ",
    "(synd 0x",
    "Did not detect devices",
    "Unable to create QP",
    "HCA's through the link",
    "Couldn't ",
    // Messages of NCCL that are pasted without their head: see BARE.
    "shared memory segment /dev/shm/nccl-",
    "link_speed=\"2.5 GT/s",
];

/// Words of NCCL's own messages.
pub(crate) const OF_NCCL: &[&str] = &[
    "onnect to ",
    "Call to connect ",
    "Call to bind failed",
    "Call to recv from ",
    "posix_fallocate failed",
    "ncclOsSocket",
    "no device found ",
    "NET/IB",
    "GPU Direct RDMA Disabled for GPU ",
    "ocket creation failed",
    "NET/Socket : no interface found",
    "NET/Socket : No usable",
    "Got completion",
    "Call to ibv_",
    "Duplicate GPU detected",
    "Last NCCL warning(error)",
    "ocketStartConnect: ",
    "ocketPollConnect",
    "socketProgress",
    "Net : Connection closed by remote peer",
    "Net : No interface found in the same subnet",
    "/dev/shm/nccl-",
    "no socket interface found",
    "Mismatched NCCL version detected",
    "Failed to bind NVLink SHARP",
    "MNNVL (cliqueSize",
    "failed to open CUDA IPC handle",
    "failed to peer with device",
    "ultiple Ranks are using the same GPU",
    "Message truncated : received",
];

/// Finds the words.
pub(crate) struct Words(Option<Built>);

/// Automatons of all words, and of those of NCCL.
#[derive(Clone)]
struct Built {
    all: AhoCorasick,
    of_nccl: AhoCorasick,
}

impl std::fmt::Debug for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Words")
    }
}

impl Default for Words {
    fn default() -> Self {
        // Built once: an automaton of all words takes longer than reading a short log.
        static BUILT: LazyLock<Option<Built>> = LazyLock::new(|| {
            let of = |words: &mut dyn Iterator<Item = &'static str>| {
                AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(words).ok()
            };
            let all = of(&mut WORDS.iter().chain(OF_NCCL).copied().chain(crate::observe::says::words()))?;
            Some(Built { all, of_nccl: of(&mut OF_NCCL.iter().copied())? })
        });
        Words(BUILT.clone())
    }
}

impl Words {
    /// Whether the line has one of the words, and whether that is one of NCCL's own.
    pub(crate) fn any(&self, line: &str) -> Option<bool> {
        let Some(words) = &self.0 else { return Some(true) };
        words.all.is_match(line).then(|| words.of_nccl.is_match(line))
    }
}

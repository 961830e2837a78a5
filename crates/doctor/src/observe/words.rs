//! The words that a line must contain to be looked at, by the readers that look at it. A reader finds nothing in a line without one of its own.

use crate::observe::says;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::sync::LazyLock;

/// Words of lines of the kernel, and of tools that load its modules: `device` and `read`.
const KERNEL: &[&str] = &[
    "NVRM",
    "SXid (",
    "AMD-Vi",
    "IO_PAGE_FAULT",
    "DMAR",
    "arm-smmu",
    "Link down",
    "mlx5_core",
    "umem get failed (",
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
    // A row of root's in the table of tasks.
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
    "srun: error: ",
    "Failed to create ",
    "] type 0",
    "error status/mask=",
    "gdrdrv:",
    "amdgpu",
    "device inaccessible",
    "; giving up",
    "NETDEV WATCHDOG: ",
];

/// Words of other programs: `programs::failure`, `programs::tool`.
const PROGRAMS: &[&str] = &[
    "completion with error: ",
    "Error on QP 0x",
    "Driver/library version mismatch",
    "driver/library version mismatch",
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
    "Failed to modify ",
    "(synd 0x",
    "Did not detect devices",
    "Unable to create QP",
    "HCA's through the link",
    "Couldn't ",
    "Failed to create ",
    "Port number ",
    "Unable to query port ",
    "ERRNO: ",
    "no active messages transport to ",
    "infiniband ports on a device",
    "initializing an OpenFabrics device",
    "default subnet GID prefix was detected",
];

/// Words of programs that end: `frameworks::ended`, `frameworks::nccl_tests`.
const ENDED: &[&str] = &[
    "Traceback (most recent call last)",
    "Process received signal",
    "Segmentation fault",
    "Bus error",
    "exited on signal",
    "is killed by signal",
    "ChildFailedError",
    "bus error encountered in worker",
    ") received by PID ",
    "exitcode",
    "] exits with return code = -",
    "' died with <Signals.SIG",
    "WITH THE EXIT STRING: ",
    "=   KILLED BY SIGNAL: ",
    " Killed  ",
    "NCCL failure ",
    "srun: error: ",
];

/// Words of CUDA in a program's error: `frameworks::cuda`. Those of its table are in `says`.
const CUDA: &[&str] = &[
    "system not yet initialized",
    "CUDA error: ",
    "CUDA failure ",
    "Cuda failure ",
    "OutOfMemoryError: CUDA",
    "unsupported display driver / cuda driver",
    "forward compatibility was attempted",
];

/// Words of tools that say something of a node without a node: `tools::Reader`.
const TOOLS: &[&str] = &[
    "fabric manager NVIDIA GPU driver interface version",
    "cannot open shared object file",
    "undefined symbol: ",
    ": version `",
    "ACSCtl:",
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

/// Lines that are looked at for themselves: the version of RCCL, and a title that quotes NCCL.
const OTHERS: &[&str] = &["RCCL version : ", " NCCL WARN "];

/// Readers, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Readers(u8);

impl Readers {
    pub(crate) const KERNEL: Self = Readers(1);
    pub(crate) const PROGRAMS: Self = Readers(1 << 1);
    pub(crate) const ENDED: Self = Readers(1 << 2);
    pub(crate) const CUDA: Self = Readers(1 << 3);
    pub(crate) const TOOLS: Self = Readers(1 << 4);
    pub(crate) const SAYS: Self = Readers(1 << 5);
    pub(crate) const NCCL: Self = Readers(1 << 6);
    pub(crate) const OTHERS: Self = Readers(1 << 7);
    const ALL: Self = Readers(u8::MAX);

    pub(crate) fn has(self, reader: Self) -> bool {
        self.0 & reader.0 != 0
    }
}

/// Words, and whose they are.
fn all() -> impl Iterator<Item = (&'static str, Readers)> {
    let lists = [
        (KERNEL, Readers::KERNEL),
        (PROGRAMS, Readers::PROGRAMS),
        (ENDED, Readers::ENDED),
        (CUDA, Readers::CUDA),
        (TOOLS, Readers::TOOLS),
        (OF_NCCL, Readers::NCCL),
        (OTHERS, Readers::OTHERS),
    ];
    let of_cuda = says::cuda_words().map(|w| (w, Readers::CUDA));
    let listed = lists.into_iter().flat_map(|(words, reader)| words.iter().map(move |w| (*w, reader)));
    listed.chain(says::words().map(|w| (w, Readers::SAYS))).chain(of_cuda)
}

/// An automaton, and whose each of its words is.
struct Built {
    find: AhoCorasick,
    readers: Vec<Readers>,
}

/// Built once: an automaton of all words takes longer than reading a short log.
static BUILT: LazyLock<Option<Built>> = LazyLock::new(|| {
    let (words, readers): (Vec<_>, Vec<_>) = all().unzip();
    let find = AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(words).ok()?;
    Some(Built { find, readers })
});

/// The readers of which a line has a word.
pub(crate) fn readers(line: &str) -> Option<Readers> {
    let Some(built) = BUILT.as_ref() else { return Some(Readers::ALL) };
    if !built.find.is_match(line) {
        return None;
    }
    let found = built.find.find_overlapping_iter(line).filter_map(|m| built.readers.get(m.pattern().as_usize()));
    Some(Readers(found.fold(0, |all, r| all | r.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{frameworks, kernel, programs};

    /// Messages of the tests of answers, which are of real reports and of the programs' sources.
    const MESSAGES: &[&str] = &[
        include_str!("../../tests/messages.tsv"),
        include_str!("../../tests/kernel_messages.tsv"),
        include_str!("../../tests/answers.rs"),
        include_str!("../../tests/classes.rs"),
        include_str!("../../tests/evidence.rs"),
        include_str!("../../tests/frameworks.rs"),
        include_str!("../../tests/glued.rs"),
        include_str!("../../tests/metamorphic.rs"),
        include_str!("../../../../lab/messages/frameworks.toml"),
        include_str!("../../../../lab/logs/forms.tsv"),
    ];

    #[test]
    fn a_reader_finds_nothing_without_a_word_of_its_own() {
        let mut seen = [0; 6];
        let fields = MESSAGES.iter().flat_map(|m| m.lines()).flat_map(|l| l.split(['\t', '"']));
        for line in fields.flat_map(|f| f.split("\\n")) {
            let found = [
                (Readers::KERNEL, kernel::read(line).is_some() || kernel::device(line).is_some()),
                (Readers::PROGRAMS, programs::failure(line).is_some() || programs::tool(line).is_some()),
                (Readers::PROGRAMS, programs::perftest::Reader::default().line(1, line).is_some()),
                (Readers::ENDED, frameworks::ended(line).is_some() || frameworks::nccl_tests(line).is_some()),
                (Readers::CUDA, frameworks::cuda(line).is_some()),
                (Readers::SAYS, says::Reader::default().read(line).is_some()),
            ];
            let readers = readers(line);
            for ((reader, found), seen) in found.into_iter().zip(&mut seen) {
                // A line without any word is looked at by none: that was always so.
                assert!(!found || readers.is_none_or(|r| r.has(reader)), "{reader:?} reads {line}");
                *seen += u32::from(found && readers.is_some());
            }
        }
        // perftest's port is few lines.
        assert!(seen.iter().enumerate().all(|(i, n)| *n >= if i == 2 { 2 } else { 10 }), "{seen:?}");
    }
}

//! What a line of a tool says of the node, or of the limits of the process.

use super::{is_place, message};
use crate::observe::trouble::ToolTrouble;
use linerate_formats::printed;

/// perftest's lines about a buffer in a GPU (`perftest_resources.c`, later `cuda_memory.c`).
pub(crate) fn is_gpu_buffer(line: &str) -> bool {
    let text = line.trim();
    text == "initializing CUDA"
        || text.starts_with("allocated GPU buffer address at ")
        || text.starts_with("cuMemAlloc() of a ") && text.ends_with(" bytes GPU buffer")
        || text == "making it the current CUDA Ctx"
}

/// What a line says of the node, or of the process's limits.
pub(crate) fn tool(line: &str) -> Option<ToolTrouble> {
    let text = message(line)?.trim();
    if NO_DEVICE.iter().any(|w| text.trim_end_matches('.') == *w) || is_missing_device(text) {
        return Some(ToolTrouble::NoRdmaDevice);
    }
    // libibverbs/init.c: the kernel has the device, and no library for its vendor is installed here.
    if text.starts_with("libibverbs: Warning: no userspace device-specific driver found for /sys/class/infiniband") {
        return Some(ToolTrouble::NoProvider);
    }
    if PEER_MEMORY.iter().any(|w| text.ends_with(w) && is_place(text.get(..text.len() - w.len()).unwrap_or("x"))) {
        return Some(ToolTrouble::NoPeerMemory);
    }
    // UCX, `src/ucp/wireup/select.c`, `ucp_wireup_select_transport`: the reason of each transport follows.
    if text.strip_prefix("no active messages transport to ").is_some_and(|r| r.contains(": ") || r.ends_with(':')) {
        return Some(ToolTrouble::NoUcxTransport);
    }
    if OPENIB_UNUSED.contains(&text) {
        return Some(ToolTrouble::OpenibUnused);
    }
    if text == "default subnet GID prefix was detected on more than one of these" {
        return Some(ToolTrouble::DefaultSubnet);
    }
    if wants_efa(text) {
        return Some(ToolTrouble::WantsEfa);
    }
    if is_cancelled(text) {
        return Some(ToolTrouble::Cancelled);
    }
    if ["Failed to initialize NVML: Driver/library version mismatch", "nvml error: driver/library version mismatch"]
        .iter()
        .any(|w| text.starts_with(w))
        || text.starts_with("nvidia-container-cli: ") && text.contains("driver/library version mismatch")
    {
        return Some(ToolTrouble::DriverMismatch);
    }
    if let Some(rest) = text.strip_prefix("max locked memory ") {
        // `ulimit -a`: `max locked memory       (kbytes, -l) 64`.
        let (_, value) = rest.trim_start().strip_prefix('(')?.split_once("-l) ")?;
        let kib = value.trim().parse().ok()?;
        return Some(ToolTrouble::LockedMemory { kib: Some(kib), complains: false });
    }
    // rdma-core, libibverbs/init.c: check_memlock_limit.
    if let Some(rest) = text.strip_prefix("libibverbs: Warning: RLIMIT_MEMLOCK is ") {
        let bytes: u64 = rest.split(' ').next()?.parse().ok()?;
        return Some(ToolTrouble::LockedMemory { kib: Some(bytes >> 10), complains: true });
    }
    // Open MPI 4, opal/mca/btl/openib/help-mpi-btl-openib.txt: the second line of the message, which names memory and no other queue.
    let complains = text.starts_with("allocate some locked memory.  This typically can indicate that the");
    complains.then_some(ToolTrouble::LockedMemory { kib: None, complains: true })
}

/// slurmstepd (`src/slurmd/slurmstepd/req.c`): `slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2026-11-21T07:00:00 DUE TO TIME LIMIT ***`.
fn is_cancelled(text: &str) -> bool {
    let text = text.strip_prefix("slurmstepd: error: ").unwrap_or(text);
    let whole = text.strip_prefix("*** ").and_then(|t| t.trim_end().strip_suffix("***"));
    whole.is_some_and(|t| (t.starts_with("JOB ") || t.starts_with("STEP ")) && t.contains(" CANCELLED AT "))
}

/// Lines of Open MPI 4 (`opal/mca/btl/openib/help-mpi-btl-openib.txt`: `ib port not selected`, `error in device init`
/// behind `WARNING: `).
const OPENIB_UNUSED: &[&str] = &[
    "By default, for Open MPI 4.0 and later, infiniband ports on a device",
    "There was an error initializing an OpenFabrics device.",
];

/// NVSHMEM, `src/modules/transport/ib*/`: neither DMA-BUF nor a module serves; its place in the source comes before.
const PEER_MEMORY: &[&str] = &["neither nv_peer_mem, or nvidia_peermem detected. Skipping transport."];

/// A setting that asks libfabric for EFA, in an environment or a command: `"FI_PROVIDER": "efa"`, `-x FI_PROVIDER=efa`, `export FI_PROVIDER="efa"`.
fn wants_efa(text: &str) -> bool {
    let Some((before, rest)) = text.split_once("FI_PROVIDER") else { return false };
    let value = rest.trim_start_matches(['"', '\'', ':', '=', ' ']);
    let assigned = rest.starts_with(['=', ':', '"', '\'']) && value.len() < rest.len();
    let word = value.split(|c: char| !c.is_ascii_alphanumeric()).next();
    let set = before.is_empty() || before.ends_with(['"', '\'', ' ']);
    let before = before.trim_end_matches(['"', '\'']);
    set && assigned && word == Some("efa") && !printed::is_prose(before)
}

/// Whole lines: ibv_devinfo and ibv_devices of rdma-core, ibstat, perftest.
const NO_DEVICE: &[&str] = &[
    "No IB devices found",
    "Unable to find the Infiniband/RoCE device",
    "Did not detect devices",
    "Failed to get IB devices list",
    "Failed to get IB devices list: Function not implemented",
];

/// `IB device 'mlx5_0' wasn't found` of ibv_devinfo, `IB device mlx5_0 not found` of perftest.
fn is_missing_device(text: &str) -> bool {
    let rest = text.strip_prefix("IB device ").map(|r| r.split_once(' '));
    rest.flatten().is_some_and(|(_, rest)| matches!(rest.trim_end_matches('.'), "wasn't found" | "not found"))
}

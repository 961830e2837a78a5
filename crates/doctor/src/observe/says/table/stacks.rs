//! Messages of programs around NVSHMEM, Mooncake, MPI, Ray, containers and batch systems.

use super::Sure::{Likely, Possible};
use super::{EXITED, FULL, GPU_OOM, KILLED, LATE, NO_CONNECTION, NVLINK, OOM, STRAGGLER, Says, UNREACHABLE, says};

const REGISTRATION: &str = "ib/gpu-registration";
const NO_PEER_MEMORY: &str = "gdr/no-peer-memory";
const NOT_LOADED: &str = "gdr/peermem-not-loaded";
const NO_DEVICE: &str = "net/no-rdma-device";
const MEMLOCK: &str = "ib/memlock";
const LIBRARY: &str = "net/library-missing";
const XID: &str = "kernel/xid";
const NOT_JOINED: &str = "a GPU has not joined the NVLink fabric";
const RAY_KILLED: &str = "Ray ended a worker because its node ran low on memory";
const RAY_WORKER: &str = "a worker of Ray ended; why is in its own log";
const EXIT_137: &str = "a container's process was ended by SIGKILL, as the kernel does for want of memory";
const SLURM_KILLED: &str = "Slurm ended a step that used more memory than it may";
const NOT_REGISTERED: &str = "the NIC cannot register memory, as a rule of a GPU";
const NO_DMABUF: &str = "neither nvidia-peermem nor DMA-BUF lets the NIC use GPU memory";
const NONE_FOUND: &str = "the program finds no RDMA device that it can use";
const NO_PROVIDER: &str = "libfabric has no provider that the MPI can use";
const NO_RESOURCE: &str = "no node offers the RDMA resource that the pod asks for";
const NO_SPEC: &str = "the device plugin finds no RDMA device for a function, so no pod gets one";
const NO_QUEUE: &str = "a completion queue cannot be made, as under a low limit of locked memory";
const NOT_PROPAGATED: &str = "the job does not get the submit host's limit of locked memory";
const NOT_INSERTED: &str = "the kernel refuses the peer-memory module";
const OTHER_ABI: &str = "the vendor's library of libibverbs does not fit the kernel's driver";
const NO_ANSWER: &str = "NVML gets no answer from a GPU, as one that fell off the bus gives none";
const ECC: &str = "a GPU has an uncorrectable error of its memory";

pub(super) static SAYS: &[Says] = &[
    // Programs around NVSHMEM, Mooncake, MPI, Ray, containers and batch systems.
    says(
        "Ray",
        OOM,
        Possible,
        "(raylet) {n} Workers (tasks / actors) killed due to memory pressure (OOM), ",
        RAY_KILLED,
    ),
    says("DeepEP", STRAGGLER, Possible, "DeepEP {} timeout, channel: {n}", LATE),
    says("DeepEP", STRAGGLER, Possible, "DeepEP {} timeout, rank: {n}", LATE),
    says("DeepEP", STRAGGLER, Possible, "DeepEP {} timeout, scale-out: {n}", LATE),
    says("DeepEP", STRAGGLER, Possible, "DeepEP timeout for {}, rank {n}", LATE),
    says("DeepEP", STRAGGLER, Possible, "Warning: DeepEP timeout for {}, rank {n}", LATE),
    says("DeepEP", STRAGGLER, Possible, "DeepEP timeout check failed: rank = {n}", LATE),
    says("DeepEP", STRAGGLER, Possible, "DeepEP error: CPU recv timeout$", LATE),
    says("DeepEP", STRAGGLER, Possible, "DeepEP error: timeout (dispatch CPU)$", LATE),
    says("PyTorch", STRAGGLER, Possible, "Timed out initializing process group in store based barrier on rank", LATE),
    says("PyTorch", STRAGGLER, Possible, "wait timeout after {n}ms, keys: ", LATE),
    says(
        "PyTorch",
        UNREACHABLE,
        Possible,
        "The IPv6 network addresses of ({}, {n}) cannot be retrieved (gai error: ",
        NO_CONNECTION,
    ),
    says(
        "torchelastic",
        UNREACHABLE,
        Possible,
        "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError$",
        NO_CONNECTION,
    ),
    says(
        "vLLM",
        GPU_OOM,
        Possible,
        "Free memory on device {}on startup is less than desired GPU memory utilization (",
        FULL,
    ),
    says("Ray", OOM, Possible, "Task was killed due to the node running low on memory", RAY_KILLED),
    says("Ray", OOM, Possible, "{n} Workers (tasks / actors) killed due to memory pressure (OOM), ", RAY_KILLED),
    says("Ray", EXITED, Possible, "Worker unexpectedly exits with a connection error code {n}. ", RAY_WORKER),
    says(
        "Ray",
        EXITED,
        Possible,
        "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR",
        RAY_WORKER,
    ),
    says("Kubernetes", OOM, Possible, "Exit Code: 137$", EXIT_137),
    says("Kubernetes", OOM, Possible, "command terminated with exit code 137$", EXIT_137),
    says("kubelet", OOM, Likely, "System OOM encountered, victim process: {w}, pid: {n}", KILLED),
    says("kubelet", OOM, Likely, "Warning SystemOOM {}System OOM encountered, victim process: {w}, pid: {n}", KILLED),
    says(
        "node-problem-detector",
        OOM,
        Likely,
        "Warning OOMKilling {}emory cgroup out of memory: Kill{w} process {n}",
        KILLED,
    ),
    says("Kubernetes", OOM, Likely, "reason: OOMKilled$", KILLED),
    says("Kubernetes", OOM, Likely, "\"reason\": \"OOMKilled\"", KILLED),
    says("Docker", OOM, Likely, "\"OOMKilled\": true", KILLED),
    says("Kubernetes", NO_DEVICE, Possible, "{n}/{n} nodes are available: {n} Insufficient rdma/{w}", NO_RESOURCE),
    says(
        "Kubernetes",
        NO_DEVICE,
        Possible,
        "Warning FailedScheduling {}nodes are available: {n} Insufficient rdma/{w}",
        NO_RESOURCE,
    ),
    says(
        "a device plugin",
        NO_DEVICE,
        Possible,
        "error creating new device: \"missing RDMA device spec for device {w}, RDMA device {w} not found",
        NO_SPEC,
    ),
    says("Mooncake", REGISTRATION, Likely, "Failed to register memory 0x{w}: Bad address [14]", NOT_REGISTERED),
    says("Mooncake", REGISTRATION, Possible, "Failed to register memory 0x{w}: Invalid argument [22]", NOT_REGISTERED),
    says(
        "Mooncake",
        REGISTRATION,
        Possible,
        "Failed to register memory 0x{w}: Cannot allocate memory [12]",
        NOT_REGISTERED,
    ),
    says(
        "Mooncake",
        NO_PEER_MEMORY,
        Likely,
        "DMA BUF supported required for GPU RDMA without nvidia-peermem on GPU device {n}",
        NO_DMABUF,
    ),
    says(
        "Mooncake",
        NO_PEER_MEMORY,
        Likely,
        "DMA BUF supported required for GPU RDMA without nvidia-peermem$",
        NO_DMABUF,
    ),
    // `nvidia-smi -q`, its section Fabric.
    says("nvidia-smi", NVLINK, Possible, "Fabric State : In Progress$", NOT_JOINED),
    says("nvidia-smi", NVLINK, Possible, "Fabric Status : Insufficient Resources$", NOT_JOINED),
    says("Mooncake", NO_DEVICE, Possible, "No RDMA devices found, check your device installation$", NONE_FOUND),
    says("MVAPICH2", MEMLOCK, Possible, "rdma_iba_hca_init({n}){}: cannot create cq$", NO_QUEUE),
    says("MVAPICH2", MEMLOCK, Possible, "{}error stack: {}rdma_iba_hca_init({n}){}: cannot create cq$", NO_QUEUE),
    says("Open MPI", MEMLOCK, Possible, "Failed to create a completion queue (CQ):$", NO_QUEUE),
    says(
        "Slurm",
        MEMLOCK,
        Possible,
        "slurmstepd: error: Can't propagate RLIMIT_MEMLOCK of {} from submit host: ",
        NOT_PROPAGATED,
    ),
    says(
        "Slurm",
        OOM,
        Possible,
        "slurmstepd: error: {w} exceeded memory limit ({n} > {n}), being killed",
        SLURM_KILLED,
    ),
    says("Slurm", OOM, Possible, "slurmstepd: error: Exceeded job memory limit$", SLURM_KILLED),
    says("kmod", NOT_LOADED, Possible, "could not insert 'nv_peer_mem': Invalid argument$", NOT_INSERTED),
    says("kmod", NOT_LOADED, Possible, "Could not insert 'nv_peer_mem': Invalid argument$", NOT_INSERTED),
    says("kmod", NOT_LOADED, Possible, "could not insert 'nvidia_peermem': Invalid argument$", NOT_INSERTED),
    says(
        "dpkg",
        NOT_LOADED,
        Possible,
        "dpkg: error processing package nvidia-peer-memory-dkms (--install):",
        NOT_INSERTED,
    ),
    says(
        "libibverbs",
        LIBRARY,
        Possible,
        "libibverbs: Warning: Driver {w} does not support the kernel ABI of {n} (supports {n} to {n}) for device ",
        OTHER_ABI,
    ),
    says("nvidia-smi", XID, Possible, "Unable to determine the device handle for GPU{}: Unknown Error$", NO_ANSWER),
    says("CUDA", XID, Likely, "CUDA error: uncorrectable ECC error encountered", ECC),
    says(
        "Intel MPI",
        NO_DEVICE,
        Possible,
        "MPIDI_OFI_mpi_init_hook({n}): OFI addrinfo() failed ({}:No data available)",
        NO_PROVIDER,
    ),
    says(
        "Intel MPI",
        NO_DEVICE,
        Possible,
        "open_fabric({n}){}: OFI fi_getinfo() failed ({}:No data available)",
        NO_PROVIDER,
    ),
];

//! The messages, each with its program, what it means and how sure that is. A new one: an entry here, and its form with its source in
//! `lab/messages/frameworks.toml`.

use Sure::{Adds, Certain, Likely, Possible, Refutes};

/// How sure a message is of its cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sure {
    /// It says that the cause is not there: what is only possible is dropped.
    Refutes,
    /// It is printed where all is well, too: with a failure of the same program it makes the cause likely.
    Adds,
    /// It fits, and so do others.
    Possible,
    /// It fits best.
    Likely,
    /// It says so itself.
    Certain,
}

/// A message of a program.
#[derive(Debug)]
pub(crate) struct Says {
    /// Who prints it.
    pub(crate) program: &'static str,
    /// The cause that it names.
    pub(crate) cause: &'static str,
    /// How sure that is behind a head: of a logger or a launcher, or of an exception below a traceback.
    sure: Sure,
    /// How sure, where nothing stands before it, and people may have written it.
    alone: Sure,
    /// Its beginning, as a pattern.
    pub(super) form: &'static str,
    /// What else it contains.
    pub(super) words: &'static [&'static str],
    /// What it means.
    pub(crate) means: &'static str,
}

impl Says {
    /// How sure, with a head or without.
    pub(crate) fn sure(&self, headed: bool) -> Sure {
        if headed { self.sure } else { self.alone }
    }

    const fn with(mut self, words: &'static [&'static str]) -> Self {
        self.words = words;
        self
    }

    const fn alone(mut self, alone: Sure) -> Self {
        self.alone = alone;
        self
    }
}

/// A message that is only possible where nothing stands before it: guides and tickets name it so, too.
const fn says(program: &'static str, cause: &'static str, sure: Sure, form: &'static str, means: &'static str) -> Says {
    let alone = match sure {
        Certain | Likely => Possible,
        other => other,
    };
    Says { program, cause, sure, alone, form, words: &[], means }
}

const TOO_OLD: &str = "gpu/driver-too-old";
const MISMATCH: &str = "gpu/driver-mismatch";
const REFUSED: &str = "p2p/refused-by-driver";
const NVLINK: &str = "gpu/nvlink";
const IMEX: &str = "gpu/imex";
const COLLECTIVES: &str = "job/collective-mismatch";
const UNREACHABLE: &str = "job/bootstrap-unreachable";
const EXITED: &str = "job/peer-exited";
const STRAGGLER: &str = "job/straggler";
const SHM: &str = "shm/too-small";
const OOM: &str = "kernel/oom";
const GPU_OOM: &str = "gpu/out-of-memory";
const REGISTRATION: &str = "ib/gpu-registration";
const NO_PEER_MEMORY: &str = "gdr/no-peer-memory";
const NOT_LOADED: &str = "gdr/peermem-not-loaded";
const NO_DEVICE: &str = "net/no-rdma-device";
const MEMLOCK: &str = "ib/memlock";
const LIBRARY: &str = "net/library-missing";
const XID: &str = "kernel/xid";

const OLD: &str = "the driver is older than the CUDA of this program needs";
const TWO_DRIVERS: &str = "library and kernel module of the GPU driver are of different releases";
const NO_PEER: &str = "CUDA gives two GPUs no access to each other's memory";
const DIFFER: &str = "ranks called different collectives, or the same with different sizes";
const NO_CONNECTION: &str = "a rank could not connect to another";
const GONE: &str = "the other side of a connection ended";
const LATE: &str = "ranks wait for others that did not come";
const NO_ROOM: &str = "/dev/shm has no room for what the program shares";
const FULL: &str = "a GPU had no memory left";
const KILLED: &str = "the kernel killed a process of the job for want of memory";
const NOT_JOINED: &str = "a GPU has not joined the NVLink fabric";
const NO_MANAGER: &str = "the fabric manager does not run";
const NO_IMEX: &str = "nvidia-imex does not run";
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
const LINK_DOWN: &str = "an NVLink that should be up is down";

/// All messages.
pub(crate) static ALL: &[Says] = &[
    // The driver is too old.
    says("PyTorch", TOO_OLD, Certain, "The NVIDIA driver on your system is too old (found version {n})", OLD),
    says(
        "PyTorch",
        TOO_OLD,
        Certain,
        "CUDA initialization: The NVIDIA driver on your system is too old (found version {n})",
        OLD,
    ),
    says("a program", TOO_OLD, Likely, "Your NVIDIA driver is too old", OLD),
    says("the container's runtime", TOO_OLD, Certain, "requirement error: unsatisfied condition: cuda>={n}", OLD),
    says("the container's runtime", TOO_OLD, Certain, "requirement error: unsatisfied condition: cuda >= {n}", OLD),
    says("the container's runtime", TOO_OLD, Certain, "requirement error: unsatisfied condition: driver>={n}", OLD),
    says("the container's runtime", TOO_OLD, Certain, "requirement error: unsatisfied condition: driver >= {n}", OLD),
    // As a rule the driver's compiler is older than the one that made the code.
    says("CUDA", TOO_OLD, Likely, "CUDA error: the provided PTX was compiled with an unsupported toolchain", OLD),
    says("CUDA", TOO_OLD, Likely, "{w} the provided PTX was compiled with an unsupported toolchain", OLD),
    // Error 35 is also what the runtime says where it finds no driver: a container that was given no GPU.
    says("CUDA", TOO_OLD, Possible, "CUDA driver version is insufficient for CUDA runtime version$", OLD),
    says("TensorRT", TOO_OLD, Possible, "CUDA initialization failure with error: 35", OLD),
    says("TensorRT", TOO_OLD, Possible, "{w}: Error Code {n}: {}CUDA initialization failure with error: 35", OLD),
    says("a CUDA sample", TOO_OLD, Possible, "CUDA error at {w}:{n} code=35({w}) ", OLD),
    says("a CUDA sample", TOO_OLD, Possible, "cudaGetDeviceCount returned 35$", OLD),
    // Often it goes on in spite of it.
    says(
        "the container's start",
        TOO_OLD,
        Possible,
        "This container was built for NVIDIA Driver Release {n} or later",
        OLD,
    ),
    says(
        "the container's start",
        TOO_OLD,
        Likely,
        "[[System has unsupported display driver / cuda driver combination",
        OLD,
    ),
    says("the container's start", TOO_OLD, Likely, "[[CUDA Driver UNAVAILABLE (cuInit(0) returned 80{n})]]", OLD),
    // The driver's two halves differ.
    says(
        "TensorFlow",
        MISMATCH,
        Certain,
        "kernel version {n} does not match DSO version {n} -- cannot find working devices in this configuration",
        TWO_DRIVERS,
    ),
    says(
        "the container's runtime",
        MISMATCH,
        Certain,
        "initialization error: nvml error: driver/library version mismatch",
        TWO_DRIVERS,
    ),
    says("NVML", MISMATCH, Certain, "RM has detected an NVML/RM version mismatch$", TWO_DRIVERS),
    says("NVML", MISMATCH, Certain, "Failed to initialize NVML: ERROR_LIB_RM_VERSION_MISMATCH", TWO_DRIVERS),
    says("NVML", MISMATCH, Certain, "failed to initialize NVML: ERROR_LIB_RM_VERSION_MISMATCH", TWO_DRIVERS),
    says("NVML", MISMATCH, Certain, "failed to initialize NVML: Driver/library version mismatch", TWO_DRIVERS),
    // Peer access.
    says(
        "a HIP sample",
        REFUSED,
        Possible,
        "peer2peer transfer not possible between the selected gpu devices$",
        "HIP gives two GPUs no access to each other's memory",
    ),
    says("TensorRT-LLM", REFUSED, Certain, "Can't enable access between nodes {n} and {n}", NO_PEER),
    says("TensorRT-LLM", REFUSED, Possible, "Device {n} peer access Device {n} is not available", NO_PEER),
    says("p2pBandwidthLatencyTest", REFUSED, Possible, "Device={n} CANNOT Access Peer Device={n}$", NO_PEER),
    // NVLink.
    says("a CUDA sample", NVLINK, Certain, "CUDA error at {w}:{n} code=802({w}) ", "CUDA waits for the NVLink fabric"),
    says("a CUDA sample", NVLINK, Certain, "cudaGetDeviceCount returned 802$", "CUDA waits for the NVLink fabric"),
    says(
        "numba",
        NVLINK,
        Certain,
        "[802] Call to cuInit results in CUDA_ERROR_SYSTEM_NOT_READY",
        "CUDA waits for the NVLink fabric",
    ),
    says(
        "numba",
        NVLINK,
        Certain,
        "Call to cuInit results in CUDA_ERROR_SYSTEM_NOT_READY",
        "CUDA waits for the NVLink fabric",
    ),
    says(
        "the fabric manager",
        NVLINK,
        Certain,
        "detected NVSwitch fatal error {n} on ",
        "an NVSwitch reported a fatal error",
    ),
    says(
        "the fabric manager",
        NVLINK,
        Possible,
        "failed to find the GPU handle {n} in the multicast team ",
        "the fabric manager does not know a GPU that asks for multicast memory",
    ),
    says(
        "the fabric manager",
        NVLINK,
        Refutes,
        "request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do",
        "the machine has no NVSwitch",
    ),
    says("systemd", NVLINK, Possible, "nvidia-fabricmanager.service: failed (Result: ", NO_MANAGER),
    says("systemd", NVLINK, Possible, "nvidia-fabricmanager.service: inactive (dead)", NO_MANAGER),
    says("systemd", NVLINK, Possible, "nvidia-fabricmanager.service: Failed with result", NO_MANAGER),
    says(
        "systemd",
        NVLINK,
        Possible,
        "nvidia-fabricmanager.service: Control process exited, code=exited, status={n}/",
        NO_MANAGER,
    ),
    says("systemd", NVLINK, Possible, "Failed to start NVIDIA fabric manager service$", NO_MANAGER),
    says("systemd", NVLINK, Possible, "Failed to start nvidia-fabricmanager.service", NO_MANAGER),
    says(
        "systemctl",
        NVLINK,
        Possible,
        "Job for nvidia-fabricmanager.service failed because the control process exited",
        NO_MANAGER,
    ),
    says("DCGM", NVLINK, Likely, "GPU {n}'s NvLink link {n} is currently down", LINK_DOWN),
    says("DCGM", NVLINK, Likely, "Only {n} NvLinks are up out of the expected {n}", LINK_DOWN),
    says("DCGM", NVLINK, Likely, "NvSwitch {n} - Only {n} NvLinks are up out of the expected {n}", LINK_DOWN),
    says("DCGM", NVLINK, Likely, "NvSwitch physical ID {n}'s NvLink port {n} is currently down", LINK_DOWN),
    says(
        "DCGM",
        NVLINK,
        Likely,
        "Detected fatal errors on NvSwitch {n} link {n}",
        "an NVSwitch reported a fatal error",
    ),
    // IMEX.
    says("nvidia-imex-ctl", IMEX, Likely, "Domain State: DOWN$", "nvidia-imex reports its domain down").alone(Likely),
    says("nvidia-imex-ctl", IMEX, Possible, "Domain State: DEGRADED$", "nvidia-imex reports its domain degraded"),
    says("systemd", IMEX, Possible, "nvidia-imex.service: failed (Result: ", NO_IMEX),
    says("systemd", IMEX, Possible, "nvidia-imex.service: inactive (dead)", NO_IMEX),
    says("systemd", IMEX, Possible, "nvidia-imex.service: Failed with result", NO_IMEX),
    // Memory of another node's kind is asked for, and the process has no channel; without multi-node NVLink it is so by design.
    says(
        "nvbandwidth",
        IMEX,
        Possible,
        "[CUDA_ERROR_NOT_PERMITTED] operation not permitted in expression cuMemCreate(",
        "CUDA gives the process no memory that other nodes can map",
    )
    .with(&["Multinode"]),
    // A handle of the fabric is asked for; `csrc/hybrid_ep` of DeepEP.
    says(
        "DeepEP",
        IMEX,
        Possible,
        "call='cuMemCreate({}fabric{}' Reason=operation not permitted$",
        "CUDA gives the process no memory that other nodes can map",
    ),
    // Collectives differ.
    says(
        "PyTorch",
        COLLECTIVES,
        Certain,
        "Detected mismatch between collectives on ranks. Rank {n} is running collective: ",
        DIFFER,
    )
    .alone(Possible),
    // A program's own logger quotes it behind words of its own.
    says(
        "PyTorch",
        COLLECTIVES,
        Certain,
        "{} - Detected mismatch between collectives on ranks. Rank {n} is running collective: ",
        DIFFER,
    )
    .alone(Adds),
    says(
        "PyTorch",
        COLLECTIVES,
        Certain,
        "{}: Detected mismatch between collectives on ranks. Rank {n} is running collective: ",
        DIFFER,
    )
    .alone(Adds),
    says(
        "PyTorch",
        COLLECTIVES,
        Possible,
        "DDP expects same model across all ranks, but Rank {n} has {n} params, while rank {n} has inconsistent ",
        DIFFER,
    ),
    says(
        "Gloo",
        COLLECTIVES,
        Likely,
        "[enforce fail at {w}pair.cc:{n}] op.preamble.length <= op.nbytes. {n} vs {n}",
        DIFFER,
    ),
    says("Gloo", COLLECTIVES, Likely, "op.preamble.length <= op.nbytes. {n} vs {n}", DIFFER),
    says("Horovod", COLLECTIVES, Certain, "Mismatched data types: One rank had type ", DIFFER),
    says("Horovod", COLLECTIVES, Certain, "Mismatched MPI operations: One rank did an ", DIFFER),
    says("Horovod", COLLECTIVES, Certain, "Mismatched collective operations: One rank did an ", DIFFER),
    says("Horovod", COLLECTIVES, Certain, "Mismatched {w} tensor shapes: One rank ", DIFFER),
    says("Horovod", COLLECTIVES, Certain, "Mismatched {w} root ranks: One rank specified root rank ", DIFFER),
    says(
        "Horovod",
        COLLECTIVES,
        Certain,
        "Mismatched {w} CPU/GPU device selection: One rank specified device ",
        DIFFER,
    ),
    // Connections.
    says(
        "PyTorch",
        UNREACHABLE,
        Likely,
        "The client socket has failed to connect to any network address of ({}, {n})",
        NO_CONNECTION,
    ),
    // An attempt of many.
    says(
        "PyTorch",
        UNREACHABLE,
        Possible,
        "The client socket has failed to connect to {w} (errno: {n} - ",
        NO_CONNECTION,
    ),
    says(
        "PyTorch",
        UNREACHABLE,
        Possible,
        "Timed out after {n} seconds waiting for clients. {n}/{n} clients joined",
        "ranks did not come to the store",
    ),
    says(
        "PyTorch",
        UNREACHABLE,
        Possible,
        "The IPv4 network addresses of ({}, {n}) cannot be retrieved (gai error: ",
        NO_CONNECTION,
    ),
    says(
        "PyTorch",
        UNREACHABLE,
        Possible,
        "The network addresses of ({}, {n}) cannot be retrieved (gai error: ",
        NO_CONNECTION,
    ),
    says("PyTorch", UNREACHABLE, Possible, "The connection to the C10d store has failed", NO_CONNECTION),
    says("Gloo", UNREACHABLE, Possible, "Gloo connectFullMesh failed ", NO_CONNECTION),
    says(
        "Gloo",
        UNREACHABLE,
        Possible,
        "[{w}/gloo/transport/tcp/{w}] connect [{w}]:{n}: Connection refused",
        NO_CONNECTION,
    ),
    says("Gloo", UNREACHABLE, Possible, "[{w}/gloo/transport/tcp/{w}] timed out connecting: ", NO_CONNECTION),
    says(
        "Gloo",
        "net/wrong-interface",
        Adds,
        "Unable to resolve hostname to a (local) address. Using the loopback",
        "Gloo takes the loopback address, which only ranks of the same node reach",
    ),
    says(
        "Open MPI",
        UNREACHABLE,
        Likely,
        "A process or daemon was unable to complete a TCP connection$",
        NO_CONNECTION,
    ),
    says("Open MPI", UNREACHABLE, Likely, "Open MPI failed to TCP connect to a peer MPI process", NO_CONNECTION),
    says(
        "Gloo",
        "net/no-interface",
        Likely,
        "[{w}/gloo/transport/tcp/{w}] Unable to find address for: {w}$",
        "Gloo does not find the interface that it is to use",
    ),
    says(
        "Gloo",
        "net/no-interface",
        Possible,
        "Unable to find address for: {w}$",
        "Gloo does not find the interface that it is to use",
    ),
    says(
        "libfabric",
        "net/plugin-init-failed",
        Possible,
        "libfabric:{w}::cxi:{w} : Failed to find valid default rgroup and vni for cxi{n}$",
        "the job has no network identifier (VNI) on Slingshot",
    ),
    // Connections that end.
    says("PyTorch", EXITED, Possible, "recvValue failed on SocketImpl(fd={n}", GONE),
    says("PyTorch", EXITED, Possible, "recvVector failed on SocketImpl(fd={n}", GONE),
    says("PyTorch", EXITED, Possible, "sendBytes failed on SocketImpl(fd={n}", GONE),
    says("PyTorch", EXITED, Possible, "Failed to recv, got 0 bytes. Connection was likely closed", GONE),
    says("Gloo", EXITED, Possible, "[{w}/gloo/transport/tcp/{w}] Connection closed by peer [", GONE),
    says("Gloo", EXITED, Possible, "[{w}/gloo/transport/tcp/{w}] Read error [{w}]:{n}: Connection reset by peer", GONE),
    says("JAX", EXITED, Possible, "Task {w} heartbeat timeout. This indicates that the remote task has failed", GONE),
    // Waiting.
    says(
        "Gloo",
        STRAGGLER,
        Possible,
        "[{w}/gloo/transport/tcp/{w}] Timed out waiting {n}ms for {w} operation to complete",
        LATE,
    ),
    says(
        "Gloo",
        STRAGGLER,
        Possible,
        "[{w}/gloo/transport/{w}] Timed out waiting {n}ms for {w} operation to complete",
        LATE,
    ),
    says("PyTorch", STRAGGLER, Possible, "Ranks {} failed to pass monitoredBarrier in {n} ms", LATE),
    says("PyTorch", STRAGGLER, Possible, "Rank {n} failed to pass monitoredBarrier in {n} ms", LATE),
    says(
        "Horovod",
        STRAGGLER,
        Possible,
        "One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than {n} seconds",
        LATE,
    ),
    // Shared memory.
    says("PyTorch", SHM, Certain, "unable to write to file </torch_{}>: No space left on device", NO_ROOM),
    says("PyTorch", SHM, Likely, "unable to write to file </torch_{w}>$", NO_ROOM),
    says(
        "PyTorch",
        SHM,
        Certain,
        "unable to resize file </torch_{}> to the right size: No space left on device",
        NO_ROOM,
    ),
    says(
        "PyTorch",
        SHM,
        Certain,
        "unable to allocate shared memory(shm) for file <{}>: No space left on device",
        NO_ROOM,
    ),
    // posix_fallocate also gives this where the file system is full (EAGAIN of a tmpfs that is short of memory).
    says(
        "PyTorch",
        SHM,
        Likely,
        "unable to allocate shared memory(shm) for file <{}>: Resource temporarily unavailable",
        NO_ROOM,
    ),
    says(
        "PyTorch",
        SHM,
        Certain,
        "unable to open shared memory object <{}> in read-write mode: No space left on device",
        NO_ROOM,
    ),
    says("Python", SHM, Certain, "[Errno 28] No space left on device: '/dev/shm/{}'", NO_ROOM),
    says("Open MPI", SHM, Likely, "It appears as if there is not enough space for {w} (the shared-memory", NO_ROOM),
    says(
        "Ray",
        SHM,
        Possible,
        "The object store is using {w} instead of /dev/shm because /dev/shm has only {n} bytes available",
        NO_ROOM,
    ),
    // Memory of the GPU.
    says("PyTorch", GPU_OOM, Certain, "CUDA out of memory. Tried to allocate {n} ", FULL).alone(Possible),
    says("TensorRT-LLM", GPU_OOM, Certain, "CUDA runtime error in {}: out of memory", FULL),
    // Memory of the host.
    says("Kubernetes", OOM, Certain, "Reason: OOMKilled$", KILLED).alone(Likely),
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

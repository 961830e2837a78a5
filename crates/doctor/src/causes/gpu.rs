//! What fails on GPUs and between them.

use super::{Found, Known, investigate, nccl, software};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::observe::groups::Group;
use crate::observe::trouble::{KernelTrouble, ToolTrouble, Trouble};
use linerate_rules::xid::{Do, switch_remedy, switch_severity};
use linerate_rules::{Severity, Source};

pub(super) static ALL: &[&Known] = &[&DUPLICATE, &DRIVER, &MISMATCH, &MEMORY, &NVLINK, &IMEX];

const CUDA: Source =
    nccl("CUDA runtime API: cudaError", "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html");

/// CUDA calls that failed with one of these numbers or words.
fn cuda<'a>(c: &Case<'a>, codes: &[i64], words: &[&str]) -> Option<&'a Group> {
    let is = |t: &Trouble| match t {
        Trouble::Cuda { code, error } => {
            code.is_some_and(|n| codes.contains(&n)) || words.iter().any(|w| c.name(*error).contains(w))
        }
        _ => false,
    };
    c.failures(is).first().map(|(_, g)| *g)
}

static DUPLICATE: Known = Known {
    id: "gpu/duplicate",
    title: "Two ranks use one GPU",
    severity: Severity::Critical,
    docs: "NCCL refuses a communicator in which two ranks have the same GPU. As a rule every process took device 0: the local rank was not used, or CUDA_VISIBLE_DEVICES is the same for all.",
    confirm: &[
        "print local rank and torch.cuda.current_device() in each process",
        "`env | grep -e LOCAL_RANK -e CUDA_VISIBLE_DEVICES` in each rank",
    ],
    refute: &[],
    rules: &[],
    sources: &[nccl(
        "NCCL, src/init.cc: Duplicate GPU detected",
        "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/init.cc",
    )],
    remedy: || {
        investigate(
            "Select the device by local rank before the communicator is made (torch.cuda.set_device(local_rank)), one rank per GPU",
        )
    },
    check: |c| {
        let found = c.failures(|t| matches!(t, Trouble::DuplicateGpu));
        let (_, g) = found.first()?;
        let words = g.quotes.first().map_or("two ranks use one GPU", |q| q.text.as_str());
        Some(Found::new(Certain, words, "NCCL names the two ranks").with(c.quotes(g)))
    },
    follows: &[],
};

static DRIVER: Known = Known {
    id: "gpu/driver-too-old",
    title: "The GPU driver is too old for the CUDA runtime",
    severity: Severity::Critical,
    docs: "The CUDA runtime in the image needs a newer driver than the node has, or NCCL needs a newer CUDA driver than it finds.",
    confirm: &["`nvidia-smi` on the node (driver, CUDA) against the image's CUDA version"],
    refute: &[],
    rules: &["gpumem/driver-loaded"],
    sources: &[CUDA],
    remedy: || {
        software(
            "Upgrade the node's driver, or take an image with an older CUDA; forward compatibility packages help on data-centre GPUs",
        )
    },
    check: |c| {
        if let Some(g) = cuda(c, &[803, 804], &["Driver version found", "unsupported display driver"]) {
            return Some(
                Found::new(Certain, "the driver is older than the CUDA runtime needs", "the CUDA error says so")
                    .with(c.quotes(g))
                    .scope(c.scope(g.processes.iter().copied())),
            );
        }
        // The runtime gives the same error where it finds no driver at all: a container that was given no GPU.
        let g = cuda(c, &[35], &["driver version is insufficient"])?;
        Some(
            Found::new(
                Possible,
                "the driver is older than the CUDA runtime needs, or the program does not see the driver",
                "CUDA's error 35 says no more",
            )
            .with(c.quotes(g))
            .scope(c.scope(g.processes.iter().copied())),
        )
    },
    follows: &[],
};

static MISMATCH: Known = Known {
    id: "gpu/driver-mismatch",
    title: "The GPU driver's library and its kernel module are of different releases",
    severity: Severity::Critical,
    docs: "The driver was upgraded, and the old kernel module still runs; or a container carries a driver library of its own. NVML and CUDA refuse to work then: `Driver/library version mismatch`, `API mismatch` in the kernel's log.",
    confirm: &[
        "`cat /proc/driver/nvidia/version` (module) against `ls /usr/lib*/libnvidia-ml.so.*` (library), in the job's container, too",
    ],
    refute: &[],
    rules: &["gpumem/driver-loaded"],
    sources: &[nccl("NVML: nvmlReturn_t", "https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceEnumvs.html")],
    remedy: || {
        software(
            "Load the module of the installed release (stop all that uses the GPUs, or restart the node), or remove the other library",
        )
    },
    check: |c| {
        let tools = c.tools(|t| matches!(t, ToolTrouble::DriverMismatch));
        let kernel = c.kernel(|k| matches!(k, KernelTrouble::DriverMismatch));
        let g = tools.first().map(|(_, g)| *g).or_else(|| kernel.first().map(|(_, g)| *g));
        let g = g.or_else(|| cuda(c, &[], &["Driver/library version mismatch"]))?;
        let words = "library and kernel module of the GPU driver are of different releases";
        Some(Found::new(Certain, words, "the driver says so").with(c.quotes(g)))
    },
    follows: &[],
};

static MEMORY: Known = Known {
    id: "gpu/out-of-memory",
    title: "A GPU has no memory left for NCCL",
    severity: Severity::Critical,
    docs: "NCCL allocates buffers on the GPU for each communicator and channel, outside the framework's pool. Where the framework has taken nearly all, NCCL's cudaMalloc fails.",
    confirm: &[
        "`nvidia-smi` while the job starts: what else is on the GPU",
        "fewer communicators, NCCL_BUFFSIZE or fewer channels: does it start?",
    ],
    refute: &["a warning of the `[Rem Allocator]` alone: a stranger connected to NCCL's port, and nothing is wrong"],
    rules: &[],
    sources: &[CUDA],
    remedy: || {
        investigate("Leave room on the GPU: a smaller batch or pool, no second process on the GPU, fewer communicators")
    },
    check: |c| {
        let g = cuda(c, &[2], &["out of memory"]).or_else(|| {
            let alloc = |t: &Trouble| matches!(t, Trouble::Other(n) if c.name(*n).contains("Failed to CUDA") && c.name(*n).contains("alloc"));
            c.failures(alloc).first().map(|(_, g)| *g)
        })?;
        // A stranger's connection makes this thread allocate nonsense.
        let stranger = c.failures(|t| matches!(t, Trouble::Other(n) if c.name(*n).contains("[Rem Allocator]")));
        if !stranger.is_empty() && g.quotes.iter().all(|q| q.text.contains("Rem Allocator"))
            || !stranger.is_empty() && c.ran()
        {
            return None;
        }
        let sure = if stranger.is_empty() { Certain } else { Possible };
        Some(
            Found::new(sure, "a GPU had no memory left", "the CUDA error says so")
                .with(c.quotes(g))
                .scope(c.scope(g.processes.iter().copied())),
        )
    },
    follows: &[],
};

static NVLINK: Known = Known {
    id: "gpu/nvlink",
    title: "NVLink or NVSwitch is not ready",
    severity: Severity::Critical,
    docs: "On NVSwitch machines CUDA needs the fabric manager: without it, or with one of another version than the driver, CUDA says 802 (system not yet initialized), or multicast memory (NVLS) cannot be bound. Where it runs depends on the \
           machine: on the node that has the NVSwitches (in a guest that was given all of them: in the guest; in the shared and vGPU models: on the host), on HGX B200 and B300 with NVLSM, \
           and on GB200 and GB300 NVL72 on the NVLink switches (NMX-C), not on the node.",
    confirm: &[
        "`systemctl status nvidia-fabricmanager`, and its version against the driver's",
        "`nvidia-smi -q | grep -A3 Fabric`: State Completed, Status Success",
        "NCCL_NVLS_ENABLE=0: does it start?",
    ],
    refute: &["the machine has no NVSwitch"],
    rules: &["gpumem/nvlink-fabric", "gpumem/xid"],
    sources: &[
        nccl("Fabric Manager user guide", "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/"),
        CUDA,
    ],
    remedy: || {
        investigate(
            "Find the fabric manager of this machine and its log: on HGX nvidia-fabricmanager of exactly the driver's version (B200, B300: with NVLSM) on the system that has the NVSwitches; \
             on GB200 and GB300 NVL72 NMX-C on the switches",
        )
    },
    check: |c| {
        let nvls = c.failures(|t| matches!(t, Trouble::Nvls)).first().map(|(_, g)| *g);
        let fabric = cuda(c, &[802], &["system not yet initialized"]);
        let broken = c
            .failures(|t| matches!(t, Trouble::P2pDisabled))
            .into_iter()
            .map(|(_, g)| g)
            .find(|g| g.quotes.iter().any(|q| q.text.contains("NVLINK")));
        if let Some((_, g)) = c.tools(|t| matches!(t, ToolTrouble::FabricManager)).first() {
            let words = "the fabric manager and the GPU driver are of different releases";
            return Some(Found::new(Certain, words, "the fabric manager says so as it starts").with(c.quotes(g)));
        }
        let xids = super::xid::judged(c);
        let xid = xids.iter().filter(|(_, j, _)| super::xid::is_nvlink(j) && j.what_to_do != Do::Nothing);
        let xid = xid.max_by_key(|(_, j, g)| (j.severity, std::cmp::Reverse(g.first)));
        let switch = c.kernel(|k| matches!(k, KernelTrouble::SwitchError(fatal) if *fatal != Some(false)));
        // Before 2.27 the multicast call fails without a word of what it is.
        let silent = c.failures(|t| matches!(t, Trouble::Cuda { .. })).into_iter().map(|(_, g)| g).find(|g| {
            g.quotes.iter().any(|q| q.text.contains("Cuda failure 1 ") || q.text.contains("Cuda failure 401 "))
        });
        let silent =
            silent.filter(|_| c.of(&c.o.multicast).any(|(yes, _)| yes) && !c.ran() && c.multi_node() != Some(true));
        if let Some((seen, j, g)) = xid {
            let whose = seen.gpu.map(|b| format!(" of {b}")).unwrap_or_default();
            return Some(
                Found::new(Certain, format!("{}{whose}", j.words), "the driver's own report in the kernel's log")
                    .with(c.quotes(g))
                    .severity(j.severity)
                    .fix(j.remedy()),
            );
        }
        if let Some((KernelTrouble::SwitchError(fatal), g)) = switch.first() {
            let sure = if *fatal == Some(true) { Certain } else { Possible };
            return Some(
                Found::new(sure, "an NVSwitch reported an error (SXid)", "the driver's own report in the kernel's log")
                    .with(c.quotes(g))
                    .severity(switch_severity(*fatal))
                    .fix(switch_remedy(*fatal)),
            );
        }
        if let Some(g) = cuda(c, &[220], &["uncorrectable NVLink error"]) {
            let words = "CUDA error 220: an error on an NVLink that was not corrected";
            return Some(Found::new(Certain, words, "CUDA says so; the kernel's log names the link").with(c.quotes(g)));
        }
        if let Some(g) = broken {
            let words = "peer-to-peer is off between GPUs that have NVLink: a fault of hardware or configuration";
            return Some(Found::new(Certain, words, "NCCL says so").with(c.quotes(g)));
        }
        if let Some(g) = silent.filter(|_| nvls.is_none() && fabric.is_none()) {
            let why =
                "a CUDA call fails as NVLink SHARP is set up, which the GPUs support; NCCL_NVLS_ENABLE=0 would decide";
            return Some(Found::new(Possible, "NVLink SHARP memory may not be available", why).with(c.quotes(g)));
        }
        let (g, sure, words) = match (fabric, nvls) {
            (Some(g), _) => (g, Certain, "CUDA error 802: the NVLink fabric is not initialised"),
            (None, Some(g)) => (g, Likely, "NVLink SHARP memory cannot be made or bound"),
            (None, None) => return None,
        };
        Some(
            Found::new(sure, words, "the log says so; the state of the fabric is on the node")
                .with(c.quotes(g))
                .scope(c.scope(g.processes.iter().copied()))
                .join(c, &["gpumem/nvlink-fabric"]),
        )
    },
    follows: &[],
};

static IMEX: Known = Known {
    id: "gpu/imex",
    title: "Multi-node NVLink: the IMEX domain does not work",
    severity: Severity::Critical,
    docs: "Memory is shared over multi-node NVLink through the IMEX service and its channels. Where a node's nvidia-imex is not running, knows other nodes, or the container lacks /dev/nvidia-caps-imex-channels, NCCL cannot use it.",
    confirm: &[
        "`nvidia-imex-ctl -N`: all nodes UP",
        "`ls /dev/nvidia-caps-imex-channels` in the container",
        "NCCL_MNNVL_ENABLE=0: does it start?",
    ],
    refute: &["the nodes share no NVLink domain"],
    rules: &["modules/imex-channel0"],
    sources: &[nccl("NCCL, src/mnnvl.cc", "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/mnnvl.cc")],
    remedy: || {
        software(
            "Start nvidia-imex on all nodes of the domain with the same nodes_config, and give the container an IMEX channel",
        )
    },
    check: |c| {
        let found = c.failures(|t| matches!(t, Trouble::Imex));
        let (_, g) = found.first()?;
        Some(
            Found::new(Certain, "the IMEX domain does not work", "NCCL says so")
                .with(c.quotes(g))
                .scope(c.scope(g.processes.iter().copied())),
        )
    },
    follows: &[],
};

//! What fails on GPUs and between them.

use super::{Found, Known, investigate, nccl, software};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::observe::groups::Group;
use crate::observe::trouble::{KernelTrouble, Trouble};
use linerate_rules::{Severity, Source};

pub(super) static ALL: &[&Known] = &[&DUPLICATE, &DRIVER, &MEMORY, &NVLINK, &IMEX];

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
        let g = cuda(
            c,
            &[35, 803],
            &["driver version is insufficient", "Driver version found", "unsupported display driver"],
        )?;
        Some(
            Found::new(Certain, "the driver is older than the CUDA runtime needs", "the CUDA error says so")
                .with(c.quotes(g))
                .scope(c.scope(g.processes.iter().copied())),
        )
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
    docs: "On NVSwitch machines CUDA needs the fabric manager: without it, or with one of another version than the driver, CUDA says 802 (system not yet initialized), or multicast memory (NVLS) cannot be bound. Within virtual machines the \
           fabric manager runs on the host.",
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
        software(
            "Install and start nvidia-fabricmanager of exactly the driver's version; then reset the GPUs or reboot",
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
        let xid =
            c.kernel(|k| matches!(k, KernelTrouble::Xid { number, .. } if is_nvlink(*number))).first().map(|(_, g)| *g);
        // Before 2.27 the multicast call fails without a word of what it is.
        let silent = c.failures(|t| matches!(t, Trouble::Cuda { .. })).into_iter().map(|(_, g)| g).find(|g| {
            g.quotes.iter().any(|q| q.text.contains("Cuda failure 1 ") || q.text.contains("Cuda failure 401 "))
        });
        let silent =
            silent.filter(|_| c.of(&c.o.multicast).any(|(yes, _)| yes) && !c.ran() && c.multi_node() != Some(true));
        if let Some(g) = xid {
            return Some(
                Found::new(Certain, "NVLink is in error", "the driver's own report in the kernel's log")
                    .with(c.quotes(g)),
            );
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

/// Xids of NVLink.
pub(super) fn is_nvlink(number: u32) -> bool {
    matches!(number, 74 | 137 | 144..=150)
}

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

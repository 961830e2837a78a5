//! `gpu/nvlink`.

use super::{CUDA, cuda};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::causes::kernel::xid;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::trouble::{KernelTrouble, ToolTrouble, Trouble};
use linerate_rules::Severity;
use linerate_rules::xid::{Do, switch_remedy, switch_severity};

pub(super) static CAUSE: Cause = Cause {
    id: "gpu/nvlink",
    title: "NVLink or NVSwitch is not ready",
    what: "NVLink or NVSwitch is not ready or in error: CUDA says 802 (system not yet initialized), or multicast \
           memory (NVLS) cannot be bound.",
    shows: &[
        "`system not yet initialized` (CUDA error 802)",
        "`Failed to bind NVLink SHARP (NVLS) Multicast memory …`; up to 2.26 `transport/nvls.cc:… Cuda failure 1 'invalid argument'`",
        "an Xid of NVLink, `SXid` of an NVSwitch, CUDA error 220",
        "`fabric manager NVIDIA GPU driver interface version … don't match with driver version …`",
    ],
    why: "On NVSwitch machines CUDA needs the fabric manager, in the driver's own version. Where it runs depends on \
          the machine: on the node that has the NVSwitches (in a guest that was given all of them: in the guest; in \
          the shared and vGPU models: on the host), on HGX B200 and B300 with NVLSM, and on GB200 and GB300 NVL72 on \
          the NVLink switches (NMX-C), not on the node.",
    confirm: &[
        "`systemctl status nvidia-fabricmanager`, and its version against the driver's",
        "`nvidia-smi -q | grep -A3 Fabric`: State Completed, Status Success",
        "NCCL_NVLS_ENABLE=0: does it start?",
    ],
    refute: &["the machine has no NVSwitch"],
    remedy: Advice::Investigate(
        "Find the fabric manager of this machine and its log: on HGX nvidia-fabricmanager of exactly the driver's version (B200, B300: with NVLSM) on the system that has the NVSwitches; \
             on GB200 and GB300 NVL72 NMX-C on the switches",
    ),
    sources: &[
        nccl("Fabric Manager user guide", "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/"),
        CUDA,
    ],
    severity: Severity::Critical,
    rules: &["gpumem/nvlink-fabric", "gpumem/xid", "gpumem/nvlink-errors"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let nvls = c.failure(|t| matches!(t, Trouble::Nvls));
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
    let xids = xid::judged(c);
    let xid = xids.iter().filter(|(_, j, _)| xid::is_nvlink(j) && j.what_to_do != Do::Nothing);
    let xid = xid.max_by_key(|(_, j, g)| (j.severity, std::cmp::Reverse(g.first)));
    let switch = c.kernel(|k| matches!(k, KernelTrouble::SwitchError(fatal) if *fatal != Some(false)));
    // Before 2.27 the multicast call fails without a word of what it is.
    let silent =
        c.failures(|t| matches!(t, Trouble::Cuda { .. })).into_iter().map(|(_, g)| g).find(|g| {
            g.quotes.iter().any(|q| q.text.contains("Cuda failure 1 ") || q.text.contains("Cuda failure 401 "))
        });
    let silent =
        silent.filter(|_| c.of(&c.o.multicast).any(|(yes, _)| yes) && !c.ran() && c.multi_node() != Some(true));
    if let Some((seen, j, g)) = xid {
        let whose = seen.gpu.map(|b| format!(" of {b}")).unwrap_or_default();
        return Some(
            Found::new(Certain, format!("{}{whose}", j.words), "the driver's own report in the kernel's log")
                .shown(c, g)
                .severity(j.severity)
                .fix(j.remedy()),
        );
    }
    if let Some((KernelTrouble::SwitchError(fatal), g)) = switch.first() {
        let sure = if *fatal == Some(true) { Certain } else { Possible };
        return Some(
            Found::new(sure, "an NVSwitch reported an error (SXid)", "the driver's own report in the kernel's log")
                .shown(c, g)
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
            .shown(c, g)
            .join(c, &["gpumem/nvlink-fabric"]),
    )
}

//! `gpu/imex`.

use crate::answer::Confidence::Certain;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::trouble::Trouble;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "gpu/imex",
    title: "Multi-node NVLink: the IMEX domain does not work",
    what: "Multi-node NVLink does not work: the IMEX domain is not complete.",
    shows: &["`MNNVL (cliqueSize …) is available but not working on this system. Check the IMEX …`"],
    why: "Memory is shared over multi-node NVLink through the IMEX service and its channels. A node's nvidia-imex is \
          not running, its configuration lists other nodes, or the container lacks /dev/nvidia-caps-imex-channels.",
    confirm: &[
        "`nvidia-imex-ctl -N`: all nodes UP",
        "`ls /dev/nvidia-caps-imex-channels` in the container",
        "NCCL_MNNVL_ENABLE=0: does it start?",
    ],
    refute: &["the nodes share no NVLink domain"],
    remedy: Advice::Software(
        "Start nvidia-imex on all nodes of the domain with the same nodes_config, and give the container an IMEX channel",
    ),
    sources: &[nccl("NCCL, src/mnnvl.cc", "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/mnnvl.cc")],
    severity: Severity::Critical,
    rules: &["modules/imex-channel0"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let g = c.failure(|t| matches!(t, Trouble::Imex))?;
    Some(Found::new(Certain, "the IMEX domain does not work", "NCCL says so").shown(c, g))
}

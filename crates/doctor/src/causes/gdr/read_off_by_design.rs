//! `gdr/read-off-by-design`.

use super::PATHS_CC;
use super::seen::seen;
use crate::case::Case;
use crate::causes::{Advice, Cause};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "gdr/read-off-by-design",
    title: "GPUs before Ampere without NVLink are not read directly: not a cause",
    what: "On PCIe GPUs before Ampere NCCL does not let NICs read GPU memory. Receiving is direct, sending is not. \
           That is the default, and not what makes a job slow.",
    shows: &[
        "`[receive] via NET/IB/…/GDRDMA`, and `[send]` without it",
        "pairs of GPU and NIC that are enabled with `read 0`",
    ],
    why: "Reads of the NIC would disturb other PCIe traffic on these GPUs, so NCCL decides against them by itself.",
    confirm: &["the pair's line ends in `read 0`, and the GPU is older than Ampere"],
    refute: &["receiving lacks /GDRDMA, too"],
    remedy: Advice::Environment("Nothing: it is the default", &[], &[]),
    sources: &[PATHS_CC],
    severity: Severity::Info,
    rules: &[],
    follows: &[],
    // Told among what is not the cause.
    check: |_| None,
};

/// For the remark that nothing is wrong.
pub(crate) fn by_design(c: &Case<'_>) -> bool {
    let s = seen(c);
    let pairs = c.of(&c.o.pairs).any(|(p, _)| p.enabled);
    !s.send.is_empty() && s.receive.is_empty() && (!s.with.is_empty() || pairs) && c.env("NCCL_NET_GDR_READ").is_none()
}

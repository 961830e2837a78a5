//! `gdr/read-disabled-by-env`.

use super::PATHS_CC;
use super::seen::{lacking, seen};
use crate::answer::Confidence::{Certain, Likely};
use crate::case::Case;
use crate::causes::{Advice, Cause, ENV_RST, Found};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "gdr/read-disabled-by-env",
    title: "NCCL_NET_GDR_READ=0: sends are copied through host memory",
    what: "NCCL_NET_GDR_READ=0 forbids NICs to read GPU memory: what is sent is copied through host memory, \
           receiving stays direct.",
    shows: &[
        "`NCCL_NET_GDR_READ set by environment to 0`",
        "`[send] via NET/IB/…` without /GDRDMA, `[receive]` with it",
    ],
    why: "For sending, the NIC reads GPU memory. Without the variable NCCL reads directly on Ampere and later, and \
          where GPUs have NVLink.",
    confirm: &["unset NCCL_NET_GDR_READ: `[send] … /GDRDMA` appears"],
    refute: &["receiving lacks /GDRDMA as well: then the reason is another one"],
    remedy: Advice::Environment("Unset NCCL_NET_GDR_READ", &[], &["NCCL_NET_GDR_READ"]),
    sources: &[ENV_RST, PATHS_CC],
    severity: Severity::Medium,
    rules: &[],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let (_, g) = c.env_number("NCCL_NET_GDR_READ").filter(|(v, _)| *v == 0)?;
    let s = seen(c);
    if !s.receive.is_empty() || s.any && s.send.is_empty() {
        return None;
    }
    let sure = if s.send.is_empty() { Likely } else { Certain };
    let words = "NCCL_NET_GDR_READ=0: what is sent is copied through host memory";
    Some(
        Found::new(sure, words, "the variable is set, receiving is direct and sending is not")
            .with(c.quotes(g))
            .with(lacking(c)),
    )
}

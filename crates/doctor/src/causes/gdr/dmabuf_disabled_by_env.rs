//! `gdr/dmabuf-disabled-by-env`.

use super::GDR_CC;
use super::seen::{incapable, incapable_processes, lacking, missing};
use crate::answer::Confidence::{Certain, Likely};
use crate::case::Case;
use crate::causes::{Advice, Cause, ENV_RST, Found};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "gdr/dmabuf-disabled-by-env",
    title: "NCCL_DMABUF_ENABLE=0 removes the only way to register GPU memory",
    what: "NCCL_DMABUF_ENABLE=0 switches DMA-BUF off where nvidia-peermem is not loaded, so NICs have no way to \
           register GPU memory.",
    shows: &[
        "`NCCL_DMABUF_ENABLE set by environment to 0`",
        "`GPU Direct RDMA Disabled for HCA …`, or connections `via NET/IB/…` without /GDRDMA",
    ],
    why: "NICs register GPU memory through nvidia-peermem or through DMA-BUF. The variable removes one, and the other does not exist here.",
    confirm: &[
        "unset NCCL_DMABUF_ENABLE: the log then says `DMA-BUF is available on GPU device 0` and `GPU Direct RDMA Enabled for HCA`",
    ],
    refute: &["`ls /sys/module/nvidia_peermem/version` exists: then peermem should have served"],
    remedy: Advice::Environment("Unset NCCL_DMABUF_ENABLE", &[], &["NCCL_DMABUF_ENABLE"]),
    sources: &[ENV_RST, GDR_CC],
    severity: Severity::High,
    rules: &["gpumem/registration-path"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let (_, g) = c.env_number("NCCL_DMABUF_ENABLE").filter(|(v, _)| *v == 0)?;
    let groups = incapable(c);
    let without = missing(c);
    if groups.is_empty() && without.is_empty() || c.since(13) == Some(false) {
        return None;
    }
    let (sure, why) = if groups.is_empty() {
        (Likely, "the variable is set and connections lack /GDRDMA")
    } else {
        (Certain, "the variable is set, and no other way was found: NCCL says that its NICs cannot")
    };
    let lines = groups.iter().take(1).flat_map(|g| c.first_quote(g));
    let words = "DMA-BUF is switched off, and nvidia-peermem is not loaded";
    Some(
        Found::new(sure, words, why)
            .with(c.quotes(g))
            .with(lines)
            .with(lacking(c))
            .scope(c.scope(incapable_processes(c))),
    )
}

//! `p2p/disabled-by-env`.

use super::{P2P_CC, carriers, has_p2p};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, ENV_RST, Found};
use crate::observe::ranks::Carrier;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "p2p/disabled-by-env",
    title: "A variable keeps GPUs of one node from talking directly",
    what: "A variable makes GPUs of one node exchange data through host memory.",
    shows: &[
        "`NCCL_P2P_DISABLE set by environment to 1`, or NCCL_P2P_LEVEL with LOC, 0 or NVL",
        "connections `via SHM/…` and none `via P2P/…`",
    ],
    why: "NCCL_P2P_DISABLE=1 and NCCL_P2P_LEVEL=LOC (0) forbid direct traffic. NCCL_P2P_LEVEL=NVL does so on \
          machines whose GPUs have no NVLink. Usually they are left over from debugging.",
    confirm: &["unset the variable: `via P2P/…` appears in place of `via SHM/…`"],
    refute: &["`via P2P/…` in the log"],
    remedy: Advice::Environment(
        "Unset NCCL_P2P_DISABLE and NCCL_P2P_LEVEL",
        &[],
        &["NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL"],
    ),
    sources: &[ENV_RST, P2P_CC],
    severity: Severity::High,
    rules: &["acs/redirect-on-p2p-path"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let off =
        c.env_number("NCCL_P2P_DISABLE").filter(|(v, _)| *v != 0).map(|(v, g)| (format!("NCCL_P2P_DISABLE={v}"), g));
    let low =
        c.env("NCCL_P2P_LEVEL").filter(|(v, _)| matches!(v.trim().to_ascii_uppercase().as_str(), "LOC" | "0" | "NVL"));
    let nvl = low.is_some_and(|(v, _)| v.trim().eq_ignore_ascii_case("NVL"));
    let (words, g) = off.or_else(|| low.map(|(v, g)| (format!("NCCL_P2P_LEVEL={v}"), g)))?;
    let all = carriers(c);
    if has_p2p(&all) {
        return None;
    }
    let shm = all.contains(&Carrier::Shm);
    let (sure, why) = match (shm, nvl) {
        (true, false) => (Certain, "the variable is set, and ranks of a node are connected through host memory"),
        (true, true) => (
            Likely,
            "only NVLink is allowed, and ranks of a node are connected through host memory: their GPUs have none between them",
        ),
        (false, false) => (Possible, "the variable is set; the connections within the node are not shown"),
        (false, true) => return None,
    };
    Some(Found::new(sure, format!("{words}: GPUs of a node exchange data through host memory"), why).with(c.quotes(g)))
}

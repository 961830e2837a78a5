//! `env/nvls-off`.

use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, ENV_RST, Found, nccl};
use linerate_rules::{Severity, Source};

pub(super) static CAUSE: Cause = Cause {
    id: "env/nvls-off",
    title: "A variable keeps reductions out of the NVLink switch",
    what: "NCCL_NVLS_ENABLE=0 switches NVLink SHARP off: the GPUs of a node reduce among themselves what the NVSwitch would reduce for them.",
    shows: &[
        "`NCCL_NVLS_ENABLE set by environment to 0`",
        "no line `NVLS multicast support is available …`: NCCL does not even ask",
    ],
    why: "With Hopper and later, on NVSwitch systems, an all-reduce in the switch moves each byte over a GPU's links \
          once where a ring moves it nearly twice. The variable is usually left over from a start that failed to bind multicast \
          memory, or from a shortage of GPU memory.",
    confirm: &[
        "unset the variable: `NVLS multicast support is available on dev …` appears",
        "`all_reduce_perf -b 1G -e 8G -f 2 -g 8` on one node with and without it",
    ],
    refute: &[
        "the GPUs are older than Hopper, have no NVSwitch between them, or two of a node take part: there is nothing to switch off",
        "the job reduces nothing within a node: all-to-all and point-to-point traffic never goes through it",
    ],
    remedy: Advice::Environment(
        "Unset NCCL_NVLS_ENABLE; where the start then fails to bind multicast memory, gpu/nvlink says what is wrong with the fabric",
        &[],
        &["NCCL_NVLS_ENABLE"],
    ),
    sources: &[ENV_RST, NVLS_CC],
    severity: Severity::Low,
    rules: &[],
    follows: &[],
    check,
};

const NVLS_CC: Source = nccl(
    "NCCL, src/transport/nvls.cc: ncclNvlsInit returns first where the variable is 0, or there are two GPUs or fewer",
    "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/transport/nvls.cc",
);

fn check(c: &Case<'_>) -> Option<Found> {
    let (_, g) = c.env_number("NCCL_NVLS_ENABLE").filter(|(v, _)| *v == 0)?;
    let nodes: Vec<Option<bool>> = c.nodes.iter().map(|n| n.can_multicast()).collect();
    let (sure, why) = if nodes.contains(&Some(true)) {
        (
            Likely,
            "the variable is set, and the node's GPUs could reduce in their NVSwitch; a benchmark shows what that is worth",
        )
    } else if !nodes.is_empty() && nodes.iter().all(|n| *n == Some(false)) {
        return None;
    } else {
        (Possible, "the variable is set; the node shows whether the GPUs are Hopper or later behind an NVSwitch")
    };
    let words = "NCCL_NVLS_ENABLE=0: nothing is reduced in the NVLink switch";
    Some(Found::new(sure, words, why).with(c.quotes(g)).scope(c.scope(g.processes.iter().copied())))
}

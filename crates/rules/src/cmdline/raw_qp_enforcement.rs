//! `cmdline/raw-qp-enforcement`.

use super::words;
use crate::sources::linux;
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Source};
use linerate_formats::cmdline::same_name;

pub(super) static RULE: Rule = Rule {
    id: "cmdline/raw-qp-enforcement",
    title: "disable_raw_qp_enforcement is not set",
    severity: Severities::always(Severity::Low),
    roles: Roles::ALL,
    effect: Effect::sourced("none on bandwidth; where an old driver package has it, any user may send raw packets"),
    sources: &[
        linux!("drivers/infiniband/core/uverbs_cmd.c", "raw packet QPs need CAP_NET_RAW; no parameter changes that"),
        Source { title: "libvma issue 901: the advice removed", at: "https://github.com/Mellanox/libvma/issues/901" },
    ],
    reads: &["proc/cmdline"],
    docs: "\
## What it checks
`disable_raw_qp_enforcement` of any module on the command line: `rdma_ucm.`, `ib_uverbs.`, `ib_core.`.

## Why it matters
`rdma_ucm` never had the parameter. MLNX_OFED's `ib_uverbs` did, so that users without CAP_NET_RAW could create raw packet queue
pairs for packet-processing libraries. NCCL uses reliable connections and never needs it.

## See it yourself
`cat /proc/cmdline; ls /sys/module/ib_uverbs/parameters`.

## Fix
Remove the word from the boot loader's configuration.",
    myths: &[Myth {
        claim: "rdma_ucm.disable_raw_qp_enforcement=1 is needed for RDMA in containers.",
        truth: "No such parameter. Its relative in MLNX_OFED concerns raw Ethernet packets, which NCCL does not send.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    for word in &c.params {
        let parameter = word.name.rsplit('.').next().unwrap_or_default();
        if !same_name(parameter, "disable_raw_qp_enforcement") {
            continue;
        }
        let raw = words::short(&word.raw);
        let message = if word.name.starts_with("ib_uverbs.") || word.name.starts_with("ib-uverbs.") {
            "no parameter of mainline kernels; with MLNX_OFED it lets any user send raw packets"
        } else {
            "no module has this parameter: ignored"
        };
        out.fail(crate::Subject::KernelArg(raw.clone()), message)
            .at(place.line(word.line))
            .fix(|| words::remove(&[&raw], ""));
    }
    if out.is_empty() {
        words::none_of(out, "disable_raw_qp_enforcement", (c, place));
    }
}

//! `nicfw/pci-wr-ordering`.

use super::{Missing, Setting, judge_each};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};

pub(super) static RULE: Rule = Rule {
    id: "nicfw/pci-wr-ordering",
    title: "PCI_WR_ORDERING is per_mkey: applications choose relaxed ordering for themselves",
    severity: Severities::always(Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::sourced("forced relaxed ordering can corrupt the data of programs that poll the last byte of an RDMA write"),
    sources: &[
        super::DATABASE,
        Source {
            title: "NCCL user guide, NCCL_IB_PCI_RELAXED_ORDERING: 2 (automatic) is the default",
            at: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        },
    ],
    reads: &["mlxconfig -d BDF -e q"],
    docs: "\
## What it checks
The running value of PCI_WR_ORDERING. `per_mkey(0)`, the default, leaves relaxed ordering to each memory registration;
`force_relax(1)` turns it on for all of them. Not printed means hidden (ADVANCED_PCI_SETTINGS False), not wrong.

## Why it matters
Relaxed ordering lets writes overtake each other, which helps on AMD hosts and in virtual machines. NCCL asks for it by itself and
flushes where it must. Programs that watch the last byte of a buffer to learn that a write is complete break when it is forced.

## See it yourself
`mlxconfig -d BDF -e query | grep PCI_WR_ORDERING`; NCCL's log shows `[RO]` in the line `NET/IB : Using` when it uses relaxed ordering.

## Fix
Set per_mkey (0) and reset, unless a legacy program on this node is known to need the force and to bear it.",
    myths: &[Myth {
        claim: "PCI_WR_ORDERING = per_mkey means that relaxed ordering is off.",
        truth: "It means that the application chooses. NCCL since 2.12 asks for relaxed ordering where the libraries can.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    judge_each(cx, out, "PCI_WR_ORDERING", Missing::Advanced, judge);
}

fn judge(s: &Setting<'_>, out: &mut Findings) {
    match s.now.number {
        Some(0) => out.pass(s.subject(), format_args!("{}: applications choose", s.now.raw)).at(s.place),
        Some(1) => out
            .fail(s.subject(), format_args!("{}: every memory registration gets relaxed ordering", s.now.raw))
            .at(s.place)
            .fix(|| {
                Remedy::nic_firmware(
                    "set PCI_WR_ORDERING to per_mkey (0) and reset, unless a legacy program needs the force",
                    s.nic.name.clone(),
                    "PCI_WR_ORDERING",
                    "0",
                )
                .because("programs that never ask for relaxed ordering may get slower")
                .prove(format!("mlxconfig -d {} -e q", s.nic.name))
            }),
        _ => out.unknown(s.subject(), format_args!("a value of unknown meaning: {}", s.now.raw)).at(s.place),
    };
}

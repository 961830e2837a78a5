//! `nicfw/advanced-pci-settings`.

use super::{Missing, judge_each};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity};

pub(super) static RULE: Rule = Rule {
    id: "nicfw/advanced-pci-settings",
    title: "ADVANCED_PCI_SETTINGS is a display switch: both values are right",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::sourced("none: it shows or hides other settings"),
    sources: &[super::DATABASE],
    reads: &["mlxconfig -d BDF -e q"],
    docs: "\
## What it checks
Prints ADVANCED_PCI_SETTINGS as it is. Never a defect.

## Why it matters
The setting only un-hides others (MAX_ACC_OUT_READ, PCI_WR_ORDERING and a few more) in the output of mlxconfig. Two nodes that differ
in it may be the same in every setting that does something.

## See it yourself
`mlxconfig -d BDF -e query | grep ADVANCED_PCI_SETTINGS`.

## Fix
Nothing to fix. To see the hidden settings set it to True; some firmware shows them only after a reset (from experience).",
    myths: &[Myth {
        claim: "ADVANCED_PCI_SETTINGS = False costs RDMA bandwidth (major impact).",
        truth: "mstflint's database: \"Show advanced PCI settings\". It changes no behaviour of the NIC.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let missing = Missing::NotApplicable("these cards have no such setting");
    judge_each(cx, out, "ADVANCED_PCI_SETTINGS", missing, |s, out| match s.now.as_bool() {
        Some(true) => {
            out.pass(s.subject(), "True: the advanced settings are printed; nothing else changes").at(s.place);
        }
        Some(false) => {
            out.pass(
                s.subject(),
                "False: MAX_ACC_OUT_READ, PCI_WR_ORDERING and others are not printed; nothing else changes",
            )
            .at(s.place);
        }
        None => {
            out.unknown(s.subject(), format_args!("neither true nor false: {}", s.now.raw)).at(s.place);
        }
    });
}

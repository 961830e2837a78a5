//! `nicfw/next-boot-only`.

use super::{QUERY, cards, names};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Subject};
use linerate_node::nicfw::NicFirmware;

pub(super) static RULE: Rule = Rule {
    id: "nicfw/next-boot-only",
    title: "Firmware queries show what runs, not only what the next boot brings",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::direction_only("none by itself: a plain query proves nothing about the running firmware"),
    sources: &[super::PRINTING],
    reads: &["mlxconfig -d BDF -e q"],
    docs: "\
## What it checks
Whether a query has the columns Default, Current and Next Boot (`-e`), or only Next Boot.

## Why it matters
A plain `mlxconfig query` prints what WILL hold after the next reset. Read right after a `set` it shows the new value although the
card still runs with the old one. The `*` of a plain query says \"differs from the default or from what runs\", not which.

## See it yourself
`mlxconfig -d BDF -e query`.

## Fix
Query with `-e` (or `-e -j FILE` for JSON). ConnectX-3 knows Next Boot only.",
    myths: &[Myth {
        claim: "`mlxconfig query` after the change shows the new value, so it is active.",
        truth: "That column is called Next Boot. Active is the column Current of `mlxconfig -e query`.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let all = cards(cx, out);
    let cards: Vec<&NicFirmware> = all.iter().copied().filter(|n| !n.is_connectx3()).collect();
    if cards.is_empty() && !all.is_empty() {
        out.not_applicable("ConnectX-3 firmware shows the next boot's values only");
        return;
    }
    let (full, plain): (Vec<_>, Vec<_>) = cards.into_iter().partition(|n| n.shows_current());
    if let Some(first) = plain.first() {
        out.unknown(
            Subject::Node,
            format_args!(
                "a plain query shows the next boot only; what runs is not known on {}: {}",
                linerate_formats::counted(plain.len(), "NIC", "NICs"),
                names(&plain)
            ),
        )
        .see(QUERY)
        .at(first.place);
    }
    if let Some(first) = full.first() {
        out.pass(
            Subject::Node,
            format_args!(
                "{} default, current and next boot",
                linerate_formats::counted(full.len(), "NIC shows", "NICs show")
            ),
        )
        .at(first.place);
    }
}

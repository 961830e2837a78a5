//! `nicfw/connectx3`.

use super::{cards, nic};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Source, Subject};

pub(super) static RULE: Rule = Rule {
    id: "nicfw/connectx3",
    title: "Firmware queries are of ConnectX-4 or later, which show what runs",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::sourced("none by itself: what a ConnectX-3 runs with cannot be read"),
    sources: &[
        super::PRINTING,
        Source {
            title: "Linux drivers/net/ethernet/mellanox/mlx4",
            at: "https://github.com/torvalds/linux/tree/master/drivers/net/ethernet/mellanox/mlx4",
        },
    ],
    reads: &["mlxconfig -d BDF q"],
    docs: "\
## What it checks
Queries of ConnectX-3 and ConnectX-3 Pro, by their device type.

## Why it matters
They have one column, Next Boot: what runs cannot be read from it. They have no PCI_WR_ORDERING, ATS_ENABLED, ADVANCED_PCI_SETTINGS or
MAX_ACC_OUT_READ: advice for newer cards does not apply, and their absence is not a defect. rdma/connectx3 says what the card itself can do.

## See it yourself
`mlxconfig -d BDF query | head -12`; the port types that run are in /sys/bus/pci/devices/BDF/mlx4_port1.

## Fix
None. Judge the card by what its ports show, not by this query.",
    myths: &[Myth {
        claim: "This card's firmware lacks the PCI tuning settings, so it is misconfigured.",
        truth: "ConnectX-3 never had them.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let cards = cards(cx, out);
    let mut others = None;
    for card in &cards {
        match &card.config.device_type {
            Some(t) if card.is_connectx3() => {
                out.fail(
                    nic(card),
                    format_args!("{}: the query shows the next boot only, and newer settings do not exist", t.value),
                )
                .at(card.at(t.line));
            }
            Some(t) => {
                others.get_or_insert((card.at(t.line), t.value.as_str()));
            }
            None => {
                out.unknown(nic(card), "the query does not show the device type").at(card.place);
            }
        }
    }
    if let Some((place, first)) = others.filter(|_| out.is_empty()) {
        out.pass(
            Subject::Node,
            format_args!("no ConnectX-3 among {}: {first}", linerate_formats::counted(cards.len(), "NIC", "NICs")),
        )
        .at(place);
    }
}

//! `nicfw/restricted-pci`.

use super::{Missing, QUERY, cards, nic, not_shown};
use crate::{Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity};
use linerate_formats::mlxconfig::{Param, Value};
use linerate_node::nicfw::NicFirmware;

pub(super) static RULE: Rule = Rule {
    id: "nicfw/restricted-pci",
    title: "The firmware does not restrict the speed or width of the PCIe link",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::derived("the link trains at the restricted speed and width: bandwidth in proportion"),
    sources: &[super::DATABASE],
    reads: &["mlxconfig -d BDF -e q"],
    docs: "\
## What it checks
PCI_BUSn_RESTRICT of each NIC. Only when it is True do PCI_BUSn_RESTRICT_SPEED and PCI_BUSn_RESTRICT_WIDTH apply; with False their
values (often PCI_GEN_1 and PCI_X1) mean nothing.

## Why it matters
A restricted link looks like a bad slot or a dirty connector. This setting explains it without touching hardware.

## See it yourself
`mlxconfig -d BDF -e query | grep PCI_BUS`, then compare `lspci -vv -s BDF | grep LnkSta`.

## Fix
Find out who set it and why (some setups need it), then restore the default by hand with vendor support at hand: a wrong PCIe setting
can make the card or the host unreachable. Never change PCI_BUS settings automatically.",
    myths: &[Myth {
        claim: "PCI_BUS0_RESTRICT_WIDTH is PCI_X1(0), so the NIC runs at x1.",
        truth: "It applies only while PCI_BUS0_RESTRICT is True.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let (with, without): (Vec<_>, Vec<_>) =
        cards(cx, out).into_iter().partition(|card| card.config.params.iter().any(is_switch));
    for card in with {
        judge(card, out);
    }
    not_shown(cx, "PCI_BUSn_RESTRICT", Missing::NotApplicable("their queries show no such restriction"), &without, out);
}

/// `PCI_BUS0_RESTRICT`, `PCI_BUS1_RESTRICT`.
fn is_switch(p: &Param) -> bool {
    p.name.starts_with("PCI_BUS") && p.name.ends_with("_RESTRICT")
}

fn judge(card: &NicFirmware, out: &mut Findings) {
    let (mut first, mut unseen, mut restricted) = (None, None, false);
    for p in card.config.params.iter().filter(|p| is_switch(p)) {
        first.get_or_insert(p);
        match p.current.as_ref().map(Value::as_bool) {
            Some(Some(false)) => {}
            Some(Some(true)) => {
                restricted = true;
                fail(card, p, out);
            }
            _ => unseen = Some(p),
        }
    }
    match (first, unseen) {
        (Some(_), Some(p)) => {
            out.unknown(nic(card), format_args!("{}: what runs was not shown", p.name)).at(card.at_param(p)).see(QUERY);
        }
        (Some(p), None) if !restricted => {
            out.pass(nic(card), "no PCIe restriction").at(card.at_param(p));
        }
        _ => {}
    }
}

fn fail<'o>(card: &NicFirmware, p: &Param, out: &'o mut Findings) -> &'o mut Finding {
    let part = |what: &str| {
        let name = format!("{}_{what}", p.name);
        let v = card.config.param(&name).and_then(|p| p.current.as_ref());
        v.map_or_else(|| "not shown".to_owned(), |v| v.raw.to_string())
    };
    let message = format!("{} is on: speed {}, width {}", p.name, part("SPEED"), part("WIDTH"));
    out.fail(nic(card), message).at(card.at_param(p)).fix(|| {
        Remedy::investigate(
            "find out why the PCIe link is restricted; restore the default by hand",
            format!("{} of {}", p.name, card.name),
        )
        .because("a wrong PCIe setting in the firmware can make the card or the host unreachable")
        .prove(format!("mlxconfig -d {} -e q", card.name))
    })
}

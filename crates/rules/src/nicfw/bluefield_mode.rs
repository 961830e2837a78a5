//! `nicfw/bluefield-mode`.

use super::{QUERY, cards, nic};
use crate::{Cx, Effect, Finding, Findings, Myth, Roles, Rule, Severities, Severity, Source};
use linerate_formats::mlxconfig::Param;
use linerate_node::nicfw::NicFirmware;

pub(super) static RULE: Rule = Rule {
    id: "nicfw/bluefield-mode",
    title: "BlueField cards that serve as plain NICs are in NIC mode",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::direction_only("in DPU mode traffic passes the switch that the card's Arm cores configure; the Arm cores then also own NIC settings and QoS"),
    sources: &[
        super::DATABASE,
        Source {
            title: "NVIDIA BlueField modes of operation: INTERNAL_CPU_OFFLOAD_ENGINE 0 DPU mode, 1 NIC mode",
            at: "https://docs.nvidia.com/networking/display/bluefielddpuosv460/modes+of+operation",
        },
    ],
    reads: &["mlxconfig -d BDF -e q"],
    docs: "\
## What it checks
INTERNAL_CPU_OFFLOAD_ENGINE of BlueField cards: DISABLED(1) is NIC mode, ENABLED(0) lets the card's Arm cores own the data path (DPU mode).

## Why it matters
In DPU mode the host's interface is one port of a switch inside the card. Rates, MTU, QoS and firmware settings are then
configured on the Arm side, and what the host sees explains only half. Both modes are legitimate.

## See it yourself
`mlxconfig -d BDF -e query | grep INTERNAL_CPU`.

## Fix
Nothing, if the mode is wanted. For NIC mode follow NVIDIA's instruction: the change needs a power cycle of the host, and linerate
never proposes INTERNAL_CPU settings as a fix.",
    myths: &[Myth {
        claim: "INTERNAL_CPU_OFFLOAD_ENGINE = ENABLED(0) is off because it is 0.",
        truth: "The enumeration is reversed: 0 is ENABLED (DPU mode), 1 is DISABLED (NIC mode).",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let all = cards(cx, out);
    let mut any = false;
    for card in &all {
        let param = card.config.param("INTERNAL_CPU_OFFLOAD_ENGINE");
        // The query of a plain NIC may print the setting as well.
        if let Some(param) = param.filter(|_| card.is_bluefield()) {
            any = true;
            judge(card, param, out);
        } else if card.is_bluefield() {
            any = true;
            out.unknown(nic(card), "its query does not show INTERNAL_CPU_OFFLOAD_ENGINE").at(card.place).see(QUERY);
        }
    }
    if let Some(first) = all.first().filter(|_| !any) {
        out.not_applicable(format_args!("no BlueField among {}", linerate_formats::counted(all.len(), "NIC", "NICs")))
            .at(first.place);
    }
}

fn judge<'o>(card: &NicFirmware, param: &Param, out: &'o mut Findings) -> &'o mut Finding {
    let place = card.at_param(param);
    match param.current.as_ref().map(|v| (v.number, v)) {
        Some((Some(1), v)) => out.pass(nic(card), format_args!("NIC mode: {} {}", param.name, v.raw)).at(place),
        Some((Some(0), v)) => out
            .fail(nic(card), format_args!("DPU mode: {} {}; the card's Arm cores own its data path", param.name, v.raw))
            .at(place),
        Some((_, v)) => out.unknown(nic(card), format_args!("a mode of unknown meaning: {}", v.raw)).at(place),
        None => out
            .unknown(nic(card), format_args!("{}: only the next boot's value was shown", param.name))
            .at(place)
            .see(QUERY),
    }
}

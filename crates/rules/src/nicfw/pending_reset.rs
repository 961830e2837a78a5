//! `nicfw/pending-reset`.

use super::{QUERY, cards, names, nic};
use crate::{Action, Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::mlxconfig::{Param, Value};
use linerate_node::nicfw::NicFirmware;
use linerate_snapshot::OutputKind;

pub(super) static RULE: Rule = Rule {
    id: "nicfw/pending-reset",
    title: "No firmware setting waits for a reset: Current equals Next Boot",
    severity: Severities::always(Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::sourced("the NIC runs with other settings than configured, and changes behaviour at the next boot"),
    sources: &[
        super::PRINTING,
        Source {
            title: "NVIDIA Firmware Tools, mlxfwreset",
            at: "https://docs.nvidia.com/networking/display/mftv4310/mlxfwreset+%E2%80%93+loading+firmware+on+5th+generation+devices+tool",
        },
    ],
    reads: &["mlxconfig -d BDF -e q"],
    docs: "\
## What it checks
Every setting of each NIC: the value under Current against the value under Next Boot. One answer per NIC.

## Why it matters
`mlxconfig set` writes the card's flash; the running firmware does not look at it until a reset. A benchmark in between measures
the old settings, and an innocent reboot weeks later changes the node.

## See it yourself
`mlxconfig -d BDF -e query`, lines with `*` whose second and third value differ. A `*` alone may only mean \"not the default\".
Where the next value is DEVICE_DEFAULT, the card resolves it at reset: Current then shows the resolved value, and the two cannot be compared.

## Fix
Drain the node, then reboot it: `linerate plan` plans that. With --reset-nics it plans `mlxfwreset -d BDF -l 3 reset` instead, where that is enough (it drops the link;
not for ATS, SR-IOV or BAR settings, which the host enumerates at boot). A setting that needs a power cycle still waits after a reboot: power the
node off and on. Then query again. If the change was not wanted, set the old value back; the plan does so for a setting that would make the node worse.",
    myths: &[Myth {
        claim: "A firmware setting needs a cold boot.",
        truth: "The tool says which: \"Please reboot\" means a reboot is enough, \"Please power cycle\" means it is not.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let cards = cards(cx, out);
    let mut unseen: Vec<&NicFirmware> = Vec::new();
    for card in cards {
        if card.is_connectx3() {
            super::not_for(&[card], "ConnectX-3 firmware shows the next boot's values only", out);
        } else if card.shows_current() {
            judge(cx, card, out);
        } else {
            unseen.push(card);
        }
    }
    if let Some(first) = unseen.first() {
        let message = format!("only the next boot's values were shown: {}", names(&unseen));
        out.unknown(Subject::Node, message).at(first.place).see(QUERY);
    }
}

/// A value that the card resolves when it starts.
fn is_device_default(v: &Value) -> bool {
    v.label.as_deref().is_some_and(|l| l.starts_with("DEVICE_DEFAULT"))
}

fn differs(p: &Param) -> Option<(&Value, &Value)> {
    let (now, next) = (p.current.as_ref()?, p.next.as_ref()?);
    if now.is_unavailable() || next.is_unavailable() || now.raw == next.raw {
        return None;
    }
    // The same number under another label is the same setting.
    let same = now.number.is_some() && now.number == next.number;
    (!same).then_some((now, next))
}

fn judge<'o>(cx: &Cx<'_>, card: &NicFirmware, out: &'o mut Findings) -> &'o mut Finding {
    let mut pending: Vec<(&Param, &Value, &Value)> = Vec::new();
    let mut undecided: Vec<&Param> = Vec::new();
    for p in &card.config.params {
        match differs(p) {
            Some((_, next)) if is_device_default(next) => undecided.push(p),
            Some((now, next)) => pending.push((p, now, next)),
            None => {}
        }
    }
    let changes = pending.iter().take(6).map(|(p, now, next)| format!("{} {} → {}", p.name, now.raw, next.raw));
    let mut changes: Vec<String> = changes.collect();
    if pending.len() > changes.len() {
        changes.push(format!("and {} more", pending.len() - changes.len()));
    }
    if let Some((first, ..)) = pending.first() {
        out.fail(nic(card), format_args!("waits for a reset: {}", changes.join(", "))).at(card.at_param(first)).fix(
            || {
                Remedy::new(
                    "reboot the drained node (or reset the NIC); if it still waits, power-cycle the node; then query again",
                    Action::NicFirmwareReset { device: card.name.clone().into() },
                )
                .prove(format!("mlxconfig -d {} -e q", card.name))
            },
        )
    } else if let Some(first) = undecided.first() {
        let which = super::list(undecided.iter().map(|p| p.name.as_str()), undecided.len());
        out.unknown(
            nic(card),
            format_args!(
                "the next boot uses the device's default for {which}; the query does not show whether that runs now"
            ),
        )
        .at(card.at_param(first))
    } else if cx.is_pasted(card.place) && cx.is_output(card.place, OutputKind::MlxconfigText) {
        out.unknown(
            nic(card),
            format_args!(
                "Current equals Next Boot in the {} settings of this text, which may be a part of a query",
                card.config.params.len()
            ),
        )
        .at(card.place)
        .see(format_args!("mlxconfig -d {} -e -j FILE query, which shows where it ends", card.name))
    } else {
        out.pass(nic(card), format_args!("Current equals Next Boot in all {} settings", card.config.params.len()))
            .at(card.place)
    }
}

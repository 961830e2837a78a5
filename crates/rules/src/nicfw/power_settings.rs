//! `nicfw/power-settings`.

use super::{Missing, judge_each};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity};

pub(super) static RULE: Rule = Rule {
    id: "nicfw/power-settings",
    title: "ADVANCED_POWER_SETTINGS is off",
    severity: Severities::always(Severity::Low),
    roles: Roles::ALL,
    effect: Effect::sourced("none on bandwidth; the settings that it uncovers can damage hardware, says the tool"),
    sources: &[super::DATABASE],
    reads: &["mlxconfig -d BDF -e q"],
    docs: "\
## What it checks
The running value of ADVANCED_POWER_SETTINGS.

## Why it matters
mlxconfig itself warns that wrong power settings may cause physical damage. Someone who switched it on was about to change limits of
the slot's power; whether they did is worth knowing.

## See it yourself
`mlxconfig -d BDF -e query | grep -E 'POWER'`.

## Fix
Ask who did it. If no vendor instruction asks for it, restore the default. linerate never proposes power values.",
    myths: &[Myth {
        claim: "Advanced power settings make a NIC faster.",
        truth: "They change what the card may draw from the slot. A card that reports insufficient power needs a better slot or cable.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let missing = Missing::NotApplicable("their queries show no such setting");
    judge_each(cx, out, "ADVANCED_POWER_SETTINGS", missing, |s, out| match s.now.as_bool() {
        Some(false) => {
            out.pass(s.subject(), s.now.raw.to_string()).at(s.place);
        }
        Some(true) => {
            let limiter = s.nic.config.param("DISABLE_SLOT_POWER_LIMITER").and_then(|p| p.current.as_ref());
            let limiter = limiter.map(|v| format!("; DISABLE_SLOT_POWER_LIMITER is {}", v.raw)).unwrap_or_default();
            out.fail(s.subject(), format_args!("{}{limiter}", s.now.raw)).at(s.place).fix(|| {
                Remedy::investigate(
                    "find out who switched it on; restore the default unless a vendor's instruction asks for it",
                    "power settings of the NIC",
                )
                .because("wrong power settings may damage hardware")
                .prove(format!("mlxconfig -d {} -e q", s.nic.name))
            });
        }
        None => {
            out.unknown(s.subject(), format_args!("neither true nor false: {}", s.now.raw)).at(s.place);
        }
    });
}

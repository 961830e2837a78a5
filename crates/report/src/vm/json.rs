//! For programs, schemas `linerate.vm-check/1` and `linerate.vm/1` (docs/schema/vm-check-1.json, vm-1.json).

use super::{Check, Whole};
use crate::VERSION;
use crate::json::{Version, document};
use linerate_rules::Verdict;
use linerate_rules::explain::{Explained, Side};
use linerate_vm::same::InGuest;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Name and version of the format of a check.
pub const SCHEMA: &str = "linerate.vm-check/1";
/// Name and version of the format of a host with its guests.
pub const WHOLE: &str = "linerate.vm/1";

/// The conclusion's word, and the verdicts that it is about.
fn conclusion(explained: Explained<'_>) -> (&'static str, Vec<Value>) {
    let verdicts = |all: Vec<(Side, &Verdict)>| -> Vec<Value> {
        let one = |(side, v): (Side, &Verdict)| {
            json!({
                "side": side,
                "rule": v.rule.id,
                "severity": v.severity().name(),
                "subject": v.finding.subject,
                "message": v.finding.message,
            })
        };
        all.into_iter().map(one).collect()
    };
    match explained {
        Explained::By(all) => ("explained", verdicts(all)),
        Explained::Open(all) => ("open", verdicts(all)),
        Explained::Nothing => ("not-explained", Vec::new()),
    }
}

fn nccl(compared: Option<&InGuest>) -> Option<Value> {
    compared.map(|c| json!({ "in_guest": c.without, "with_file": c.with_file }))
}

pub(super) fn check(check: &Check<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (conclusion, verdicts) = conclusion(check.explained());
    let value = json!({
        "schema": SCHEMA,
        "linerate": VERSION,
        "domain": check.domain,
        "conclusion": conclusion,
        "verdicts": verdicts,
        "nccl": nccl(check.compared),
        "host": document(&check.host, Version::Two),
        "guest": check.guest.as_ref().map(|g| json!(document(g, Version::Two))),
        "exit_code": check.exit_code(),
    });
    crate::json::write_pretty(&value, out)
}

pub(super) fn whole(whole: &Whole<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (conclusion, verdicts) = conclusion(whole.explained());
    let guest = |g: &super::Guest<'_>| {
        json!({
            "domain": g.domain,
            "nccl": nccl(g.compared),
            "audit": g.report.as_ref().map(|g| json!(document(g, Version::Two))),
            "plan": g.plan,
        })
    };
    let value = json!({
        "schema": WHOLE,
        "linerate": VERSION,
        "conclusion": conclusion,
        "verdicts": verdicts,
        "host": document(&whole.host, Version::Two),
        "plan": whole.plan,
        "guests": whole.guests.iter().map(guest).collect::<Vec<_>>(),
        "exit_code": whole.exit_code(),
    });
    crate::json::write_pretty(&value, out)
}

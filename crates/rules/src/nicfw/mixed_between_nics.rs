//! `nicfw/mixed-between-nics`.

use super::{cards, names};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Subject};
use linerate_formats::mlxconfig::{Param, Value};
use linerate_node::nicfw::NicFirmware;

pub(super) static RULE: Rule = Rule {
    id: "nicfw/mixed-between-nics",
    title: "NICs of one kind on one node run with the same firmware settings",
    severity: Severities::up_to(Severity::Low, Severity::High),
    roles: Roles::ALL,
    effect: Effect::direction_only("rails behave differently: a collective runs at the pace of its slowest NIC"),
    sources: &[super::DATABASE, super::PRINTING],
    reads: &["mlxconfig -d BDF -e q"],
    docs: "\
## What it checks
All settings that two or more NICs of the same device type, part number and use (nearest to a GPU, or not) print, by their running values (by the next boot's where
only that was shown). One answer per setting that differs, with who has which value. A setting that one NIC prints and another
does not is listed as such: it is hidden there, which is not a value.

## Why it matters
Nobody sets one rail of eight on purpose. A difference is a forgotten card, a replaced one, or a script that failed half-way, and
it makes one rail slower or stranger than the others.

## See it yourself
`for d in BDF…; do mlxconfig -d $d -e query | awk '{print $1,$2,$3,$4}' > $d.txt; done; diff3 …`

## Fix
Decide which value is right (mostly the default), set it on the NICs that differ, reset. Front-end NICs of another part number, and
NICs that differ on purpose (one of them on another fabric), are right as they are.",
    myths: &[Myth {
        claim: "MAX_ACC_OUT_READ is missing on one of the NICs: a difference of settings.",
        truth: "It is hidden there, because ADVANCED_PCI_SETTINGS differs, a display switch. What it is set to is unknown.",
    }],
    check,
};

/// Settings that differ between equal cards by nature.
fn is_individual(name: &str) -> bool {
    // All have a D: a card prints hundreds of names, and most have none.
    name.match_indices('D').any(|(i, _)| {
        let (before, after) = name.split_at(i);
        before.ends_with("UUI") || before.ends_with("GUI") || before.ends_with("MAC_A") && after.starts_with("DDR")
    })
}

/// How much a difference matters.
fn severity(name: &str) -> Severity {
    match name {
        "LINK_TYPE_P1" | "LINK_TYPE_P2" | "ROCE_CONTROL" => Severity::High,
        "ATS_ENABLED" | "SRIOV_EN" | "INTERNAL_CPU_OFFLOAD_ENGINE" | "INTERNAL_CPU_MODEL" => Severity::Medium,
        "PCI_WR_ORDERING" | "MAX_ACC_OUT_READ" => Severity::Medium,
        "ADVANCED_PCI_SETTINGS" => Severity::Info,
        n if n.starts_with("PCI_BUS") || n.starts_with("ROCE_CC") || n.starts_with("CNP_") => Severity::Medium,
        _ => Severity::Low,
    }
}

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let all = cards(cx, out);
    let mut kinds: Vec<Vec<&NicFirmware>> = Vec::new();
    for card in all.iter().copied() {
        match kinds.iter_mut().find(|k| k.first().is_some_and(|f| same_kind(f, card) && same_use(cx, f, card))) {
            Some(kind) => kind.push(card),
            None => kinds.push(vec![card]),
        }
    }
    let alone = kinds.iter().all(|k| k.len() < 2);
    if let Some(first) = all.first().filter(|_| alone) {
        out.not_applicable(format_args!("{}, no two of one kind", linerate_formats::counted(all.len(), "NIC", "NICs")))
            .at(first.place);
    }
    for kind in kinds.iter().filter(|k| k.len() > 1) {
        compare(kind, out);
    }
}

fn same_kind(a: &NicFirmware, b: &NicFirmware) -> bool {
    fn text(t: &Option<linerate_formats::text::At<String>>) -> Option<&str> {
        t.as_ref().map(|t| t.value.as_str())
    }
    a.config.beside && b.config.beside
        || a.shows_current() == b.shows_current()
            && a.config.device_type.is_some()
            && text(&a.config.device_type) == text(&b.config.device_type)
            && text(&a.config.name) == text(&b.config.name)
}

/// Both serve GPUs, or neither does: a front end of the same product has settings of its own on purpose.
fn same_use(cx: &Cx<'_>, a: &NicFirmware, b: &NicFirmware) -> bool {
    let apart = |n: &NicFirmware| super::function(cx, n).map(|f| cx.serves_no_gpu(f));
    apart(a) == apart(b)
}

/// What the setting is: now where shown, else at the next boot.
fn value(p: &Param) -> Option<&Value> {
    p.current.as_ref().or(p.next.as_ref()).filter(|v| !v.is_unavailable())
}

/// The setting in another query; nearly always at the same position.
fn same_param<'a>(card: &'a NicFirmware, name: &str, at: usize) -> Option<&'a Param> {
    card.config.params.get(at).filter(|p| p.name == name).or_else(|| card.config.param(name))
}

fn compare(kind: &[&NicFirmware], out: &mut Findings) {
    let Some((first, rest)) = kind.split_first() else { return };
    let (mut same, mut differ) = (0usize, 0usize);
    let mut hidden: Vec<&str> = Vec::new();
    let mut judge = |name| match report(kind, name, out) {
        true => differ += 1,
        false => hidden.push(name),
    };
    for (i, p) in first.config.params.iter().enumerate() {
        if is_individual(&p.name) {
            continue;
        }
        let Some(own) = value(p) else { continue };
        let others = || rest.iter().map(|c| same_param(c, &p.name, i).and_then(value));
        if others().all(|v| v.is_some_and(|v| v.raw == own.raw)) {
            same += 1;
        } else {
            judge(p.name.as_str());
        }
    }
    // Settings that the first NIC does not print.
    let mut extra: Vec<&str> = Vec::new();
    for card in rest {
        for (i, p) in card.config.params.iter().enumerate() {
            let new = same_param(first, &p.name, i).is_none() && !is_individual(&p.name);
            if new && !extra.contains(&p.name.as_str()) {
                extra.push(&p.name);
                judge(p.name.as_str());
            }
        }
    }
    if !hidden.is_empty() {
        let which = super::list(hidden.iter().copied(), hidden.len());
        out.unknown(Subject::Node, format_args!("printed by some of {}, not by others: {which}", names(kind)))
            .see("set ADVANCED_PCI_SETTINGS to the same value on all NICs (it shows or hides settings, nothing else); compare firmware versions")
            .at(first.place);
    }
    if differ == 0 && same > 0 {
        let when = if first.shows_current() { "run with" } else { "will have after the next reset" };
        let what = first.config.device_type.as_ref().map_or("NIC", |t| t.value.as_str());
        out.pass(
            Subject::Named(what.to_owned()),
            format_args!("{} NICs {when} the same values of {same} settings", kind.len()),
        )
        .at_all(kind.iter().take(8).map(|card| card.place));
    } else if same == 0 && differ == 0 && hidden.is_empty() {
        out.unknown(Subject::Node, format_args!("no setting is shown by all of {}", names(kind))).at(first.place);
    }
}

/// Says who has which value. `false`: only one value is shown, the others do not print the setting.
fn report(kind: &[&NicFirmware], name: &str, out: &mut Findings) -> bool {
    let mut groups: Vec<(Option<&str>, Vec<&NicFirmware>)> = Vec::new();
    for card in kind {
        let raw = card.config.param(name).and_then(value).map(|v| v.raw.as_str());
        match groups.iter_mut().find(|(v, _)| *v == raw) {
            Some((_, who)) => who.push(card),
            None => groups.push((raw, vec![card])),
        }
    }
    if groups.iter().filter(|(v, _)| v.is_some()).count() < 2 {
        return false;
    }
    groups.sort_by_key(|(_, who)| std::cmp::Reverse(who.len()));
    let text = || {
        let each = groups.iter().map(|(v, who)| format!("{} on {}", v.unwrap_or("not printed"), names(who)));
        format!("differs: {}", each.collect::<Vec<_>>().join("; "))
    };
    out.fail(Subject::Named(name.to_owned()), text)
        .severity(severity(name))
        .fix(|| {
            Remedy::investigate(
                format!("decide on one value of {name}, set it on the NICs that differ, and reset them"),
                format!("which value of {name} is wanted on this node"),
            )
            .because("firmware settings need a reset of the NIC; save the old settings first")
            .prove("mlxconfig -d BDF -e q of every NIC")
        })
        .at_all(
            groups
                .iter()
                .filter_map(|(_, who)| who.first())
                .take(4)
                .map(|card| card.config.param(name).map_or(card.place, |p| card.at_param(p))),
        );
    true
}

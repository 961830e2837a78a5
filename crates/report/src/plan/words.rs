//! Words of plans that several forms share.

use crate::group::alike;
use linerate_formats::counted;
use linerate_remedy::verify::{Identity, Verification};
use linerate_remedy::{Changed, Condition, Counts, Disruption, Plan, Proof, Simulation, State};

pub(super) fn condition(c: &Condition) -> String {
    match c {
        Condition::Program { name, package } if package.is_empty() => format!("{name} is installed"),
        Condition::Program { name, package } => format!("{name} is installed (package {package})"),
        Condition::Exists { path } => format!("{path} exists"),
        Condition::Value { path, value } => format!("{path} reads {value}"),
        Condition::Cmdline { has, lacks } => cmdline(has, lacks),
        Condition::NoLockdown => "the kernel is not locked down".to_owned(),
    }
}

pub(super) fn proof(p: &Proof) -> String {
    match p {
        Proof::Rule { rule, subject } => format!("{rule} passes for {subject}"),
        Proof::Fact { fact, part, wants, .. } => {
            let wanted: Vec<String> = wants.iter().map(ToString::to_string).collect();
            let fact = if part.is_empty() { fact.clone() } else { format!("{fact} {part}") };
            format!("{fact} is {}", wanted.join(", "))
        }
        Proof::Guest { domain } => {
            format!("the guest of {domain}, read after its start, shows its devices where the domain has them")
        }
        Proof::Value { path, value } => format!("{path} reads {value}"),
        Proof::Cmdline { has, lacks } => cmdline(has, lacks),
        Proof::NicFirmware { device, parameter, value } => format!("{parameter} of {device} is {value}, in force"),
        Proof::Bios { attribute, value } => format!("the BIOS attribute {attribute} is {value}, in force"),
        Proof::Label { node, key, value: Some(value) } => {
            format!("the Kubernetes node {node} has the label {key}={value}")
        }
        Proof::Label { node, key, value: None } => format!("the Kubernetes node {node} has no label {key}"),
    }
}

fn cmdline(has: &[String], lacks: &[String]) -> String {
    let has = (!has.is_empty()).then(|| format!("have {}", has.join(" ")));
    let lacks = (!lacks.is_empty()).then(|| format!("do not have {}", lacks.join(" ")));
    let said: Vec<String> = [has, lacks].into_iter().flatten().collect();
    format!("the running kernel's arguments {}", said.join(" and "))
}

/// `PLAN for gpu-17 (Debian 12, GRUB): 3 steps, one reboot`.
pub(super) fn headline(plan: &Plan) -> String {
    let host = plan.node.host.as_deref().unwrap_or("a node without a name");
    let what = match plan.steps.len() {
        0 => "nothing to do".to_owned(),
        n => format!("{}, {}", counted(n, "step", "steps"), reboots(plan)),
    };
    format!("PLAN for {host} ({}): {what}", plan.platform)
}

/// What the node goes through.
pub(super) fn reboots(plan: &Plan) -> &'static str {
    match plan.disruption() {
        Disruption::None => "no reboot",
        Disruption::Service => "no reboot, but drain the node",
        Disruption::DrainReboot => "one reboot",
        Disruption::PowerCycle => "one power cycle",
    }
}

/// Verdicts before and after, in one line.
pub(super) fn counts(s: &Simulation) -> String {
    format!("before: {}; after all steps: {}", numbers(&s.before), numbers(&s.after))
}

fn numbers(c: &Counts) -> String {
    let by = [(c.critical, "critical"), (c.high, "high"), (c.medium, "medium"), (c.low, "low")];
    let by: Vec<String> = by.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    let which = if by.is_empty() { String::new() } else { format!(" ({})", by.join(", ")) };
    let findings = counted(usize::try_from(c.findings()).unwrap_or(usize::MAX), "finding", "findings");
    format!("{findings}{which}, {} unknown, {} pass", c.unknown, c.pass)
}

/// Verdicts that change alike, in one line each: rule, from, to, whose. What neither is nor was a finding or unknown is left out.
pub(super) fn changes(s: &Simulation) -> Vec<String> {
    let counts = |s: &State| match s.status.as_str() {
        "fail" => s.severity.as_deref() != Some("info"),
        other => other == "unknown",
    };
    let counted = s.changed.iter().filter(|c| c.worse || counts(&c.before) || counts(&c.after));
    let groups = alike(counted.map(|c| ((&c.rule, &c.before, &c.after, c.worse), c)));
    groups.iter().map(|(_, all)| change(all)).collect()
}

fn change(all: &[&Changed]) -> String {
    const SHOWN: usize = 2;
    let Some(c) = all.first() else { return String::new() };
    let mut who: Vec<&str> = all.iter().take(SHOWN).map(|c| c.subject.as_str()).collect();
    let more = all.len().saturating_sub(SHOWN);
    let more_words = format!("{more} more");
    if more > 0 {
        who.push(&more_words);
    }
    let worse = if c.worse { " (worse)" } else { "" };
    format!("{}: {} → {}{worse}: {}", c.rule, c.before, c.after, who.join(", "))
}

/// The last line: what a reader must not miss.
pub(super) fn ending(plan: &Plan) -> String {
    let mut out = vec![match plan.disruption() {
        Disruption::DrainReboot | Disruption::PowerCycle => format!("{} for all steps", reboots(plan)),
        _ => reboots(plan).to_owned(),
    }];
    let dangerous: Vec<&str> = plan.dangerous().map(|s| s.id.as_str()).collect();
    if !dangerous.is_empty() {
        out.push(format!("dangerous, applied only if named: {}", dangerous.join(", ")));
    }
    if plan.node.redacted && !plan.steps.is_empty() {
        out.push("made from a redacted snapshot: `linerate apply` refuses it".to_owned());
    }
    if !plan.refused.is_empty() {
        out.push(format!("{} refused", plan.refused.len()));
    }
    if !plan.by_hand.is_empty() {
        out.push(format!("{} by hand", plan.by_hand.len()));
    }
    format!("{}.", out.join("; "))
}

/// Outcomes in the order in which they are shown, with the words for headings.
pub(super) const OUTCOMES: [(&str, &str); 4] =
    [("ineffective", "INEFFECTIVE"), ("pending", "PENDING"), ("unknown", "UNKNOWN"), ("effective", "EFFECTIVE")];

/// The first line of a verification.
pub(super) fn verdict(v: &Verification) -> String {
    if let Identity::No(why) = &v.machine {
        return format!("NOT THE NODE OF THE PLAN: {why}");
    }
    if v.is_proven() {
        return match v.steps.len() {
            0 => "NOTHING TO PROVE: the plan has no steps".to_owned(),
            n => {
                let outside = match v.outside.len() {
                    0 => String::new(),
                    n => format!("; {} outside the plan, listed below", counted(n, "change", "changes")),
                };
                // Without a snapshot from before nobody can tell what else changed.
                let else_ = match &v.before {
                    Some(_) => ", and nothing else changed for the worse",
                    None => "; what else changed is not known (no --before)",
                };
                format!("PROVEN: {} effective{else_}{outside}", counted(n, "step", "steps"))
            }
        };
    }
    let mut counts: Vec<String> = OUTCOMES
        .iter()
        .filter_map(|(name, _)| Some((name, v.with(name).count())).filter(|(_, n)| *n > 0))
        .map(|(name, n)| format!("{n} {name}"))
        .collect();
    if !v.regressed.is_empty() {
        counts.push(format!("{} regressed", counted(v.regressed.len(), "rule", "rules")));
    }
    if !v.outside.is_empty() {
        counts.push(format!("{} outside the plan", counted(v.outside.len(), "change", "changes")));
    }
    format!("NOT PROVEN: {}", counts.join(", "))
}

/// The second line.
pub(super) fn judged(v: &Verification) -> String {
    let boot = match v.rebooted {
        Some(true) => "rebooted since the plan was made",
        Some(false) => "not rebooted since the plan was made",
        None => "not known whether it was rebooted since the plan was made",
    };
    format!("{}: {boot} (exit code {})", v.after, v.exit_code())
}

/// A digest as far as people compare it.
pub(super) fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

//! One proof against the node that was read again.

use super::look::{Look, at, is_value};
use super::{Cx, Outcome, Proved, firmware, guest, label, reason, seam, still};
use crate::effect::{self, Effect};
use crate::model::{Disruption, Permanence, Proof, Step};
use crate::wished::{self, Shown};
use linerate_facts::{Holds, Want};
use linerate_formats::cmdline;
use linerate_rules::{Status, Subject, Verdict};
use serde_json::Value;

pub(super) fn prove(cx: &Cx<'_>, step: &Step, proof: &Proof) -> Proved {
    let (outcome, read, at) = match (proof, effect::of_proof(proof)) {
        (Proof::Rule { rule, subject }, _) => by_rule(cx, step, rule, subject),
        (Proof::Fact { fact, part, wants, .. }, _) => by_fact(cx, step, fact, part, wants),
        (Proof::Guest { domain }, _) => guest::prove(cx, domain),
        (_, Some(effect)) => by_effect(cx, step, &effect),
        (_, None) => (Outcome::Unknown("this version cannot read it back".to_owned()), String::new(), String::new()),
    };
    Proved { proof: proof.clone(), outcome, read, at }
}

/// A fact that a policy wishes, read again.
fn by_fact(cx: &Cx<'_>, step: &Step, fact: &str, part: &str, wants: &[Want]) -> Answer {
    let shown = wished::look(cx.node, &[(fact, part)]).remove(&(fact, part));
    let read = clip(&wished::words(shown.as_ref()));
    let place = match &shown {
        Some(Shown::Value(_, place) | Shown::Absent(place)) => cx.after.describe(*place),
        Some(Shown::Unseen(why)) => return (Outcome::Unknown(format!("{fact}: {why}")), String::new(), String::new()),
        None => {
            let why = format!("{fact} is not on the node any more, or this source does not show it");
            return (Outcome::Unknown(why), String::new(), String::new());
        }
    };
    let outcome = match shown.map(|s| wished::holds(fact, wants, &s)) {
        Some(Holds::Yes) => Outcome::Effective,
        Some(Holds::No) => {
            let wanted: Vec<String> = wants.iter().map(ToString::to_string).collect();
            let why = || format!("{} is {read}, and the policy wants {}", wished::about(fact, part), wanted.join(", "));
            not_so(cx, step, || reason::of_step(cx, step).unwrap_or_else(why))
        }
        Some(Holds::Unclear) | None => {
            Outcome::Unknown(format!("{fact} is {read}, which cannot be compared with what is wanted"))
        }
    };
    (outcome, read, place)
}

/// What a step promised to bring about, read back.
fn by_effect(cx: &Cx<'_>, step: &Step, effect: &Effect) -> Answer {
    match effect {
        Effect::Value { path, value } => by_value(cx, step, path, value),
        Effect::Module { name } => by_value(cx, step, &effect::initstate(name), "live"),
        Effect::Cmdline { has, lacks } => by_cmdline(cx, step, has, lacks),
        Effect::NicFirmware { device, parameter, value } => firmware::prove(cx, device, parameter, value),
        Effect::Bios { attribute, value } => by_bios(cx, attribute, value),
        Effect::Label { node, key, value } => label::prove(cx.told, node, key, value.as_deref()),
        Effect::File { .. }
        | Effect::Register { .. }
        | Effect::ModuleOption { .. }
        | Effect::ModuleBlocked { .. }
        | Effect::MemlockUnlimited
        | Effect::Program { .. }
        | Effect::Address { .. }
        | Effect::NextNicFirmware { .. }
        | Effect::NicReset { .. }
        | Effect::Domain(_) => {
            let why = "no proof reads it back by itself: the rules of the step do".to_owned();
            (Outcome::Unknown(why), String::new(), String::new())
        }
    }
}

pub(super) type Answer = (Outcome, String, String);

/// What "not so" means: still due, or without effect, or not to be told.
pub(super) fn not_so(cx: &Cx<'_>, step: &Step, reason: impl FnOnce() -> String) -> Outcome {
    let late = matches!(step.persistence, Permanence::NextBoot | Permanence::DeviceReset)
        || step.disruption >= Disruption::DrainReboot;
    if late {
        let due = if step.disruption == Disruption::PowerCycle { "a power cycle" } else { "a reboot" };
        match cx.rebooted {
            Some(false) => {
                return Outcome::Pending(format!("{due} is due: the node was not rebooted since the plan was made"));
            }
            None => {
                return Outcome::Unknown(format!(
                    "it is not in effect, and it is not known whether the node was rebooted since: reboot it and read it with `linerate collect` \
                     (probably: {})",
                    reason()
                ));
            }
            Some(true) => {}
        }
    }
    if step.persistence == Permanence::GuestStart
        && let Some(due) = guest::is_due(cx, step)
    {
        return Outcome::Pending(due);
    }
    Outcome::Ineffective(reason())
}

fn by_rule(cx: &Cx<'_>, step: &Step, rule: &str, subject: &str) -> Answer {
    let all: Vec<&Verdict> = cx.audit.verdicts.iter().filter(|v| v.rule.id == rule).collect();
    let own = all.iter().filter(|v| v.finding.subject.to_string() == subject).max_by_key(|v| v.finding.status);
    let Some(own) = own else {
        return of_others(cx, rule, subject, &all);
    };
    let (read, place) = words(cx, own);
    let message = own.finding.message.as_ref();
    let outcome = match own.finding.status {
        Status::Pass => Outcome::Effective,
        Status::Fail if of_old_session(cx, step, own) => Outcome::Pending(
            "the files are as written, and hold in new sessions and in services that are started again: what was read is the limit of the process that read the node; log in again and collect again"
                .to_owned(),
        ),
        Status::Fail => {
            not_so(cx, step, || reason::of_step(cx, step).unwrap_or_else(|| format!("the rule still fails: {message}")))
        }
        Status::Unknown => Outcome::Unknown(match &own.finding.see {
            Some(see) => format!("{message}; {see}"),
            None => message.to_owned(),
        }),
        Status::NotApplicable => Outcome::Unknown(format!("the rule no longer applies here: {message}")),
    };
    (outcome, read, place)
}

/// Whether what fails are the limits of the process that read the node, and the step's files, which only new sessions read, are there. After
/// a start of the node all sessions are new.
fn of_old_session(cx: &Cx<'_>, step: &Step, v: &Verdict) -> bool {
    let own = v.finding.evidence.first().is_some_and(|e| cx.after.path(e.place.base) == "proc/self/limits");
    own && cx.rebooted != Some(true) && reason::shows_files_of(cx, step)
}

/// A rule that does not speak of the subject: some say once that all is well.
fn of_others(cx: &Cx<'_>, rule: &str, subject: &str, all: &[&Verdict]) -> Answer {
    let Some(first) = all.first() else {
        let why = format!("this version has no rule {rule}: verify with the version that made the plan");
        return (Outcome::Unknown(why), String::new(), String::new());
    };
    let (read, place) = words(cx, first);
    if all.iter().all(|v| v.finding.status == Status::Pass) {
        // A verdict of the whole node speaks for all that is on it; others say nothing of a device that is gone.
        let whole = all.iter().any(|v| v.finding.subject == Subject::Node);
        if whole || still::is_there(cx, subject) {
            return (Outcome::Effective, read, place);
        }
        let why = format!("{subject} is no longer on the node: answers of {rule} about others do not prove it");
        return (Outcome::Unknown(why), read, place);
    }
    let worst = all.iter().map(|v| v.finding.status).max().unwrap_or(Status::Unknown);
    let why = format!("{rule} no longer has an answer for {subject}; about others it says: {}", worst.name());
    (Outcome::Unknown(why), read, place)
}

fn words(cx: &Cx<'_>, v: &Verdict) -> (String, String) {
    match v.finding.evidence.first() {
        Some(e) => {
            let note = e.note.as_ref().map(ToString::to_string);
            (note.unwrap_or_else(|| cx.after.excerpt(e.place)), cx.after.describe(e.place))
        }
        None => (String::new(), String::new()),
    }
}

fn by_value(cx: &Cx<'_>, step: &Step, path: &str, wanted: &str) -> Answer {
    match at(cx.after, path) {
        Look::Text(read, place) if is_value(&read, wanted) => (Outcome::Effective, clip(&read), place),
        Look::Text(read, place) => {
            let why = || {
                let known = reason::of_step(cx, step).or_else(|| reason::of_value(cx.after, path, wanted));
                known.unwrap_or_else(|| {
                    format!("it was written but not accepted, or something sets {} again afterwards; this source does not show what", clip(&read))
                })
            };
            let outcome = not_so(cx, step, why);
            (outcome, clip(&read), place)
        }
        Look::Absent(place) => {
            let known = || reason::of_absent(cx, path).or_else(|| reason::of_step(cx, step));
            let outcome = not_so(cx, step, || known().unwrap_or_else(|| format!("{place} does not exist")));
            (outcome, "nothing: it does not exist".to_owned(), place)
        }
        Look::Unseen(place, why) => {
            (Outcome::Unknown(format!("{place}: {why}; read the node as root")), String::new(), place)
        }
    }
}

fn by_cmdline(cx: &Cx<'_>, step: &Step, has: &[String], lacks: &[String]) -> Answer {
    let (line, place) = match at(cx.after, "proc/cmdline") {
        Look::Text(line, place) => (line, place),
        Look::Absent(place) => return (Outcome::Unknown("it does not exist".to_owned()), String::new(), place),
        Look::Unseen(place, why) => return (Outcome::Unknown(format!("{place}: {why}")), String::new(), place),
    };
    let parsed = cmdline::parse(line.as_bytes());
    let there = |w: &String| parsed.params.iter().any(|p| p.raw == *w);
    if has.iter().all(there) && !lacks.iter().any(there) {
        return (Outcome::Effective, clip(&line), place);
    }
    let outcome = not_so(cx, step, || {
        reason::files_of(cx, step).unwrap_or_else(|| seam::diagnose(cx.before, cx.after, has, lacks))
    });
    (outcome, clip(&line), place)
}

fn by_bios(cx: &Cx<'_>, attribute: &str, wanted: &Value) -> Answer {
    let place = format!("BIOS attribute {attribute}");
    let told = cx.told;
    let Some(read) = told.bios.get(attribute) else {
        let why = match &told.bios_trouble {
            Some(why) => format!("its BMC could not be asked: {why}"),
            None => {
                "a node does not show its BIOS attributes: ask its BMC (--redfish), or look in the setup".to_owned()
            }
        };
        return (Outcome::Unknown(why), String::new(), place);
    };
    let waits = told.bios_pending.get(attribute) == Some(wanted);
    let outcome = if read == wanted {
        Outcome::Effective
    } else if waits && cx.rebooted == Some(true) {
        Outcome::Pending(
            "the node was started since, and it still waits: that start did not go through POST (kexec), or it wants a power cycle".to_owned(),
        )
    } else if waits {
        Outcome::Pending("it waits in the settings for the next start through POST".to_owned())
    } else if cx.rebooted == Some(false) {
        Outcome::Unknown(
            "it is not in force, and the service does not show it waiting: only a start through POST will show it"
                .to_owned(),
        )
    } else {
        let claim = match told.bios_answers.get(attribute) {
            Some(answer) => format!("the service answered with {answer}, and changed nothing"),
            None => "the service took the request and changed nothing".to_owned(),
        };
        Outcome::Ineffective(format!(
            "{claim}: the value in force is another and none waits, or the attribute depends on another one"
        ))
    };
    (outcome, clip(&read.to_string()), place)
}

/// As much of a text as goes into a line.
pub(super) fn clip(text: &str) -> String {
    linerate_formats::clip::clip(text, 300).replace('\t', " ")
}

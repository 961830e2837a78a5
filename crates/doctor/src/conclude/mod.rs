//! From what was observed to the answer.

mod findings;
mod harmless;
mod ras;
mod stuck;
mod undecided;

pub(crate) use harmless::is_harmless;

use crate::answer::{Answer, Confidence, Note};
use crate::case::Case;
use crate::causes::gdr::seen as gdr;
use crate::causes::{Cause, Found};
use crate::figures::figures;
use crate::jobs::Job;
use crate::nodes::NodeView;
use crate::observe::Observer;
use crate::{NodeGiven, answer, causes, jobs, shown};
use findings::{by_host, findings};
use harmless::{flushed, not_causes};
use linerate_rules::Severity;
use linerate_topology::Version;
use linerate_topology::ceiling::Links;
use std::collections::BTreeSet;
use undecided::undecided;

/// Concludes from what was observed, with the nodes that were given.
#[must_use]
pub fn conclude(o: &Observer, given: &[NodeGiven<'_>]) -> Answer {
    conclude_with(o, given, None)
}

/// [`conclude`], with the network ports that a node is said to have.
#[must_use]
pub fn conclude_with(o: &Observer, given: &[NodeGiven<'_>], links: Option<Links>) -> Answer {
    let mut jobs = jobs::jobs(o);
    // A kernel's log or a table alone: what they show belongs to a job that is not seen.
    let unseen = jobs.is_empty();
    if unseen {
        jobs.push(Job::default());
    }
    let release = o.threads.processes.iter().find_map(|p| p.release.told);
    let version = release.map(|(major, minor, patch)| Version { major, minor, patch });
    let env: Vec<(String, String)> =
        o.settings.list.iter().map(|(s, _)| (o.name(s.name).to_owned(), o.name(s.value).to_owned())).collect();
    let (of_job, strangers) = by_host(o, given);
    let nodes: Vec<NodeView<'_>> = of_job.into_iter().map(|g| NodeView::new(g, version, &env)).collect();
    let mut answer = Answer {
        inputs: shown::inputs(o),
        timeline: shown::timeline(o),
        limits: shown::limits(o, &jobs),
        ..Answer::default()
    };
    answer.limits.extend(strangers);
    let (mut failed, mut direct) = (false, false);
    for (i, job) in jobs.iter().enumerate() {
        let case = Case { o, job, is_first: i == 0, nodes: &nodes };
        if !unseen || !o.ras.all.is_empty() {
            answer.jobs.push(shown::job(&case, i));
        }
        judge(&case, if jobs.len() > 1 { Some(i + 1) } else { None }, &mut answer);
        failed |= case.failed();
        direct |= gdr::works(&case);
    }
    if let Some(second) = o.second.as_ref().filter(|_| answer.causes.iter().all(|c| c.severity == Severity::Info)) {
        answer.causes.extend(
            conclude(second, &[]).causes.into_iter().filter(|c| c.severity > Severity::Info).map(in_unknown_dress),
        );
    }
    sort(&mut answer.causes, failed);
    origins_first(&mut answer.causes);
    if answer.causes.iter().all(|c| c.severity == Severity::Info) {
        let phrased = causes::by_phrases(o);
        answer.causes.splice(0..0, phrased.iter().map(|(k, f)| cause(k, f, "")));
    }
    // What the logs show comes before what only a node shows.
    let shown = answer.causes.len();
    findings(&nodes, direct, &mut answer);
    if let Some(of_nodes) = answer.causes.get_mut(shown..) {
        sort(of_nodes, false);
    }
    explain_figures(o, &nodes, links, &mut answer);
    answer
}

/// Figures of benchmarks are explained where the inputs show no cause that is more than possible: with one, they follow from it.
fn explain_figures(o: &Observer, nodes: &[NodeView<'_>], links: Option<Links>, answer: &mut Answer) {
    let known = |c: &answer::Cause| c.severity > Severity::Info && c.confidence > Confidence::Possible;
    if answer.causes.iter().any(known) {
        return;
    }
    let (figures, more) = figures(o, nodes, links);
    answer.figures = figures;
    if more > 0 {
        answer.limits.push(format!("{more} more benchmark figures are not explained: pass those files alone"));
    }
}

/// What only fits comes last; among the others what ends a job comes first. Where a job failed, what ends jobs comes before all that makes
/// them slow, however sure that is: a missing /GDRDMA ends none.
fn sort(causes: &mut [answer::Cause], failed: bool) {
    causes.sort_by_key(|c| {
        let critical = c.severity == Severity::Critical;
        (
            failed && !critical,
            c.confidence == Confidence::Possible,
            !critical,
            std::cmp::Reverse(c.confidence),
            std::cmp::Reverse(c.severity),
        )
    });
}

/// What is certain and follows from a cause that is likely (`net/fewer-nics` from `ib/nic-not-started`) stays a cause, and comes behind that.
fn origins_first(causes: &mut [answer::Cause]) {
    for at in 0..causes.len() {
        let follows =
            causes.get(at).and_then(|c| causes::causes().find(|k| k.id == c.id)).map_or(&[][..], |k| k.follows);
        let is_origin = |c: &answer::Cause| c.confidence >= Confidence::Likely && follows.contains(&c.id);
        let origin = causes.iter().skip(at + 1).position(is_origin).map(|n| at + 1 + n);
        if let Some(moved) = origin.and_then(|origin| causes.get_mut(at..=origin)) {
            moved.rotate_right(1);
        }
    }
}

/// A cause whose lines are in no form that their program is known to print: it may be quoted, so it is not asserted.
fn in_unknown_dress(cause: answer::Cause) -> answer::Cause {
    let because = format!("{}; its program does not print the line in this form, so it may be quoted", cause.because);
    answer::Cause { confidence: Confidence::Possible, because, ..cause }
}

/// Causes of one job, what follows from them, what cannot be decided, what is not a cause.
fn judge(case: &Case<'_>, number: Option<usize>, answer: &mut Answer) {
    let found: Vec<(&'static Cause, Found)> =
        causes::causes().filter_map(|k| Some((k, heard(case.o, causes::found(k, case)?)))).collect();
    let ids: BTreeSet<&str> =
        found.iter().filter(|(_, f)| f.confidence >= Confidence::Likely).map(|(k, _)| k.id).collect();
    let follows = |k: &Cause, f: &Found| k.follows.iter().find(|id| ids.contains(*id) && !f.apart_from.contains(*id));
    let suffix = number.map(|n| format!(" (job {n})")).unwrap_or_default();
    if answer.jobs.iter().any(|j| !j.benchmarks.is_empty()) && case.nodes.is_empty() && case.is_first {
        answer.limits.push(
            "without the ceiling of the links it is not known whether a benchmark's figure is low: add --node SNAPSHOT"
                .to_owned(),
        );
    }
    for (k, f) in &found {
        if let Some(from) = follows(k, f).filter(|_| f.confidence < Confidence::Certain) {
            let why = format!("it follows from {from}");
            answer.consequences.push(Note {
                what: format!("{}{suffix}", f.summary),
                why,
                evidence: f.evidence.clone(),
            });
            continue;
        }
        answer.causes.push(cause(k, f, &suffix));
    }
    ras::ras(case, &ids, &suffix, answer);
    let listed: BTreeSet<&str> = found.iter().map(|(k, _)| k.id).collect();
    let before = answer.undecided.len();
    undecided(case, &ids, &listed, &suffix, answer);
    // What is listed among the causes need not be looked for once more.
    let is_listed = |u: &answer::Undecided| !u.candidates.is_empty() && u.candidates.iter().all(|c| listed.contains(c));
    let new = answer.undecided.split_off(before);
    answer.undecided.extend(new.into_iter().filter(|u| !is_listed(u)));
    flushed(case, &ids, &suffix, answer);
    not_causes(case, answer);
}

/// What is only shown where somebody writes about such messages is not asserted of anybody's machine.
fn heard(o: &Observer, mut found: Found) -> Found {
    let quoted = !found.evidence.is_empty() && found.evidence.iter().all(|e| o.is_quoted(e));
    if quoted && found.confidence > Confidence::Possible {
        found.confidence = Confidence::Possible;
        found.because.push_str(
            "; but the text around the line describes such messages (a guide, a change, an example): whether it is a report of this machine is not shown",
        );
    }
    found
}

fn cause(k: &'static Cause, f: &Found, suffix: &str) -> answer::Cause {
    answer::Cause {
        id: k.id,
        title: k.title,
        summary: format!("{}{suffix}", f.summary),
        severity: f.severity_of(k.severity),
        confidence: f.confidence,
        because: f.because.clone(),
        scope: f.scope.clone(),
        evidence: f.evidence.clone(),
        confirm: k.confirm.iter().map(|s| (*s).to_owned()).collect(),
        refute: k.refute.iter().map(|s| (*s).to_owned()).collect(),
        rules: k.rules.to_vec(),
        remedy: f.remedy.clone().unwrap_or_else(|| Some(k.remedy.remedy())),
        role: None,
        sources: k.sources.to_vec(),
    }
}

//! JSON lines: one for each node with its findings, schema `linerate.fleet-node/1`; one for all, `linerate.fleet/1`.

use super::{Fleet, Tally, Told};
use crate::suppressed::SuppressionOut;
use crate::{Counts, json, suppressed};
use linerate_rules::{Severity, Status, Subject, Survey};
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct NodeLine<'a> {
    schema: &'static str,
    label: &'a str,
    #[serde(flatten)]
    counts: Counts,
    #[serde(skip_serializing_if = "is_zero")]
    suppressed: usize,
    exit_code: u8,
    worst: Option<Worst<'a>>,
    findings: Vec<FindingLine<'a>>,
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct Worst<'a> {
    rule: &'static str,
    severity: Severity,
    subject: &'a Subject,
    message: &'a str,
}

#[derive(Serialize)]
struct FindingLine<'a> {
    rule: &'static str,
    severity: Severity,
    at: String,
    part: &'a str,
    subject: &'a str,
    subject_kind: &'static str,
    message: &'a str,
}

#[derive(Serialize)]
struct LastLine<'a> {
    schema: &'static str,
    nodes: u64,
    good: u64,
    with_findings: u64,
    cannot_tell: u64,
    unreadable: u64,
    exit_code: u8,
    rules: Vec<RuleLine>,
    sets: Vec<SetLine>,
    remarks: &'a [String],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    only_rules: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressed: Vec<SuppressedLine<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions_to_review: Vec<String>,
}

#[derive(Serialize)]
struct SuppressedLine<'a> {
    answers: u64,
    #[serde(flatten)]
    by: SuppressionOut<'a>,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

#[derive(Serialize)]
struct RuleLine {
    rule: &'static str,
    #[serde(flatten)]
    tally: Tally,
}

#[derive(Serialize)]
struct SetLine {
    rule: &'static str,
    status: Status,
    severity: Severity,
    at: String,
    nodes: String,
    count: usize,
}

pub(super) fn node(label: &str, survey: &Survey, told: &[Told], out: &mut dyn Write) -> io::Result<()> {
    let worst = survey.first.as_ref().filter(|v| v.finding.status == Status::Fail).map(|v| Worst {
        rule: v.rule.id,
        severity: v.severity(),
        subject: &v.finding.subject,
        message: &v.finding.message,
    });
    let findings = told.iter().map(|t| FindingLine {
        rule: t.rule,
        severity: t.severity,
        at: t.at.place(),
        part: t.at.part(),
        subject: &t.subject,
        subject_kind: t.kind,
        message: &t.message,
    });
    let line = NodeLine {
        schema: "linerate.fleet-node/1",
        label,
        counts: Counts::of_survey(survey),
        suppressed: survey.suppressed.len(),
        exit_code: survey.exit_code(),
        worst,
        findings: findings.collect(),
        error: None,
    };
    json::write_line(&line, out)
}

pub(super) fn unreadable(label: &str, error: &str, out: &mut dyn Write) -> io::Result<()> {
    let line = NodeLine {
        schema: "linerate.fleet-node/1",
        label,
        counts: Counts::default(),
        suppressed: 0,
        exit_code: 2,
        worst: None,
        findings: Vec::new(),
        error: Some(error),
    };
    json::write_line(&line, out)
}

pub(super) fn last(fleet: &Fleet<'_>, out: &mut dyn Write) -> io::Result<()> {
    let [good, bad, doubt, broken] = fleet.nodes;
    let failing = [Status::Fail, Status::Unknown].into_iter().flat_map(|s| fleet.sets.failing(s));
    let sets = failing.flat_map(|f| {
        let line = |set: linerate_fleet::audit::Set| SetLine {
            rule: f.rule,
            status: f.status,
            severity: f.severity,
            at: set.place(),
            nodes: fleet.sets.names(&set.nodes),
            count: set.nodes.len(),
        };
        f.sets.into_iter().map(line).collect::<Vec<_>>()
    });
    let line = LastLine {
        schema: "linerate.fleet/1",
        nodes: good + bad + doubt + broken,
        good,
        with_findings: bad,
        cannot_tell: doubt,
        unreadable: broken,
        exit_code: fleet.exit_code(),
        rules: fleet.tallies().into_iter().map(|(rule, tally)| RuleLine { rule, tally }).collect(),
        sets: sets.collect(),
        remarks: &fleet.remarks,
        only_rules: &fleet.terms.only,
        suppressed: (fleet.usage.used())
            .map(|(s, answers)| SuppressedLine { answers, by: SuppressionOut::of(s) })
            .collect(),
        suppressions_to_review: suppressed::remarks(&fleet.usage),
    };
    json::write_line(&line, out)
}

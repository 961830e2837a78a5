//! Many nodes: a line for each as it comes, then which rules fail on how many. Memory grows with the catalogue, not with the nodes.

use crate::style::{Page, Style, Tone, clip};
use crate::terminal::tone_of;
use crate::{Counts, json};
use linerate_rules::{Answer, Rule, Severity, Status, Subject, Survey, Verdict};
use serde::Serialize;
use std::io::{self, Write};

/// How the summary is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For a terminal.
    Text(Style),
    /// One JSON object a line: `linerate.fleet-node/1` for each node, `linerate.fleet/1` at the end.
    JsonLines,
}

/// The summary under construction.
#[derive(Debug)]
pub struct Fleet {
    format: Format,
    /// Nodes by exit code 0, 1, 2, and those that could not be read.
    nodes: [u64; 4],
    /// In the order in which the rules were first met, which is the order of every further node.
    rules: Vec<(&'static Rule, Tally)>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    severity: Option<Severity>,
    fail: u64,
    unknown: u64,
    pass: u64,
    not_applicable: u64,
}

#[derive(Serialize)]
struct NodeLine<'a> {
    schema: &'static str,
    label: &'a str,
    #[serde(flatten)]
    counts: Counts,
    exit_code: u8,
    worst: Option<Worst<'a>>,
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
struct LastLine {
    schema: &'static str,
    nodes: u64,
    good: u64,
    with_findings: u64,
    cannot_tell: u64,
    unreadable: u64,
    exit_code: u8,
    rules: Vec<RuleLine>,
}

#[derive(Serialize)]
struct RuleLine {
    rule: &'static str,
    severity: Option<Severity>,
    fail: u64,
    unknown: u64,
    pass: u64,
    not_applicable: u64,
}

/// Columns of a label; a longer one is cut in the middle of nowhere rather than moving the others.
const LABEL: usize = 24;

impl Fleet {
    /// Nothing yet.
    #[must_use]
    pub fn new(format: Format) -> Self {
        Fleet { format, nodes: [0; 4], rules: Vec::new() }
    }

    /// Takes a node in and writes its line.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn node(&mut self, label: &str, survey: &Survey, out: &mut dyn Write) -> io::Result<()> {
        let code = survey.exit_code();
        if let Some(n) = self.nodes.get_mut(usize::from(code)) {
            *n += 1;
        }
        self.tally(survey);
        let counts = Counts::of_survey(survey);
        let first = survey.first.as_ref();
        let worst = first.filter(|v| v.finding.status == Status::Fail);
        match self.format {
            Format::Text(style) => {
                let (tag, tone) = match (code, worst) {
                    (0, _) => ("good", Tone::Good),
                    (1, Some(v)) => (v.severity().name(), tone_of(v.severity())),
                    _ => ("unknown", Tone::Doubt),
                };
                line(style, label, tag, tone, &told(&counts, first), out)
            }
            Format::JsonLines => {
                let worst = worst.map(|v| Worst {
                    rule: v.rule.id,
                    severity: v.severity(),
                    subject: &v.finding.subject,
                    message: &v.finding.message,
                });
                let node =
                    NodeLine { schema: "linerate.fleet-node/1", label, counts, exit_code: code, worst, error: None };
                json::write_line(&node, out)
            }
        }
    }

    /// Takes in a node that could not be read: nothing is known about it.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn unreadable(&mut self, label: &str, error: &str, out: &mut dyn Write) -> io::Result<()> {
        if let Some(n) = self.nodes.get_mut(3) {
            *n += 1;
        }
        match self.format {
            Format::Text(style) => line(style, label, "no data", Tone::Doubt, error, out),
            Format::JsonLines => json::write_line(
                &NodeLine {
                    schema: "linerate.fleet-node/1",
                    label,
                    counts: Counts::default(),
                    exit_code: 2,
                    worst: None,
                    error: Some(error),
                },
                out,
            ),
        }
    }

    /// Each rule once per node, by its worst answer there.
    fn tally(&mut self, survey: &Survey) {
        let rank = |a: &Answer| (a.status, a.severity);
        for (likely, answers) in survey.answers.chunk_by(|a, b| std::ptr::eq(a.rule, b.rule)).enumerate() {
            let worst = answers.iter().copied().reduce(|worst, a| {
                // A pass counts before not-applicable: some device was judged.
                let judged = (worst.status, a.status) == (Status::NotApplicable, Status::Pass);
                if judged || rank(&a) > rank(&worst) && a.status != Status::NotApplicable { a } else { worst }
            });
            let Some(worst) = worst else { continue };
            let t = self.tally_of(worst.rule, likely);
            match worst.status {
                Status::Fail if worst.severity == Severity::Info => t.pass += 1,
                Status::Fail => {
                    t.fail += 1;
                    t.severity = t.severity.max(Some(worst.severity));
                }
                Status::Unknown => t.unknown += 1,
                Status::Pass => t.pass += 1,
                Status::NotApplicable => t.not_applicable += 1,
            }
        }
    }

    /// The rule's row, which is most likely at this place.
    fn tally_of(&mut self, rule: &'static Rule, likely: usize) -> &mut Tally {
        let is = |(r, _): &(&'static Rule, Tally)| std::ptr::eq(*r, rule);
        let known = if self.rules.get(likely).is_some_and(is) { Some(likely) } else { self.rules.iter().position(is) };
        let at = known.unwrap_or(self.rules.len());
        if known.is_none() {
            self.rules.push((rule, Tally::default()));
        }
        &mut self.rules[at].1
    }

    /// 1 where any node has a finding; else 2 where anything is unknown or a node could not be read; else 0. No node: 2.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let [good, bad, doubt, broken] = self.nodes;
        match (bad, doubt + broken, good) {
            (1.., _, _) => 1,
            (0, 0, 1..) => 0,
            _ => 2,
        }
    }

    /// Writes what all nodes together show.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut rules: Vec<(&'static str, Tally)> = self.rules.iter().map(|(r, t)| (r.id, *t)).collect();
        rules.sort_by_key(|(id, t)| (std::cmp::Reverse((t.severity, t.fail, t.unknown)), *id));
        let [good, bad, doubt, broken] = self.nodes;
        let total = good + bad + doubt + broken;
        match self.format {
            Format::Text(style) => self.last_text(style, &rules, total, out),
            Format::JsonLines => json::write_line(
                &LastLine {
                    schema: "linerate.fleet/1",
                    nodes: total,
                    good,
                    with_findings: bad,
                    cannot_tell: doubt,
                    unreadable: broken,
                    exit_code: self.exit_code(),
                    rules: rules
                        .into_iter()
                        .map(|(rule, t)| RuleLine {
                            rule,
                            severity: t.severity,
                            fail: t.fail,
                            unknown: t.unknown,
                            pass: t.pass,
                            not_applicable: t.not_applicable,
                        })
                        .collect(),
                },
                out,
            ),
        }
    }

    fn last_text(&self, style: Style, rules: &[(&str, Tally)], total: u64, out: &mut dyn Write) -> io::Result<()> {
        let [good, bad, doubt, broken] = self.nodes;
        let mut page = Page::new(out, style);
        let mut text = format!("{total} nodes: {bad} with findings, {doubt} cannot tell, {good} good");
        if broken > 0 {
            text.push_str(&format!(", {broken} could not be read"));
        }
        page.heading(&format!("{text} (exit code {})", self.exit_code()))?;
        let failing: Vec<_> = rules.iter().filter(|(_, t)| t.fail > 0 || t.unknown > 0 || style.verbose).collect();
        if failing.is_empty() {
            return Ok(());
        }
        page.verbatim(0, "    fail unknown  rule, by number of nodes")?;
        for (rule, t) in failing {
            let tag = format!("{:>8} {:>7} ", t.fail, t.unknown);
            let (tone, severity) = match t.severity {
                Some(s) => (tone_of(s), format!(" ({})", s.name())),
                None if t.unknown > 0 => (Tone::Doubt, String::new()),
                None => (Tone::Plain, String::new()),
            };
            page.item(0, &tag, tone, Tone::Plain, &format!("{rule}{severity}"))?;
        }
        Ok(())
    }
}

/// Counts, then the worst answer.
fn told(counts: &Counts, first: Option<&Verdict>) -> String {
    let mut text = format!("{} fail, {} unknown, {} pass", counts.findings(), counts.unknown, counts.pass);
    if let Some(v) = first {
        text.push_str(&format!(": {} {}: {}", v.rule.id, v.finding.subject, v.finding.message));
    }
    text
}

/// One line, whatever the width.
fn line(style: Style, label: &str, tag: &str, tone: Tone, text: &str, out: &mut dyn Write) -> io::Result<()> {
    let label = linerate_out::terminal(label);
    let text = linerate_out::terminal(text.trim());
    let tag = format!("{tag:<8}");
    let used = LABEL + 1 + tag.chars().count() + 1;
    let text = clip(&text, style.width.saturating_sub(used).max(16));
    write!(out, "{:<LABEL$} ", clip(&label, LABEL))?;
    Page::new(out, style).row(&tag, tone, &text)
}

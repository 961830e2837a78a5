//! The report for a terminal: what is wrong, worst first, then why and what to do, then what could not be seen.

use crate::compact;
use crate::doctor::words::counted;
use crate::faults::{Fault, faults};
use crate::fix::Fix;
use crate::group::{Group, alike, group};
use crate::style::{self, Page, Style, Tone, clip};
use crate::words::Words;
use crate::{Counts, Report, VERSION, about, suppressed};
use linerate_node::pci::Kind;
use linerate_remedy::On;
use linerate_rules::{Audit, Cx, DependsOn, Evidence, Quality, Severity, Status, Verdict};
use linerate_snapshot::Place;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// Evidence shown per group before the rest becomes a number.
const EVIDENCE: usize = 3;
/// Messages of one rule shown before the rest becomes a number.
const GROUPS: usize = 3;
/// Ways to see more, and rules behind each, before the rest becomes a number.
const WAYS: usize = 6;
const RULES: usize = 4;
/// Subjects written in a pair of braces before the rest becomes a number.
const SUBJECTS: usize = 16;

/// Writes the report.
///
/// # Errors
/// Those of the writer.
pub fn render(report: &Report<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut t = Terminal { report, words: Words::of(report.snapshot), page: Page::new(out, style) };
    let (faults, notes) = faults(report);
    t.header()?;
    // A single one is shown at once in full.
    if faults.len() > 1 {
        t.list(&faults)?;
    }
    for (i, f) in faults.iter().enumerate() {
        t.finding(i + 1, f)?;
    }
    t.suppressed()?;
    t.notes(&notes)?;
    t.would_fail()?;
    t.unseen()?;
    t.rest()
}

/// The verdict and the list of findings, and nothing of why.
///
/// # Errors
/// Those of the writer.
pub fn brief(report: &Report<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut t = Terminal { report, words: Words::of(report.snapshot), page: Page::new(out, style) };
    t.header()?;
    t.list(&faults(report).0)
}

/// As a text.
#[must_use]
pub fn to_string(report: &Report<'_>, style: Style) -> String {
    style::to_text(|out| render(report, style, out))
}

struct Terminal<'a, 'w> {
    report: &'a Report<'a>,
    words: Words<'a>,
    page: Page<'w>,
}

impl Terminal<'_, '_> {
    fn header(&mut self) -> io::Result<()> {
        let Report { node, snapshot, audit } = self.report;
        let counts = Counts::of(audit);
        self.page.item(0, &format!("linerate {VERSION}, audit of"), Tone::Dim, Tone::Bold, &snapshot.label)?;
        let (tone, verdict) = verdict(&counts, audit);
        self.page.text(0, tone, &verdict)?;
        if let Some(text) = self.what_applies() {
            self.page.text(0, Tone::Bold, &text)?;
        }
        self.page.blank()?;
        self.page.field(0, "source", &about::source(snapshot))?;
        self.page.field(0, "role", &about::role(node))?;
        self.page.field(0, "kernel", &about::kernel(node))?;
        self.page.field(0, "devices", &about::devices(node))?;
        if let Some(filter) = suppressed::filter(&audit.terms) {
            self.page.field(0, "rules", &filter)?;
        }
        for text in about::not_judged(node) {
            self.page.field(0, "judged", &text)?;
        }
        let problems: Vec<String> = about::remarks(snapshot, node).collect();
        let shown = self.page.shown(EVIDENCE);
        for p in problems.iter().take(shown) {
            self.page.field(0, "problem", p)?;
        }
        if problems.len() > shown {
            self.page.field(0, "", &format!("and {} more problems of the source", problems.len() - shown))?;
        }
        Ok(())
    }

    /// On a machine without the devices in question most rules hold for nothing; silence would look like health.
    fn what_applies(&self) -> Option<String> {
        let Report { node, snapshot, .. } = self.report;
        let pci = &node.pci;
        let place = match (Cx { node, snapshot }).is_excerpt(pci.seen?) {
            true => "in this text, which may be an excerpt",
            false => "here",
        };
        let has = |kind| pci.of_kind(kind).next().is_some();
        // One whose kind is not shown may be either.
        if pci.functions.iter().any(|f| f.class.known().is_none()) {
            return None;
        }
        let missing = match (has(Kind::Gpu) || has(Kind::AmdGpu), has(Kind::RdmaNic) || has(Kind::DataDirect)) {
            (true, true) => return None,
            (false, false) => "No NVIDIA GPU and no RDMA NIC",
            (true, false) => "No RDMA NIC",
            (false, true) => "No NVIDIA GPU",
        };
        let (mut all, mut hold) = (BTreeSet::new(), BTreeSet::new());
        for v in &self.report.audit.verdicts {
            all.insert(v.rule.id);
            if v.finding.status != Status::NotApplicable {
                hold.insert(v.rule.id);
            }
        }
        Some(format!(
            "{missing} {place}: {} of {} rules apply, none of them about a GPU–NIC path",
            hold.len(),
            all.len()
        ))
    }

    fn list(&mut self, faults: &[Fault<'_>]) -> io::Result<()> {
        self.page.heading_of(faults, "FINDINGS")?;
        let width = faults.len().to_string().len();
        for (i, fault) in faults.iter().enumerate() {
            self.line(0, &format!("{:>width$}", i + 1), &fault.cause)?;
            for after in &fault.after {
                self.line(width + 1, "└", after)?;
            }
        }
        Ok(())
    }

    /// A line of the list: findings of one rule.
    fn line(&mut self, indent: usize, mark: &str, all: &[Group<'_>]) -> io::Result<()> {
        let Some(severity) = all.first().map(|g| g.first().severity()) else { return Ok(()) };
        let text = match all {
            [one] => headline(one, self.page.style.verbose),
            [first, more @ ..] => {
                let subjects: Vec<_> = all.iter().flat_map(|g| &g.verdicts).map(|v| &v.finding.subject).collect();
                let (id, n) = (first.first().rule.id, subjects.len());
                let about = compact::subjects(subjects.into_iter(), SUBJECTS);
                format!("{id}: {n} × {about}: {}; and {} more like it", first.message(), more.len())
            }
            [] => return Ok(()),
        };
        let tag = format!("{mark} {:<8}", severity.name().to_uppercase());
        self.page.item(indent, &tag, tone_of(severity), Tone::Plain, &text)
    }

    /// What follows from a finding, with its evidence: its fix is that of the cause.
    fn after(&mut self, after: &[Vec<Group<'_>>]) -> io::Result<()> {
        for all in after {
            self.line(2, "and so", all)?;
            let verdicts: Vec<&Verdict> = all.iter().flat_map(|g| g.verdicts.iter().copied()).collect();
            self.evidence(4, &verdicts)?;
        }
        Ok(())
    }

    fn finding(&mut self, number: usize, fault: &Fault<'_>) -> io::Result<()> {
        let all = &fault.cause;
        let Some(first) = all.first().map(Group::first) else { return Ok(()) };
        let severity = first.severity();
        let verbose = self.page.style.verbose;
        self.page.blank()?;
        let tag = format!("{number} {}", severity.name().to_uppercase());
        self.page.item(0, &tag, tone_of(severity), Tone::Bold, first.rule.id)?;
        let shown = self.page.shown(GROUPS);
        for g in all.iter().take(shown) {
            let about = g.about(self.page.shown(SUBJECTS));
            let text = if about.is_empty() { g.message() } else { format!("{about}: {}", g.message()) };
            let mark = if all.len() > 1 { "·" } else { "" };
            self.page.item(2, mark, Tone::Dim, Tone::Plain, &text)?;
        }
        if all.len() > shown {
            let text = format!("and {} more like it (--verbose lists them)", all.len() - shown);
            self.page.item(2, "·", Tone::Dim, Tone::Plain, &text)?;
        }
        let verdicts: Vec<&Verdict> = all.iter().flat_map(|g| g.verdicts.iter().copied()).collect();
        self.evidence(2, &verdicts)?;
        let effect = first.rule.effect;
        self.page.field(2, "costs", &format!("{} [{}]", effect.text, quality(effect.quality)))?;
        self.remedies(&verdicts)?;
        self.after(&fault.after)?;
        let mut sources: Vec<&str> = first.rule.sources.iter().map(|s| s.title).collect();
        let more = if verbose { 0 } else { sources.len().saturating_sub(1) };
        sources.truncate(sources.len() - more);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        self.page.field(2, "sources", &format!("{}{more}", sources.join("; ")))?;
        self.page.field(2, "more", &format!("linerate explain {}", first.rule.id))
    }

    fn remedies(&mut self, verdicts: &[&Verdict]) -> io::Result<()> {
        let remedies = verdicts.iter().filter_map(|v| v.finding.remedy.as_deref());
        let fixes = alike(remedies.map(|r| ((&r.summary, &r.risk_note), r)));
        if fixes.is_empty() {
            let id = verdicts.first().map(|v| v.rule.id).unwrap_or_default();
            let text = format!("no ready step: read `linerate explain {id}`");
            return self.page.item(2, &format!("{:<8}", "fix"), Tone::Good, Tone::Plain, &text);
        }
        let shown = self.page.shown(EVIDENCE);
        let on = On::node(self.report.node);
        for (_, same) in fixes.iter().take(shown) {
            let ([r, ..], n) = (same.as_slice(), same.len()) else { continue };
            let times = if n > 1 && fixes.len() > 1 { format!(" ({n}\u{a0}×)") } else { String::new() };
            let text = format!("{}{times}", r.summary);
            self.page.item(2, &format!("{:<8}", "fix"), Tone::Good, Tone::Bold, &text)?;
            self.page.field(2, "", &Fix::of(r, &on).words(str::to_owned))?;
            if self.page.style.verbose && !r.reread.is_empty() {
                self.page.field(2, "", &format!("to prove it, read again: {}", r.reread.join(", ")))?;
            }
        }
        if fixes.len() > shown {
            self.page.field(2, "", &format!("and {} more", fixes.len() - shown))?;
        }
        Ok(())
    }

    /// Distinct evidence of a group, the first few with the bytes.
    fn evidence(&mut self, indent: usize, verdicts: &[&Verdict]) -> io::Result<()> {
        let mut seen: Vec<Place> = Vec::new();
        let mut distinct: Vec<&Evidence> = Vec::new();
        for e in verdicts.iter().flat_map(|v| &v.finding.evidence) {
            if !seen.contains(&e.place) {
                seen.push(e.place);
                distinct.push(e);
            }
        }
        let shown = self.page.shown(EVIDENCE);
        let texts: Vec<String> = distinct.iter().take(shown).map(|e| self.evidence_text(e)).collect();
        self.page.fields(indent, "seen", &texts)?;
        if distinct.len() > shown {
            self.page.field(indent, "", &format!("and {} more", distinct.len() - shown))?;
        }
        Ok(())
    }

    fn evidence_text(&self, e: &Evidence) -> String {
        let mut text = self.words.short(e.place);
        let content = self.words.shown(e.place);
        if !content.is_empty() {
            // A hostile or huge line must not bury the report.
            text.push_str(": ");
            text.push_str(&clip(&content, 160));
        }
        if let Some(note) = &e.note {
            text.push_str(&format!(" ({note})"));
        }
        text
    }

    /// What the site accepts, each with its reason; and suppressions that are of no use any more.
    fn suppressed(&mut self) -> io::Result<()> {
        let taken = suppressed::taken(self.report.audit);
        self.page.heading_of(&taken, "SUPPRESSED (not counted)")?;
        for t in &taken {
            for g in &t.groups {
                let first = g.first();
                let word = if first.finding.status == Status::Fail { first.severity().name() } else { "unknown" };
                let text = headline(g, self.page.style.verbose);
                self.page.item(0, &format!("{:<8}", word.to_uppercase()), Tone::Dim, Tone::Plain, &text)?;
            }
            self.page.text(9, Tone::Dim, &suppressed::why(t.by))?;
        }
        let remarks = suppressed::remarks(&self.report.audit.usage());
        self.page.heading_of(&remarks, "SUPPRESSIONS TO REVIEW")?;
        remarks.iter().try_for_each(|r| self.page.item(2, "·", Tone::Warn, Tone::Plain, r))
    }

    fn notes(&mut self, notes: &[&Verdict]) -> io::Result<()> {
        let groups = group(notes.iter().copied());
        self.page.heading_of(&groups, "WORTH KNOWING (nothing to do)")?;
        for g in &groups {
            self.page.item(2, "·", Tone::Mild, Tone::Plain, &headline(g, self.page.style.verbose))?;
            if self.page.style.verbose {
                self.evidence(4, &g.verdicts)?;
            }
        }
        Ok(())
    }

    /// What fails, unless something that is not known exempts it.
    fn would_fail(&mut self) -> io::Result<()> {
        self.depends_on(DependsOn::Role, "DEPENDS ON THE ROLE (set it with --role)")?;
        self.depends_on(DependsOn::Device, "DEPENDS ON WHAT THE DEVICE IS (not in the text)")
    }

    fn depends_on(&mut self, what: DependsOn, heading: &str) -> io::Result<()> {
        let groups = group(would_fail(self.report.audit, what));
        self.page.heading_of(&groups, heading)?;
        for g in &groups {
            let severity = g.first().severity().name().to_uppercase();
            self.page.item(
                0,
                &format!("{severity:<8}"),
                Tone::Doubt,
                Tone::Plain,
                &headline(g, self.page.style.verbose),
            )?;
            self.evidence(9, &g.verdicts)?;
        }
        Ok(())
    }

    /// Unknown answers by what would make them known: each way is one line of action.
    fn unseen(&mut self) -> io::Result<()> {
        let mut ways: BTreeMap<&str, Vec<&Verdict>> = BTreeMap::new();
        for v in self.report.audit.with(Status::Unknown) {
            ways.entry(v.finding.see.as_deref().unwrap_or_default()).or_default().push(v);
        }
        let mut ways: Vec<(&str, Vec<&Verdict>)> = ways.into_iter().collect();
        // Most answers for one action first; what nobody knows how to see last.
        ways.sort_by_key(|(see, v)| (see.is_empty(), std::cmp::Reverse(v.len()), *see));
        self.page.heading_of(&ways, "NOT CHECKED: missing data, and how to collect it")?;
        let (all, shown) = (ways.len(), self.page.shown(WAYS));
        for (see, verdicts) in ways.into_iter().take(shown) {
            let action = if see.is_empty() { "the rule knows no way to collect it" } else { see };
            self.page.item(0, &format!("{:>4} ×", verdicts.len()), Tone::Doubt, Tone::Plain, action)?;
            if self.page.style.verbose {
                for g in group(verdicts.into_iter()) {
                    self.page.item(7, "·", Tone::Dim, Tone::Plain, &headline(&g, true))?;
                    self.evidence(9, &g.verdicts)?;
                }
                continue;
            }
            let mut rules: BTreeMap<&str, u32> = BTreeMap::new();
            for v in &verdicts {
                *rules.entry(v.rule.id).or_default() += 1;
            }
            let rules: Vec<String> = rules
                .into_iter()
                .map(|(id, n)| if n > 1 { format!("{id}\u{a0}×{n}") } else { id.to_owned() })
                .collect();
            let more = match rules.len().saturating_sub(RULES) {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            let some: Vec<&str> = rules.iter().take(RULES).map(String::as_str).collect();
            self.page.item(7, "→", Tone::Dim, Tone::Dim, &format!("{}{more}", some.join(", ")))?;
        }
        self.page.more(0, all, shown, "")
    }

    /// What passed and what does not apply: two numbers, or all of it.
    fn rest(&mut self) -> io::Result<()> {
        for (status, title) in [(Status::Pass, "PASSED"), (Status::NotApplicable, "DOES NOT APPLY")] {
            if !self.page.style.verbose || self.report.audit.with(status).next().is_none() {
                continue;
            }
            self.page.heading(title)?;
            for g in group(self.report.audit.with(status)) {
                let tone = if status == Status::Pass { Tone::Good } else { Tone::Dim };
                self.page.item(2, "·", tone, Tone::Plain, &headline(&g, true))?;
                self.evidence(4, &g.verdicts)?;
            }
        }
        let counts = Counts::of(self.report.audit);
        self.page.blank()?;
        let hint = if self.page.style.verbose || counts.pass + counts.not_applicable == 0 {
            ""
        } else {
            " (--verbose lists them with evidence)"
        };
        let text = format!("{} passed, {} not applicable{hint}", counts.pass, counts.not_applicable);
        self.page.text(0, Tone::Dim, &text)
    }
}

/// Rule, subjects, message.
fn headline(g: &Group<'_>, whole: bool) -> String {
    let about = g.about(if whole { usize::MAX } else { SUBJECTS });
    let id = g.first().rule.id;
    if about.is_empty() { format!("{id}: {}", g.message()) } else { format!("{id}: {about}: {}", g.message()) }
}

/// Answers that are unknown only because this is, and fail otherwise.
fn would_fail(audit: &Audit, what: DependsOn) -> impl Iterator<Item = &Verdict> {
    audit.with(Status::Unknown).filter(move |v| v.finding.depends_on == Some(what))
}

/// How many there are of these, and what would exempt them.
fn exempted(audit: &Audit) -> Option<String> {
    let of = |what| would_fail(audit, what).count();
    let by = match (of(DependsOn::Role), of(DependsOn::Device)) {
        (0, 0) => return None,
        (n, 0) => (n, "unless the node's role exempts it (--role)"),
        (0, n) => (n, "unless the device is neither GPU nor NIC"),
        (role, device) => (role + device, "unless the node's role (--role) or the kind of device exempts it"),
    };
    Some(format!("{}, {}", counted(by.0, "check fails", "checks fail"), by.1))
}

fn unknown_answers(n: u32) -> String {
    format!("{} unknown", counted(n as usize, "answer is", "answers are"))
}

/// The one-line verdict.
fn verdict(counts: &Counts, audit: &Audit) -> (Tone, String) {
    let exit_code = audit.exit_code();
    let set_aside = suppressed::count(audit.suppressed.len() as u64);
    let bad: Vec<String> = counts.worst_first().map(|(s, n)| format!("{n} {}", s.name())).collect();
    let below = suppressed::below(counts, &audit.terms);
    let unknown = if counts.unknown > 0 {
        format!("; {} unknown", counted(counts.unknown as usize, "answer", "answers"))
    } else {
        String::new()
    };
    let (tone, text) = match exit_code {
        0 | 2 if below.is_some() => {
            let (tone, word) = if exit_code == 0 { (Tone::Mild, "BELOW THE LIMIT") } else { (Tone::Doubt, "UNKNOWN") };
            (tone, format!("{word}: {}{unknown}", below.unwrap_or_default()))
        }
        0 if counts.pass == 0 => (Tone::Doubt, "NOT APPLICABLE: no rule applies to this source".to_owned()),
        0 => {
            let checks = counted(counts.pass as usize, "check", "checks");
            (Tone::Good, format!("GOOD: {checks} passed, nothing unknown"))
        }
        1 => {
            let tone = if counts.fail.last().is_some_and(|n| *n > 0) { Tone::Alarm } else { Tone::Bad };
            (tone, format!("FAILING: {}{unknown}", bad.join(", ")))
        }
        _ => (
            Tone::Doubt,
            match (exempted(audit), counts.pass, counts.unknown) {
                (Some(checks), _, n) => format!("UNKNOWN: {checks}; {}", unknown_answers(n)),
                // What was not judged is not good.
                (None, 0, 0) => "UNKNOWN: nothing was judged, and part of the source was left out".to_owned(),
                (None, 0, n) => format!("UNKNOWN: nothing in this source could be judged; {}", unknown_answers(n)),
                (None, passed, 0) => format!(
                    "UNKNOWN: nothing wrong in what was seen ({passed} passed), but part of the source was left out"
                ),
                (None, passed, n) => {
                    format!("UNKNOWN: nothing wrong in what was seen ({passed} passed), but {}", unknown_answers(n))
                }
            },
        ),
    };
    (tone, format!("{text}{set_aside} (exit code {exit_code})"))
}

pub(crate) fn tone_of(severity: Severity) -> Tone {
    match severity {
        Severity::Critical => Tone::Alarm,
        Severity::High => Tone::Bad,
        Severity::Medium => Tone::Warn,
        Severity::Low => Tone::Mild,
        Severity::Info => Tone::Plain,
    }
}

/// How sure the size of an effect is.
pub(crate) fn quality(q: Quality) -> &'static str {
    match q {
        Quality::Derived => "derived",
        Quality::Sourced => "a primary source says so",
        Quality::Measured => "measured",
        Quality::Estimate => "estimate",
        Quality::DirectionOnly => "direction only: no published number",
    }
}

//! What differs between two nodes, with what rules say about it: one list, in three forms.

mod json;
mod markdown;
mod text;

pub use json::SCHEMA;
pub(crate) use text::head;

use linerate_facts::position::folded;
use linerate_fleet::diff::{Diff, Group, Said, Shown, Verdicts, What, groups};
use linerate_rules::{Severity, Status};
use serde::Serialize;
use std::io::{self, Write};

/// What differs between two nodes, for a reader.
#[derive(Debug, Serialize)]
pub struct Report<'d> {
    /// How people call both nodes.
    pub labels: [&'d str; 2],
    /// The worst first; alike differences of several devices are one.
    pub differences: Vec<Row<'d>>,
    /// Verdicts that differ although no fact of the list does: counters, logs.
    pub verdicts: Vec<Answer<'d>>,
    /// Facts that both nodes show.
    pub compared: usize,
    /// Facts that only one of them shows, because the other was not asked or could not be read.
    pub only_one_shows: [usize; 2],
    /// Facts that differ, move by themselves, and change no verdict.
    pub moved: usize,
    /// Whether devices were paired by their number, because the way to them is not shown or not the same.
    pub paired_by_number: bool,
    /// Whether a limit left out part of a source.
    pub incomplete: bool,
    /// 0: no difference; 1: some; 2: none, but nothing could be compared or a part was left out.
    pub exit_code: u8,
}

/// A difference.
#[derive(Debug, Serialize)]
pub struct Row<'d> {
    /// Of the worst rule that fails on either side; `info`: rules find both right; `null`: no rule reads it.
    pub severity: Option<Severity>,
    /// Whose: `rail 0-3 NIC`; empty for the node itself.
    pub at: String,
    /// What each node calls these devices.
    pub names: [Vec<&'d str>; 2],
    /// Id of the fact; where a thing is on one side only, what the ids of its facts begin with.
    pub fact: &'static str,
    /// Which of the owner's: a setting, a port, an argument of the kernel.
    pub part: &'d str,
    /// The fact in words.
    pub what: &'static str,
    /// Unit of the values.
    pub unit: &'static str,
    /// What both nodes show.
    pub sides: [Side<'d>; 2],
    /// What rules say about both.
    pub rules: [Vec<Saying<'d>>; 2],
    /// Why it can differ by itself.
    pub moves: Option<&'static str>,
}

/// What a node shows.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side<'d> {
    /// A value.
    Value(&'d str),
    /// Certainly not there.
    Absent,
    /// Not in a list that was read.
    NotListed,
}

/// An answer of a rule.
#[derive(Debug, Serialize)]
pub struct Saying<'d> {
    /// Id of the rule.
    pub rule: &'static str,
    /// The answer.
    pub status: Status,
    /// Its severity, where it fails.
    pub severity: Severity,
    /// In one line.
    pub message: &'d str,
}

/// A verdict that differs.
#[derive(Debug, Serialize)]
pub struct Answer<'d> {
    /// Whose: `rail 3 NIC`; empty for the node itself.
    pub at: String,
    /// What the rule is about, where it says more than the device.
    pub subject: &'d str,
    /// On each side.
    pub rules: [Vec<Saying<'d>>; 2],
}

/// A form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For a terminal.
    Text(crate::Style),
    /// For programs, schema `linerate.diff/1`.
    Json,
    /// For a ticket.
    Markdown,
}

impl<'d> Report<'d> {
    /// Of two nodes.
    #[must_use]
    pub fn of(labels: [&'d str; 2], diff: &'d Diff, incomplete: bool) -> Self {
        let differences: Vec<Row<'d>> = groups(&diff.differences).into_iter().map(row).collect();
        let verdicts: Vec<Answer<'d>> = diff.verdicts.iter().map(answer).collect();
        let exit_code = match (differences.len() + verdicts.len(), diff.compared) {
            (1.., _) => 1,
            (0, 0) => 2,
            _ => 2 * u8::from(incomplete),
        };
        Report {
            labels,
            differences,
            verdicts,
            compared: diff.compared,
            only_one_shows: diff.unseen,
            moved: diff.moved,
            paired_by_number: diff.by_number,
            incomplete,
            exit_code,
        }
    }

    /// Writes it.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, format: Format, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Text(style) => text::render(self, style, out),
            Format::Json => json::render(self, out),
            Format::Markdown => markdown::render(self, out),
        }
    }

    /// `3 differences in 37 facts that both show: 1 medium, 1 low, 1 info`.
    fn headline(&self) -> String {
        let n = self.differences.len() + self.verdicts.len();
        let facts = crate::doctor::words::counted(self.compared, "fact", "facts");
        if n == 0 {
            return match self.compared {
                0 => "nothing can be compared: no fact is shown by both sides".to_owned(),
                _ => format!("no difference in {facts} shown by both sides"),
            };
        }
        let by = by_severity(|| {
            self.differences.iter().map(|d| d.severity).chain(self.verdicts.iter().map(Answer::severity))
        });
        format!(
            "{} in {facts} shown by both sides: {}",
            crate::doctor::words::counted(n, "difference", "differences"),
            by
        )
    }

    /// What a reader must know before believing it.
    fn remarks(&self) -> Vec<String> {
        let mut out = Vec::new();
        if self.paired_by_number {
            out.push(
                "devices were paired by number or name, because their PCI paths differ or are not shown: check the names on both sides"
                    .to_owned(),
            );
        }
        for (n, label) in self.only_one_shows.iter().zip(self.labels) {
            if *n > 0 {
                out.push(format!(
                    "not compared, because only {label} shows them: {}",
                    crate::doctor::words::counted(*n, "fact", "facts")
                ));
            }
        }
        if self.moved > 0 {
            let n = crate::doctor::words::counted(self.moved, "further difference", "further differences");
            out.push(format!("{n} in values that change by themselves; the verdicts are the same"));
        }
        if self.incomplete {
            out.push("a limit left out part of a source".to_owned());
        }
        out
    }
}

impl Answer<'_> {
    fn severity(&self) -> Option<Severity> {
        self.rules.iter().flatten().filter(|s| s.status == Status::Fail).map(|s| s.severity).max()
    }
}

impl Row<'_> {
    /// `rail 0-3 NIC: PCI_WR_ORDERING`, or what the fact is in words.
    fn title(&self) -> String {
        title(&self.at, self.fact, self.what, self.part)
    }
}

/// `1 high, 2 that no rule judges`.
pub(crate) fn by_severity<I: Iterator<Item = Option<Severity>>>(all: impl Fn() -> I) -> String {
    let mut by: Vec<String> = Vec::new();
    for s in Severity::ALL.iter().rev() {
        let n = all().filter(|x| *x == Some(*s)).count();
        by.extend((n > 0).then(|| format!("{n} {s}")));
    }
    let unjudged = all().filter(Option::is_none).count();
    by.extend((unjudged > 0).then(|| format!("{unjudged} not judged by a rule")));
    by.join(", ")
}

/// What holds of a setting of a NIC's firmware after its next reset, and what holds now.
pub(crate) const NEXT: &str = "nic_firmware.settings.next";
pub(crate) const NOW: &str = "nic_firmware.settings.current";

/// What differs, in words: whose, and the fact, or the name of what names itself (a setting, an argument, a module).
pub(crate) fn title(at: &str, fact: &str, what: &str, part: &str) -> String {
    let names_itself = ["nic_firmware.settings", "kernel."].iter().any(|p| fact.starts_with(p));
    let what = match (what.is_empty(), part.is_empty()) {
        (_, false) if fact == NEXT => format!("{part} after the next reset"),
        (_, false) if names_itself => part.to_owned(),
        (true, true) if ["pci", "gpus", "rdma", "nic_firmware"].contains(&fact) => "the device itself".to_owned(),
        (true, true) => fact.to_owned(),
        (true, false) => format!("{fact} {part}"),
        (false, true) => what.to_owned(),
        (false, false) => format!("{what} ({part})"),
    };
    if at.is_empty() { what } else { format!("{at}: {what}") }
}

impl Side<'_> {
    fn words(&self, unit: &str) -> String {
        match self {
            Side::Value(v) => with_unit(v, unit),
            Side::Absent => "absent".to_owned(),
            Side::NotListed => "not listed".to_owned(),
        }
    }
}

/// A number with its unit; what is no number (`8192 KiB`, `unlimited`) says its own.
pub(crate) fn with_unit(value: &str, unit: &str) -> String {
    let is_number = value.parse::<f64>().is_ok_and(f64::is_finite);
    if is_number && !unit.is_empty() { format!("{value} {unit}") } else { value.to_owned() }
}

fn row(g: Group<'_>) -> Row<'_> {
    let d = g.first;
    let (what, unit) = match d.what {
        What::Fact(def) => (def.what, def.unit.symbol()),
        What::Thing(_) => ("", ""),
    };
    let names = |side: usize| g.names.iter().filter_map(|n| n[side].as_deref()).collect();
    Row {
        severity: d.severity(),
        at: if g.roles.is_empty() { owner(d) } else { folded(&g.roles) },
        names: [names(0), names(1)],
        fact: d.what.id(),
        part: &d.part,
        what,
        unit,
        sides: [side(&d.sides[0]), side(&d.sides[1])],
        rules: [said(&d.truth.sides[0]), said(&d.truth.sides[1])],
        moves: d.moves,
    }
}

fn owner(d: &linerate_fleet::diff::Difference) -> String {
    match &d.whose {
        linerate_fleet::Whose::Named(name) => name.clone(),
        _ => String::new(),
    }
}

fn side(s: &Shown) -> Side<'_> {
    match s {
        Shown::Value(v) => Side::Value(v),
        Shown::Absent => Side::Absent,
        Shown::NotListed => Side::NotListed,
    }
}

fn said(all: &[Said]) -> Vec<Saying<'_>> {
    all.iter().map(|s| Saying { rule: s.rule, status: s.status, severity: s.severity, message: &s.message }).collect()
}

fn answer(v: &Verdicts) -> Answer<'_> {
    let at = v.role.as_ref().map(ToString::to_string).unwrap_or_default();
    let subject = if v.subject == "node" { "" } else { v.subject.as_str() };
    Answer { at, subject, rules: [said(&v.truth.sides[0]), said(&v.truth.sides[1])] }
}

//! Many nodes: each as it comes, then which rules fail on which of them, and where. What is written of a node is not kept: memory grows with the
//! catalogue and with what differs between nodes.

mod lines;
mod looked;
mod markdown;
mod text;

pub(crate) use looked::Member;
pub use looked::{Looked, Looker};

use crate::{Counts, Style, suppressed};
use linerate_fleet::audit::Sets;
use linerate_fleet::drift::Members;
use linerate_fleet::identity::Remark;
use linerate_rules::{Answer, Rule, Severity, Status, Survey, Terms, Usage};
use looked::{Seen, Told};
use serde::Serialize;
use std::io::{self, Write};

/// How many nodes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For a terminal.
    Text(Style),
    /// One JSON object a line: `linerate.fleet-node/1` for each node (docs/schema/fleet-node-1.json), `linerate.fleet/1` at the end
    /// (docs/schema/fleet-1.json).
    JsonLines,
    /// SARIF 2.1.0: one run, the results of all nodes.
    Sarif,
    /// JUnit XML: a suite for each node.
    Junit,
    /// For a ticket: what fails, where, and on which nodes.
    Markdown,
}

/// The summary under construction.
#[derive(Debug)]
pub struct Fleet<'r> {
    format: Format,
    asked: &'r [&'static Rule],
    terms: &'r Terms,
    usage: Usage,
    /// Nodes by exit code 0, 1, 2, and those that could not be read.
    nodes: [u64; 4],
    /// In the order in which the rules were first met, which is the order of every further node.
    rules: Vec<(&'static Rule, Tally)>,
    sets: Sets,
    /// Nodes by exit code, by their number in `sets`.
    by_code: [Members; 3],
    /// Names of nodes that could not be read, and why: where that is written at the end.
    broken: Vec<(String, String)>,
    /// What names and identities say together.
    remarks: Vec<String>,
    /// Whether the head of the document was written, and whether something in its list.
    begun: (bool, bool),
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Tally {
    severity: Option<Severity>,
    fail: u64,
    unknown: u64,
    pass: u64,
    not_applicable: u64,
}

impl<'r> Fleet<'r> {
    /// Nothing yet, of nodes that are judged by these rules, on these terms.
    #[must_use]
    pub fn new(format: Format, rules: &'r [&'static Rule], terms: &'r Terms) -> Self {
        Fleet {
            format,
            asked: rules,
            terms,
            usage: Usage::default(),
            nodes: [0; 4],
            rules: Vec::new(),
            sets: Sets::default(),
            by_code: Default::default(),
            broken: Vec::new(),
            remarks: Vec::new(),
            begun: (false, false),
        }
    }

    /// What looks at nodes, in any thread.
    #[must_use]
    pub fn looker(&self) -> Looker<'r> {
        Looker { format: self.format, rules: self.asked, terms: self.terms }
    }

    /// Takes a node in and writes what is written of it alone.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn node(&mut self, label: &str, looked: Looked, out: &mut dyn Write) -> io::Result<()> {
        let seen = match looked.0 {
            Seen::Counted { survey, spots, told } => {
                self.count(survey.exit_code());
                survey.used(&mut self.usage);
                self.tally(&survey);
                if let Some(members) = self.by_code.get_mut(usize::from(survey.exit_code())) {
                    members.insert(u32::try_from(self.sets.count()).unwrap_or(u32::MAX));
                }
                self.sets.node(label, spots);
                (survey, told)
            }
            Seen::Written { text, exit_code, usage } => {
                self.count(exit_code);
                self.usage.and(usage);
                return self.add(&text, out);
            }
        };
        let (survey, told) = seen;
        match self.format {
            Format::Text(style) => text::node(style, label, &survey, out),
            Format::JsonLines => lines::node(label, &survey, &told, out),
            _ => Ok(()),
        }
    }

    /// Takes in a node that could not be read: nothing is known about it.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn unreadable(&mut self, label: &str, error: &str, out: &mut dyn Write) -> io::Result<()> {
        self.count(3);
        match self.format {
            Format::Text(style) => text::unreadable(style, label, error, out),
            Format::JsonLines => lines::unreadable(label, error, out),
            Format::Junit => {
                let suite = crate::junit::unreadable(label, error);
                self.add(suite.as_bytes(), out)
            }
            Format::Sarif | Format::Markdown => {
                self.broken.push((label.to_owned(), error.trim().to_owned()));
                Ok(())
            }
        }
    }

    /// What names and identities of the nodes say together. SARIF and JUnit have no place for it.
    pub fn remark(&mut self, remarks: &[Remark]) {
        self.remarks = crate::identity::words(remarks);
    }

    fn count(&mut self, code: u8) {
        if let Some(n) = self.nodes.get_mut(usize::from(code)) {
            *n += 1;
        }
    }

    /// A part of a document that is one list.
    fn add(&mut self, part: &[u8], out: &mut dyn Write) -> io::Result<()> {
        self.begin(out)?;
        if part.is_empty() {
            return Ok(());
        }
        if self.begun.1 && self.format == Format::Sarif {
            out.write_all(b",\n")?;
        }
        self.begun.1 = true;
        out.write_all(part)
    }

    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match (std::mem::replace(&mut self.begun.0, true), self.format) {
            (false, Format::Sarif) => crate::sarif::begin(out),
            (false, Format::Junit) => crate::junit::begin(out),
            _ => Ok(()),
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
    pub fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match self.format {
            Format::Text(style) => text::last(self, style, out),
            Format::JsonLines => lines::last(self, out),
            Format::Markdown => markdown::render(self, out),
            Format::Sarif => {
                self.begin(out)?;
                crate::sarif::end(self.asked, &self.terms.only, &self.broken, out)
            }
            Format::Junit => {
                self.begin(out)?;
                crate::junit::end(out)
            }
        }
    }

    /// Rules by what they say, the worst first.
    fn tallies(&self) -> Vec<(&'static str, Tally)> {
        let mut rules: Vec<(&'static str, Tally)> = self.rules.iter().map(|(r, t)| (r.id, *t)).collect();
        rules.sort_by_key(|(id, t)| (std::cmp::Reverse((t.severity, t.fail, t.unknown)), *id));
        rules
    }

    /// Suppressions that are of no use any more. SARIF and JUnit have no place for them.
    #[must_use]
    pub fn to_review(&self) -> Vec<String> {
        suppressed::remarks(&self.usage)
    }

    /// `5 nodes: 2 with findings, 1 unknown, 2 good`.
    fn headline(&self) -> String {
        let [good, bad, doubt, broken] = self.nodes;
        let total = good + bad + doubt + broken;
        let mut text = match self.terms.fail_on {
            Some(Severity::Low) => format!("{total} nodes: {bad} with findings, {doubt} unknown, {good} good"),
            Some(least) => format!(
                "{total} nodes: {bad} with findings of severity {least} or above (--fail-on), {doubt} unknown, {good} without"
            ),
            None => format!("{total} nodes; no finding fails the audit (--fail-on never)"),
        };
        if broken > 0 {
            text.push_str(&format!(", {broken} could not be read"));
        }
        text.push_str(&suppressed::count(self.usage.took()));
        text
    }

    /// `on all 126 nodes`, `2 of 126 nodes`: of those that were read.
    fn how_many(&self, count: usize) -> String {
        let (read, [.., broken]) = (self.sets.count(), self.nodes);
        match (count == read && read > 1, broken) {
            (true, 0) => format!("on all {read} nodes"),
            (true, _) => format!("on all {read} nodes that were read"),
            (false, _) => format!("{count} of {read} nodes"),
        }
    }
}

/// Counts, then the worst answer.
fn told(survey: &Survey) -> String {
    let counts = Counts::of_survey(survey);
    let mut text = format!("{} fail, {} unknown, {} pass", counts.findings(), counts.unknown, counts.pass);
    if !survey.suppressed.is_empty() {
        text.push_str(&format!(", {} suppressed", survey.suppressed.len()));
    }
    if let Some(v) = &survey.first {
        text.push_str(&format!(": {} {}: {}", v.rule.id, v.finding.subject, v.finding.message));
    }
    text
}

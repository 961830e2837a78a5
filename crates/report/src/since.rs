//! A fleet beside its own past, in three forms.

use crate::diff::{head, with_unit};
use crate::doctor::words::counted;
use crate::style::{Page, Style, Tone};
use crate::{VERSION, drift};
use linerate_fleet::diff::Shown;
use linerate_fleet::names;
use linerate_fleet::since::{Change, Changes};
use linerate_out::markdown::{cell, inline};
use linerate_rules::Severity;
use serde::Serialize;
use std::io::{self, Write};

/// Name and version of the JSON.
pub const SCHEMA: &str = "linerate.drift-since/1";

/// What changed on many nodes, for a reader.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Nodes of which two times were compared.
    pub count: usize,
    /// Nodes on which nothing changed.
    pub same: usize,
    /// Nodes of which nothing could be compared, folded.
    pub blind: String,
    /// Nodes of which there is only one time, folded.
    pub new: String,
    /// Sources that could not be read.
    pub unreadable: Vec<drift::Unreadable>,
    /// The worst first, then those of most nodes.
    pub changes: Vec<Row>,
    /// 0: nothing changed; 1: something did; 2: nothing, but something could not be compared.
    pub exit_code: u8,
}

/// A change.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Of the worst rule that fails before or now.
    pub severity: Option<Severity>,
    /// Whose: `rail 0-3 NIC`; empty for the node itself.
    pub at: String,
    /// Id of the fact; where a thing came or went, what the ids of its facts begin with.
    pub fact: &'static str,
    /// Which of the owner's.
    pub part: String,
    /// The fact in words.
    pub what: &'static str,
    /// Before.
    pub before: String,
    /// Now.
    pub now: String,
    /// Rules that failed before.
    pub failed: Vec<&'static str>,
    /// Rules that fail now.
    pub fails: Vec<&'static str>,
    /// The nodes, folded.
    pub nodes: String,
    /// How many.
    pub count: usize,
}

impl Report {
    /// Of what changed. `new`: names of nodes of which there is no earlier time.
    #[must_use]
    pub fn of(changes: &Changes, new: &[String], unreadable: Vec<drift::Unreadable>) -> Self {
        let rows: Vec<Row> = changes.sorted().into_iter().map(row).collect();
        let doubt = changes.nodes == 0 || !changes.blind.is_empty() || !unreadable.is_empty();
        Report {
            count: changes.nodes,
            same: changes.same,
            blind: names::folded(changes.blind.iter().map(String::as_str)),
            new: names::folded(new.iter().map(String::as_str)),
            unreadable,
            exit_code: if rows.is_empty() { 2 * u8::from(doubt) } else { 1 },
            changes: rows,
        }
    }

    /// Writes it.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, format: drift::Format, out: &mut dyn Write) -> io::Result<()> {
        match format {
            drift::Format::Text(style) => self.text(style, out),
            drift::Format::Json => crate::json::write_document(SCHEMA, self, out),
            drift::Format::Markdown => self.markdown(out),
        }
    }

    fn headline(&self) -> String {
        let nodes = counted(self.count, "node", "nodes");
        match self.changes.len() {
            0 => format!("{nodes}: nothing changed"),
            n => format!("{nodes}: {}; {} unchanged", counted(n, "change", "changes"), self.same),
        }
    }

    fn remarks(&self) -> Vec<String> {
        let mut out = Vec::new();
        if !self.new.is_empty() {
            out.push(format!("no earlier snapshot to compare with: {}", self.new));
        }
        if !self.blind.is_empty() {
            out.push(format!("nothing could be compared, because no fact is shown at both times: {}", self.blind));
        }
        out.extend(crate::unread::lines(self.unreadable.iter().map(|u| (u.source.as_str(), u.why.as_str()))));
        out
    }

    fn text(&self, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let mut page = Page::new(out, style);
        page.item(0, "", Tone::Plain, Tone::Bold, &self.headline())?;
        self.remarks().iter().try_for_each(|r| page.item(0, "·", Tone::Mild, Tone::Plain, r))?;
        for c in &self.changes {
            page.blank()?;
            head(&mut page, c.severity, &c.title())?;
            page.item(9, "before", Tone::Dim, Tone::Plain, &c.before)?;
            page.item(9, "now   ", Tone::Dim, Tone::Plain, &c.now)?;
            for (word, tone, rules) in [("fails", Tone::Bad, &c.fails), ("failed before", Tone::Good, &c.failed)] {
                let only = |r: &&&str| word == "fails" || !c.fails.contains(*r);
                rules.iter().filter(only).try_for_each(|r| page.item(11, word, tone, Tone::Plain, r))?;
            }
            page.item(9, "on", Tone::Dim, Tone::Plain, &c.nodes)?;
            if style.verbose {
                page.item(9, "", Tone::Plain, Tone::Dim, &format!("fact {}", c.fact))?;
            }
        }
        Ok(())
    }

    fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "# linerate drift --since\n\n**{}**\n", inline(&self.headline()))?;
        self.remarks().iter().try_for_each(|r| writeln!(out, "- {}", inline(r)))?;
        if !self.changes.is_empty() {
            writeln!(out, "\n| | what | before | now | nodes | fails now |\n|---|---|---|---|---|---|")?;
        }
        for c in &self.changes {
            writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} |",
                c.severity.map_or("", |s| s.name()),
                cell(&c.title()),
                cell(&c.before),
                cell(&c.now),
                cell(&c.nodes),
                cell(&c.fails.join(", "))
            )?;
        }
        writeln!(out, "\nWritten by linerate {VERSION}.")
    }
}

impl Row {
    fn title(&self) -> String {
        crate::diff::title(&self.at, self.fact, self.what, &self.part)
    }
}

fn row(c: &Change) -> Row {
    let words = |s: &Shown| match s {
        Shown::Value(v) => with_unit(v, c.unit.symbol()),
        Shown::Absent => "absent".to_owned(),
        Shown::NotListed => "not listed".to_owned(),
    };
    let [before, now] = [words(&c.sides[0]), words(&c.sides[1])];
    let [failed, fails] = c.failing.clone();
    Row {
        severity: c.severity,
        at: c.at.clone(),
        fact: c.fact,
        part: c.part.clone(),
        what: c.what,
        before,
        now,
        failed,
        fails,
        nodes: names::folded(c.nodes.iter().map(String::as_str)),
        count: c.nodes.len(),
    }
}

//! Which nodes fulfil a condition: a set to paste, lines, JSON, or a table of why.

use crate::doctor::words::counted;
use crate::style::{Page, Style, Tone};
use linerate_fleet::names;
use serde::Serialize;
use std::io::{self, Write};

/// Name and version of the JSON.
pub const SCHEMA: &str = "linerate.where/1";

/// An answer.
#[derive(Debug, Serialize)]
pub struct Located {
    /// The conditions as they were asked.
    pub conditions: Vec<String>,
    /// Of which subjects; `null`: any.
    pub subject: Option<String>,
    /// Nodes that fulfil all conditions, folded.
    pub set: String,
    /// The same, one by one.
    pub nodes: Vec<Found>,
    /// Nodes that could not tell, folded.
    pub cannot_tell: String,
    /// How many they are.
    pub cannot_tell_count: usize,
    /// How many do not fulfil the conditions.
    pub no: usize,
    /// What they show, the most frequent first.
    pub shown: Vec<Shown>,
    /// What names and identities of all snapshots say together.
    pub remarks: Vec<String>,
    /// 0: some nodes; 1: none; 2: none, but some could not tell.
    pub exit_code: u8,
}

/// A node.
#[derive(Debug, Serialize)]
pub struct Found {
    /// How people call it.
    pub label: String,
    /// Its identity where both ids are known, else its label.
    pub node: String,
    /// Unix time of the snapshot, seconds.
    pub time: u64,
    /// Path of the snapshot in the directory.
    pub snapshot: String,
}

/// A value that fulfils a condition.
#[derive(Debug, Serialize)]
pub struct Shown {
    /// The fact or rule.
    pub id: &'static str,
    /// Whose: `rail 3 NIC`; empty for the node itself.
    pub subject: String,
    /// Which of the subject's.
    pub part: String,
    /// The value, or what the rule says; `null`: it is certainly not there.
    pub value: Option<String>,
    /// How many nodes show it.
    pub count: usize,
    /// These, folded.
    pub nodes: String,
}

/// How an answer is written.
#[derive(Debug, Clone, Copy)]
pub enum Format {
    /// One word, for `srun --exclude`, `clush -w`.
    Set,
    /// A name a line.
    Lines,
    /// For a person.
    Text(Style),
    /// For programs.
    Json,
}

/// Values that are listed where not all are wanted.
const VALUES: usize = 20;

impl Located {
    /// Of what fulfils the conditions, could not tell, and does not; without remarks.
    #[must_use]
    pub fn of(
        (conditions, subject): (Vec<String>, Option<String>),
        nodes: Vec<Found>,
        cannot_tell: &[&str],
        no: usize,
        mut shown: Vec<Shown>,
    ) -> Self {
        shown.sort_by(|a, b| (b.count, &a.subject, &a.part, &a.value).cmp(&(a.count, &b.subject, &b.part, &b.value)));
        let exit_code = match (nodes.is_empty(), cannot_tell.is_empty()) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2,
        };
        Located {
            conditions,
            subject,
            set: names::folded(nodes.iter().map(|n| n.label.as_str())),
            nodes,
            cannot_tell: names::folded(cannot_tell.iter().copied()),
            cannot_tell_count: cannot_tell.len(),
            no,
            shown,
            remarks: Vec::new(),
            exit_code,
        }
    }

    /// Writes it.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, format: Format, out: &mut dyn Write) -> io::Result<()> {
        match format {
            // Nothing to exclude is no line at all.
            Format::Set if self.set.is_empty() => Ok(()),
            Format::Set => writeln!(out, "{}", linerate_out::terminal(&self.set)),
            Format::Lines => {
                let labels: std::collections::BTreeSet<&str> = self.nodes.iter().map(|n| n.label.as_str()).collect();
                labels.into_iter().try_for_each(|l| writeln!(out, "{}", linerate_out::terminal(l)))
            }
            Format::Json => crate::json::write_document(SCHEMA, self, out),
            Format::Text(style) => self.text(style, out),
        }
    }

    fn text(&self, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let mut page = Page::new(out, style);
        let of = self.nodes.len() + self.no + self.cannot_tell_count;
        let asked = self.conditions.join(" and ");
        let subject = self.subject.as_ref().map(|s| format!(" of {s}")).unwrap_or_default();
        let head = format!("{} of {}: {asked}{subject}", self.nodes.len(), counted(of, "node", "nodes"));
        page.item(0, "", Tone::Plain, Tone::Bold, &head)?;
        if !self.set.is_empty() {
            page.item(0, "", Tone::Plain, Tone::Plain, &self.set)?;
        }
        let most = if style.verbose { self.shown.len() } else { VALUES };
        for s in self.shown.iter().take(most) {
            page.blank()?;
            let what = [s.subject.as_str(), s.part.as_str(), s.id];
            let what: Vec<&str> = what.into_iter().filter(|w| !w.is_empty()).collect();
            let value = s.value.as_deref().unwrap_or("absent");
            page.item(0, "", Tone::Plain, Tone::Bold, &format!("{}: {value}", what.join(", ")))?;
            page.item(2, "", Tone::Plain, Tone::Plain, &format!("{}: {}", counted(s.count, "node", "nodes"), s.nodes))?;
        }
        if self.shown.len() > most {
            let more = counted(self.shown.len() - most, "more value", "more values");
            page.item(0, "", Tone::Plain, Tone::Dim, &format!("and {more} (--verbose)"))?;
        }
        if self.cannot_tell_count > 0 {
            page.blank()?;
            let head = format!("unknown on {}", counted(self.cannot_tell_count, "node", "nodes"));
            page.item(0, "?", Tone::Doubt, Tone::Plain, &format!("{head}: {}", self.cannot_tell))?;
        }
        if !self.remarks.is_empty() {
            page.blank()?;
        }
        for remark in &self.remarks {
            page.item(0, "·", Tone::Mild, Tone::Plain, remark)?;
        }
        Ok(())
    }
}

//! For a terminal: the worst difference first, each with both values and what rules say about them.

use super::{Report, Saying};
use crate::style::{Page, Style, Tone};
use crate::terminal::tone_of;
use linerate_rules::{Severity, Status};
use std::io::{self, Write};

/// Names of devices that are listed for one side.
const NAMES: usize = 8;

pub(super) fn render(report: &Report<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(out, style);
    page.field(0, "A", report.labels[0])?;
    page.field(0, "B", report.labels[1])?;
    page.blank()?;
    page.item(0, "", Tone::Plain, Tone::Bold, &report.headline())?;
    for remark in report.remarks() {
        page.item(0, "·", Tone::Mild, Tone::Plain, &remark)?;
    }
    for d in &report.differences {
        page.blank()?;
        head(&mut page, d.severity, &d.title())?;
        if d.names[0] == d.names[1] && report.paired_by_number {
            page.item(9, "", Tone::Plain, Tone::Dim, &listed(&d.names[0]))?;
        } else if d.names[0] != d.names[1] {
            for (side, names) in ["A", "B"].iter().zip(&d.names).filter(|(_, n)| !n.is_empty()) {
                page.item(9, &format!("{side} is"), Tone::Dim, Tone::Dim, &listed(names))?;
            }
        }
        for ((name, side), rules) in ["A", "B"].iter().zip(&d.sides).zip(&d.rules) {
            page.item(9, name, Tone::Dim, Tone::Plain, &side.words(d.unit))?;
            says(&mut page, rules)?;
        }
        if let Some(reason) = d.moves {
            page.item(9, "", Tone::Plain, Tone::Dim, &format!("can differ by itself: {reason}"))?;
        }
        if style.verbose {
            page.item(9, "", Tone::Plain, Tone::Dim, &format!("fact {}", d.fact))?;
        }
    }
    if !report.verdicts.is_empty() {
        page.heading("Other verdicts that differ")?;
    }
    for v in &report.verdicts {
        page.blank()?;
        let at: Vec<&str> = [v.at.as_str(), v.subject].into_iter().filter(|t| !t.is_empty()).collect();
        let title = if at.is_empty() { "the node".to_owned() } else { at.join(", ") };
        head(&mut page, v.severity(), &title)?;
        for (name, rules) in ["A", "B"].iter().zip(&v.rules) {
            page.item(9, name, Tone::Dim, Tone::Plain, "")?;
            says(&mut page, rules)?;
        }
    }
    Ok(())
}

/// The head of a difference: how bad, and what.
pub(crate) fn head(page: &mut Page<'_>, severity: Option<Severity>, title: &str) -> io::Result<()> {
    let (tag, tone) = match severity {
        Some(s) => (s.name().to_uppercase(), tone_of(s)),
        None => ("-".to_owned(), Tone::Dim),
    };
    page.item(0, &format!("{tag:<8}"), tone, Tone::Bold, title)
}

fn says(page: &mut Page<'_>, rules: &[Saying<'_>]) -> io::Result<()> {
    for s in rules {
        let tone = match s.status {
            Status::Fail => tone_of(s.severity),
            Status::Unknown => Tone::Doubt,
            _ => Tone::Good,
        };
        page.item(11, &format!("{:<7}", s.status.name()), tone, Tone::Plain, &format!("{}: {}", s.rule, s.message))?;
    }
    Ok(())
}

fn listed(names: &[&str]) -> String {
    let mut text = names.iter().take(NAMES).copied().collect::<Vec<_>>().join(", ");
    if names.len() > NAMES {
        text.push_str(&format!(" and {} more", names.len() - NAMES));
    }
    text
}

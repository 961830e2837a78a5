//! The page for a terminal.

use super::{Mood, Page, Remark, Section};
use crate::bench::plot::{Screen, plot_text};
use crate::style::{self, Style, Tone};
use crate::table::{Cell, Table, left, right};
use std::io::{self, Write};

/// Plots are no wider: lines of 200 columns are no picture.
const PLOT: usize = 110;

/// Writes the page.
///
/// # Errors
/// Those of the writer.
pub fn page_text(page: &Page, style: Style, out: &mut dyn Write) -> io::Result<()> {
    {
        let mut p = style::Page::new(out, style);
        p.text(0, Tone::Bold, &page.title)?;
        remarks(&mut p, &page.lead, 0)?;
    }
    for section in &page.sections {
        one(section, style, out)?;
    }
    let mut p = style::Page::new(out, style);
    if !page.footer.is_empty() {
        p.blank()?;
    }
    page.footer.iter().try_for_each(|line| p.text(0, Tone::Dim, line))
}

fn one(section: &Section, style: Style, out: &mut dyn Write) -> io::Result<()> {
    {
        let mut p = style::Page::new(out, style);
        p.heading(&section.heading)?;
        let widest = section.facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(20);
        for (name, value) in &section.facts {
            p.item(2, &format!("{name:<widest$}"), Tone::Dim, Tone::Plain, or_open(value))?;
        }
        if let Some(t) = &section.table {
            // The first column names the rows.
            let columns = (0..).zip(&t.heads);
            let mut table = Table::of(
                columns.map(|(i, head)| if t.is_number(i) { right(head, i as u32) } else { left(head, i as u32) }),
            );
            for row in &t.rows {
                table.row(row.iter().map(|c| Cell::plain(c)).collect());
            }
            if !section.facts.is_empty() {
                p.blank()?;
            }
            table.write(&mut p, 2)?;
        }
    }
    for plot in &section.plots {
        out.write_all(b"\n")?;
        let screen = Screen { width: style.width.min(PLOT), colour: style.colour, ..Screen::default() };
        plot_text(plot, screen, out)?;
    }
    let mut p = style::Page::new(out, style);
    if !section.plots.is_empty() && !section.remarks.is_empty() {
        p.blank()?;
    }
    remarks(&mut p, &section.remarks, 2)
}

/// A place to fill in.
fn or_open(value: &str) -> &str {
    if value.is_empty() { "…" } else { value }
}

fn remarks(p: &mut style::Page<'_>, all: &[Remark], indent: usize) -> io::Result<()> {
    for r in all {
        let (mark, tone) = match r.mood {
            Mood::Plain => ("·", Tone::Dim),
            Mood::Good => ("✓", Tone::Good),
            Mood::Warn => ("!", Tone::Warn),
            Mood::Bad => ("✗", Tone::Bad),
            Mood::Doubt => ("?", Tone::Doubt),
        };
        p.item(indent, mark, tone, Tone::Plain, &r.text)?;
    }
    Ok(())
}

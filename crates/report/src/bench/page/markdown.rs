//! The page for a ticket or a repository.

use super::{Page, Remark};
use crate::bench::plot::{Screen, plot_text};
use linerate_out::markdown::{block, cell, inline};
use std::io::{self, Write};

/// Writes the page; plots are drawn in characters.
///
/// # Errors
/// Those of the writer.
pub fn page_markdown(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# {}", inline(&page.title))?;
    remarks(&page.lead, out)?;
    for s in &page.sections {
        writeln!(out, "\n## {}", inline(&s.heading))?;
        if !s.facts.is_empty() {
            writeln!(out, "\n| | |\n|---|---|")?;
            s.facts.iter().try_for_each(|(name, value)| writeln!(out, "| {} | {} |", cell(name), cell(value)))?;
        }
        if let Some(t) = &s.table {
            let heads: Vec<String> = t.heads.iter().map(|h| cell(h)).collect();
            let rules: Vec<&str> = (0..heads.len()).map(|i| if t.is_number(i) { "---:" } else { "---" }).collect();
            writeln!(out, "\n| {} |\n|{}|", heads.join(" | "), rules.join("|"))?;
            for row in &t.rows {
                let cells: Vec<String> = row.iter().take(heads.len()).map(|c| cell(c)).collect();
                writeln!(out, "| {} |", cells.join(" | "))?;
            }
        }
        for plot in &s.plots {
            let mut text = Vec::new();
            plot_text(plot, Screen::default(), &mut text)?;
            let text = String::from_utf8_lossy(&text);
            writeln!(out, "\n{}", block("text", text.trim_end_matches('\n')))?;
        }
        remarks(&s.remarks, out)?;
    }
    if page.footer.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = page.footer.iter().map(|line| inline(line)).collect();
    writeln!(out, "\n---\n\n{}", lines.join("\\\n"))
}

fn remarks(all: &[Remark], out: &mut dyn Write) -> io::Result<()> {
    if !all.is_empty() {
        writeln!(out)?;
    }
    for r in all {
        let word = r.mood.word();
        let word = if word.is_empty() { String::new() } else { format!("**{word}**: ") };
        writeln!(out, "- {word}{}", inline(&r.text))?;
    }
    Ok(())
}

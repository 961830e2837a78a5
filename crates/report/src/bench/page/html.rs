//! The page as one HTML file that needs nothing else: drawings inside, light and dark, fit for paper, no scripts.

use super::{Mood, Page, Remark, Section};
use crate::VERSION;
use crate::bench::plot::plot_svg;
use linerate_out::markup::html as text;
use std::io::{self, Write};

const CSS: &str = include_str!("page.css");

/// Writes the page.
///
/// # Errors
/// Those of the writer.
pub fn page_html(page: &Page, out: &mut dyn Write) -> io::Result<()> {
    let title = text(&page.title);
    writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"linerate {VERSION}\">\n\
         <title>{title}</title>\n<style>\n{CSS}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>"
    )?;
    remarks(&page.lead, "lead", out)?;
    for (i, s) in page.sections.iter().enumerate() {
        section(s, i, out)?;
    }
    if !page.footer.is_empty() {
        writeln!(out, "<footer>")?;
        page.footer.iter().try_for_each(|line| writeln!(out, "<p>{}</p>", text(line)))?;
        writeln!(out, "</footer>")?;
    }
    writeln!(out, "</main>\n</body>\n</html>")
}

fn section(s: &Section, number: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<section>\n<h2>{}</h2>", text(&s.heading))?;
    if !s.facts.is_empty() {
        writeln!(out, "<dl>")?;
        for (name, value) in &s.facts {
            let class = if value.is_empty() { " class=\"open\"" } else { "" };
            writeln!(out, "<dt>{}</dt><dd{class}>{}</dd>", text(name), text(value))?;
        }
        writeln!(out, "</dl>")?;
    }
    if let Some(t) = &s.table {
        let class = |i| if t.is_number(i) { " class=\"n\"" } else { "" };
        writeln!(out, "<div class=\"scroll\"><table>\n<thead><tr>")?;
        for (i, head) in t.heads.iter().enumerate() {
            write!(out, "<th scope=\"col\"{}>{}</th>", class(i), text(head))?;
        }
        writeln!(out, "</tr></thead>\n<tbody>")?;
        for row in &t.rows {
            write!(out, "<tr>")?;
            for (i, cell) in row.iter().take(t.heads.len()).enumerate() {
                let class = if cell.is_empty() { " class=\"open\"" } else { class(i) };
                write!(out, "<td{class}>{}</td>", text(cell))?;
            }
            writeln!(out, "</tr>")?;
        }
        writeln!(out, "</tbody>\n</table></div>")?;
    }
    for (i, plot) in s.plots.iter().enumerate() {
        writeln!(out, "<figure>\n{}</figure>", plot_svg(plot, &format!("plot-{number}-{i}")))?;
    }
    remarks(&s.remarks, "", out)?;
    writeln!(out, "</section>")
}

fn remarks(all: &[Remark], class: &str, out: &mut dyn Write) -> io::Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    writeln!(out, "<ul{class}>")?;
    for r in all {
        let (class, word) = match r.mood {
            Mood::Plain => ("", ""),
            Mood::Good => (" class=\"good\"", r.mood.word()),
            Mood::Warn => (" class=\"warn\"", r.mood.word()),
            Mood::Bad => (" class=\"bad\"", r.mood.word()),
            Mood::Doubt => (" class=\"doubt\"", r.mood.word()),
        };
        let word = if word.is_empty() { String::new() } else { format!("<b>{word}</b> ") };
        writeln!(out, "<li{class}>{word}{}</li>", text(&r.text))?;
    }
    writeln!(out, "</ul>")
}

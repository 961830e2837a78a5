//! For a terminal: a line for each node, then the sets.

use super::{Node, Report};
use crate::style::{Page, Style, Tone, clip};
use std::io::{self, Write};

/// Groups that are listed without `--verbose`.
const GROUPS: usize = 12;
/// The same for remarks.
const REMARKS: usize = 10;

pub(super) fn render(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(out, style);
    let width = |of: fn(&Node) -> &str, title: &str, most: usize| {
        let widths = report.nodes.iter().map(|n| of(n).chars().count());
        widths.chain([title.chars().count()]).max().unwrap_or(0).min(most)
    };
    let widths = [width(|n| &n.name, "NODE", 32), width(|n| &n.way, "WAY", 36)];
    let line = |cells: [&str; 2]| format!("{:<a$}  {:<b$}  ", cells[0], cells[1], a = widths[0], b = widths[1]);
    if !report.nodes.is_empty() {
        page.spans(&[(Tone::Dim, &line(["NODE", "WAY"])), (Tone::Dim, "GROUPS AND SOURCE")])?;
    }
    for node in &report.nodes {
        let (mark, tone) = match &node.answer {
            Some(a) if a.reached => (format!("{} ms  ", a.milliseconds), Tone::Good),
            Some(a) => (format!("{}  ", a.cause.unwrap_or("other")), Tone::Bad),
            None => (String::new(), Tone::Plain),
        };
        let head = line([&node.name, &node.way]);
        let rest = style.width.saturating_sub(head.chars().count() + mark.chars().count());
        let rest = if style.verbose { usize::MAX } else { rest.max(16) };
        let rest = clip(&about(node), rest).into_owned();
        page.spans(&[(Tone::Plain, &head), (tone, &mark), (Tone::Dim, &rest)])?;
    }
    if !report.groups.is_empty() {
        page.heading("Groups")?;
        let shown = page.shown(GROUPS);
        for group in report.groups.iter().take(shown) {
            page.item(2, &format!("@{}", group.name), Tone::Mild, Tone::Plain, &group.set.to_string())?;
        }
        page.more(2, report.groups.len(), shown, "")?;
    }
    if !report.remarks.is_empty() {
        page.heading("Conflicts, and sources that were not read")?;
        let shown = page.shown(REMARKS);
        for remark in report.remarks.iter().take(shown) {
            page.item(2, "·", Tone::Warn, Tone::Plain, remark)?;
        }
        page.more(2, report.remarks.len(), shown, "")?;
    }
    if let Some(reached) = &report.reached {
        page.heading(&format!("{} of {} reached", reached.len(), report.count))?;
        for group in &report.unreached {
            let text = format!("{} ({}): {}", group.sentence, group.set.len(), group.set);
            page.item(2, &format!("{:<10}", group.cause), Tone::Bad, Tone::Plain, &text)?;
        }
    }
    page.blank()?;
    let reference = report.reference.as_ref().map(|r| format!("; reference {r}")).unwrap_or_default();
    page.text(0, Tone::Bold, &format!("{} nodes{reference}", report.count))?;
    if report.nodes.is_empty() && report.sources.is_empty() {
        page.text(0, Tone::Plain, "No source of node names was found: use --inventory, or name a set of nodes.")?;
    } else if !report.nodes.is_empty() {
        page.verbatim(0, &report.set.to_string())?;
    }
    Ok(())
}

/// Groups, then where it is named.
fn about(node: &Node) -> String {
    let mut words: Vec<String> = node.groups.iter().map(|g| format!("@{g}")).collect();
    if node.sudo {
        words.push("sudo".to_owned());
    }
    let place = |s: &super::Source| s.line.map_or_else(|| s.what.clone(), |line| format!("{}:{line}", s.what));
    let places: Vec<String> = node.sources.iter().map(place).collect();
    words.push(format!("({})", places.join(", ")));
    words.join(" ")
}

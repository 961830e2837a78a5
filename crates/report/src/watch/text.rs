//! For a terminal: what grew, the worst first, with what it means and what to do.

use super::{Counter, Node, Passed, Report, Watched};
use crate::doctor::words::{counted, thousands};
use crate::style::{Page, Style, Tone};
use linerate_node::counters::known::{Kind, Unit};
use std::io::{self, Write};

/// Lines of a section where not all are wanted.
const LINES: usize = 12;
/// Columns of a tag.
const TAG: usize = 6;

pub(super) fn render(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(out, style);
    for (i, node) in report.nodes.iter().enumerate() {
        if i > 0 {
            page.blank()?;
        }
        one(&mut page, node)?;
    }
    Ok(())
}

fn one(page: &mut Page<'_>, node: &Node) -> io::Result<()> {
    let Some(w) = &node.watched else {
        let why = node.error.as_deref().unwrap_or("not read");
        return page.item(0, &node.name, Tone::Bold, Tone::Doubt, &format!("not read: {why}"));
    };
    page.text(0, Tone::Bold, &format!("{}: {}", node.name, w.said))?;
    let tone = Tone::Dim;
    let time = w.seconds.map_or_else(|| "time between them unknown".to_owned(), |s| format!("{s:.1} s in all"));
    let intervals = counted(w.intervals, "interval", "intervals");
    page.text(0, tone, &format!("{intervals}, {time}; {} compared", counted(w.compared, "counter", "counters")))?;
    if w.restarted {
        page.item(
            0,
            "·",
            Tone::Mild,
            Tone::Plain,
            "the node was rebooted in between: software counters restarted from zero",
        )?;
    }
    for c in w.grown.iter().filter(|c| c.kind.is_some_and(Kind::is_bad)) {
        fault(page, c, w)?;
    }
    for s in &w.stuck {
        page.blank()?;
        let text = format!("{}: {} is at its maximum, {}", s.owner, s.counter, s.value);
        page.item(0, &format!("{:<TAG$}", "STUCK"), Tone::Doubt, Tone::Bold, &text)?;
        page.text(TAG + 1, Tone::Plain, "clear it (`perfquery -R`, or the port's reset), and watch again")?;
    }
    for (kind, title) in [
        (Kind::Congestion, "CONGESTION"),
        (Kind::Repaired, "REPAIRED  at once; not a fault, but compare the rate with other ports"),
        (Kind::Event, "EVENTS  that say nothing on their own"),
    ] {
        let list: Vec<&Counter> = w.grown.iter().filter(|c| c.kind == Some(kind)).collect();
        section(page, &list, title, |c| line(c, w))?;
    }
    section(page, &w.traffic.iter().collect::<Vec<_>>(), "TRAFFIC", passed)?;
    let unknown: Vec<&Counter> = w.grown.iter().filter(|c| c.kind.is_none()).collect();
    if page.style.verbose {
        return section(page, &unknown, "NOT JUDGED  linerate does not know their meaning", |c| line(c, w));
    }
    if !unknown.is_empty() {
        page.blank()?;
        let them = counted(unknown.len(), "more counter", "more counters");
        page.text(0, Tone::Dim, &format!("{them} of unknown meaning grew (--verbose lists them)"))?;
    }
    Ok(())
}

fn fault(page: &mut Page<'_>, c: &Counter, w: &Watched) -> io::Result<()> {
    let (tag, tone) = if c.kind == Some(Kind::Fault) { ("FAULT", Tone::Bad) } else { ("LOSS", Tone::Warn) };
    page.blank()?;
    page.item(0, &format!("{tag:<TAG$}"), tone, Tone::Bold, &line(c, w))?;
    page.text(TAG + 1, Tone::Plain, c.means.unwrap_or_default())?;
    page.item(TAG + 1, "→", Tone::Mild, Tone::Plain, c.then.unwrap_or_default())?;
    let now = format!("{} before, {} now", thousands(c.from), thousands(c.to));
    let seen = if c.at.is_empty() { now } else { format!("{}: {now}", c.at) };
    page.item(TAG + 1, "seen", Tone::Dim, Tone::Dim, &seen)
}

/// `mlx5_0 port 1: packet_seq_err +1,204, 20.1 a second, in 3 of 6 intervals`.
fn line(c: &Counter, w: &Watched) -> String {
    let least = if c.at_least { "at least " } else { "" };
    let mut text = format!("{}: {} {least}+{}", c.owner, c.counter, thousands(c.by));
    match (c.unit, c.per_second) {
        // Microseconds in a second are a share of the time.
        (Some(Unit::Microseconds), Some(rate)) => text.push_str(&format!(" µs, {:.2} % of the time", rate / 1e4)),
        (Some(Unit::Microseconds), None) => text.push_str(" µs"),
        (_, Some(rate)) if rate >= 100.0 => text.push_str(&format!(", {} a second", thousands(rate as u64))),
        (_, Some(rate)) => text.push_str(&format!(", {} a second", rounded(rate))),
        (_, None) => {}
    }
    if w.intervals > 1 {
        text.push_str(&format!(", in {} of {} intervals", c.in_intervals, w.intervals));
    }
    text
}

/// Three digits that count.
fn rounded(rate: f64) -> String {
    match rate {
        r if r >= 10.0 => format!("{r:.1}"),
        r if r >= 1.0 => format!("{r:.2}"),
        r => format!("{r:.3}"),
    }
}

fn passed(p: &Passed) -> String {
    let way = |gbps: Option<f64>, bytes: u64| match gbps {
        Some(g) => format!("{g:.3} Gb/s"),
        None => format!("{} bytes", thousands(bytes)),
    };
    if p.sent_bytes == 0 && p.received_bytes == 0 {
        return format!("{}: nothing passed", p.owner);
    }
    let (sent, received) = (way(p.sent_gbps, p.sent_bytes), way(p.received_gbps, p.received_bytes));
    format!("{}: sent {sent}, received {received}", p.owner)
}

fn section<T>(page: &mut Page<'_>, list: &[&T], title: &str, words: impl Fn(&T) -> String) -> io::Result<()> {
    page.heading_of(list, title)?;
    let shown = page.shown(LINES);
    list.iter().take(shown).try_for_each(|c| page.text(2, Tone::Plain, &words(c)))?;
    page.more(2, list.len(), shown.min(list.len()), "")
}

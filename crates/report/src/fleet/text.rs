//! For a terminal: a line for each node, then what fails on nearly all, what on some, and what could not be seen.

use super::Fleet;
use crate::style::{Page, Style, Tone, clip};
use crate::suppressed;
use crate::terminal::tone_of;
use linerate_fleet::audit::{Failing, Set};
use linerate_rules::{Status, Survey};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Columns of a label, a third of a narrow terminal; a longer one is cut rather than moving the others.
const LABEL: usize = 24;
/// Columns of a severity and the blank behind it.
const TAG: usize = 9;
/// Sets of nodes of one rule that are listed where not all are wanted.
const SETS: usize = 8;

pub(super) fn node(style: Style, label: &str, survey: &Survey, out: &mut dyn Write) -> io::Result<()> {
    let worst = survey.first.as_ref().filter(|v| v.finding.status == Status::Fail);
    let (tag, tone) = match (survey.exit_code(), worst) {
        (0, Some(v)) => (v.severity().name(), tone_of(v.severity())),
        (0, None) => ("good", Tone::Good),
        (1, Some(v)) => (v.severity().name(), tone_of(v.severity())),
        _ => ("unknown", Tone::Doubt),
    };
    line(style, label, tag, tone, &super::told(survey), out)
}

pub(super) fn unreadable(style: Style, label: &str, error: &str, out: &mut dyn Write) -> io::Result<()> {
    line(style, label, "no data", Tone::Doubt, error, out)
}

/// One line, whatever the width.
fn line(style: Style, label: &str, tag: &str, tone: Tone, text: &str, out: &mut dyn Write) -> io::Result<()> {
    let label = linerate_out::terminal(label);
    let text = linerate_out::terminal(text.trim());
    let tag = format!("{tag:<8}");
    let columns = LABEL.min(style.width / 3);
    let used = columns + 1 + tag.chars().count() + 1;
    let text = clip(&text, style.width.saturating_sub(used).max(16));
    write!(out, "{:<columns$} ", clip(&label, columns))?;
    Page::new(out, style).row(&tag, tone, &text)
}

pub(super) fn last(fleet: &Fleet<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(out, style);
    page.heading(&format!("{} (exit code {})", fleet.headline(), fleet.exit_code()))?;
    if let Some(filter) = suppressed::filter(fleet.terms) {
        page.text(0, Tone::Plain, &format!("rules: {filter}"))?;
    }
    for remark in &fleet.remarks {
        page.item(0, "·", Tone::Mild, Tone::Plain, remark)?;
    }
    let used: Vec<_> = fleet.usage.used().collect();
    page.heading_of(&used, "Suppressed (not counted)")?;
    for (s, n) in used {
        page.item(0, &format!("{n:>4} ×"), Tone::Dim, Tone::Plain, &format!("{}: {}", s.what(), suppressed::why(s)))?;
    }
    let review = suppressed::remarks(&fleet.usage);
    page.heading_of(&review, "Suppressions to review")?;
    review.iter().try_for_each(|r| page.item(0, "·", Tone::Warn, Tone::Plain, r))?;
    let failing = fleet.sets.failing(Status::Fail);
    let (common, some): (Vec<_>, Vec<_>) = failing.iter().partition(|f| fleet.sets.is_common(&f.nodes));
    page.heading_of(&common, "On all or nearly all nodes")?;
    common.iter().try_for_each(|f| rule(fleet, f, &mut page))?;
    page.heading_of(&some, if common.is_empty() { "Findings" } else { "On some nodes" })?;
    some.iter().try_for_each(|f| rule(fleet, f, &mut page))?;
    if style.verbose {
        doubts_as_sets(fleet, &mut page)?
    } else {
        doubts(fleet, &mut page)?
    }
    passed(fleet, &mut page)
}

/// A rule, and below it where it fails, with the nodes.
fn rule(fleet: &Fleet<'_>, f: &Failing, page: &mut Page<'_>) -> io::Result<()> {
    let (tag, tone) = match f.status {
        Status::Fail => (f.severity.name(), tone_of(f.severity)),
        _ => ("unknown", Tone::Doubt),
    };
    let others = fleet.sets.others(&f.nodes);
    let but = match (fleet.sets.is_common(&f.nodes), others.len()) {
        (true, 1..) => format!(", all but {}", fleet.sets.names(&others)),
        _ => String::new(),
    };
    page.item(
        0,
        &format!("{tag:<8}"),
        tone,
        Tone::Plain,
        &format!("{}: {}{but}", f.rule, fleet.how_many(f.nodes.len())),
    )?;
    let shown = page.shown(SETS);
    for set in f.sets.iter().take(shown) {
        let text = said(fleet, f, set);
        if !text.is_empty() {
            page.text(TAG, Tone::Plain, &text)?;
        }
    }
    page.more(TAG, f.sets.len(), shown, "")
}

/// Where, and on which nodes, where the line above does not say it. Empty: it says both.
fn said(fleet: &Fleet<'_>, f: &Failing, set: &Set) -> String {
    let (place, all) = (set.place(), fleet.sets.is_common(&f.nodes) && set.nodes.len() == f.nodes.len());
    match (place.as_str(), all) {
        ("node", true) => String::new(),
        (_, true) => place,
        ("node", false) => fleet.sets.names(&set.nodes),
        _ => format!("{place}: {}", fleet.sets.names(&set.nodes)),
    }
}

fn doubts_as_sets(fleet: &Fleet<'_>, page: &mut Page<'_>) -> io::Result<()> {
    let all = fleet.sets.failing(Status::Unknown);
    page.heading_of(&all, NOT_SEEN)?;
    all.iter().try_for_each(|f| rule(fleet, f, page))
}

const NOT_SEEN: &str = "Not checked: missing data";

/// Rules by how many nodes they cannot tell of.
fn doubts(fleet: &Fleet<'_>, page: &mut Page<'_>) -> io::Result<()> {
    let mut by: BTreeMap<Reverse<u64>, Vec<&str>> = BTreeMap::new();
    for (id, t) in fleet.tallies().into_iter().filter(|(_, t)| t.unknown > 0) {
        by.entry(Reverse(t.unknown)).or_default().push(id);
    }
    let all: Vec<_> = by.into_iter().collect();
    page.heading_of(&all, &format!("{NOT_SEEN} (--verbose names the nodes)"))?;
    for (Reverse(count), mut rules) in all {
        rules.sort_unstable();
        let count = fleet.how_many(usize::try_from(count).unwrap_or(usize::MAX));
        page.item(0, "unknown ", Tone::Doubt, Tone::Plain, &format!("{count}: {}", rules.join(", ")))?;
    }
    Ok(())
}

/// Where all is wanted, what is right, too.
fn passed(fleet: &Fleet<'_>, page: &mut Page<'_>) -> io::Result<()> {
    if !page.style.verbose {
        return Ok(());
    }
    let of = |is: fn(&super::Tally) -> bool| -> Vec<&'static str> {
        let mut ids: Vec<_> =
            fleet.tallies().iter().filter(|(_, t)| t.fail + t.unknown == 0 && is(t)).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids
    };
    let (right, none) = (of(|t| t.pass > 0), of(|t| t.pass == 0));
    page.heading_of(&right, "Passed wherever they apply")?;
    if !right.is_empty() {
        page.text(0, Tone::Plain, &right.join(", "))?;
    }
    page.heading_of(&none, "Does not apply to any node")?;
    if none.is_empty() { Ok(()) } else { page.text(0, Tone::Plain, &none.join(", ")) }
}

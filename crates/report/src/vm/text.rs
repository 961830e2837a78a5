//! For a terminal: what explains it, host and guest together; then each audit, or what to do.

use super::{Check, Whole};
use crate::plan::text as plan;
use crate::style::{Page, Style, Tone};
use crate::{VERSION, terminal};
use linerate_rules::Verdict;
use linerate_rules::explain::{Explained, MEASURE, Side};
use linerate_vm::same::InGuest;
use std::io::{self, Write};

/// Answers that are listed without `--verbose`.
const LISTED: usize = 12;
/// Conclusions of NCCL that are named.
const NAMED: usize = 4;

pub(super) fn check(check: &Check<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    {
        let mut page = Page::new(&mut *out, style);
        page.item(0, &format!("linerate {VERSION}, check of domain"), Tone::Dim, Tone::Bold, check.domain)?;
        let missing = [("--host SNAPSHOT", !check.has_host), ("--guest SNAPSHOT", check.guest.is_none())];
        together(&check.explained(), &missing, &mut page)?;
        if let Some(compared) = check.compared {
            page.heading("NCCL")?;
            nccl("this guest", compared, &mut page)?;
        }
        page.heading(if check.has_host { "Host and domain" } else { "Domain" })?;
    }
    terminal::render(&check.host, style, out)?;
    if let Some(guest) = &check.guest {
        Page::new(&mut *out, style).heading("Guest")?;
        terminal::render(guest, style, out)?;
    }
    Ok(())
}

pub(super) fn whole(whole: &Whole<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    {
        let mut page = Page::new(&mut *out, style);
        let names: Vec<&str> = whole.guests.iter().map(|g| g.domain).collect();
        let about = format!("linerate {VERSION}, host {} and", whole.host.snapshot.label);
        page.item(0, &about, Tone::Dim, Tone::Bold, &names.join(", "))?;
        let unread = whole.guests.iter().filter(|g| g.report.is_none());
        let missing: Vec<String> = unread.map(|g| format!("--guest {}=SNAPSHOT", g.domain)).collect();
        let missing: Vec<(&str, bool)> = missing.iter().map(|m| (m.as_str(), true)).collect();
        together(&whole.explained(), &missing, &mut page)?;
        if whole.guests.iter().any(|g| g.compared.is_some()) {
            page.heading("NCCL")?;
        }
        for (domain, compared) in whole.guests.iter().filter_map(|g| Some((g.domain, g.compared?))) {
            nccl(domain, compared, &mut page)?;
        }
        page.heading("Host and domains: what to do")?;
    }
    plan::render(whole.plan, style, out)?;
    for (guest, plan) in whole.guests.iter().filter_map(|g| Some((g, g.plan?))) {
        Page::new(&mut *out, style).heading(&format!("In the guest {}: what to do", guest.domain))?;
        plan::render(plan, style, out)?;
    }
    Ok(())
}

/// Findings of one rule and severity, as one line with the first of them.
fn line(page: &mut Page<'_>, alike: &[(Side, &Verdict)]) -> io::Result<()> {
    let Some((side, v)) = alike.first() else { return Ok(()) };
    let tag = format!("{:<8} {:<5}", v.severity().name(), side.name());
    let more = match alike.len() {
        1 => String::new(),
        n => format!("; {} more like it", n - 1),
    };
    let text = format!("{}: {}{more} ({})", v.finding.subject, v.finding.message, v.rule.id);
    page.item(2, &tag, Tone::Bad, Tone::Plain, &text)
}

/// Findings that are alike, in the order of the first of each.
fn alike<'a>(all: &[(Side, &'a Verdict)]) -> Vec<Vec<(Side, &'a Verdict)>> {
    let mut out: Vec<Vec<(Side, &Verdict)>> = Vec::new();
    let key = |(side, v): &(Side, &Verdict)| (*side, v.rule.id, v.severity());
    for one in all {
        match out.iter_mut().find(|group| group.first().map(key) == Some(key(one))) {
            Some(group) => group.push(*one),
            None => out.push(vec![*one]),
        }
    }
    out
}

/// What explains it. `missing`: options that were not given.
fn together(explained: &Explained<'_>, missing: &[(&str, bool)], page: &mut Page<'_>) -> io::Result<()> {
    match explained {
        Explained::By(all) => {
            page.text(
                0,
                Tone::Bad,
                &format!("{} findings on the way between GPUs and NICs, the worst first", all.len()),
            )?;
            let (groups, shown) = (alike(all), page.shown(LISTED));
            for group in groups.iter().take(shown) {
                line(page, group)?;
            }
            page.more(2, groups.len(), shown, "")
        }
        Explained::Open(all) => {
            page.text(
                0,
                Tone::Doubt,
                &format!("nothing wrong in what was seen; {} answers about the way are unknown", all.len()),
            )?;
            for (option, _) in missing.iter().filter(|(_, is)| *is) {
                page.text(2, Tone::Plain, &format!("{option} was not given"))?;
            }
            Ok(())
        }
        Explained::Nothing => {
            page.text(
                0,
                Tone::Good,
                "layout, ACS and ATS are right: they do not explain a slow guest. To narrow down the rest:",
            )?;
            for (run, tells) in MEASURE {
                page.item(2, run, Tone::Bold, Tone::Plain, tells)?;
            }
            Ok(())
        }
    }
}

fn nccl(guest: &str, c: &InGuest, page: &mut Page<'_>) -> io::Result<()> {
    let text = format!(
        "{} conclusions compared with the host: {} differ in {guest}, {} with the topology file that `linerate vm nccl` writes",
        c.without.cells,
        c.without.differing.len(),
        c.with_file.differing.len()
    );
    page.text(0, Tone::Plain, &text)?;
    for d in c.without.differing.iter().take(page.shown(NAMED)) {
        page.text(
            2,
            Tone::Plain,
            &format!("{} {}: {} on the host, {} in the guest", d.pair, d.what, d.before, d.after),
        )?;
    }
    Ok(())
}

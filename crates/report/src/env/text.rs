//! For a terminal: worst first, then what could not be decided, then what is fine.

use super::{Env, counts};
use crate::VERSION;
use crate::style::{Page, Style, Tone, clip};
use crate::terminal::tone_of;
use linerate_env::{Judgement, Kind, Origin, Severity};
use std::io::{self, Write};

/// Writes it.
///
/// # Errors
/// Those of the writer.
pub fn render(env: &Env<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(out, style);
    page.spans(&[(Tone::Bold, &format!("linerate {VERSION}, environment of NCCL"))])?;
    let from = env.release_from.map(|f| format!(", from {f}")).unwrap_or_default();
    let release = env.release().map_or_else(|| "not known (--nccl)".to_owned(), |r| r + &from);
    page.text(0, Tone::Plain, &format!("release: {release}"))?;
    page.text(0, Tone::Plain, &format!("node: {}", env.node.unwrap_or("not given (--node)")))?;
    page.text(0, Tone::Dim, &format!("read: {}", list(env.sources)))?;
    let of = |f: &dyn Fn(&&Judgement) -> bool| env.judgements.iter().filter(f).collect::<Vec<_>>();
    let findings = of(&|j| counts(j));
    let open = of(&|j| j.kind == Kind::Undecided);
    let fine = of(&|j| !counts(j) && j.kind != Kind::Undecided);
    for severity in Severity::ALL.iter().rev().copied().filter(|s| *s > Severity::Info) {
        let these: Vec<&Judgement> = findings.iter().copied().filter(|j| j.severity == severity).collect();
        if !these.is_empty() {
            page.heading(&format!("{} ({})", severity.name().to_uppercase(), these.len()))?;
        }
        for j in these {
            whole(&mut page, j, style)?;
        }
    }
    if !open.is_empty() {
        page.heading(&format!("CANNOT BE DECIDED FROM THIS ({})", open.len()))?;
        for j in open {
            page.item(2, &setting(j), Tone::Bold, Tone::Plain, &j.message)?;
            if let Some(s) = &j.suggestion {
                page.item(4, "→", Tone::Dim, Tone::Plain, s)?;
            }
        }
    }
    if !fine.is_empty() {
        page.heading(&format!("NOTHING TO DO ({})", fine.len()))?;
        for j in fine {
            let tag = format!("{:<9}", j.kind.name());
            page.item(2, &tag, Tone::Good, Tone::Plain, &format!("{}: {}", setting(j), j.message))?;
        }
    }
    if env.judgements.is_empty() {
        page.heading("SETTINGS")?;
        page.text(2, Tone::Plain, "no variable of NCCL, UCX, libfabric or CUDA is set")?;
    }
    needs(&mut page, env)?;
    for note in env.notes {
        page.item(0, "note:", Tone::Warn, Tone::Plain, note)?;
    }
    page.blank()?;
    page.text(0, Tone::Bold, &sum(env))
}

/// `A=b`, cut where it is long.
fn setting(j: &Judgement) -> String {
    format!("{}={}", clip(&j.variable, 60), clip(&j.value, 60))
}

fn whole(page: &mut Page<'_>, j: &Judgement, style: Style) -> io::Result<()> {
    let tone = tone_of(j.severity);
    page.item(2, &setting(j), Tone::Bold, Tone::Plain, &place(&j.at, &j.also))?;
    page.item(4, &format!("{:<9}", j.kind.name()), tone, Tone::Plain, &j.message)?;
    if let Some(s) = &j.suggestion {
        page.item(4, "do       ", Tone::Dim, Tone::Plain, s)?;
    }
    if let Some(w) = j.what.as_ref().filter(|w| !j.message.contains(w.as_str())) {
        page.item(4, "what     ", Tone::Dim, Tone::Plain, w)?;
    }
    if let Some(r) = &j.range {
        page.item(4, "releases ", Tone::Dim, Tone::Plain, r)?;
    }
    if !j.sources.is_empty() && (style.verbose || j.severity > Severity::Low) {
        page.item(4, "source   ", Tone::Dim, Tone::Dim, &j.sources.join("; "))?;
    }
    Ok(())
}

fn place(at: &Origin, also: &[Origin]) -> String {
    let more = match also {
        [] => String::new(),
        [one] => format!(" and {one}"),
        many => format!(" and {} more places", many.len()),
    };
    format!("({at}{more})")
}

fn list(names: &[String]) -> String {
    match names {
        [] => "nothing".to_owned(),
        few if few.len() <= 6 => few.join(", "),
        many => format!("{} and {} more", many.iter().take(5).cloned().collect::<Vec<_>>().join(", "), many.len() - 5),
    }
}

fn needs(page: &mut Page<'_>, env: &Env<'_>) -> io::Result<()> {
    let r = env.recommendation;
    page.heading("WHAT THIS NODE NEEDS")?;
    if r.set.is_empty() {
        let said = match (env.context.is_rccl(), env.node.is_some()) {
            (true, _) => "cannot be said",
            (false, true) => "no variable",
            (false, false) => "cannot be said without the node",
        };
        page.text(2, Tone::Plain, said)?;
    }
    for v in &r.set {
        page.verbatim(2, &format!("{}={}", v.name, v.value))?;
        page.item(4, "because", Tone::Dim, Tone::Plain, &v.reason)?;
        if let Some(c) = &v.condition {
            page.item(4, "but    ", Tone::Warn, Tone::Plain, c)?;
        }
    }
    for o in &r.open {
        page.item(2, "open:", Tone::Doubt, Tone::Plain, o)?;
    }
    for n in r.not_needed.iter().filter(|_| env.node.is_some()) {
        page.item(2, "not needed:", Tone::Dim, Tone::Plain, n)?;
    }
    Ok(())
}

fn sum(env: &Env<'_>) -> String {
    let of = |s: Severity| env.judgements.iter().filter(|j| counts(j) && j.severity == s).count();
    let found: Vec<String> = Severity::ALL
        .iter()
        .rev()
        .filter(|s| **s > Severity::Info)
        .map(|s| (of(*s), s))
        .filter(|(n, _)| *n > 0)
        .map(|(n, s)| format!("{n} {}", s.name()))
        .collect();
    let open = env.judgements.iter().filter(|j| j.kind == Kind::Undecided).count();
    let found = match (found.is_empty(), env.incomplete) {
        (true, false) => "no problem found in these settings".to_owned(),
        (true, true) => "no problem found in the settings that were read; part of the input was left out".to_owned(),
        (false, _) => found.join(", "),
    };
    let open = if open == 0 { String::new() } else { format!("; {open} cannot be decided from this") };
    let dropped =
        if env.dropped == 0 { String::new() } else { format!("; {} other variables not checked", env.dropped) };
    format!("{found}{open}{dropped}")
}

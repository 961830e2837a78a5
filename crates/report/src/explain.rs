//! A rule, a symptom, a cause in words: for the terminal, as Markdown for the documentation, and the whole catalogue as a table or JSON.

use crate::doctor::words::counted;
use crate::json;
use crate::style::{self, Page, Style, Tone};
use crate::terminal::{quality, tone_of};
use linerate_doctor::{Cause, Symptom};
use linerate_env::Variable;
use linerate_formats::xid::{Bucket, Detail};
use linerate_rules::{Area, Effect, Myth, Rule, Severity, Source, xid};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Everything about a rule, for the terminal.
#[must_use]
pub fn explain(rule: &Rule, style: Style) -> String {
    page(style, |page| write_rule(rule, page))
}

fn write_rule(rule: &Rule, page: &mut Page<'_>) -> io::Result<()> {
    head(page, &rule.severity.to_string().to_uppercase(), tone_of(rule.severity.worst), rule.id, rule.title)?;
    page.blank()?;
    page.field(0, "roles", &contexts(rule))?;
    page.field(0, "costs", &format!("{} [{}]", rule.effect.text, quality(rule.effect.quality)))?;
    page.field(0, "reads", &rule.reads.join(", "))?;
    markdown(rule.docs, page)?;
    page.heading_of(rule.myths, "What people say")?;
    for m in rule.myths {
        page.item(2, "People say: ", Tone::Warn, Tone::Plain, m.claim)?;
        page.item(2, "In truth:   ", Tone::Good, Tone::Plain, m.truth)?;
    }
    sources(rule.sources, page)
}

/// Kind, id and title, above everything else.
fn head(page: &mut Page<'_>, kind: &str, tone: Tone, id: &str, title: &str) -> io::Result<()> {
    page.item(0, kind, tone, Tone::Bold, id)?;
    page.text(0, Tone::Plain, title)
}

/// Everything about a symptom, for the terminal.
#[must_use]
pub fn symptom(s: &Symptom, style: Style) -> String {
    page(style, |page| {
        head(page, "SYMPTOM", Tone::Doubt, s.id, s.title)?;
        markdown(s.docs, page)
    })
}

/// Everything about a cause, for the terminal: its sections, in the order of their documentation (`linerate_doctor::Cause`).
#[must_use]
pub fn cause(c: &Cause, style: Style) -> String {
    page(style, |page| {
        head(page, "CAUSE", Tone::Bad, c.id, c.title)?;
        page.heading("What it is")?;
        page.text(2, Tone::Plain, c.what)?;
        page.heading("How it shows")?;
        bullets(page, c.shows)?;
        page.heading("Why")?;
        page.text(2, Tone::Plain, c.why)?;
        page.heading("How to see it yourself")?;
        bullets(page, c.confirm)?;
        page.heading_of(c.refute, "What would refute it")?;
        bullets(page, c.refute)?;
        page.heading("Fix")?;
        page.text(2, Tone::Plain, &c.remedy.remedy().summary)?;
        page.heading_of(c.rules, "Rules that judge it on a node")?;
        for rule in c.rules {
            page.item(2, "·", Tone::Dim, Tone::Plain, &format!("linerate explain {rule}"))?;
        }
        sources(c.sources, page)
    })
}

/// What is known of a variable of an environment, for the terminal: what it does, which releases read it, its values, when to set it.
#[must_use]
pub fn variable(v: &Variable, style: Style) -> String {
    page(style, |page| {
        head(page, "VARIABLE", Tone::Mild, v.name, v.does.unwrap_or("what it does is not documented"))?;
        page.blank()?;
        page.field(0, "read by", v.owner.name())?;
        let releases = v.history().or_else(|| v.removed.map(|r| format!("up to the release before {r}")));
        let fields = [("releases", releases), ("values", v.legal.words())];
        let words = [("set it", v.when), ("instead", v.instead)];
        let words = words.into_iter().map(|(name, text)| (name, text.map(str::to_owned)));
        for (name, text) in fields.into_iter().chain(words) {
            text.iter().try_for_each(|t| page.field(0, name, t))?;
        }
        let cited = v.cited();
        page.heading_of(&cited, "Sources")?;
        cited.iter().try_for_each(|s| page.item(2, "·", Tone::Dim, Tone::Plain, s))?;
        page.heading("How to judge it")?;
        page.text(
            2,
            Tone::Plain,
            "linerate env check FILE --node SNAPSHOT, where FILE is a job script, a pod, a log or an environment",
        )
    })
}

fn bullets(page: &mut Page<'_>, list: &[&str]) -> io::Result<()> {
    list.iter().try_for_each(|text| page.item(2, "·", Tone::Dim, Tone::Plain, text))
}

/// What NVIDIA's catalogue says about an Xid, and what is to be done, for the terminal.
#[must_use]
pub fn xid(number: u32, style: Style) -> String {
    let seen = xid::Seen { gpu: None, number, detail: Detail::Number };
    let j = xid::judge(&seen, &[seen]);
    let m = j.meaning;
    page(style, |page| {
        head(page, &j.severity.name().to_uppercase(), tone_of(j.severity), &format!("xid/{number}"), m.what)?;
        page.blank()?;
        let or = |text: &'static str| if text.is_empty() { "none" } else { text };
        page.field(0, "name", or(m.name))?;
        page.field(0, "bucket", or(m.immediate.name()))?;
        page.field(0, "then", or(m.investigatory))?;
        let advice = j.advice();
        page.field(0, "do", if advice.is_empty() { "nothing" } else { &advice })?;
        if m.immediate == Bucket::WorkflowNvlink5Err {
            page.field(
                0,
                "",
                "the cause depends on unit and status in the line: `linerate audit` and `linerate doctor` read them",
            )?;
        }
        page.text(0, Tone::Dim, "`linerate explain gpumem/xid` shows how logs are judged")?;
        sources(&[if m.source == "nverror.h" { xid::NUMBERS } else { xid::CATALOGUE }], page)
    })
}

/// Ids with their titles.
#[must_use]
pub fn list<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>, style: Style) -> String {
    page(style, |page| {
        for (id, title) in entries {
            page.text(0, Tone::Bold, id)?;
            page.text(2, Tone::Plain, title)?;
        }
        page.text(0, Tone::Dim, "`linerate explain ID` describes one")
    })
}

fn page(style: Style, write: impl FnOnce(&mut Page<'_>) -> io::Result<()>) -> String {
    style::to_text(|out| write(&mut Page::new(out, style)))
}

fn sources(list: &[Source], page: &mut Page<'_>) -> io::Result<()> {
    page.heading_of(list, "Sources")?;
    for s in list {
        page.item(2, "·", Tone::Dim, Tone::Plain, s.title)?;
        page.text(4, Tone::Dim, s.at)?;
    }
    Ok(())
}

fn contexts(rule: &Rule) -> String {
    rule.roles.names().collect::<Vec<_>>().join(", ")
}

/// The Markdown that rules use: headings, paragraphs, lists, fenced code. Inline marks stay as they are.
fn markdown(text: &str, page: &mut Page<'_>) -> io::Result<()> {
    let mut paragraph = String::new();
    let mut code = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            flush(&mut paragraph, page)?;
            code = !code;
        } else if code {
            page.verbatim(4, line)?;
        } else if trimmed.starts_with('#') {
            flush(&mut paragraph, page)?;
            page.heading(trimmed.trim_start_matches('#').trim())?;
        } else if trimmed.is_empty() {
            flush(&mut paragraph, page)?;
        } else {
            // A list item ends the one before; what follows without a mark continues it.
            if list_item(trimmed).is_some() {
                flush(&mut paragraph, page)?;
            } else if !paragraph.is_empty() {
                paragraph.push(' ');
            }
            paragraph.push_str(trimmed);
        }
    }
    flush(&mut paragraph, page)
}

fn flush(paragraph: &mut String, page: &mut Page<'_>) -> io::Result<()> {
    let text = std::mem::take(paragraph);
    match list_item(&text) {
        _ if text.is_empty() => Ok(()),
        Some((mark, rest)) => page.item(2, mark, Tone::Dim, Tone::Plain, rest),
        None => page.text(2, Tone::Plain, &text),
    }
}

/// Mark and text of `- item`, `* item`, `1. item`.
fn list_item(line: &str) -> Option<(&str, &str)> {
    let (mark, rest) = line.split_once(' ')?;
    let numbered = mark.strip_suffix('.').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
    match mark {
        "-" | "*" => Some(("·", rest)),
        _ if numbered => Some((mark, rest)),
        _ => None,
    }
}

/// The catalogue for the terminal: one entry per rule.
#[must_use]
pub fn rules_table(areas: &[Area<'_>], style: Style) -> String {
    page(style, |page| write_table(areas, page))
}

fn write_table(areas: &[Area<'_>], page: &mut Page<'_>) -> io::Result<()> {
    let mut n = 0;
    for (area, about, rules) in areas {
        page.item(0, area, Tone::Bold, Tone::Dim, about)?;
        for rule in *rules {
            n += 1;
            page.item(2, &format!("{:<8}", rule.severity.usual), tone_of(rule.severity.usual), Tone::Bold, rule.id)?;
            page.text(11, Tone::Plain, rule.title)?;
            if page.style.verbose {
                page.text(11, Tone::Dim, &format!("applies to {}", contexts(rule)))?;
            }
        }
        page.blank()?;
    }
    page.text(0, Tone::Dim, &format!("{}; `linerate explain RULE` describes one", counted(n, "rule", "rules")))
}

#[derive(Serialize)]
struct Catalogue<'a> {
    rules: Vec<RuleOut<'a>>,
}

#[derive(Serialize)]
struct RuleOut<'a> {
    id: &'static str,
    area: &'a str,
    title: &'static str,
    severity: Severity,
    /// The highest that a finding may have.
    worst: Severity,
    roles: Vec<&'static str>,
    effect: Effect,
    sources: &'static [Source],
    reads: &'static [&'static str],
    myths: &'static [Myth],
    docs: &'static str,
}

/// The catalogue as JSON, schema `linerate.rules/1`.
///
/// # Errors
/// Those of the writer.
pub fn rules_json(areas: &[Area<'_>], out: &mut dyn Write) -> io::Result<()> {
    let rules = areas.iter().flat_map(|(area, _, rules)| {
        rules.iter().map(move |r| RuleOut {
            id: r.id,
            area,
            title: r.title,
            severity: r.severity.usual,
            worst: r.severity.worst,
            roles: r.roles.names().collect(),
            effect: r.effect,
            sources: r.sources,
            reads: r.reads,
            myths: r.myths,
            docs: r.docs,
        })
    });
    let all = Catalogue { rules: rules.collect() };
    json::write_document("linerate.rules/1", &all, out)
}

/// First line of every generated page.
pub const GENERATED: &str =
    "<!-- Generated by `cargo xtask docs` from the rule catalogue. Do not edit: edit the rule. -->\n";

/// A rule as a page of the documentation: `docs/rules/<area>/<slug>.md`.
#[must_use]
pub fn rule_markdown(rule: &Rule) -> String {
    let mut s = String::from(GENERATED);
    // Writing to a string does not fail.
    let _ = write!(s, "\n# {}\n\n**{}**\n\n| | |\n|---|---|\n", rule.id, rule.title);
    let _ = writeln!(s, "| Severity | {} |", rule.severity);
    let _ = writeln!(s, "| Applies to | {} |", contexts(rule));
    let _ = writeln!(s, "| A failure costs | {} *({})* |", cell(rule.effect.text), quality(rule.effect.quality));
    let reads: Vec<String> = rule.reads.iter().map(|r| format!("`{r}`")).collect();
    let _ = writeln!(s, "| Reads | {} |\n", cell(&reads.join(", ")));
    let _ = writeln!(s, "{}", rule.docs.trim());
    if !rule.myths.is_empty() {
        s.push_str("\n## What people say\n");
        for m in rule.myths {
            let _ = write!(s, "\n> People say: {}\n\nIn truth: {}\n", m.claim, m.truth);
        }
    }
    s.push_str("\n## Sources\n\n");
    for source in rule.sources {
        let _ = if source.at.starts_with("http") {
            writeln!(s, "- [{}]({})", source.title, source.at)
        } else {
            writeln!(s, "- {}: `{}`", source.title, source.at)
        };
    }
    s
}

/// The index of the documentation's rule pages: `docs/rules/README.md`.
#[must_use]
pub fn catalogue_index(areas: &[Area<'_>]) -> String {
    let n: usize = areas.iter().map(|(_, _, rules)| rules.len()).sum();
    let mut s = String::from(GENERATED);
    let _ = writeln!(
        s,
        "\n# Rules\n\n{n} rules in {} areas. The same text on a node: `linerate explain RULE`. A rule answers pass, fail, unknown\n\
         (the data is missing, and the answer says how to get it) or not-applicable (with the reason).",
        areas.len()
    );
    for (area, about, rules) in areas {
        let _ = write!(
            s,
            "\n## {area}\n\n{about}.\n\n| rule | what is right | severity | applies to |\n|---|---|---|---|\n"
        );
        for r in *rules {
            let _ =
                writeln!(s, "| [{id}]({id}.md) | {} | {} | {} |", cell(r.title), r.severity, contexts(r), id = r.id);
        }
    }
    s
}

/// Text of a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Every generated file: path below `docs/rules`, content. Sorted as the catalogue is.
#[must_use]
pub fn pages(areas: &[Area<'_>]) -> Vec<(String, String)> {
    let rules = areas.iter().flat_map(|(_, _, rules)| rules.iter());
    std::iter::once(("README.md".to_owned(), catalogue_index(areas)))
        .chain(rules.map(|r| (format!("{}.md", r.id), rule_markdown(r))))
        .collect()
}

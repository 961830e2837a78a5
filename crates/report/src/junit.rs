//! JUnit XML: one suite per area, one case per answer.
//!
//! A failure is a `<failure>`, an unknown an `<error type="unknown">` (unknown is never green), what does not apply is
//! `<skipped>`. A note of severity info is a case that passed, with its text in `<system-out>`.

use crate::Report;
use crate::fix::Fix;
use crate::terminal::quality;
use crate::words::Words;
use linerate_out::markup::{attribute, xml};
use linerate_remedy::On;
use linerate_rules::{Severity, Status, Verdict};
use std::collections::BTreeMap;
use std::io::{self, Write};

#[derive(Default)]
struct Sums {
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl Sums {
    fn of<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> Self {
        let mut sums = Sums::default();
        for v in verdicts {
            match v.finding.status {
                Status::Fail => sums.failures += usize::from(v.severity() > Severity::Info),
                Status::Unknown => sums.errors += 1,
                Status::NotApplicable => sums.skipped += 1,
                Status::Pass => {}
            }
        }
        sums
    }
}

/// Writes the document.
///
/// # Errors
/// Those of the writer.
pub fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let words = Words::of(report.snapshot);
    let mut areas: BTreeMap<&str, Vec<&Verdict>> = BTreeMap::new();
    for v in &report.audit.verdicts {
        areas.entry(v.rule.area()).or_default().push(v);
    }
    let all = Sums::of(report.audit.verdicts.iter());
    writeln!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"linerate {}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
        attribute(&report.snapshot.label),
        report.audit.verdicts.len(),
        all.failures,
        all.errors,
        all.skipped
    )?;
    let on = On::node(report.node);
    for (area, verdicts) in areas {
        let sums = Sums::of(verdicts.iter().copied());
        writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
            attribute(area),
            verdicts.len(),
            sums.failures,
            sums.errors,
            sums.skipped
        )?;
        for v in verdicts {
            case(v, &words, &on, out)?;
        }
        out.write_all(b"  </testsuite>\n")?;
    }
    out.write_all(b"</testsuites>\n")
}

fn case(v: &Verdict, words: &Words<'_>, on: &On<'_>, out: &mut dyn Write) -> io::Result<()> {
    let f = &v.finding;
    let message = attribute(&f.message);
    write!(out, "    <testcase classname=\"{}\" name=\"{}\"", attribute(v.rule.id), attribute(&f.subject.to_string()))?;
    match f.status {
        Status::Pass => return out.write_all(b"/>\n"),
        Status::NotApplicable => writeln!(out, ">\n      <skipped message=\"{message}\"/>")?,
        Status::Unknown => {
            writeln!(
                out,
                ">\n      <error type=\"unknown\" message=\"{message}\">{}</error>",
                xml(&body(v, words, on))
            )?;
        }
        Status::Fail if v.severity() == Severity::Info => {
            writeln!(out, ">\n      <system-out>{}\n{}</system-out>", xml(&f.message), xml(&body(v, words, on)))?;
        }
        Status::Fail => writeln!(
            out,
            ">\n      <failure type=\"{}\" message=\"{message}\">{}</failure>",
            v.severity().name(),
            xml(&body(v, words, on))
        )?,
    }
    out.write_all(b"    </testcase>\n")
}

fn body(v: &Verdict, words: &Words<'_>, on: &On<'_>) -> String {
    let f = &v.finding;
    let mut lines = vec![format!("right is: {}", v.rule.title)];
    for e in &f.evidence {
        let note = e.note.as_deref().map(|n| format!(" ({n})")).unwrap_or_default();
        let seen = format!("seen: {}: {}", words.describe(e.place), words.shown(e.place));
        lines.push(format!("{}{note}", seen.trim_end_matches(": ")));
    }
    if f.status == Status::Fail {
        lines.push(format!("costs: {} [{}]", v.rule.effect.text, quality(v.rule.effect.quality)));
    }
    if let Some(see) = &f.see {
        lines.push(format!("to see it: {see}"));
    }
    if let Some(r) = &f.remedy {
        lines.push(format!("fix: {}; {}", r.summary, Fix::of(r, on).words(str::to_owned)));
    }
    lines.push(format!("more: linerate explain {}", v.rule.id));
    lines.join("\n")
}

//! JUnit XML: one suite per area, one case per answer.
//!
//! A failure is a `<failure>`, an unknown an `<error type="unknown">` (unknown is never green), what does not apply is
//! `<skipped>`. A note of severity info is a case that passed, with its text in `<system-out>`.

use crate::Report;
use crate::fix::Fix;
use crate::fleet::Member;
use crate::terminal::quality;
use crate::words::Words;
use linerate_fleet::audit::At;
use linerate_out::markup::{attribute, xml};
use linerate_remedy::On;
use linerate_rules::{Severity, Status, Verdict};
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

/// How many answers of each kind, as the attributes of a suite.
#[derive(Default)]
struct Sums {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

impl Sums {
    fn of<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> Self {
        let mut sums = Sums::default();
        for v in verdicts {
            sums.tests += 1;
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

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sums { tests, failures, errors, skipped } = self;
        write!(f, "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"")
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
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"linerate {}\" {all}>",
        attribute(&report.snapshot.label)
    )?;
    let on = On::node(report.node);
    for (area, verdicts) in areas {
        let sums = Sums::of(verdicts.iter().copied());
        writeln!(out, "  <testsuite name=\"{}\" {sums}>", attribute(area))?;
        for v in verdicts {
            case(v, &words, &on, None, out)?;
        }
        out.write_all(b"  </testsuite>\n")?;
    }
    out.write_all(b"</testsuites>\n")
}

/// The head of a document about many nodes: a suite for each follows, then [`end`]. Sums stand at the suites: nobody knows them here.
pub(crate) fn begin(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"linerate fleet\">\n")
}

/// A node among many.
pub(crate) fn suite(member: &Member<'_>, out: &mut Vec<u8>) {
    let Member { label, report, places, .. } = member;
    let (words, on) = (Words::of(report.snapshot), On::node(report.node));
    // Writing to memory does not fail.
    let mut write = || -> io::Result<()> {
        let sums = Sums::of(report.audit.verdicts.iter());
        writeln!(out, "  <testsuite name=\"{}\" {sums}>", attribute(label))?;
        for v in &report.audit.verdicts {
            let told = matches!(v.finding.status, Status::Fail | Status::Unknown);
            case(v, &words, &on, told.then(|| places.at(&v.finding.subject)).as_ref(), out)?;
        }
        out.write_all(b"  </testsuite>\n")
    };
    let _ = write();
}

/// A node that could not be read: an error, never green.
pub(crate) fn unreadable(label: &str, why: &str) -> String {
    let why = attribute(why.trim());
    format!(
        "  <testsuite name=\"{}\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n    <testcase classname=\"linerate\" name=\"read\">\n      \
         <error type=\"unreadable\" message=\"{why}\"/>\n    </testcase>\n  </testsuite>\n",
        attribute(label)
    )
}

/// The end of it.
pub(crate) fn end(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"</testsuites>\n")
}

/// `at`: where on a node among many.
fn case(v: &Verdict, words: &Words<'_>, on: &On<'_>, at: Option<&At>, out: &mut dyn Write) -> io::Result<()> {
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
                xml(&body(v, words, on, at))
            )?;
        }
        Status::Fail if v.severity() == Severity::Info => {
            writeln!(out, ">\n      <system-out>{}\n{}</system-out>", xml(&f.message), xml(&body(v, words, on, at)))?;
        }
        Status::Fail => writeln!(
            out,
            ">\n      <failure type=\"{}\" message=\"{message}\">{}</failure>",
            v.severity().name(),
            xml(&body(v, words, on, at))
        )?,
    }
    out.write_all(b"    </testcase>\n")
}

fn body(v: &Verdict, words: &Words<'_>, on: &On<'_>, at: Option<&At>) -> String {
    let f = &v.finding;
    let mut lines: Vec<String> = at.map(|at| format!("position: {at}")).into_iter().collect();
    lines.push(format!("right is: {}", v.rule.title));
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

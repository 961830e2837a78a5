//! JUnit XML: one suite per area, one case per answer.
//!
//! A failure is a `<failure>`, an unknown an `<error type="unknown">` (unknown is never green), what does not apply is
//! `<skipped>`, and so is what the site suppresses. What is below the severity that fails the audit is a case that passed, with its text in
//! `<system-out>`.

use crate::fix::Fix;
use crate::fleet::Member;
use crate::terminal::quality;
use crate::words::Words;
use crate::{Report, suppressed};
use linerate_fleet::audit::At;
use linerate_out::markup::{attribute, xml};
use linerate_remedy::On;
use linerate_rules::{Audit, Status, Suppression, Terms, Verdict};
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
    fn of<'a>(cases: impl Iterator<Item = &'a Case<'a>>, terms: &Terms) -> Self {
        let mut sums = Sums::default();
        for c in cases {
            sums.tests += 1;
            match outcome(c, terms) {
                Outcome::Failure => sums.failures += 1,
                Outcome::Error => sums.errors += 1,
                Outcome::Skipped(_) => sums.skipped += 1,
                Outcome::Note | Outcome::Pass => {}
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

/// An answer, and what suppresses it.
type Case<'a> = (&'a Verdict, Option<&'a Suppression>);

/// All answers, those that are counted first.
fn cases<'a>(audit: &'a Audit) -> impl Iterator<Item = Case<'a>> {
    let counted = audit.verdicts.iter().map(|v| (v, None));
    counted.chain(audit.suppressed.iter().map(|(v, by)| (v, Some(&**by))))
}

/// What JUnit calls an answer.
enum Outcome {
    Pass,
    Note,
    Failure,
    Error,
    /// With why.
    Skipped(String),
}

/// As the exit code counts it: what cannot fail the audit is neither a failure nor an error.
fn outcome((v, by): &Case<'_>, terms: &Terms) -> Outcome {
    match (v.finding.status, by) {
        (_, Some(s)) => Outcome::Skipped(format!("suppressed by {}: {}", suppressed::why(s), v.finding.message)),
        (Status::Pass, None) => Outcome::Pass,
        (Status::NotApplicable, None) => Outcome::Skipped(v.finding.message.to_string()),
        (Status::Unknown, None) if terms.may_fail(v.rule) => Outcome::Error,
        (Status::Unknown, None) => Outcome::Skipped(format!("unknown: {}", v.finding.message)),
        (Status::Fail, None) if terms.fails(v.severity()) => Outcome::Failure,
        (Status::Fail, None) => Outcome::Note,
    }
}

/// Writes the document.
///
/// # Errors
/// Those of the writer.
pub fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let words = Words::of(report.snapshot);
    let mut areas: BTreeMap<&str, Vec<Case<'_>>> = BTreeMap::new();
    for c in cases(report.audit) {
        areas.entry(c.0.rule.area()).or_default().push(c);
    }
    let terms = &report.audit.terms;
    let all = Sums::of(areas.values().flatten(), terms);
    writeln!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"linerate {}\" {all}>",
        attribute(&report.snapshot.label)
    )?;
    let on = On::node(report.node);
    for (area, cases) in areas {
        let sums = Sums::of(cases.iter(), terms);
        writeln!(out, "  <testsuite name=\"{}\" {sums}>", attribute(area))?;
        asked(terms, out)?;
        for c in cases {
            case(&c, (&words, &on, terms), None, out)?;
        }
        out.write_all(b"  </testsuite>\n")?;
    }
    out.write_all(b"</testsuites>\n")
}

/// Which rules were asked, where not all were.
fn asked(terms: &Terms, out: &mut dyn Write) -> io::Result<()> {
    let Some(filter) = suppressed::filter(terms) else { return Ok(()) };
    writeln!(out, "    <properties><property name=\"rules\" value=\"{}\"/></properties>", attribute(&filter))
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
        let (all, terms) = (cases(report.audit).collect::<Vec<_>>(), &report.audit.terms);
        let sums = Sums::of(all.iter(), terms);
        writeln!(out, "  <testsuite name=\"{}\" {sums}>", attribute(label))?;
        asked(terms, out)?;
        for c in &all {
            let finding = &c.0.finding;
            let told = matches!(finding.status, Status::Fail | Status::Unknown);
            case(c, (&words, &on, terms), told.then(|| places.at(&finding.subject)).as_ref(), out)?;
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
fn case(
    c: &Case<'_>,
    (words, on, terms): (&Words<'_>, &On<'_>, &Terms),
    at: Option<&At>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let v = c.0;
    let f = &v.finding;
    let message = attribute(&f.message);
    write!(out, "    <testcase classname=\"{}\" name=\"{}\"", attribute(v.rule.id), attribute(&f.subject.to_string()))?;
    match outcome(c, terms) {
        Outcome::Pass => return out.write_all(b"/>\n"),
        Outcome::Skipped(why) => writeln!(out, ">\n      <skipped message=\"{}\"/>", attribute(&why))?,
        Outcome::Error => {
            writeln!(
                out,
                ">\n      <error type=\"unknown\" message=\"{message}\">{}</error>",
                xml(&body(v, words, on, at))
            )?;
        }
        Outcome::Note => {
            writeln!(out, ">\n      <system-out>{}\n{}</system-out>", xml(&f.message), xml(&body(v, words, on, at)))?;
        }
        Outcome::Failure => writeln!(
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
    lines.push(format!("what is right: {}", v.rule.title));
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

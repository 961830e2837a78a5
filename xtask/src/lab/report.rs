//! What a run says: a line per scenario, a summary, a JUnit file.

use super::{Paths, Result};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// How one scenario went.
pub(super) enum Outcome {
    /// With a note, such as that only facts were looked at.
    Passed(String),
    Failed(Vec<String>),
    Skipped(String),
}

impl Outcome {
    /// With a remark where guests had to be reset from outside, because they hung in a reset of their own.
    pub(super) fn with_resets(self, resets: u32) -> Outcome {
        let remark = format!(" ({resets} hung in a reset: reset from outside)");
        match self {
            Outcome::Passed(note) if resets > 0 => Outcome::Passed(note + &remark),
            Outcome::Failed(mut why) if resets > 0 => {
                why.push(remark.trim().to_owned());
                Outcome::Failed(why)
            }
            other => other,
        }
    }
}

pub(super) struct Entry {
    pub(super) name: String,
    pub(super) proves: String,
    pub(super) took: Duration,
    pub(super) outcome: Outcome,
}

/// The line (and, after a failure, the lines) of one scenario.
pub(super) fn line(paths: &Paths, entry: &Entry) -> String {
    let seconds = entry.took.as_secs_f64();
    let logs = paths.out(&entry.name);
    let logs = logs.strip_prefix(&paths.root).unwrap_or(&logs).display();
    match &entry.outcome {
        Outcome::Passed(note) => format!("PASS    {seconds:5.1} s  {}{note}", entry.name),
        Outcome::Skipped(why) => format!("SKIPPED {seconds:5.1} s  {}: {why}", entry.name),
        Outcome::Failed(complaints) => {
            let mut text = format!("FAIL    {seconds:5.1} s  {} (logs: {logs})", entry.name);
            for complaint in complaints {
                let _ = write!(text, "\n        {complaint}");
            }
            text
        }
    }
}

/// How many passed, failed, were skipped.
pub(super) fn count(entries: &[Entry]) -> (usize, usize, usize) {
    entries.iter().fold((0, 0, 0), |(passed, failed, skipped), entry| match entry.outcome {
        Outcome::Passed(_) => (passed + 1, failed, skipped),
        Outcome::Failed(_) => (passed, failed + 1, skipped),
        Outcome::Skipped(_) => (passed, failed, skipped + 1),
    })
}

/// Prints the summary; the exit code.
pub(super) fn conclude(entries: &[Entry], took: Duration) -> ExitCode {
    let (passed, failed, skipped) = count(entries);
    println!("{passed} passed, {failed} failed, {skipped} skipped in {:.0} s", took.as_secs_f64());
    ExitCode::from(match (failed, skipped) {
        (0, 0) => 0,
        (0, _) => 2,
        _ => 1,
    })
}

/// JUnit XML for CI systems.
pub(super) fn junit(entries: &[Entry]) -> String {
    let (passed, failed, skipped) = count(entries);
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let tests = passed + failed + skipped;
    let _ = writeln!(xml, "<testsuite name=\"lab\" tests=\"{tests}\" failures=\"{failed}\" skipped=\"{skipped}\">");
    for entry in entries {
        let _ = write!(
            xml,
            "  <testcase classname=\"lab\" name=\"{}\" time=\"{:.1}\">",
            escape(&entry.name),
            entry.took.as_secs_f64()
        );
        let _ = write!(xml, "<system-out>{}</system-out>", escape(&entry.proves));
        match &entry.outcome {
            Outcome::Passed(note) if note.is_empty() => {}
            Outcome::Passed(note) => {
                let _ = write!(xml, "<system-err>{}</system-err>", escape(note.trim()));
            }
            Outcome::Failed(complaints) => {
                let first = complaints.first().map(String::as_str).unwrap_or_default();
                let _ =
                    write!(xml, "<failure message=\"{}\">{}</failure>", escape(first), escape(&complaints.join("\n")));
            }
            Outcome::Skipped(why) => {
                let _ = write!(xml, "<skipped message=\"{}\"/>", escape(why));
            }
        }
        xml.push_str("</testcase>\n");
    }
    xml.push_str("</testsuite>\n");
    xml
}

/// Writes the JUnit file.
pub(super) fn save(file: &Path, entries: &[Entry]) -> Result<()> {
    std::fs::write(file, junit(entries)).map_err(|e| format!("lab: cannot write {}: {e}", file.display()))
}

fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' | '\t' => safe.push(c),
            c if c.is_control() => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn junit_counts_and_escapes() {
        let entry =
            |outcome| Entry { name: "n".into(), proves: "a < b".into(), took: Duration::from_millis(1500), outcome };
        let entries = [
            entry(Outcome::Passed(String::new()).with_resets(2)),
            entry(Outcome::Failed(vec!["expected \"x\" & saw \u{1b}".into()])),
            entry(Outcome::Skipped("no QEMU".into())),
        ];
        assert_eq!(count(&entries), (1, 1, 1));
        let xml = junit(&entries);
        assert!(xml.contains("tests=\"3\" failures=\"1\" skipped=\"1\""), "{xml}");
        assert!(xml.contains("a &lt; b") && xml.contains("expected &quot;x&quot; &amp; saw \u{fffd}"), "{xml}");
        assert!(xml.contains("time=\"1.5\"") && xml.contains("<system-err>(2 hung in a reset"), "{xml}");
    }
}

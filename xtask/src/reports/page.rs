//! The page with the figures.

use super::{Asserted, Judged, Kind, Set, Verdict};
use std::fmt::Write as _;

/// The 97.5th percentile of the normal distribution: intervals of 95 %.
const Z: f64 = 1.959_964;

/// The sets by name, with all of them first and what nobody looked at last.
const SETS: [(&str, &[Set]); 4] = [
    ("all", &[Set::Seen, Set::First, Set::Fresh]),
    ("seen while the doctor was worked on", &[Set::Seen]),
    ("first held out, looked at since", &[Set::First]),
    ("fresh, held out", &[Set::Fresh]),
];

const HEADS: [&str; 6] = [
    "reports",
    "precision",
    "precision, strict",
    "cause shown: first",
    "traps blamed",
    "right / undecided / missed / wrong",
];

const INTRODUCTION: &str = "Public trouble reports, each with the cause that its thread established. Their texts are not kept here: follow the links. Most texts are excerpts of\n\
     a thread. The right answer was written down before linerate read the text. 473 earlier reports: [doctor-reports-2026-11.md](doctor-reports-2026-11.md).\n\n\
     A cause is asserted if linerate says *certain* or *likely*. *Right*: it asserts the established cause. *Undecided*: it asserts nothing wrong, and\n\
     the text does not show the cause (or linerate knows no such cause). *Missed*: the text shows the cause, and it is not first. *Wrong*: it asserts\n\
     another. Some causes are true of a text without being the established one (`NCCL_IB_DISABLE=1` in a report about something else): the first precision\n\
     counts them as right, the second leaves them out. Intervals are Wilson's, 95 %.\n\n\
     The measure is a held-out set, as judged the first time (the last table): the doctor asserts hardly anything wrong, but it does not know every form and\n\
     every message. Once somebody has improved the doctor with the answers of a set at hand, that set is no longer held out, and a new one is needed.\n\n\
     Limits of these figures: those who wrote down the right answers knew the list of causes; somebody else read each text and corrected them, before linerate\n\
     read the text (25 of the 110 of 2026-11-23). The cases of the shared data have long been tests of the doctor: they count as seen.\n\n";

/// A share with Wilson's interval.
fn share(part: u32, whole: u32) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let (k, n) = (f64::from(part), f64::from(whole));
    let p = k / n;
    let middle = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let (low, high) = ((middle - half).max(0.0), (middle + half).min(1.0));
    format!("{part}/{whole} = {:.1} % ({:.0}–{:.0} %)", p * 100.0, low * 100.0, high * 100.0)
}

fn totals(all: &[&Judged]) -> Vec<String> {
    let count = |f: &dyn Fn(&Judged) -> bool| u32::try_from(all.iter().filter(|j| f(j)).count()).unwrap_or(u32::MAX);
    let sum = |f: &dyn Fn(&Asserted) -> u32| all.iter().map(|j| f(&j.asserted)).sum::<u32>();
    let (right, other, wrong) = (sum(&|a| a.right), sum(&|a| a.other), sum(&|a| a.wrong));
    let decidable = |j: &Judged| j.truth.decidable();
    let trap = |j: &Judged| j.truth.kind == Kind::Trap;
    vec![
        all.len().to_string(),
        share(right + other, right + other + wrong),
        share(right, right + wrong),
        share(count(&|j| decidable(j) && j.first), count(&decidable)),
        format!("{} of {}", count(&|j| trap(j) && j.asserted.wrong > 0), count(&trap)),
        format!(
            "{} / {} / {} / {}",
            count(&|j| j.verdict == Verdict::Right),
            count(&|j| j.verdict == Verdict::Undecided),
            count(&|j| j.verdict == Verdict::Missed),
            count(&|j| j.verdict == Verdict::Wrong)
        ),
    ]
}

pub(super) fn page(all: &[Judged], rounds: &str, day: &str) -> String {
    let mut out = format!(
        "# The doctor on real reports\n\nWritten on {day} by `cargo xtask doctor --reports DIR… --fresh DIR… --cases DIR --write`.\n\n{INTRODUCTION}"
    );
    let of = |sets: &[Set]| all.iter().filter(|j| sets.contains(&j.set)).collect::<Vec<_>>();
    let columns: Vec<Vec<String>> = SETS.iter().map(|(_, sets)| totals(&of(sets))).collect();
    let _ = writeln!(out, "| | {} |\n|---{}|", SETS.map(|s| s.0).join(" | "), "|---".repeat(SETS.len()));
    for (i, head) in HEADS.iter().enumerate() {
        let cells: Vec<&str> = columns.iter().map(|c| c.get(i).map_or("", String::as_str)).collect();
        let _ = writeln!(out, "| {head} | {} |", cells.join(" | "));
    }
    let parts = [
        ("Fresh reports with an established cause", Kind::Report, true),
        ("Fresh traps", Kind::Trap, true),
        ("Looked-at reports with an established cause", Kind::Report, false),
        ("Looked-at traps", Kind::Trap, false),
    ];
    for (title, kind, fresh) in parts {
        let mut rows = all.iter().filter(|j| j.truth.kind == kind && (j.set == Set::Fresh) == fresh).peekable();
        if rows.peek().is_none() {
            continue;
        }
        let _ = writeln!(
            out,
            "\n## {title}\n\n| report | NCCL | established | shown | linerate says | judgement |\n|---|---|---|---|---|---|"
        );
        for j in rows {
            let _ = writeln!(out, "{}", row(j));
        }
    }
    out += "\n## Each held-out set when it was asked for the first time\n\n\
            | day | doctor of | reports | precision | cause shown: first | traps blamed |\n|---|---|---|---|---|---|\n";
    for round in rounds.lines().filter(|l| !l.starts_with('#') && !l.is_empty()) {
        let _ = writeln!(out, "| {} |", round.split('\t').map(with_share).collect::<Vec<_>>().join(" | "));
    }
    out
}

/// `51/55` with its share; anything else as it is.
fn with_share(cell: &str) -> String {
    let parts = cell.split_once('/').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    parts.map_or_else(|| cell.to_owned(), |(a, b)| share(a, b))
}

fn row(j: &Judged) -> String {
    let t = &j.truth;
    let held = if j.set == Set::First { ", first held out" } else { "" };
    let corrected = t.corrected.as_ref().map(|c| format!(" (corrected: {c})")).unwrap_or_default();
    let shown = match (t.shows, t.decidable()) {
        (false, _) => "no",
        (true, true) => "yes",
        (true, false) => "yes; linerate knows no such cause",
    };
    let established = format!("{}{corrected}", t.cause).replace('|', "\\|");
    let verdict = j.verdict.name();
    format!("| [{}]({}) | {} | {established} | {shown} | {} | {verdict}{held} |", j.name, t.url, t.nccl, j.says)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_wilsons_interval() {
        assert_eq!(share(0, 0), "–");
        assert_eq!(share(81, 263), "81/263 = 30.8 % (26–37 %)");
        assert_eq!(share(10, 10), "10/10 = 100.0 % (72–100 %)");
    }

    #[test]
    fn what_nobody_looked_at_has_the_last_column() {
        let page = page(&[], "# a\n2026-01-01\tabc\t9\t3/4\t1/2\t0 of 3\n", "2026-01-01");
        let head = page.lines().find(|l| l.starts_with("| |")).unwrap();
        assert!(head.ends_with("| fresh, held out |"), "{head}");
        assert_eq!(head.matches('|').count(), SETS.len() + 2);
        assert!(
            page.ends_with("| 2026-01-01 | abc | 9 | 3/4 = 75.0 % (30–95 %) | 1/2 = 50.0 % (9–91 %) | 0 of 3 |\n"),
            "{page}"
        );
    }
}

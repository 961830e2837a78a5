//! `cargo xtask doctor`: what the doctor says of logs whose truth is known: every scenario of lab/logs, in every release in which it can
//! happen, in several clothes. Precision and recall are measured, not asserted by example.

use crate::shell::{self, Result};
use linerate_doctor::answer::{Answer, Confidence};
use linerate_doctor::{Observer, Reader, conclude};
use linerate_logs::{Dress, Release, Scenario, scenarios};
use linerate_rules::Severity;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

const OUT: &str = "docs/doctor-accuracy.md";
/// What the doctor says of real reports, with their texts outside the repository.
const REPORTS: &str = "docs/doctor-reports.md";
const USAGE: &str = "usage: cargo xtask doctor [--check] [--quick] [--write] [--verbose] [--all-dresses] [SCENARIO …]";
const FLAGS: [&str; 5] = ["--check", "--quick", "--write", "--verbose", "--all-dresses"];

/// `--check`: of all causes that are there, those that must be named; of all jobs with one, those in which the right one is first. A
/// few logs do not show their cause well enough; what must never be is tested one by one, not as a share.
const SHARE: f64 = 0.97;
/// `--quick`: one release of so many, and the last.
const QUICK: usize = 4;

/// How often a cause was right, missed, wrong.
#[derive(Default, Clone)]
struct Count {
    right: u32,
    missed: u32,
    /// Named with `likely` or more where it is neither the truth nor acceptable.
    wrong: u32,
}

#[derive(Default)]
struct Sums {
    by_cause: BTreeMap<String, Count>,
    runs: u32,
    with_truth: u32,
    first: u32,
    healthy: u32,
    healthy_clean: u32,
    /// Healthy, and a cause is named that the scenario does not allow.
    healthy_blamed: u32,
    undecidable: u32,
    undecidable_told: u32,
    /// Certain, and wrong: the worst.
    confident_wrong: u32,
    failures: Vec<String>,
}

pub(crate) fn run(args: &[String]) -> ExitCode {
    if args.iter().any(|a| a == "--reports") {
        return crate::reports::run(args);
    }
    if args.iter().any(|a| a == "--help" || a.starts_with("--") && !FLAGS.contains(&a.as_str())) {
        eprintln!("{USAGE}");
        return ExitCode::from(3);
    }
    shell::exit(measure(args))
}

fn measure(args: &[String]) -> Result<()> {
    let flag = |f: &str| args.iter().any(|a| a == f);
    if flag("--quick") && flag("--write") {
        return Err(format!("{OUT} is written from all releases: --write without --quick"));
    }
    let names: Vec<&String> = args.iter().filter(|a| !a.starts_with("--")).collect();
    let mut sums = Sums::default();
    for s in scenarios().iter().filter(|s| names.is_empty() || names.iter().any(|n| **n == s.name)) {
        let releases = s.releases();
        for (i, release) in releases.iter().copied().enumerate() {
            if flag("--quick") && i % QUICK != 0 && i + 1 != releases.len() {
                continue;
            }
            let all = Dress::ALL.iter().copied().filter(|d| d.keeps_all());
            let dresses: Vec<Dress> = if flag("--all-dresses") {
                all.collect()
            } else {
                // The plain one, and one other for each release in turn.
                let others: Vec<Dress> = all.collect();
                let turn = if flag("--quick") { i.div_ceil(QUICK) } else { i };
                let second = others.get(turn % others.len().max(1)).copied();
                [others.first().copied(), second].into_iter().flatten().collect::<Vec<_>>()
            };
            let mut before = None;
            for dress in dresses {
                if before.replace(dress) == Some(dress) {
                    continue;
                }
                judge(s, release, dress, &mut sums);
            }
        }
    }
    let report = report(&sums);
    println!("{report}");
    let shown = if flag("--verbose") { usize::MAX } else { 40 };
    sums.failures.iter().take(shown).for_each(|f| println!("{f}"));
    if sums.failures.len() > shown {
        println!("and {} more (--verbose)", sums.failures.len() - shown);
    }
    if flag("--write") {
        let path = shell::root().join(OUT);
        std::fs::write(&path, &report).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    if flag("--check") {
        return check(&sums);
    }
    Ok(())
}

/// What must hold, and does not.
fn check(s: &Sums) -> Result<()> {
    let mut broken = Vec::new();
    if s.runs == 0 {
        broken.push("no log was judged: no scenario has this name".to_owned());
    }
    if s.healthy_blamed > 0 {
        broken.push(format!("{} healthy log(s) are blamed", s.healthy_blamed));
    }
    if s.confident_wrong > 0 {
        broken.push(format!("{} wrong cause(s) are told as certain", s.confident_wrong));
    }
    let right = s.by_cause.values().map(|c| c.right).sum::<u32>();
    let there = right + s.by_cause.values().map(|c| c.missed).sum::<u32>();
    for (what, part, whole) in [("causes are named", right, there), ("right causes come first", s.first, s.with_truth)]
    {
        if f64::from(part) < f64::from(whole) * SHARE {
            broken.push(format!("{part} of {whole} {what}: fewer than {:.0} %", SHARE * 100.0));
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n")) }
}

fn answer(s: &Scenario, release: Release, dress: Dress) -> Answer {
    let mut observer = Observer::default();
    for file in s.render(release, 1, dress) {
        let mut reader = Reader::new(&mut observer, &file.name);
        // In pieces, as a stream comes.
        file.bytes.chunks(64 << 10).for_each(|piece| reader.feed(&mut observer, piece));
        reader.finish(&mut observer);
    }
    conclude(&observer, &[])
}

fn judge(s: &Scenario, release: Release, dress: Dress, sums: &mut Sums) {
    let answer = answer(s, release, dress);
    let causes: Vec<_> = answer.causes.iter().filter(|c| c.severity > Severity::Info).collect();
    let is = |list: &[String], id: &str| list.iter().any(|l| l == id);
    let mut wrong = Vec::new();
    sums.runs += 1;
    // Where the log does not tell, saying so is the answer; naming the truth as possible is as good.
    let named = |t: &String| causes.iter().any(|c| c.id == t);
    let told = !answer.undecided.is_empty()
        || causes.iter().any(|c| c.confidence == Confidence::Possible)
        || answer.nothing_understood()
        || answer.limits.iter().any(|l| l.contains("ceiling"));
    for t in s.truth.iter().filter(|t| !s.undecidable || named(t)) {
        let found = named(t);
        let count = sums.by_cause.entry(t.clone()).or_default();
        if found {
            count.right += 1;
        } else {
            count.missed += 1;
            wrong.push(format!("misses {t}"));
        }
    }
    for c in &causes {
        let allowed = is(&s.truth, c.id) || is(&s.acceptable, c.id);
        if is(&s.absent, c.id) || !allowed && c.confidence >= Confidence::Likely {
            sums.by_cause.entry(c.id.to_owned()).or_default().wrong += 1;
            sums.confident_wrong += u32::from(c.confidence == Confidence::Certain);
            wrong.push(format!("says {} ({}): {}", c.id, c.confidence.name(), c.summary));
        }
    }
    if s.undecidable {
        sums.undecidable += 1;
        if told || s.truth.iter().any(named) {
            sums.undecidable_told += 1;
        } else {
            wrong.push("does not say that it cannot be decided".to_owned());
        }
    } else if let Some(first) = s.truth.first() {
        sums.with_truth += 1;
        if causes.first().is_some_and(|c| c.id == first) {
            sums.first += 1;
        } else if let Some(c) = causes.first().filter(|_| causes.iter().any(|c| c.id == first)) {
            wrong.push(format!("puts {} before {first}", c.id));
        }
    } else {
        sums.healthy += 1;
        sums.healthy_blamed += u32::from(!wrong.is_empty());
        sums.healthy_clean += u32::from(wrong.is_empty() && answer.undecided.is_empty());
        if let Some(u) = answer.undecided.first() {
            wrong.push(format!("says undecided: {}", u.summary));
        }
    }
    if !wrong.is_empty() {
        sums.failures.push(format!("{} {release} {dress:?}: {}", s.name, wrong.join("; ")));
    }
}

fn share(part: u32, whole: u32) -> String {
    if whole == 0 { "–".to_owned() } else { format!("{:.1} %", f64::from(part) / f64::from(whole) * 100.0) }
}

/// The figures of docs/doctor-reports.md by their heads: of all reports (the first column), and of the last set that was held out, as it was when it was
/// asked for the first time (the last row of the page).
fn real(page: &str, head: &str) -> Option<(String, String)> {
    let row = page.lines().find(|l| l.strip_prefix("| ").is_some_and(|r| r.split(" |").next() == Some(head)))?;
    let cells: Vec<&str> = row.trim().trim_matches('|').split('|').map(str::trim).collect();
    let last: Vec<&str> = page.lines().next_back()?.trim().trim_matches('|').split('|').map(str::trim).collect();
    let at = ["reports", "precision", "cause shown: first", "traps blamed"].iter().position(|h| *h == head)?;
    Some(((*cells.get(1)?).to_owned(), (*last.get(2 + at)?).to_owned()))
}

/// Both measurements beside each other: real reports, and logs of our own making.
fn beside(s: &Sums, page: Option<&str>) -> String {
    let right: u32 = s.by_cause.values().map(|c| c.right).sum();
    let wrong: u32 = s.by_cause.values().map(|c| c.wrong).sum();
    let rows = [
        ("texts judged", "reports", s.runs.to_string()),
        ("asserted causes that are right (precision)", "precision", share(right, right + wrong)),
        ("the text shows the cause: it comes first", "cause shown: first", share(s.first, s.with_truth)),
        ("healthy, or traps: a cause is asserted", "traps blamed", format!("{} of {}", s.healthy_blamed, s.healthy)),
    ];
    let mut out = String::from(
        "| | real reports | the last held-out set, when first asked | generated logs |\n|---|---|---|---|\n",
    );
    for (what, head, generated) in rows {
        let none = || ("not measured".to_owned(), "not measured".to_owned());
        let (all, held) = page.and_then(|p| real(p, head)).unwrap_or_else(none);
        let _ = writeln!(out, "| {what} | {all} | {held} | {generated} |");
    }
    out
}

fn report(s: &Sums) -> String {
    let page = std::fs::read_to_string(shell::root().join(REPORTS)).ok();
    let mut out = String::from("# How often the doctor is right\n\nWritten by `cargo xtask doctor --write`.\n\n");
    out += &beside(s, page.as_deref());
    out += "\nThe real reports are public ones with an established cause; [doctor-reports.md](doctor-reports.md) lists each, with what was established and what\nlinerate says. They are the measure: texts that people paste are cut, mixed with prose, and seldom complete.\n\n";
    out += "The generated logs are made by `lab/logs`, which writes them from NCCL's own format strings, for every release in which a scenario can happen,\nwith the right answer beside them. They show that no wording of a release is missed; they do not show how often a real ticket is judged correctly.\n\n## Generated logs\n\n";
    let _ = writeln!(out, "- logs judged: {}", s.runs);
    let _ = writeln!(
        out,
        "- with a cause: {}; the right cause comes first in {}",
        s.with_truth,
        share(s.first, s.with_truth)
    );
    let _ = writeln!(
        out,
        "- healthy, or traps: {}; no cause is asserted in {}",
        s.healthy,
        share(s.healthy_clean, s.healthy)
    );
    let _ = writeln!(
        out,
        "- not decidable from the log: {}; reported as undecided in {}",
        s.undecidable,
        share(s.undecidable_told, s.undecidable)
    );
    let _ = writeln!(out, "- wrong causes reported as certain: {}\n", s.confident_wrong);
    let _ =
        writeln!(out, "| cause | found | missed | wrongly asserted | precision | recall |\n|---|---|---|---|---|---|");
    for (id, c) in &s.by_cause {
        let precision = share(c.right, c.right + c.wrong);
        let recall = share(c.right, c.right + c.missed);
        let _ = writeln!(out, "| {id} | {} | {} | {} | {precision} | {recall} |", c.right, c.missed, c.wrong);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_measurements_stand_beside_each_other() {
        let page = "| | all | seen | first | fresh |\n|---|---|---|---|---|\n| reports | 185 | 107 | 40 | – |\n| precision | 97/99 = 98.0 % (93–99 %) | x | y | – |\n\n| day | doctor of | reports | precision | cause shown: first | traps blamed |\n|---|---|---|---|---|---|\n| 2026-01-01 | abc | 38 | 20/20 = 100.0 % (84–100 %) | 1/2 = 50.0 % | 0 of 3 |\n";
        assert_eq!(real(page, "reports"), Some(("185".to_owned(), "38".to_owned())));
        assert_eq!(real(page, "precision").map(|r| r.1), Some("20/20 = 100.0 % (84–100 %)".to_owned()));
        assert_eq!(real(page, "traps blamed"), None);
        let table = beside(&Sums { runs: 7, ..Sums::default() }, Some(page));
        assert!(table.contains("| texts judged | 185 | 38 | 7 |\n") && table.contains("not measured"), "{table}");
    }

    #[test]
    fn a_few_misses_pass_and_what_must_never_be_does_not() {
        let sums = |right, missed, first| Sums {
            runs: 100,
            with_truth: 100,
            first,
            by_cause: BTreeMap::from([("net/x".to_owned(), Count { right, missed, wrong: 0 })]),
            ..Sums::default()
        };
        assert_eq!(check(&sums(98, 2, 97)), Ok(()));
        assert!(check(&sums(96, 4, 97)).unwrap_err().contains("96 of 100 causes are named"));
        assert!(check(&sums(98, 2, 96)).unwrap_err().contains("96 of 100 right causes come first"));
        assert!(check(&Sums { healthy_blamed: 1, ..sums(100, 0, 100) }).unwrap_err().contains("blamed"));
        assert!(check(&Sums { confident_wrong: 1, ..sums(100, 0, 100) }).unwrap_err().contains("certain"));
        assert!(check(&Sums::default()).is_err());
    }
}

//! `cargo xtask doctor --reports DIR`: what the doctor says of real, public trouble reports. Their texts stay outside the repository: DIR
//! has one folder for each, with `text.txt` as it was pasted and `truth.toml` with what the thread established, written before linerate
//! was asked. Every fourth of them was held out: nobody looked at its answer while the doctor was worked on. A report whose answer has been
//! looked at measures nothing new, so `--fresh DIR` names reports that were collected later and are judged once.

mod page;

use crate::shell::{self, Result};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const OUT: &str = "docs/doctor-reports.md";
/// What is known of the cases in the shared data, which have no `truth.toml`.
const CASES: &str = "lab/reports/cases.tsv";
/// What each held-out set gave when it was asked for the first time.
const ROUNDS: &str = "lab/reports/rounds.tsv";
const USAGE: &str = "usage: cargo xtask doctor --reports DIR… [--fresh DIR]… [--cases DIR] [--seen] [--write]";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Truth {
    url: String,
    /// Release of NCCL, where the report names one.
    nccl: String,
    /// `report`, or `trap`: a healthy log, another trouble, a text that does not show a cause.
    kind: Kind,
    /// What was established, in one phrase.
    cause: String,
    /// Who established it.
    #[serde(rename = "evidence")]
    _evidence: String,
    /// The pasted text shows the cause.
    shows: bool,
    /// Causes that are right; `none` where the doctor knows no such cause, or nothing was established.
    expected: Vec<String>,
    /// Causes that are true of the text without being the established one.
    allowed: Vec<String>,
    holdout: bool,
    /// A plain mistake of the truth that was mended after linerate was asked, and how.
    corrected: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Report,
    Trap,
}

/// Of `linerate doctor -f json`, what is judged.
#[derive(Deserialize, Default)]
struct Answer {
    causes: Vec<Named>,
    undecided: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Named {
    id: String,
    severity: String,
    confidence: String,
}

impl Named {
    fn counts(&self) -> bool {
        self.severity != "info"
    }

    fn asserted(&self) -> bool {
        matches!(self.confidence.as_str(), "certain" | "likely")
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    Right,
    Undecided,
    Wrong,
    Missed,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Verdict::Right => "right",
            Verdict::Undecided => "undecided",
            Verdict::Wrong => "wrong",
            Verdict::Missed => "missed",
        }
    }
}

/// Asserted causes.
#[derive(Default)]
struct Asserted {
    /// The established one.
    right: u32,
    /// True of the text, but another.
    other: u32,
    wrong: u32,
}

/// Whether anybody looked at a report's answer while the doctor was worked on.
#[derive(Clone, Copy, PartialEq)]
enum Set {
    Seen,
    /// Held out at first, and looked at since.
    First,
    /// Held out.
    Fresh,
}

/// A report that was judged.
struct Judged {
    name: String,
    set: Set,
    truth: Truth,
    says: String,
    verdict: Verdict,
    asserted: Asserted,
    first: bool,
}

pub(crate) fn run(args: &[String]) -> ExitCode {
    match options(args) {
        Some(o) => shell::exit(measure(&o)),
        None => {
            eprintln!("{USAGE}");
            ExitCode::from(3)
        }
    }
}

#[derive(Default)]
struct Options {
    reports: Vec<PathBuf>,
    fresh: Vec<PathBuf>,
    cases: Option<PathBuf>,
    seen: bool,
    write: bool,
}

fn options(args: &[String]) -> Option<Options> {
    let mut o = Options::default();
    let mut args = args.iter();
    while let Some(a) = args.next() {
        match a.as_str() {
            "--reports" => o.reports.push(args.next()?.into()),
            "--fresh" => o.fresh.push(args.next()?.into()),
            "--cases" => o.cases = Some(args.next()?.into()),
            "--seen" => o.seen = true,
            "--write" => o.write = true,
            _ => return None,
        }
    }
    let conflicting = o.seen && o.write;
    (!o.reports.is_empty() && !conflicting).then_some(o)
}

fn measure(o: &Options) -> Result<()> {
    shell::dev("linerate")?;
    let mut all = Vec::new();
    for (name, truth, files) in of_all(&o.reports)? {
        let set = if truth.holdout { Set::First } else { Set::Seen };
        if !(o.seen && truth.holdout) {
            all.push(judge(name, set, truth, &ask(&files)?));
        }
    }
    if !o.seen {
        for (name, truth, files) in of_all(&o.fresh)? {
            all.push(judge(name, Set::Fresh, truth, &ask(&files)?));
        }
    }
    if let Some(cases) = &o.cases {
        for (name, truth, files) in cases_of(cases)? {
            all.push(judge(name, Set::Seen, truth, &ask(&files)?));
        }
    }
    for j in all.iter().filter(|j| matches!(j.verdict, Verdict::Wrong | Verdict::Missed)) {
        println!(
            "{} {}: established {} {:?}; says {}",
            j.verdict.name(),
            j.name,
            j.truth.cause,
            j.truth.expected,
            j.says
        );
    }
    let day = shell::output(Command::new("date").args(["-u", "+%F"]))?;
    let rounds = std::fs::read_to_string(shell::root().join(ROUNDS)).map_err(|e| format!("{ROUNDS}: {e}"))?;
    let text = page::page(&all, &rounds, day.trim());
    println!("{}", text.lines().take_while(|l| !l.starts_with("## ")).collect::<Vec<_>>().join("\n"));
    if o.write {
        let path = shell::root().join(OUT);
        std::fs::write(&path, &text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

type Report = (String, Truth, Vec<PathBuf>);

fn of_all(dirs: &[PathBuf]) -> Result<Vec<Report>> {
    let all = dirs.iter().map(|d| reports(d)).collect::<Result<Vec<_>>>()?;
    Ok(all.into_iter().flatten().collect())
}

fn reports(dir: &Path) -> Result<Vec<Report>> {
    let mut out = Vec::new();
    for folder in folders(dir)? {
        let path = folder.join("truth.toml");
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let truth = toml::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        out.push((name(&folder), truth, vec![folder.join("text.txt")]));
    }
    Ok(out)
}

fn cases_of(dir: &Path) -> Result<Vec<Report>> {
    let path = shell::root().join(CASES);
    let table = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut out = Vec::new();
    for line in table.lines().filter(|l| !l.starts_with('#')) {
        let (name, truth) = case(line).ok_or_else(|| format!("{CASES}: seven columns are needed: {line}"))?;
        let mut files: Vec<PathBuf> = list(&dir.join(&name))?;
        files.retain(|f| f.extension().is_some_and(|e| e == "txt"));
        out.push((name, truth, files));
    }
    Ok(out)
}

/// A line of the table of cases.
fn case(line: &str) -> Option<(String, Truth)> {
    let words = |s: &str| s.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut c = line.split('\t');
    let (name, url, kind, shows) = (c.next()?, c.next()?, c.next()?, c.next()?);
    let (expected, allowed, cause) = (words(c.next()?), words(c.next()?), c.next()?);
    let truth = Truth {
        url: url.to_owned(),
        nccl: String::new(),
        kind: if kind == "trap" { Kind::Trap } else { Kind::Report },
        cause: cause.to_owned(),
        _evidence: String::new(),
        shows: shows == "true",
        expected,
        allowed,
        holdout: false,
        corrected: None,
    };
    Some((name.to_owned(), truth))
}

fn list(dir: &Path) -> Result<Vec<PathBuf>> {
    let at = |e| format!("{}: {e}", dir.display());
    let mut out = std::fs::read_dir(dir)
        .map_err(at)?
        .map(|e| e.map(|e| e.path()))
        .collect::<std::io::Result<Vec<_>>>()
        .map_err(at)?;
    out.sort();
    Ok(out)
}

fn folders(dir: &Path) -> Result<Vec<PathBuf>> {
    Ok(list(dir)?.into_iter().filter(|p| p.is_dir()).collect())
}

fn name(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

fn ask(files: &[PathBuf]) -> Result<Answer> {
    let Some(first) = files.first() else { return Ok(Answer::default()) };
    let binary = shell::target().join("debug/linerate");
    let out = Command::new(&binary)
        .args(["doctor", "--format", "json"])
        .args(files)
        .output()
        .map_err(|e| format!("cannot run {}: {e}", binary.display()))?;
    serde_json::from_slice(&out.stdout).map_err(|e| {
        format!("linerate doctor {}: {e}: {}", first.display(), String::from_utf8_lossy(&out.stderr).trim())
    })
}

fn judge(name: String, set: Set, truth: Truth, answer: &Answer) -> Judged {
    let named: Vec<&Named> = answer.causes.iter().filter(|c| c.counts()).collect();
    let mut asserted = Asserted::default();
    for c in named.iter().filter(|c| c.asserted()) {
        let count = if truth.expected.contains(&c.id) {
            &mut asserted.right
        } else if truth.allowed.contains(&c.id) {
            &mut asserted.other
        } else {
            &mut asserted.wrong
        };
        *count += 1;
    }
    let first = named.first().is_some_and(|c| truth.expected.contains(&c.id));
    let verdict = if asserted.wrong > 0 {
        Verdict::Wrong
    } else if truth.decidable() && !first {
        Verdict::Missed
    } else if asserted.right > 0 || truth.decidable() {
        Verdict::Right
    } else {
        Verdict::Undecided
    };
    let says = if named.is_empty() {
        if answer.undecided.is_empty() { "nothing".to_owned() } else { "cannot tell".to_owned() }
    } else {
        let each = named.iter().map(|c| format!("{} ({})", c.id, c.confidence));
        each.collect::<Vec<_>>().join(", ")
    };
    Judged { name, set, truth, says, verdict, asserted, first }
}

impl Truth {
    /// The text shows the cause, and the doctor knows such a cause.
    fn decidable(&self) -> bool {
        self.shows && self.expected.iter().any(|e| e != "none")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(causes: &[(&str, &str)]) -> Answer {
        let named = |&(id, confidence): &(&str, &str)| Named {
            id: id.to_owned(),
            severity: "high".to_owned(),
            confidence: confidence.to_owned(),
        };
        Answer { causes: causes.iter().map(named).collect(), undecided: Vec::new() }
    }

    fn verdict(row: &str, causes: &[(&str, &str)]) -> Verdict {
        let (name, truth) = case(row).unwrap();
        judge(name, Set::Seen, truth, &answer(causes)).verdict
    }

    #[test]
    fn a_report_is_right_missed_wrong_or_undecided() {
        let shown = "a\thttps://x\treport\ttrue\tib/memlock\tnet/no-rdma-device\twhy";
        assert!(verdict(shown, &[("ib/memlock", "certain")]) == Verdict::Right);
        assert!(verdict(shown, &[("ib/memlock", "possible")]) == Verdict::Right);
        assert!(verdict(shown, &[("net/no-rdma-device", "likely")]) == Verdict::Missed);
        assert!(verdict(shown, &[]) == Verdict::Missed);
        assert!(verdict(shown, &[("ib/memlock", "certain"), ("kernel/xid", "likely")]) == Verdict::Wrong);
        let hidden = "a\thttps://x\treport\tfalse\tib/memlock\t\twhy";
        assert!(verdict(hidden, &[]) == Verdict::Undecided);
        assert!(verdict(hidden, &[("kernel/xid", "possible")]) == Verdict::Undecided);
        let trap = "a\thttps://x\ttrap\tfalse\t\t\twhy";
        assert!(verdict(trap, &[("kernel/xid", "certain")]) == Verdict::Wrong);
        assert!(verdict(trap, &[]) == Verdict::Undecided);
    }

    #[test]
    fn every_case_of_the_table_is_read() {
        let table = std::fs::read_to_string(shell::root().join(CASES)).unwrap();
        let rows: Vec<_> = table.lines().filter(|l| !l.starts_with('#')).collect();
        assert!(rows.len() > 30);
        assert!(rows.iter().all(|r| case(r).is_some()), "seven columns each");
    }
}

//! What the network's programs print, read as `messages.tsv` decides: alone, behind heads, in a code span. The page of it is
//! docs/doctor-messages.md.

use crate::common;

use common::answer;
use linerate_doctor::answer::{Answer, Confidence};
use linerate_rules::Severity;
use std::collections::BTreeMap;
use std::fmt::Write as _;

struct Row<'a> {
    program: &'a str,
    level: &'a str,
    source: &'a str,
    bare: &'a str,
    verdict: &'a str,
    message: &'a str,
}

fn rows() -> Vec<Row<'static>> {
    let lines = include_str!("messages.tsv").lines().filter(|l| !l.starts_with('#') && !l.is_empty());
    let row = |l: &'static str| match l.split('\t').collect::<Vec<_>>()[..] {
        [program, level, _releases, source, bare, verdict, message] => {
            Some(Row { program, level, source, bare, verdict, message })
        }
        _ => None,
    };
    let rows: Vec<Row<'static>> = lines.clone().filter_map(row).collect();
    assert_eq!(rows.len(), lines.count(), "each row has seven cells");
    rows
}

/// The program's own head.
fn head(r: &Row<'_>) -> &'static str {
    match (r.program, r.level) {
        ("nccl" | "rccl", "W") => "node1:11:12 [0] misc/x.cc:12 NCCL WARN ",
        ("aws-ofi-nccl", "W") => "node1:11:12 [0] nccl_ofi_init:12 NCCL WARN ",
        ("nccl" | "rccl" | "aws-ofi-nccl", "I") => "node1:11:12 [0] NCCL INFO ",
        ("ucx", "E") => "[1700000000.123456] [node1:12:0]        ib_x.c:348  UCX  ERROR ",
        ("ucx", "W") => "[1700000000.123456] [node1:12:0]        ib_x.c:348  UCX  WARN  ",
        ("ucx", "F") => "[1700000000.123456] [node1:12:0]        ib_x.c:348  UCX  FATAL ",
        _ => "",
    }
}

/// What launchers and collectors put before any line.
const LAUNCHERS: &[&str] =
    &["", "[1,0]<stderr>:", "(EngineCore_0 pid=7) ", "[rank0]:", "2026-11-22T10:00:00.000000000Z stderr F "];

/// What an answer says, in the words of the table.
fn verdict(a: &Answer) -> String {
    match a.causes.iter().find(|c| c.severity > Severity::Info) {
        Some(c) if c.confidence > Confidence::Possible => format!("cause {}", c.id),
        Some(c) => format!("possible {}", c.id),
        None if a.timeline.is_empty() => "ignored".to_owned(),
        None => "symptom".to_owned(),
    }
}

#[test]
fn each_message_is_read_as_decided() {
    let mut wrong = String::new();
    for r in rows() {
        let own = format!("{}{}", head(&r), r.message);
        // What names no cause is worth three heads.
        let names_one = r.verdict.contains(' ');
        let launchers = LAUNCHERS.iter().take(if names_one { LAUNCHERS.len() } else { 3 });
        let mut forms: Vec<(String, &str)> = launchers.map(|l| (format!("{l}{own}"), r.verdict)).collect();
        if names_one {
            forms.push((format!("`{}`", own.trim()), r.verdict));
            forms.push((format!("Hello,\nit stops:\n\n{own}\n\nWhat can we do?"), r.verdict));
        }
        let bare = match r.bare {
            "same" => r.verdict,
            "-" => "ignored",
            other => other,
        };
        forms.push((r.message.to_owned(), bare));
        for (text, want) in forms {
            let got = verdict(&answer(&format!("{text}\n")));
            if got != want {
                let _ = writeln!(wrong, "{} {}: {text:?}: {got}, not {want}", r.program, r.source);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The verdicts of each program, and the messages that lead to each cause, as docs/doctor-messages.md has them.
fn page() -> String {
    let rows = rows();
    let mut by_program: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    let mut by_cause: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for r in &rows {
        let (kind, id) = r.verdict.split_once(' ').unwrap_or((r.verdict, ""));
        let counts = by_program.entry(r.program).or_default();
        let at = ["cause", "possible", "symptom", "ignored"].iter().position(|k| *k == kind);
        assert!(at.is_some(), "{kind} is no verdict");
        at.into_iter().chain([4]).for_each(|at| counts[at] += 1);
        if !id.is_empty() {
            *by_cause.entry(id).or_default().entry(r.program).or_default() += 1;
        }
    }
    let mut out = String::from(
        "# Messages of the network's programs\n\n\
         What NCCL (2.4 to 2.30), RCCL, aws-ofi-nccl, UCX, libibverbs, perftest, Open MPI and others print, and how the doctor reads each\n\
         message when it is all there is. The list is `crates/doctor/tests/messages.tsv`, with the place in each program's source; a test feeds\n\
         every message to the doctor, alone and behind heads. *Cause*: asserted. *Possible*: named, not asserted. *Symptom*: something failed, and\n\
         the message alone does not say why. *Ignored*: nothing is said; it is harmless, or means nothing to a job by itself.\n\n\
         | program | messages | cause | possible | symptom | ignored |\n|---|---|---|---|---|---|\n",
    );
    for (program, [cause, possible, symptom, ignored, all]) in &by_program {
        let _ = writeln!(out, "| {program} | {all} | {cause} | {possible} | {symptom} | {ignored} |");
    }
    out.push_str("\n| cause | messages that name it |\n|---|---|\n");
    for (id, programs) in &by_cause {
        let of: Vec<String> = programs.iter().map(|(p, n)| format!("{p} {n}")).collect();
        let _ = writeln!(out, "| {id} | {} |", of.join(", "));
    }
    out
}

#[test]
fn the_page_counts_them() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/doctor-messages.md");
    let page = page();
    if std::env::var_os("UPDATE_PAGE").is_some() {
        assert!(std::fs::write(path, &page).is_ok(), "the page can be written");
    }
    let there = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        there == page,
        "docs/doctor-messages.md is stale: UPDATE_PAGE=1 cargo test -p linerate-doctor --test all messages::"
    );
}

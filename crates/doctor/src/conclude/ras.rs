//! What else a report of NCCL's RAS says: ranks whose status differs, errors that ranks report, a table whose details are not there, and
//! that nothing was wrong when it was asked.

use crate::answer::{Answer, Evidence, Note, Undecided};
use crate::case::Case;
use crate::causes::job::ras::name;
use crate::place::{FileId, Place};
use linerate_formats::counted;
use linerate_formats::nccl_ras::{Communicator, Errors, Reached, Report, Reported, Share, Status};
use std::collections::BTreeSet;

/// Reports, and what is undecided of each.
const SHOWN: usize = 4;

/// Says it.
pub(super) fn ras(case: &Case<'_>, ids: &BTreeSet<&str>, suffix: &str, answer: &mut Answer) {
    // With a cause in the job all this follows from it.
    let is_known = ids.iter().any(|id| id.starts_with("job/") || id.starts_with("kernel/"));
    for (file, r) in case.ras().take(SHOWN) {
        let of = Of { case, file, suffix };
        if r.is_sound() {
            of.sound(r, answer);
        }
        if !is_known {
            r.communicators.iter().flat_map(|c| of.reported(c)).take(SHOWN).for_each(|u| answer.undecided.push(u));
            r.communicators.iter().filter_map(|c| of.status(c)).take(SHOWN).for_each(|u| answer.undecided.push(u));
            answer.undecided.extend(of.beginnings(r));
        }
        let unnamed = of.unnamed(r);
        if let Some(errors) = unnamed.filter(|_| is_known) {
            answer.limits.push(format!(
                "the table of NCCL's RAS in {} says {errors}; the lines that name the ranks are not there",
                case.o.file_name(file)
            ));
        } else if let Some(errors) = unnamed {
            answer.undecided.push(of.nameless(r, errors));
        }
        if r.reached < Reached::Last && !r.is_monitor && unnamed.is_none() {
            answer.limits.push(format!(
                "the report of NCCL's RAS in {} is not whole: what the rest says is not known",
                case.o.file_name(file)
            ));
        }
        answer.limits.extend(r.left_out.iter().map(|l| format!("{}, {l}", case.o.file_name(file))));
    }
    if case.is_first && case.o.ras.untracked > 0 {
        let n = counted(case.o.ras.untracked, "report of NCCL's RAS was", "reports of NCCL's RAS were");
        answer.limits.push(format!("{n} not kept: there are more than are looked at"));
    }
}

struct Of<'a> {
    case: &'a Case<'a>,
    file: FileId,
    suffix: &'a str,
}

impl Of<'_> {
    fn at(&self, line: u32, text: impl Into<String>) -> Evidence {
        self.case.at(Place { file: self.file, line: u64::from(line) }, text)
    }

    fn again(&self) -> String {
        "`ncclras -v` once more: what stays the same is stuck, what changes is on its way".to_owned()
    }

    /// Nothing was wrong at that time, which is all that it says.
    fn sound(&self, r: &Report, answer: &mut Answer) {
        let what = "a process that is gone, or ranks that differ, when NCCL's RAS was asked".to_owned();
        if answer.not_causes.iter().any(|n| n.what == what) {
            return;
        }
        let n = counted(r.communicators_in_all(), "communicator was", "communicators were");
        let why = format!(
            "RAS saw that {n} running and complete at that time; an operation that hangs on a GPU or in a network does not show there"
        );
        let table = r.groups.first().map(|g| self.at(g.line, format!("{} {}", g.status.word(), g.errors)));
        answer.not_causes.push(Note { what, why, evidence: table.into_iter().collect() });
    }

    /// An error that ranks report.
    fn reported(&self, c: &Communicator) -> Vec<Undecided> {
        let one = |s: &Share<Reported>| {
            let ranks: BTreeSet<u32> = s.members.iter().filter_map(|m| m.rank).collect();
            let who = if ranks.is_empty() { counted(s.count, "rank", "ranks") } else { Case::rank_words(ranks) };
            let reports = if s.count == 1 { "reports" } else { "report" };
            let when = if s.what.is_initialization { " while it is made" } else { "" };
            let candidates = match s.what.error.as_str() {
                "Remote process error" => vec!["job/peer-exited"],
                "System error" => vec!["job/bootstrap-unreachable", "ib/verbs-call-failed"],
                "Invalid usage" | "Invalid argument" => vec!["job/version-mismatch"],
                _ => Vec::new(),
            };
            let mut evidence =
                vec![self.at(s.line, format!("{} reported {}", counted(s.count, "rank", "ranks"), s.what.error))];
            evidence.extend(s.members.iter().take(2).map(|m| self.at(m.line, m.to_string())));
            Undecided {
                symptom: "symptom/hang",
                summary: format!(
                    "{who} of {} {reports} `{}`{when} to NCCL's RAS; why is not in the report{}",
                    name(c),
                    linerate_snapshot::without_secrets(&s.what.error),
                    self.suffix
                ),
                evidence,
                candidates,
                read: vec![
                    "the log of these ranks, with NCCL_DEBUG=WARN at least: NCCL prints the reason as it fails"
                        .to_owned(),
                ],
            }
        };
        c.reported.iter().map(one).collect()
    }

    /// Ranks whose status differs.
    fn status(&self, c: &Communicator) -> Option<Undecided> {
        if c.statuses.len() < 2 {
            return None;
        }
        let of = |s: &Share<Status>| {
            let ranks: BTreeSet<u32> = s.members.iter().filter_map(|m| m.rank).collect();
            let is_all = ranks.len() == s.count as usize;
            let who = if is_all { Case::rank_words(ranks) } else { counted(s.count, "rank", "ranks") };
            format!("{who} {}", s.what.word())
        };
        let list: Vec<String> = c.statuses.iter().map(of).collect();
        let is_aborted = c.statuses.iter().any(|s| s.what == Status::Abort);
        let means = if is_aborted {
            "some ranks gave it up, as frameworks do after a timeout or an error"
        } else {
            "that is so for a moment while it is made or destroyed, and for good where a rank does not come"
        };
        let head = self.at(c.line, format!("{}: Communicator ranks have different status", name(c)));
        let shares = c
            .statuses
            .iter()
            .map(|s| self.at(s.line, format!("{} have status {}", counted(s.count, "rank", "ranks"), s.what.word())));
        Some(Undecided {
            symptom: "symptom/hang",
            summary: format!("ranks of {} have different status: {}; {means}{}", name(c), list.join(", "), self.suffix),
            evidence: std::iter::once(head).chain(shares).take(4).collect(),
            candidates: vec!["job/straggler", "job/peer-exited"],
            read: vec![
                self.again(),
                "stacks of the ranks of the smaller part (py-spy dump), and their logs".to_owned(),
            ],
        })
    }

    /// Communicators that are not made yet, or that all ranks gave up.
    fn beginnings(&self, r: &Report) -> Option<Undecided> {
        if let Some(at) = r.no_data.filter(|_| !r.is_troubled()) {
            return Some(Undecided {
                symptom: "symptom/slow-start",
                summary: format!(
                    "NCCL's RAS knows no communicator: none is made yet, or all are destroyed{}",
                    self.suffix
                ),
                evidence: vec![self.at(at.line, "No communicator data collected!")],
                candidates: Vec::new(),
                read: vec![self.again()],
            });
        }
        let is = |s: Status| r.groups.iter().find(|g| g.status == s && g.errors.is_ok());
        let (g, what) = match (is(Status::Abort), is(Status::Init)) {
            (Some(g), _) => (g, "given up by their ranks"),
            (_, Some(g)) => (g, "still being made"),
            _ => return None,
        };
        let n = counted(g.communicators, "communicator is", "communicators are");
        Some(Undecided {
            symptom: if g.status == Status::Abort { "symptom/hang" } else { "symptom/slow-start" },
            summary: format!("{n} {what} ({}) when NCCL's RAS is asked{}", g.status.word(), self.suffix),
            evidence: vec![self.at(g.line, format!("{} {}", g.status.word(), g.errors))],
            candidates: Vec::new(),
            read: vec![self.again()],
        })
    }

    /// What the table says is wrong, and no line below it names.
    fn unnamed(&self, r: &Report) -> Option<Errors> {
        let is = |has: fn(Errors) -> bool| {
            r.groups.iter().any(|g| has(g.errors)) && !r.communicators.iter().any(|c| has(c.errors))
        };
        let errors = Errors {
            incomplete: is(|e| e.incomplete) && r.missing.is_none() && r.dead.is_none(),
            error: is(|e| e.error),
            mismatch: is(|e| e.mismatch),
        };
        (!errors.is_ok()).then_some(errors)
    }

    fn nameless(&self, r: &Report, errors: Errors) -> Undecided {
        let rows = r.groups.iter().filter(|g| !g.errors.is_ok()).take(4);
        let evidence = rows.map(|g| self.at(g.line, format!("group {}: {} {}", g.number, g.status.word(), g.errors)));
        Undecided {
            symptom: "symptom/hang",
            summary: format!(
                "the table of NCCL's RAS says {errors}; the lines that name the ranks are not there{}",
                self.suffix
            ),
            evidence: evidence.collect(),
            candidates: Vec::new(),
            read: vec!["the rest of the report: `ncclras -v`, whole".to_owned()],
        }
    }
}

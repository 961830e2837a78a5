//! What NCCL's RAS says of processes that do not answer, and of ranks that are behind.

use crate::answer::Evidence;
use crate::case::Case;
use crate::causes::nccl;
use crate::place::{FileId, Place};
use linerate_formats::counted;
use linerate_formats::nccl_ras::{Absent, Calls, Communicator, Member, Report, Share};
use linerate_rules::Source;
use std::cmp::Ordering;
use std::collections::BTreeSet;

pub(super) const RAS: Source =
    nccl("NCCL, RAS", "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting/ras.html");
pub(super) const RAS_CC: Source =
    nccl("NCCL, src/ras/client_support.cc", "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/ras/client_support.cc");

/// Processes and ranks that are named in a sentence, and lines of evidence.
const NAMED: usize = 3;
/// Ranks of one communicator that are compared with each other.
const COMPARED: usize = 32;

/// Lines of a report.
pub(super) struct Lines<'a> {
    case: &'a Case<'a>,
    file: FileId,
}

impl<'a> Lines<'a> {
    pub(super) fn new(case: &'a Case<'a>, file: FileId) -> Self {
        Lines { case, file }
    }

    pub(super) fn at(&self, line: u32, text: impl Into<String>) -> Evidence {
        self.case.at(Place { file: self.file, line: u64::from(line) }, text)
    }

    fn members<'b>(&'b self, members: &'b [Member]) -> impl Iterator<Item = Evidence> + 'b {
        members.iter().take(NAMED).map(|m| self.at(m.line, m.to_string()))
    }
}

/// Who does not answer.
pub(super) struct Gone {
    /// `process 22 on 10.0.0.2 (rank 3, GPU 1)`, or how many.
    pub(super) who: String,
    /// How many.
    pub(super) count: u32,
    /// RAS gave them up.
    pub(super) dead: bool,
    pub(super) evidence: Vec<Evidence>,
}

/// The processes that a report misses, or, where that part of it was cut, the ranks.
pub(super) fn gone(case: &Case<'_>, file: FileId, r: &Report) -> Option<Gone> {
    let lines = Lines::new(case, file);
    let mut evidence = Vec::new();
    let lists: Vec<(&Absent, bool)> =
        r.dead.iter().map(|a| (a, true)).chain(r.missing.iter().map(|a| (a, false))).collect();
    let incomplete: Vec<(&Communicator, &Absent)> =
        r.communicators.iter().filter_map(|c| Some((c, c.missing.as_ref()?))).collect();
    let count = lists.iter().fold(0u32, |n, (a, _)| n.saturating_add(a.count));
    for (absent, dead) in &lists {
        if !r.is_json && !r.is_monitor {
            evidence.push(lines.at(absent.line, heading(absent.count, *dead)));
        }
        evidence.extend(lines.members(&absent.members));
    }
    for (c, absent) in incomplete.iter().take(NAMED) {
        if !r.is_json {
            let what = counted(absent.count, "rank", "ranks");
            evidence.push(lines.at(absent.line, format!("{}: Missing communicator data from {what}", name(c))));
        }
        evidence.extend(lines.members(&absent.members).take(1));
    }
    let dead = r.dead.is_some();
    if count > 0 {
        let named: Vec<String> = lists
            .iter()
            .flat_map(|(a, _)| &a.members)
            .take(NAMED)
            .map(|m| process(m, rank_of(m, count, &incomplete)))
            .collect();
        let who = match count.saturating_sub(u32::try_from(named.len()).unwrap_or(u32::MAX)) {
            _ if named.is_empty() => counted(count, "process", "processes"),
            0 => named.join(", "),
            more => format!("{} and {}", named.join(", "), counted(more, "more process", "more processes")),
        };
        return Some(Gone { who, count, dead, evidence });
    }
    let (c, absent) = incomplete.first()?;
    let ranks: BTreeSet<u32> = absent.members.iter().filter_map(|m| m.rank).collect();
    let who = if !ranks.is_empty() && ranks.len() == absent.count as usize {
        Case::rank_words(ranks)
    } else {
        counted(absent.count, "rank", "ranks")
    };
    Some(Gone { who: format!("{who} of {}", name(c)), count: absent.count, dead, evidence })
}

/// The heading of a list, as the text form has it.
fn heading(count: u32, dead: bool) -> String {
    if dead {
        let what = counted(count, "job process is", "job processes are");
        return format!("{what} considered dead (unreachable via the RAS network)");
    }
    format!("Missing communicator data from {}", counted(count, "job process", "job processes"))
}

/// The rank of a process in the largest communicator that misses it. 2.24 and 2.25 do not say whose the ranks are.
fn rank_of(m: &Member, count: u32, incomplete: &[(&Communicator, &Absent)]) -> Option<u32> {
    let of = |r: &&Member| match r.pid {
        Some(_) => r.pid == m.pid && r.node == m.node,
        None => count == 1,
    };
    let largest = incomplete.iter().max_by_key(|(c, _)| c.size)?;
    let [one] = largest.1.members.iter().filter(of).take(2).collect::<Vec<_>>()[..] else { return None };
    one.rank
}

fn process(m: &Member, rank: Option<u32>) -> String {
    let node = if m.node.is_empty() { String::new() } else { format!(" on {}", m.node) };
    let Some(pid) = m.pid else { return format!("a process{node}") };
    let s = if m.gpus.contains(',') { "s" } else { "" };
    let gpus = if m.gpus.is_empty() { String::new() } else { format!("GPU{s} {}", m.gpus) };
    let rank = rank.map(|r| format!("rank {r}")).unwrap_or_default();
    let inside: Vec<String> = [rank, gpus].into_iter().filter(|w| !w.is_empty()).collect();
    let inside = if inside.is_empty() { String::new() } else { format!(" ({})", inside.join(", ")) };
    format!("process {pid}{node}{inside}")
}

/// `communicator #0-1`, `communicator 0xa1`.
pub(crate) fn name(c: &Communicator) -> String {
    match (c.id, c.hash) {
        (Some((group, own)), _) => format!("communicator #{group}-{own}"),
        (None, 0) => "a communicator".to_owned(),
        (None, hash) => format!("communicator 0x{hash:x}"),
    }
}

/// Ranks that have launched fewer operations than others of their communicator.
pub(super) struct Behind {
    pub(super) words: String,
    /// They are named, and fewer than the others.
    pub(super) is_named: bool,
    /// An earlier report says the same.
    pub(super) repeated: bool,
    pub(super) evidence: Vec<Evidence>,
}

/// The ranks that are behind by most, of all standing reports; those that are named first.
pub(super) fn behind(case: &Case<'_>) -> Option<Behind> {
    let all = case.ras().flat_map(|(file, r)| {
        let calls = r.communicators.iter().flat_map(|c| c.calls.iter().map(move |calls| (c, calls)));
        calls.filter_map(move |(c, calls)| Some((file, r, c, calls, lag(calls)?)))
    });
    let (file, r, c, calls, lag) = all.reduce(|best, one| {
        let key = |l: &Lag<'_>| (l.is_named, l.by);
        if key(&one.4) > key(&best.4) { one } else { best }
    })?;
    let repeated = case.o.ras.before(file, r).is_some_and(|b| says_the_same(b, c, calls));
    Some(lag.behind(&Lines::new(case, file), c, calls, repeated))
}

struct Lag<'a> {
    last: &'a Share<u64>,
    first: u64,
    is_named: bool,
    by: u64,
}

fn lag(calls: &Calls) -> Option<Lag<'_>> {
    let first = calls.launched.iter().map(|s| s.what).max()?;
    let all = calls.launched.iter().fold(0u64, |n, s| n.saturating_add(u64::from(s.count)));
    let fewer = |s: &&Share<u64>| s.what < first;
    let named = |s: &&Share<u64>| {
        !s.members.is_empty() && s.members.len() == s.count as usize && u64::from(s.count).saturating_mul(2) <= all
    };
    let last = calls.launched.iter().filter(fewer).filter(named).min_by_key(|s| s.what);
    let is_named = last.is_some();
    let last = last.or_else(|| calls.launched.iter().filter(fewer).min_by_key(|s| s.what))?;
    Some(Lag { last, first, is_named, by: first - last.what })
}

impl Lag<'_> {
    fn behind(self, lines: &Lines<'_>, c: &Communicator, calls: &Calls, repeated: bool) -> Behind {
        let Lag { last, first, is_named, .. } = self;
        let what = calls.operation.as_deref().map(|o| format!("{o} ")).unwrap_or_default();
        let who = if is_named {
            Case::rank_words(last.members.iter().filter_map(|m| m.rank))
        } else {
            counted(last.count, "rank", "ranks")
        };
        let did = if last.what == 0 {
            format!("launched no {}operation", what)
        } else {
            format!("launched {what}up to operation {}", last.what)
        };
        let words = format!("{who} of {} {did}, others {first}", name(c));
        let differ = calls.operation.as_deref().unwrap_or("collective");
        let head = format!("Communicator ranks have different {differ} operation counts");
        let mut evidence = vec![lines.at(calls.line, head)];
        evidence.extend(calls.launched.iter().take(NAMED).map(|s| lines.at(s.line, launched(s))));
        evidence.extend(
            last.members.iter().filter(|_| last.count > 1).take(NAMED).map(|m| lines.at(m.line, m.to_string())),
        );
        Behind { words, is_named, repeated, evidence }
    }
}

/// As the text form has it.
fn launched(s: &Share<u64>) -> String {
    let did = if s.what == 0 {
        "not launched any operations".to_owned()
    } else {
        format!("launched up to operation {}", s.what)
    };
    match s.members.first() {
        Some(m) if s.count == 1 => {
            let words = m.to_string();
            let (rank, rest) = words.split_once(" -- ").unwrap_or((&words, ""));
            let rest = if rest.is_empty() { String::new() } else { format!(" -- {rest}") };
            format!("{rank} has {did}{rest}")
        }
        _ => format!("{} have {did}", counted(s.count, "rank", "ranks")),
    }
}

/// Whether a report says of this communicator what the other one says, number by number.
fn says_the_same(before: &Report, c: &Communicator, calls: &Calls) -> bool {
    let of = |calls: &Calls| -> BTreeSet<(u64, u32)> { calls.launched.iter().map(|s| (s.what, s.count)).collect() };
    let same = before.communicators.iter().filter(|b| b.hash == c.hash).flat_map(|b| &b.calls);
    same.filter(|b| b.operation == calls.operation).any(|b| of(b) == of(calls))
}

/// Two ranks of which each has launched more operations of one kind than the other: one sequence of calls cannot give both.
pub(super) struct Crossed {
    pub(super) words: String,
    pub(super) repeated: bool,
    pub(super) evidence: Vec<Evidence>,
}

pub(super) fn crossed(case: &Case<'_>) -> Option<Crossed> {
    case.ras().find_map(|(file, r)| {
        r.communicators.iter().find_map(|c| {
            let (one, other, ahead, behind) = pair(c)?;
            let before = case.o.ras.before(file, r);
            let repeated = before.is_some_and(|b| [ahead, behind].iter().all(|calls| says_the_same(b, c, calls)));
            let lines = Lines::new(case, file);
            let kind = |calls: &Calls| calls.operation.clone().unwrap_or_default();
            let words = format!(
                "{one} of {} launched more {} and fewer {} operations than {other}",
                name(c),
                kind(ahead),
                kind(behind)
            );
            let of = |calls: &Calls| -> Vec<Evidence> {
                let differ = format!("Communicator ranks have different {} operation counts", kind(calls));
                let shares = calls.launched.iter().take(NAMED).map(|s| lines.at(s.line, launched(s)));
                std::iter::once(lines.at(calls.line, differ)).chain(shares).collect()
            };
            Some(Crossed { words, repeated, evidence: [of(ahead), of(behind)].concat() })
        })
    })
}

/// A rank that is ahead of another in one kind of operation, and behind it in another kind.
fn pair(c: &Communicator) -> Option<(String, String, &Calls, &Calls)> {
    let counted = c.calls.iter().filter(|calls| calls.operation.is_some());
    let counted: Vec<&Calls> = counted.filter(|calls| unnamed(calls).count() < 2).take(8).collect();
    let named = counted.iter().flat_map(|calls| &calls.launched).flat_map(|s| &s.members).filter_map(|m| m.rank);
    let ranks: BTreeSet<u32> = named.collect();
    // Those that are not named are alike, as far as the report says.
    let others = counted.iter().all(|calls| unnamed(calls).count() == 1);
    let ranks: Vec<Option<u32>> = ranks.into_iter().take(COMPARED).map(Some).chain(others.then_some(None)).collect();
    let value = |calls: &Calls, rank: Option<u32>| {
        let has = |s: &&Share<u64>| s.members.iter().any(|m| m.rank == rank);
        rank.and_then(|_| calls.launched.iter().find(has)).or_else(|| unnamed(calls).next()).map(|s| s.what)
    };
    let rows: Vec<(Option<u32>, Vec<Option<u64>>)> =
        ranks.into_iter().map(|r| (r, counted.iter().map(|calls| value(calls, r)).collect())).collect();
    let name = |rank: Option<u32>| rank.map_or_else(|| "the others".to_owned(), |r| format!("rank {r}"));
    for (at, (one, of_one)) in rows.iter().enumerate() {
        for (other, of_other) in rows.iter().skip(at + 1) {
            let order = |(a, b): (&Option<u64>, &Option<u64>)| Some((*a)?.cmp(&(*b)?));
            let orders: Vec<Option<Ordering>> = of_one.iter().zip(of_other).map(order).collect();
            let first = |is: Ordering| counted.get(orders.iter().position(|o| *o == Some(is))?);
            if let (Some(more), Some(fewer)) = (first(Ordering::Greater), first(Ordering::Less)) {
                return Some((name(*one), name(*other), more, fewer));
            }
        }
    }
    None
}

/// Numbers of which the report does not say whose they are, all or some.
fn unnamed(calls: &Calls) -> impl Iterator<Item = &Share<u64>> {
    calls.launched.iter().filter(|s| s.members.len() < s.count as usize)
}
